"""Errors that a person caused or can fix, reported in one line."""

from __future__ import annotations


class MoldauError(Exception):
    """The request was wrong or refused: one clear line on stderr, exit code 1, nothing changed."""
