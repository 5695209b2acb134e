"""A hundred thousand memories: the page holds what can be seen, wherever one looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from claude_mem_core.testing.worker import LiveWorker
from tests.viewer_kit import Viewer, browser, many, viewing, worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
COUNT = 100_000
ROWS = "document.querySelectorAll('.row').length"


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with worker(lambda paths: many(paths, COUNT)) as (made, _):
        yield made


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def tab(chrome: Browser, live: LiveWorker) -> Iterator[Viewer]:
    with viewing(chrome, live) as made:
        yield made


@pytest.fixture
def viewer(tab: Viewer) -> Iterator[Viewer]:
    tab.start_over()
    yield tab
    tab.check()


def titles(page: Page) -> list[int]:
    """Numbers of the memories on the screen, from the top."""
    rows = page.locator(".row:not(.bare)").evaluate_all(
        "rows => rows.map((row) => [Number(row.dataset.i), row.querySelector('.title').textContent])"
    )
    return [int(re.findall(r"number (\d+)", title)[0]) for _, title in sorted(rows)]


def settled(page: Page) -> None:
    expect(page.locator(".row:not(.bare)").first).to_be_attached()
    expect(page.locator(".row.bare")).to_have_count(0)


def test_the_first_screen_takes_one_answer(viewer: Viewer) -> None:
    asked: list[str] = []
    viewer.page.on("request", lambda one: asked.append(one.url) if "/api/memories" in one.url or "start" in one.url else None)
    page = viewer.open("/memories")
    settled(page)
    expect(page.locator(".listhead .count")).to_have_text("100,000 memories")
    assert page.evaluate(ROWS) < 60
    lists = [url for url in asked if "/api/memories?" in url or "start" in url or "outline" in url]
    assert len(lists) == 1, "days, counts and the first rows come together"
    assert titles(page)[:3] == [COUNT - 1, COUNT - 2, COUNT - 3]


def test_every_place_is_reached_and_is_in_order(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    settled(page)
    for share in (0.25, 0.5, 0.999, 1.0, 0.1):
        page.evaluate(
            "(share) => { const box = document.querySelector('.scroller'); box.scrollTop = share * box.scrollHeight; }", share
        )
        page.wait_for_function(
            """(share) => { const box = document.querySelector('.scroller');
            const rows = [...document.querySelectorAll('.row')];
            const top = box.getBoundingClientRect();
            return rows.some((row) => { const at = row.getBoundingClientRect();
              return at.top < top.bottom && at.bottom > top.top; })
              && document.querySelectorAll('.row.bare').length === 0; }""",
            arg=share,
        )
        shown = titles(page)
        assert len(shown) > 10
        assert shown == sorted(shown, reverse=True)
        assert len(set(shown)) == len(shown)
        expected = round((1 - min(share, 1)) * COUNT)
        assert any(abs(number - expected) < 600 for number in shown), (share, shown[:3])
        assert page.evaluate(ROWS) < 60
    page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
    settled(page)
    page.wait_for_function("() => [...document.querySelectorAll('.row')].some((row) => row.dataset.i === '99999')")
    assert titles(page)[-1] == 0


def test_fast_scrolling_ends_what_was_passed(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    settled(page)
    page.evaluate("""async () => {
      const box = document.querySelector('.scroller');
      for (let n = 0; n < 120; n += 1) { box.scrollTop += 40_000; await new Promise(requestAnimationFrame); }
    }""")
    settled(page)
    assert page.evaluate(ROWS) < 60
    kept: Any = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize : 0")
    assert kept < 60_000_000


def test_nothing_shifts_while_it_loads(viewer: Viewer) -> None:
    viewer.page.add_init_script("""
      window.__shift = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) window.__shift += one.value; })
        .observe({ type: 'layout-shift', buffered: true });
    """)
    page = viewer.open("/memories")
    settled(page)
    page.mouse.move(400, 500)
    page.mouse.wheel(0, 3000)
    settled(page)
    assert page.evaluate("window.__shift") < 0.01


def test_a_day_of_the_picture_and_a_deep_link(viewer: Viewer) -> None:
    page = viewer.open("/memories/50000")
    expect(page.locator(".mtitle")).to_have_text("Memory number 49999 of many")
    page.locator(".strip rect").nth(40).click()
    settled(page)
    assert abs(titles(page)[0] - COUNT * 41 // 90) < 3000


def test_search_and_filters_over_all_of_them(viewer: Viewer) -> None:
    page = viewer.open("/memories?type=decision")
    settled(page)
    expect(page.locator(".listhead .count")).to_have_text(re.compile("16,66[67] memories"))
    numbers = titles(page)
    assert {number % 6 for number in numbers} == {4}
    page.get_by_role("searchbox").fill("words 451")
    expect(page.locator(".row mark").first).to_be_attached()
    expect(page.locator(".listhead")).to_contain_text("result")
    assert page.evaluate(ROWS) < 60
