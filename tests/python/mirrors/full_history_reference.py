"""Translation by all syncs of a partition, as section 4 of the specification has it.

Plain loops, written from the text and independent of moldau's SQL. A *fold* gives each sync its
incarnation (same source log and same target log), its segment (a stretch without replay) and
whether the segment is admitted; a *translation* is one commit's answer by what was folded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mirror_maker import BEFORE_FIRST_SYNC, Checkpoint, Sync

RULE_SETS = ("full_history", "full_history_max", "parity")


@dataclass(frozen=True)
class FoldedSync(Sync):
    incarnation: int = 0
    segment: int = 0  # numbered through all incarnations
    is_admitted: bool = True
    gap_before: bool = False  # syncs of the topic that stood before this one are missing


class Folded(list[FoldedSync]):
    """Of one partition, in log order; what many translations ask of all of them is found once."""

    @cached_property
    def live(self) -> list[FoldedSync]:
        """Those of the latest incarnation; no other translates (4.2.3)."""
        return [one for one in self if one.incarnation == self[-1].incarnation]

    @cached_property
    def has_sole_writer(self) -> bool:
        return is_sole_writer(target_log(self))


@dataclass(frozen=True)
class Recreation:
    """Of the source topic: when snapshots last showed the id before, and first the new one."""

    last_seen_before_at_ms: int
    recreated_at_ms: int

    def is_passed(self, previous: Sync, sync: Sync) -> bool:
        """The first such sync is of the new topic (4.2.3, "or topic id changed")."""
        if sync.at_ms >= self.recreated_at_ms:
            return True
        return sync.at_ms > self.last_seen_before_at_ms and sync.u < previous.u


def starts_incarnation(previous: Sync, sync: Sync, ruleset: str) -> bool:
    """4.2.3 and 4.6: the target log is another one; under `parity` also when the source rewinds.

    The same sync again is one that was sent twice, and begins nothing: 4.2.3 says "while u grew".
    As a boundary (the query of 4.6) it would let the segment after it in without a gate.
    """
    if is_repeated(previous, sync):
        return False
    went_back = sync.d <= previous.d
    if ruleset == "parity":
        rewound = sync.u < previous.u
        return rewound or (went_back and sync.u > previous.u)
    return went_back


def starts_segment(previous: Sync, sync: Sync, *, is_exactly_once: bool = False) -> bool:
    """4.1b: a replay, or more downstream than upstream records (not told of flows with EOS)."""
    is_replay = sync.u <= previous.u and not is_repeated(previous, sync)
    return is_replay or (not is_exactly_once and has_excess(previous, sync))


def is_repeated(previous: Sync, sync: Sync) -> bool:
    return (sync.u, sync.d) == (previous.u, previous.d)


def has_excess(previous: Sync, sync: Sync) -> bool:
    """More was written downstream than was read upstream: another writer, or markers (4.4)."""
    return sync.d - previous.d > sync.u - previous.u


def fold(
    syncs: Iterable[Sync],
    ruleset: str = "full_history",
    *,
    is_exactly_once: bool = False,
    missing_before: Iterable[int] = (),
    recreations: Iterable[Recreation] = (),
) -> Folded:
    """The syncs of one partition, in log order whatever order they come in (4.2.6).

    `missing_before`: log offsets before which a sync of the topic is missing, of any partition.
    """
    gaps = set(missing_before)
    ahead = sorted(recreations, key=lambda one: one.recreated_at_ms)
    folded = Folded()
    incarnation = segment = 0
    for sync in sorted(syncs, key=lambda sync: sync.log_offset):
        if folded:
            previous = folded[-1]
            passed = [one for one in ahead if one.is_passed(previous, sync)]
            ahead = [one for one in ahead if one not in passed]
            is_new = bool(passed) or starts_incarnation(previous, sync, ruleset)
            incarnation += is_new
            segment += is_new or starts_segment(previous, sync, is_exactly_once=is_exactly_once)
        place = (sync.u, sync.d, sync.log_offset, sync.at_ms)
        is_after_gap = sync.log_offset in gaps
        folded.append(FoldedSync(*place, incarnation, segment, gap_before=is_after_gap))
    return folded if ruleset != "full_history" else _gated(folded)


def _gated(folded: Sequence[FoldedSync]) -> Folded:
    """4.1b: admit a segment once it has caught up with all that was written before it."""
    found = Folded()
    for _, of_incarnation in itertools.groupby(folded, lambda one: one.incarnation):
        segments = [
            list(several)
            for _, several in itertools.groupby(of_incarnation, lambda one: one.segment)
        ]
        for position, segment in enumerate(segments):
            if not is_caught_up(segments[:position], segment):
                segment = [replace(one, is_admitted=False) for one in segment]
            found += segment
    return found


def is_caught_up(earlier: Sequence[Sequence[FoldedSync]], segment: Sequence[FoldedSync]) -> bool:
    """Its last d is the tail beyond where it first reached the old head."""
    if not earlier:
        return True
    old_head = max(several[-1].u for several in earlier)
    several = [*earlier, segment]
    tail = max(later[0].d - before[-1].d - 1 for before, later in itertools.pairwise(several))
    reached = [one.d for one in segment if one.u >= old_head]
    return bool(reached) and segment[-1].d >= reached[0] + tail


@dataclass(frozen=True)
class Translation:
    """`offset`: None = no sync, -1 = before the first. `proof`: the sync that gives `floor`.

    Bounds are of the true position (4.4); `upper` is None where nothing tells.
    """

    offset: int | None
    floor: int | None = None
    proof: FoldedSync | None = None
    lower: int | None = None
    upper: int | None = None
    incarnation: int | None = None
    at_rest: int | None = None  # what the plain maximum over all segments would answer
    is_clamped: bool = False

    @property
    def reread_max(self) -> int | None:
        return None if self.upper is None or self.lower is None else self.upper - self.lower

    @property
    def is_held_back(self) -> bool:
        """A segment that waits would raise the answer (4.1b)."""
        return self.at_rest is not None and self.offset is not None and self.at_rest > self.offset


def translate(
    folded: Folded,
    g: int,
    *,
    anchored: bool = False,
    clamp_first: bool = False,
    is_exactly_once: bool = False,
) -> Translation:
    """4.1: the greatest t(s, g) of the admitted syncs of the current incarnation."""
    if not folded:
        return Translation(None)
    live = folded.live
    incarnation = live[0].incarnation
    usable = [one for one in live if one.u <= g]
    at_rest = max([one.translates(g) for one in usable], default=None)
    proof = best([one for one in usable if one.is_admitted], g)
    if proof is None:
        first = live[0]
        # copies of before may lie in a log that went on, or was cut back
        has_all = incarnation == 0 or first.d == 0
        if clamp_first and has_all and is_complete(folded, first):
            return Translation(
                first.d, first.d, first, first.d, first.d, incarnation, at_rest, is_clamped=True
            )
        none = BEFORE_FIRST_SYNC
        return Translation(none, none, incarnation=incarnation, at_rest=at_rest)
    floor = proof.translates(g)
    following = next_sync(live, proof)
    is_alone = folded.has_sole_writer and not is_exactly_once
    anchor = floor
    if anchored and following is not None and is_alone:
        anchor = max(floor, following.d - (following.u - g))
    upper = upper_bound(proof, following, g, is_alone=is_alone)
    return Translation(anchor, floor, proof, anchor, upper, incarnation, at_rest)


def best(usable: Sequence[FoldedSync], g: int) -> FoldedSync | None:
    """The sync with the greatest t(s, g); of several the one nearest to g."""
    highest = max([one.translates(g) for one in usable], default=None)
    equal = [one for one in usable if one.translates(g) == highest]
    return max(equal, key=lambda one: (one.u, one.log_offset), default=None)


def next_sync(live: Sequence[FoldedSync], one: FoldedSync) -> FoldedSync | None:
    """4.4: the very next one closes the bracket if the source went on, whoever else wrote."""
    following = next((other for other in live if other.log_offset > one.log_offset), None)
    if following is None or following.u <= one.u or not following.is_admitted:
        return None
    return following


def upper_bound(
    proof: FoldedSync, following: FoldedSync | None, g: int, *, is_alone: bool
) -> int | None:
    """4.4: exact at a sync; s2.d always; left reckoning where MM2 alone writes to the target."""
    if proof.u == g:
        return proof.d
    bounds = [following.d] if following is not None else []
    bounds += [proof.d + (g - proof.u)] if is_alone else []
    return min(bounds, default=None)


def target_log(folded: Sequence[FoldedSync]) -> Sequence[FoldedSync]:
    """Syncs of the target as it is: who else wrote to it does not depend on the rule set."""
    began = 0
    for index, (one, later) in enumerate(itertools.pairwise(folded), 1):
        if starts_incarnation(one, later, "full_history"):
            began = index
    return folded[began:]


def is_sole_writer(live: Sequence[FoldedSync]) -> bool:
    """4.4: told by the spans, none of which has more downstream than upstream records.

    With EOS nobody is alone, since there are markers.
    """
    return not any(
        later.u > one.u and has_excess(one, later) for one, later in itertools.pairwise(live)
    )


def is_complete(folded: Sequence[FoldedSync], first: FoldedSync) -> bool:
    """4.3: no sync is missing up to the first of the incarnation."""
    return not any(one.gap_before for one in folded if one.log_offset <= first.log_offset)


def upstream_of(folded: Folded, x: int) -> int | None:
    """4.5: where a group at x on the target resumes on the source; None = no sync, -1 = before."""
    if not folded:
        return None
    before = [one for one in folded.live if one.d <= x]
    return max((one.u if one.d == x else one.u + 1 for one in before), default=BEFORE_FIRST_SYNC)


def explain(folded: Sequence[FoldedSync], g: int, downstream: int) -> FoldedSync | None:
    """4.8: the sync that an MM2 checkpoint was made by, the latest if there are several."""
    matching = [one for one in folded if one.u <= g and one.translates(g) == downstream]
    return matching[-1] if matching else None


def lost_precision(folded: Sequence[FoldedSync], g: int, made_by: FoldedSync) -> int:
    """4.8: how much further T* of the sync's own incarnation is than the checkpoint."""
    same = [one for one in folded if one.incarnation == made_by.incarnation and one.u <= g]
    return max(one.translates(g) for one in same) - made_by.translates(g)


