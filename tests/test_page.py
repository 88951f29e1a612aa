"""The page in a real browser: in both themes, on a desk and on a phone, by keyboard and in print.

It needs Chromium (Debian's package, or the program that $CONFORMANCE_CHROMIUM names) and is skipped without.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hostile
import pytest
from test_renderings import large
from test_report import report, run

from conformance import exchanges, packs
from conformance import report as reports
from conformance.report import evaluation
from conformance.transcript import FORMAT

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = os.environ.get("CONFORMANCE_CHROMIUM") or shutil.which("chromium") or ""
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")

ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,
    "iframes": False,
}

UNCOLOURED = {"rules": {"color-contrast": {"enabled": False}}}
"""Contrast takes axe most of its time, and a stranger's words have the colours of any others."""

VA = packs.find("va-agent-protocol")


def failing(folder: Path) -> dict[str, Any]:
    """A run of records that fail in several ways, with the records beside it."""
    (folder / "transcripts").mkdir(parents=True)
    runs = []
    for name in ("valid/completed", "valid/blocked-and-resumed", "invalid/completed-twice",
                 "invalid/ends-while-running", "invalid/log-line-on-stdout"):  # fmt: skip
        record = VA.fixtures / "transcripts" / f"{name}.jsonl"
        shutil.copy(record, folder / "transcripts" / record.name)
        evidence = evaluation.judge(record, VA, "agent")
        where = f"transcripts/{record.name}"
        runs.append(run(name=record.stem, transcript=where, evidence=evidence, requirements=()))
    return report(*runs)


def poisoned(folder: Path) -> dict[str, Any]:
    """The report of a stranger, with a record beside it whose messages are as bad."""
    (folder / "transcripts").mkdir(parents=True)
    header = {"transcript": FORMAT, "protocol": VA.protocol, "revision": VA.revision}
    event = {"event": "received", "time": 0.1, "connection": hostile.NASTY, "party": hostile.NASTY}
    message = {"type": hostile.NASTY, hostile.NASTY: [hostile.NASTY], "long": hostile.LONG}
    lines = [header, *({"seq": seq, **event, "message": message} for seq in range(1, 7))]
    text = "\n".join(map(json.dumps, lines)) + "\n"
    (folder / "transcripts" / "one.jsonl").write_text(text, encoding="utf-8")
    value = json.loads(hostile.text())
    finding = value["requirements"][0]["findings"][0]
    finding |= {"transcript": "transcripts/one.jsonl", "pointer": "/type"}
    return dict(value)


