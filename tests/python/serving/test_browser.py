"""A real browser opens each page on hostile names: nothing runs, nothing is missing, all can use
it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser_support import Seen, answering, browser, faults
from hostile_rows import AT_MS, CLUSTER, SCRIPT
from playwright.sync_api import Browser

from moldau.serving.app import PAGES
from moldau.serving.report import write_report
from moldau.settings import Settings

pytestmark = pytest.mark.processes
OF_GROUP = {"cluster": CLUSTER, "group": SCRIPT}
PATHS = [
    f"/{name}?" + urlencode({"at": AT_MS} | (OF_GROUP if name in ("group", "topology") else {}))
    for name in PAGES
]
CUT_OFF = """[...document.querySelectorAll("figure svg text")].filter(text => {
    const [inner, outer] = [text, text.ownerSVGElement].map(one => one.getBoundingClientRect());
    return inner.left < outer.left || inner.right > outer.right;
}).map(text => text.textContent)"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(hostile: Settings) -> Iterator[str]:
    with answering(hostile) as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_page_is_quiet_and_can_be_used_by_all(
    chromium: Browser, address: str, scheme: str
) -> None:
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    seen = Seen.of(page)
    found = {}
    for path in PATHS:
        page.goto(address + path)
        found[path] = faults(page)
    assert {path: told for path, told in found.items() if told} == {}
    assert (seen.console, seen.dialogs, seen.failed) == ([], [], [])
    assert seen.hosts == {address.removeprefix("http://")}
    context.close()


def test_the_policy_of_pages_is_kept(chromium: Browser, address: str) -> None:
    """What a browser refuses it says on the console: pages ask for nothing that it would."""
    page = chromium.new_page()
    seen = Seen.of(page)
    for path in PATHS:
        page.goto(address + path)
        assert page.evaluate("document.styleSheets.length") == 1
    assert (seen.console, seen.dialogs, seen.failed) == ([], [], [])
    with pytest.raises(Exception, match=r"Content Security Policy|EvalError"):
        page.add_script_tag(content="document.title = 'run'")
    page.close()


def test_narrow_screens_need_no_scrolling_aside(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport={"width": 360, "height": 740})
    for path in PATHS:
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        assert page.evaluate(CUT_OFF) == [], path
    page.close()


def test_a_query_is_copied_and_the_keyboard_leads_to_a_group(
    chromium: Browser, address: str
) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/groups?at={AT_MS}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    page.click("summary")
    page.click("button[data-copy]")
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("-- moldau sql --engine")
    page.fill("input[name=q]", "<script>")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=%3Cscript%3E**")
    page.focus("td a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/group?**")
    assert page.inner_text("h1") == SCRIPT
    context.close()


def test_the_report_opens_offline(chromium: Browser, hostile: Settings, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_report(hostile, file, AT_MS)
    context = chromium.new_context(offline=True)
    page = context.new_page()
    seen = Seen.of(page)
    page.goto(file.as_uri())
    assert page.inner_text("h1") == "What moldau sees"
    assert (
        page.evaluate("getComputedStyle(document.querySelector('section')).borderRadius") == "10px"
    )
    assert faults(page) == []
    assert (seen.console, seen.dialogs, seen.failed) == ([], [], [])
    context.close()
