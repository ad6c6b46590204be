"""The overview as one file that needs no other: for a ticket, or an e-mail."""

from __future__ import annotations

from pathlib import Path

from moldau.errors import MoldauError
from moldau.serving.page import Asked
from moldau.serving.pages.overview import overview
from moldau.serving.reader import Reader
from moldau.serving.rendering import whole
from moldau.settings import Settings


def write_report(settings: Settings, target: Path, at_ms: int) -> None:
    """MoldauError without a warehouse, or where the file cannot be written."""
    page = overview(Asked(settings, Reader(settings.warehouse), at_ms, {}))
    text = whole(page, at_ms, str(settings.warehouse.resolve()))
    try:
        target.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise MoldauError(f"{target} cannot be written: {error.strerror}") from None
