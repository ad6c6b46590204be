"""`moldau cycle`: one clean-up cycle."""

from __future__ import annotations

from moldau.cli.deciding import deciding_verb

cycle = deciding_verb(
    "cycle",
    "which streams groups the clean-up cycle releases the topology description of",
    "cleanup_eligibility",
)