def of_incarnation(folded: Sequence[FoldedSync], last: Checkpoint) -> Checkpoint:
    """4.8: gives an MM2 checkpoint its incarnation; an unexplained one guards the current one."""
    if last.incarnation is not None or not folded:
        return last
    made_by = explain(folded, last.upstream, last.downstream) or folded[-1]
    return replace(last, incarnation=made_by.incarnation)


def guard(last: Checkpoint | None, g: int, translation: Translation) -> str:
    """4.6: the reason of each candidate that has a sync; `last` has an incarnation."""
    offset = translation.offset
    if offset is None:
        return "NO_SYNC"
    if offset < 0:
        return "BEFORE_FIRST_SYNC"
    if last is None:
        reason = "EMIT_FIRST"
    elif last.incarnation != translation.incarnation:
        reason = "EMIT_NEW_INCARNATION"
    elif g < last.upstream:
        reason = "EMIT_GROUP_REWIND"
    elif offset > last.downstream:
        reason = "EMIT_ADVANCED"
    else:
        reason = "SKIP_REPEATED" if offset == last.downstream else "SKIP_DOWNSTREAM_REWIND"
    if reason.startswith("SKIP") and translation.is_held_back:
        return "REPLAY_CATCHING_UP"
    if reason.startswith("EMIT") and translation.is_clamped:
        return "BEFORE_FIRST_SYNC_CLAMPED"
    return reason


