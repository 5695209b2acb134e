"""A store full of markup, scripts, odd letters and huge texts: the page shows it and does nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.projects import Place
from claude_mem_core.store import queue
from claude_mem_core.testing.worker import LiveWorker
from claude_mem_core.types import Draft, Observed, SummaryDraft
from tests.store_home import Home, opened
from tests.viewer_kit import Viewer, browser, viewing, worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
CORPUS = Path(__file__).parent / "cases" / "security" / "open"
HUGE = "\u202e<img src=x onerror=window.__owned=1>" + "x" * 1_048_576
ODD = (
    "\u202eevil.exe\u202c reads backwards",
    "zero\u200bwidth\u2060joined\ufeff",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd from right to left",
    "tag \U000e0041\U000e0042 letters",
    "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308" * 40,
    "\x1b]52;c;ZXZpbA==\x07 terminal",
    "line\u2028separator\u2029here",
)
WATCH = """
  window.__seen = [];
  document.addEventListener('securitypolicyviolation', (event) => window.__seen.push(event.violatedDirective));
"""


def texts() -> list[str]:
    rows = json.loads((CORPUS / "xss_corpus.json").read_text(encoding="utf-8"))
    assert len(rows) >= 40
    return [str(row["text"]) for row in rows] + list(ODD)


def fill(paths: Paths) -> list[str]:
    """Each text as every word that a page shows: of prompts, tools, memories, projects."""
    secure_dir(paths.data)
    now = time.time_ns() // 1_000_000
    hostile = texts()
    with opened(paths.database) as home:
        for number, text in enumerate(hostile):
            _turn(home, number, now - (len(hostile) - number) * 10_000, text)
        _huge(home, now)
        _dead(home, now)
    return hostile


def _turn(home: Home, number: int, now: int, text: str) -> None:
    home.now, home.session = now, f"h{number}"
    home.place = Place(key=f"/srv/{number}", label=f"p{number} {text}", kind="folder", root="/srv")
    home.prompt(f"{text} ?")
    home.tool(f"t{number}", 1000, name=text, input={"command": text}, output={"stdout": text})
    home.stop(f"{text} ?", 2000)
    (work,) = home.claim(3000, force=True)
    draft = Draft(type="decision", title=text, subtitle=text, narrative=text, facts=(text,),
                  concepts=(text,), files_modified=(text,), events=work.event_ids, model=text)  # fmt: skip
    summary = SummaryDraft(request=text, learned=text, completed=text, next_steps=text)
    home.keep(work, Observed(observations=(draft,), summary=summary))


def _huge(home: Home, now: int) -> None:
    home.now, home.session = now, "huge"
    home.prompt("huge")
    home.stop("done", 1000)
    (work,) = home.claim(2000, force=True)
    draft = Draft(type="<b>type</b>", title=HUGE, narrative=HUGE, events=work.event_ids)
    home.keep(work, Observed(observations=(draft,)))
    home.write(lambda conn: conn.execute(
        "UPDATE observations SET title = ?1, narrative = ?1 WHERE length(title) > 10000 OR type LIKE '<b>%'", (HUGE,)
    ).fetchall())  # fmt: skip


def _dead(home: Home, now: int) -> None:
    home.session = "dead"
    home.prompt("dead")
    home.tool("dead", 1000)
    for at in (60_000, 200_000, 400_000):
        (work,) = home.claim(at, force=True)
        home.write(lambda conn, w=work, t=now + at: queue.fail(conn, w, "<script>window.__owned=1</script>", t, 1))  # type: ignore[misc]


@pytest.fixture(scope="module")
def scene() -> Iterator[tuple[LiveWorker, list[str]]]:
    with worker(fill) as (live, hostile):
        yield live, hostile


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def tab(chrome: Browser, scene: tuple[LiveWorker, list[str]]) -> Iterator[Viewer]:
    with viewing(chrome, scene[0]) as made:
        made.page.add_init_script(WATCH)
        yield made


@pytest.fixture
def viewer(tab: Viewer) -> Iterator[Viewer]:
    tab.start_over()
    yield tab
    tab.check()
    assert len(tab.context.pages) == 1, "a window was opened"


def unharmed(page: Page) -> None:
    """Nothing ran, and the policy had nothing to stop: no text was ever read as markup."""
    assert page.evaluate("window.__owned") is None
    assert page.evaluate("window.__seen") == []
    odd = "document.querySelectorAll('iframe, object, embed, form:not(.editform), base, meta[http-equiv], #app script, #app img:not([src^=\"/assets/viewer/\"])').length"
    assert page.evaluate(odd) == 0
    links = page.eval_on_selector_all("a", "all => all.map((a) => a.getAttribute('href') || '')")
    assert [link for link in links if link and not link.startswith(("/", "#main"))] == []


def all_keys(live: LiveWorker) -> list[str]:
    found = live.ask("GET", "/api/memories?limit=200").json["items"]
    return [card["key"] for card in found]


def test_every_memory_is_shown_as_text(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    page.wait_for_selector(".row:not(.bare)")
    keys = all_keys(viewer.live)
    summaries = [key for key in keys if key.startswith("S")]
    for key in [key for key in keys if not key.startswith("S")] + summaries[:6]:
        viewer.go(f"/memories/{key}")
        expect(page.locator(".mhead .id")).to_have_text(f"#{key}")
    page.locator(".trail summary").first.click()
    unharmed(page)


def test_texts_arrive_whole_with_what_hides_made_visible(viewer: Viewer, scene: Any) -> None:
    page = viewer.open("/memories?q=backwards")
    expect(page.locator(".row .title bdi").first).to_contain_text("\u27e8U+202E\u27e9evil.exe")
    script = scene[1][0]
    viewer.go("/memories")
    page.get_by_role("searchbox").fill("owned=1")
    expect(page.locator(".row mark").first).to_be_visible()
    found = viewer.live.ask("GET", "/api/memories?limit=200").json["items"]
    key = next(card["key"] for card in found if card["title"] == script and not card["key"].startswith("S"))
    viewer.go(f"/memories/{key}")
    expect(page.locator(".mtitle")).to_have_text(script)
    expect(page.locator(".prose").first).to_have_text(script)
    unharmed(page)


def test_a_title_of_a_megabyte_costs_one_line(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    huge = page.locator(".row").filter(has_text="\u27e8U+202E\u27e9<img src=x").first
    expect(huge).to_be_visible()
    assert len(huge.inner_text()) < 1000
    box = huge.bounding_box()
    assert box is not None
    assert box["height"] < 100
    huge.locator("a").click()
    expect(page.locator(".mtitle")).to_contain_text("<img src=x")
    expect(page.locator(".type").first).to_be_visible()
    unharmed(page)


PAGES = ("/", "/sessions", "/session/1", "/queue", "/status", "/settings", "/tv", "/memories?state=deleted")


def test_every_page_is_unharmed(viewer: Viewer) -> None:
    keys = all_keys(viewer.live)
    page = viewer.open("/memories")
    viewer.live.ask("POST", "/api/memories/bulk", {"keys": keys[-3:], "action": "delete"})
    for path in PAGES:
        viewer.go(path)
        expect(page.locator("main")).to_contain_text("<" if path != "/status" else "Memory works")
        unharmed(page)


def test_menus_toasts_and_edits_are_unharmed(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    page.get_by_role("button", name="Project", exact=True).click()
    expect(page.locator(".pop [role=option]").first).to_contain_text("p")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Type").click()
    expect(page.locator(".pop").get_by_text("<b>type</b>")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".rowlink").nth(4).click()
    expect(page.locator(".mtitle")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("Title").or_(page.get_by_label("What was asked")).fill("<script>window.__owned=1</script>")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".mtitle")).to_have_text("<script>window.__owned=1</script>")
    unharmed(page)


def test_what_comes_over_the_stream_is_unharmed(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    page.wait_for_selector(".row")
    forged = "data: x\n\nevent: new_observation\ndata: {\"title\":\"forged\"}\n\n<img src=x onerror=window.__owned=1>"
    viewer.live.ask("POST", "/api/memory/save", {"text": forged, "title": forged, "project": "stream"})
    expect(page.locator(".row").filter(has_text="event: new_observation").first).to_be_visible()
    unharmed(page)


def test_the_page_can_make_no_markup_of_text(viewer: Viewer) -> None:
    """Trusted types: whoever tries it gets an error, not a document."""
    page = viewer.open("/memories")
    for attempt in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "document.write('x')",
        "new DOMParser().parseFromString('<b>x</b>', 'text/html')",
        "trustedTypes.createPolicy('mine', { createHTML: (x) => x })",
    ):
        stopped = page.evaluate(f"(() => {{ try {{ {attempt}; return false; }} catch {{ return true; }} }})()")
        assert stopped, attempt
    viewer.faults.clear()  # what the browser says of the attempts above
