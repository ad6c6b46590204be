"""`moldau sweep`: one sweep over offsets and groups."""

from __future__ import annotations

from moldau.cli.deciding import deciding_verb

sweep = deciding_verb(
    "sweep",
    "which offsets the sweep expires and which groups it removes",
    "removes these offsets, and these groups unless a description of them is still stored",
    "group_sweeps",
)