@dataclass(frozen=True)
class Commit:
    """`offset` None: a null commit (2.4)."""

    offset: int | None
    at_ms: int = 0


def decide(
    folded: Folded,
    commit: Commit,
    last: Checkpoint | None = None,
    *,
    anchored: bool = False,
    clamp_first: bool = False,
    is_exactly_once: bool = False,
) -> tuple[Translation, str]:
    """What moldau answers about one candidate that no filter leaves out."""
    if commit.offset is None:
        return Translation(None), "NO_COMMIT"
    if folded and is_of_old_incarnation(folded, commit.at_ms):
        return Translation(None), "COMMIT_FROM_OLD_INCARNATION"
    translation = translate(
        folded,
        commit.offset,
        anchored=anchored,
        clamp_first=clamp_first,
        is_exactly_once=is_exactly_once,
    )
    known = None if last is None else of_incarnation(folded, last)
    return translation, guard(known, commit.offset, translation)


def is_of_old_incarnation(folded: Sequence[FoldedSync], at_ms: int) -> bool:
    """4.2.4: the commit is older than a boundary at which the source, too, may have begun anew.

    Where only the target did, what groups commit on the source still means the same.
    """
    return any(
        later.incarnation != one.incarnation and later.u <= one.u and at_ms < later.at_ms
        for one, later in itertools.pairwise(folded)
    )


def emitted(
    last: Checkpoint | None, g: int, translation: Translation, reason: str
) -> Checkpoint | None:
    """The last emitted checkpoint after this decision."""
    is_emitted = reason.startswith("EMIT") or reason == "BEFORE_FIRST_SYNC_CLAMPED"
    if not is_emitted or translation.offset is None:
        return last
    return Checkpoint(g, translation.offset, translation.incarnation)
