"""`moldau cycle`: one clean-up cycle."""

from __future__ import annotations

from moldau.cli.deciding import deciding_verb

cycle = deciding_verb(
    "cycle",
    "which streams groups the clean-up cycle releases the topology description of",
    "asks the plugin to delete each of them and clears the stored epoch if it is still the same",
    "cleanup_eligibility",
)
