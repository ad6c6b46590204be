"""A real browser on the pages: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import uvicorn
from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright

from moldau.project import ROOT
from moldau.serving.app import application
from moldau.settings import Settings

AXE = ROOT / "tests" / "fixtures" / "axe" / "axe.min.js"
_NEEDED = "the pages are tested in Chromium: apt-get install chromium"


def chromium() -> str:
    """Where it is; who may, installs it."""
    found = shutil.which("chromium")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {
            "stdout": subprocess.DEVNULL,
            "env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        }
        subprocess.run(["apt-get", "update"], check=False, **quiet)
        words = ["apt-get", "install", "--yes", "--no-install-recommends"]
        subprocess.run([*words, "chromium", "fonts-liberation"], check=False, **quiet)
        found = shutil.which("chromium")
    if found is None:
        raise RuntimeError(_NEEDED)
    return found


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        # without a sandbox: tests are run by root, who has none, and see pages of their own
        opened = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@contextlib.contextmanager
def answering(settings: Settings) -> Iterator[str]:
    """The address of pages that are served as long as the block goes on."""
    config = uvicorn.Config(
        application(settings), port=0, log_level="error", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@dataclass
class Seen:
    """What a page says beside what it shows."""

    console: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, page: Page) -> Seen:
        seen = cls()

        def dismissed(dialog: Dialog) -> None:
            seen.dialogs.append(dialog.message)
            dialog.dismiss()

        def failed(request: Request) -> None:
            # what a page that is left no longer waits for is no failure
            if request.failure != "net::ERR_ABORTED":
                seen.failed.append(f"{request.url}: {request.failure}")

        page.on("console", lambda said: seen.console.append(said.text))
        page.on("pageerror", lambda error: seen.console.append(str(error)))
        page.on("dialog", dismissed)
        page.on("requestfailed", failed)
        page.on("request", lambda request: seen.hosts.add(request.url.split("/")[2]))
        return seen


def faults(page: Page) -> list[str]:
    """What keeps people out, of what axe-core calls serious or critical."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']} {[node['html'][:150] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
