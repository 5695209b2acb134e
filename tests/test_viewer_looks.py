"""How the pages look and whether everybody can use them; pictures are kept for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from claude_mem_core.testing.worker import LiveWorker
from tests.viewer_kit import (
    FOUR_K,
    NARROW,
    WIDE,
    Seeded,
    Viewer,
    browser,
    seed,
    viewing,
    worker,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
SIZES = {"wide": WIDE, "narrow": NARROW, "tablet": (820, 1100), "4k": FOUR_K}
LARGE = {"work", "memory", "settings", "tv"}  # pictures of this size take long
# Of the second theme the pages that have colours and forms of their own; axe takes long.
AGAIN = {"work", "memories", "memory", "queue", "status", "settings", "tv"}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def scene() -> Iterator[tuple[LiveWorker, Seeded]]:
    with worker(seed) as (live, made):
        live.ask("POST", f"/api/memories/{made.older}/pin", {})
        live.ask("POST", f"/api/memories/{made.older - 1}/wrong", {})
        live.ask("PATCH", f"/api/memories/{made.newest}", {"subtitle": "Since the audit of May"})
        yield live, made


def pages(made: Seeded) -> dict[str, tuple[str, str]]:
    """Address of each page, and what is there once it is drawn."""
    return {
        "work": ("/", ".wrow"),
        "memories": ("/memories", ".row:not(.bare)"),
        "memory": (f"/memories/{made.newest}", ".evidence"),
        "search": ("/memories?q=callback", ".row mark"),
        "nothing": ("/memories?q=zeppelin", ".empty .big"),
        "deleted": ("/memories?state=deleted", ".empty .big"),
        "sessions": ("/sessions", ".grid"),
        "session": ("/session/3", ".turns"),
        "queue": ("/queue", ".letters"),
        "usage": ("/usage", ".phead"),
        "status": ("/status", ".hosts"),
        "settings": ("/settings", ".ctx .ln"),
        "tv": ("/tv", ".tvnow"),
    }


def shown(viewer: Viewer, path: str, sign: str) -> Page:
    page = viewer.go(path)
    expect(page.locator(sign).first).to_be_attached()
    return page


def violations(page: Page) -> list[Any]:
    """What axe finds, each with the first place."""
    options = {"runOnly": {"type": "tag", "values": RULES}}
    found = Axe().run(page, options=options).response["violations"]
    return [
        (one["id"], one["help"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary", "")[:300])
        for one in found
    ]


@pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("narrow", "dark")])
def test_axe_finds_nothing(
    chrome: Browser, scene: tuple[LiveWorker, Seeded], size: str, theme: str
) -> None:
    with viewing(chrome, scene[0], SIZES[size], color_scheme=theme) as viewer:
        viewer.open("/memories")
        found = {}
        for name, (path, sign) in pages(scene[1]).items():
            page = shown(viewer, path, sign)
            viewer.shot(f"{name}-{size}-{theme}")
            if (theme == "light" or name in AGAIN) and (wrong := violations(page)):
                found[name] = wrong
        assert found == {}


@pytest.mark.parametrize(
    ("size", "theme"),
    [("wide", "dark"), ("narrow", "light"), ("tablet", "light"), ("4k", "light")],
)
def test_every_size_shows_the_same_things(
    chrome: Browser, scene: tuple[LiveWorker, Seeded], size: str, theme: str
) -> None:
    with viewing(chrome, scene[0], SIZES[size], color_scheme=theme) as viewer:
        viewer.open("/memories")
        for name, (path, sign) in pages(scene[1]).items():
            if size == "4k" and name not in LARGE:
                continue
            page = shown(viewer, path, sign)
            viewer.shot(f"{name}-{size}-{theme}")
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), name


def test_open_menus_dialogs_and_forms_can_be_used_by_everybody(
    chrome: Browser, scene: tuple[LiveWorker, Seeded]
) -> None:
    with viewing(chrome, scene[0]) as viewer:
        page = viewer.open(f"/memories/{scene[1].newest}")
        page.wait_for_selector(".evidence")
        found = {}

        def look(name: str) -> None:
            viewer.shot(f"{name}-wide-light")
            if wrong := violations(page):
                found[name] = wrong

        page.get_by_role("button", name="Type").click()
        page.wait_for_selector(".pop [role=option]")
        look("menu")
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.dataset.name") == "type"
        page.keyboard.press("Control+k")
        look("palette")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        look("keys")
        page.keyboard.press("Escape")
        page.keyboard.press("e")
        look("edit")
        page.keyboard.press("Escape")
        page.keyboard.press("f")
        page.wait_for_selector(".going .plainlist")
        look("forget")
        page.keyboard.press("Escape")
        for _ in range(2):
            page.locator(".ticon:not(.type-summary, .tick)").first.click()
        page.keyboard.press("m")
        page.wait_for_selector(".choices")
        look("merge")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.keyboard.press("p")
        page.wait_for_selector(".toast")
        look("toast")
        assert found == {}


def test_what_is_asked_fits_a_phone_in_the_dark(
    chrome: Browser, scene: tuple[LiveWorker, Seeded]
) -> None:
    with viewing(chrome, scene[0], NARROW, color_scheme="dark") as viewer:
        page = viewer.open("/memories?type=decision")
        expect(page.locator(".row")).to_have_count(2)
        for row in range(2):
            page.locator(".ticon").nth(row).click()
        found = {}

        def look(name: str) -> None:
            viewer.shot(f"{name}-narrow-dark")
            wide = page.evaluate("[document.documentElement, ...document.querySelectorAll('dialog, .bulkbar')]"
                                 ".some((el) => el.scrollWidth > Math.min(innerWidth, el.clientWidth))")  # fmt: skip
            if wrong := [*violations(page), *(["too wide"] if wide else [])]:
                found[name] = wrong

        page.get_by_role("button", name="Merge").click()
        page.wait_for_selector(".choices")
        look("merge")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Forget").click()
        page.wait_for_selector(".going .plainlist")
        look("forget")
        page.keyboard.press("Escape")
        viewer.go(f"/memories/{scene[1].newest}")
        page.get_by_role("button", name="For every project").click()
        look("everywhere")
        assert found == {}


def test_a_screen_reader_gets_names_places_and_news(
    chrome: Browser, scene: tuple[LiveWorker, Seeded]
) -> None:
    with viewing(chrome, scene[0]) as viewer:
        page = viewer.open("/memories")
        page.wait_for_selector(".row:not(.bare)")
        assert page.get_by_role("navigation", name="Pages").count() == 1
        assert page.get_by_role("main").count() == 1
        assert page.get_by_role("heading", level=1).count() == 1
        item = page.get_by_role("listitem").filter(has_text="Refresh tokens rotate").first
        assert item.get_attribute("aria-posinset") == "1"
        assert int(item.get_attribute("aria-setsize") or 0) > 8
        link = page.locator(".rowlink").first
        assert link.inner_text().startswith("Decision")
        assert page.locator(".rowlink[tabindex='0']").count() == 1
        page.get_by_role("searchbox").fill("callback")
        expect(page.locator("#say")).to_contain_text("result")
        page.get_by_role("link", name="Sessions", exact=True).click()
        expect(page.locator("#say")).to_have_text("Sessions")


def test_200_percent_and_320_pixels(chrome: Browser, scene: tuple[LiveWorker, Seeded]) -> None:
    """A zoom of 400 % at 1280 is a window of 320."""
    with viewing(chrome, scene[0], (320, 480)) as viewer:
        viewer.open("/memories")
        for path, sign in pages(scene[1]).values():
            page = shown(viewer, path, sign)
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), path


def test_a_list_that_can_be_read_without_colours(chrome: Browser, scene: tuple[LiveWorker, Seeded]) -> None:
    with viewing(chrome, scene[0], forced_colors="active") as viewer:
        page = viewer.open("/memories?state=wrong")
        expect(page.locator(".row .flag")).to_have_text("Wrong")
        viewer.shot("wrong-forced-colours")
