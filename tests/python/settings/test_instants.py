"""Instants as people write them."""

from __future__ import annotations

import pytest

from moldau.errors import MoldauError
from moldau.instants import format_instant, parse_instant


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0", 0),
        (" 1756728000000 ", 1_756_728_000_000),
        ("2025-09-01T12:00:00Z", 1_756_728_000_000),
        ("2025-09-01T14:00:00+02:00", 1_756_728_000_000),
        ("2025-09-01T12:00:00", 1_756_728_000_000),
        ("2025-09-01 12:00", 1_756_728_000_000),
        ("2025-09-01", 1_756_684_800_000),
        ("2025-09-01T12:00:00.1239Z", 1_756_728_000_123),
    ],
)
def test_milliseconds_and_iso_8601_are_read(text: str, milliseconds: int) -> None:
    assert parse_instant(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "-1",
        "1.5",
        "1e3",
        "1756728000000000",
        "9" * 5000,
        "2025-13-01",
        "\uff11\uff12",
        "\0",
    ],
)
def test_anything_else_is_refused_and_says_what_is_allowed(text: str) -> None:
    with pytest.raises(MoldauError, match="ISO 8601") as caught:
        parse_instant(text)
    assert len(str(caught.value)) < 300


def test_an_instant_is_printed_with_a_fraction_only_if_it_has_one() -> None:
    assert format_instant(1_756_728_000_000) == "2025-09-01T12:00:00Z"
    assert format_instant(1_756_728_000_120) == "2025-09-01T12:00:00.120Z"
    assert format_instant(2**63 - 1) == "9223372036854775807 ms"
