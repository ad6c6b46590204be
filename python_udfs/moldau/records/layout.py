"""What a message looks like in one version: the steps a reader takes, compiled once.

Runs of fixed-size fields become one step, so that one bounds check serves them all. Tagged fields
are kept apart, because they stand in the tag section behind the last plain field.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from moldau.records.wire_schema import FIXED_WIDTHS, Field, Message, default_of


@dataclass(frozen=True, slots=True)
class FixedRun:
    """Consecutive fields of fixed size: (name, kind, offset in the run)."""

    width: int
    fields: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One value to read: a primitive, a struct, or an array of either."""

    name: str
    kind: str
    is_array: bool
    nullable: bool
    flexible: bool
    default: object
    struct: StructLayout | None
    min_width: int
    """The fewest bytes one value (of an array: one element) can take."""


@dataclass(frozen=True, slots=True)
class StructLayout:
    """A struct's fields in wire order, and its tagged fields by tag."""

    steps: tuple[FixedRun | Slot, ...]
    tags: dict[int, Slot]
    flexible: bool
    fields: tuple[Slot, ...]
    min_width: int


def _slot(field: Field, version: int, flexible: bool) -> Slot:
    struct = _struct(field.struct, version, flexible) if field.struct is not None else None
    if struct is not None:
        min_width = struct.min_width
    elif field.kind in FIXED_WIDTHS:
        min_width = FIXED_WIDTHS[field.kind]
    elif flexible:
        min_width = 1
    else:
        min_width = 2 if field.kind == "string" else 4
    return Slot(
        name=field.name,
        kind=field.kind,
        is_array=field.is_array,
        nullable=field.nullable,
        flexible=flexible,
        default=default_of(field, version),
        struct=struct,
        min_width=min_width,
    )


def _least(slot: Slot) -> int:
    if slot.is_array:
        return 1 if slot.flexible else 4
    return 1 if slot.struct is not None and slot.nullable else slot.min_width


def _struct(fields: tuple[Field, ...], version: int, flexible: bool) -> StructLayout:
    steps: list[FixedRun | Slot] = []
    run: list[tuple[str, str, int]] = []
    width = 0
    tags: dict[int, Slot] = {}
    slots: list[Slot] = []
    least = 1 if flexible else 0
    for field in fields:
        if not field.present_in(version):
            continue
        slot = _slot(field, version, flexible)
        slots.append(slot)
        if field.tag is not None:
            tags[field.tag] = slot
            continue
        least += _least(slot)
        if field.kind in FIXED_WIDTHS and not field.is_array:
            run.append((field.name, field.kind, width))
            width += FIXED_WIDTHS[field.kind]
            continue
        if run:
            steps.append(FixedRun(width, tuple(run)))
            run, width = [], 0
        steps.append(slot)
    if run:
        steps.append(FixedRun(width, tuple(run)))
    return StructLayout(tuple(steps), tags, flexible, tuple(slots), least)


@cache
def layout_of(message: Message, version: int) -> StructLayout:
    """The layout of ``message`` in ``version``; a key is written in version 0."""
    return _struct(message.fields, version, message.is_flexible(version))