MADE = {"failing": failing, "hostile": poisoned, "large": lambda folder: large(500, 20)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages by name, as files."""
    found = {}
    for name, make in MADE.items():
        folder = tmp_path_factory.mktemp(name) / "report"
        value = make(folder)
        folder.mkdir(exist_ok=True)
        found[name] = folder / "report.html"
        around = exchanges.of_report(value, folder)
        found[name].write_text(reports.RENDERERS["html"](value, around), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@contextmanager
def opened(browser: Any, path: Path, width: str = "desk", **options: Any) -> Iterator[Any]:
    """The page, of which neither the console nor the network may hear anything."""
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    context = browser.new_context(viewport=size, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert said == []
    assert asked == [path.as_uri()]


def open_all(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def is_wider_than_its_window(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


@pytest.mark.parametrize(
    ("name", "width", "theme"),
    [
        ("failing", "desk", "light"), ("failing", "desk", "dark"), ("failing", "phone", "light"),
        ("failing", "phone", "dark"), ("hostile", "phone", "dark"),
    ],
)  # fmt: skip
def test_axe_finds_nothing(browser: Any, pages: dict[str, Path], name: str, width: str, theme: str) -> None:
    with opened(browser, pages[name], width, color_scheme=theme) as page:
        open_all(page)
        found = axe.Axe().run(page, options=RULES if name == "failing" else {**RULES, **UNCOLOURED})
        assert found.violations_count == 0, found.generate_report()
        assert len(found.response["passes"]) > 20
        assert not is_wider_than_its_window(page)


def visible(page: Any) -> list[str]:
    """The ids of the requirements that the matrix shows."""
    return list(page.locator(".matrix tr.row:visible .id").all_inner_texts())


def test_filter_and_search(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["failing"]) as page:
        everything = visible(page)
        assert page.locator("#count").inner_text() == f"All {len(everything)} requirements"
        page.get_by_role("button", name="fail").click()
        failed = visible(page)
        assert failed == ["VA-LIF-002", "VA-LIF-003", "WIRE-NOISE"]
        page.get_by_role("button", name="untested").click()
        assert set(failed) < set(visible(page)) < set(everything)
        page.get_by_role("searchbox").fill("says something more")
        assert visible(page) == ["VA-LIF-002"]
        assert page.locator("#count").inner_text() == f"1 of {len(everything)} requirements"
        page.get_by_role("searchbox").fill("nothing is called so")
        assert visible(page) == []
        assert page.get_by_text("No requirement fits the filter.").is_visible()
        page.get_by_role("button", name="Show all").click()
        assert visible(page) == everything
        page.get_by_label("Level").select_option("SHOULD")
        assert set(page.locator(".matrix tr.row:visible th .level").all_inner_texts()) == {"SHOULD"}


def test_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["failing"]) as page:
        focus = "document.activeElement"
        page.keyboard.press("Tab")
        assert page.evaluate(f"{focus}.textContent") == "Skip to the report"
        page.keyboard.press("Enter")
        assert page.evaluate(f"{focus}.id") == "main"
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate(f"{focus}.id") == "q":
                break
        page.keyboard.type("VA-LIF-002")
        assert visible(page) == ["VA-LIF-002"]
        page.keyboard.press("Escape")
        assert len(visible(page)) > 20
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert page.evaluate(f"{focus}.getAttribute('aria-pressed')") == "true"
        assert visible(page) == ["VA-LIF-002", "VA-LIF-003", "WIRE-NOISE"]
        outline = page.evaluate(f"getComputedStyle({focus}).outlineStyle")
        assert outline == "solid"


def test_a_link_opens_what_it_leads_to(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["failing"]) as page:
        page.get_by_role("searchbox").fill("VA-LIF-002")
        link = page.locator(".why a.id").first
        name = link.inner_text()
        link.click()
        assert name in visible(page)
        assert page.locator(f"#r-{name}").is_visible()


def test_print(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["failing"]) as page:
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
        assert not page.locator("#filter").is_visible()
        closed = "details:not([open])"
        assert page.locator(closed).count() > 5
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator(closed).count() == 0
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator(closed).count() > 5
        assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_without_a_script(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["failing"], java_script_enabled=False) as page:
        assert not page.locator("#filter").is_visible()
        assert page.locator(".matrix tr.row:visible").count() > 20
        summary = page.locator(".life summary").first
        assert not page.locator(".life table").first.is_visible()
        summary.click()
        assert page.locator(".life table").first.is_visible()


def test_the_hostile_page_does_nothing(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["hostile"]) as page:
        assert page.evaluate("typeof window.pwned") == "undefined"
        assert page.locator("img, iframe, object, embed, form:not(#filter), base, link").count() == 0
        assert page.locator("script").count() == 1
        assert "<script>alert(1)</script>" in page.locator("h1").inner_text()
        assert page.locator(".wire mark").first.inner_text().startswith('"\\"></title>')
        assert page.title().startswith("Non-conformant: ")


def test_a_policy_that_would_stop_a_script(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    """If something did get through, the browser would not heed it."""
    text = pages["failing"].read_text("utf-8")
    picture = '<img src="https://evil.example/x.png" onerror="window.pwned = 1">'
    planted = f"<script>window.pwned = 1</script>{picture}"
    (tmp_path / "report.html").write_text(text.replace("</main>", planted + "</main>"), encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert len([one for one in said if "Content Security Policy" in one]) >= 3
    context.close()


def test_ten_thousand_findings_stay_usable(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["large"], "phone") as page:
        assert page.evaluate("document.querySelectorAll('*').length") < 40_000
        page.get_by_role("searchbox").fill("X-Y-499")
        assert visible(page) == ["X-Y-499"]
        assert page.get_by_text("9400 findings more in").is_visible()
        assert not is_wider_than_its_window(page)
