"""Everything that a person does on the page, in a real browser with a real worker."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from claude_mem_core.providing.ledger import Account, Cost, Ledger
from claude_mem_core.testing.worker import LiveWorker, start
from tests.viewer_kit import NARROW, Seeded, Viewer, browser, seed, viewing, worker
from tests.worker_home import Home, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def scene() -> Iterator[tuple[LiveWorker, Seeded]]:
    with worker(seed) as (live, made):
        yield live, made


@pytest.fixture(scope="module")
def tab(chrome: Browser, scene: tuple[LiveWorker, Seeded]) -> Iterator[Viewer]:
    with viewing(chrome, scene[0]) as made:
        yield made


@pytest.fixture
def viewer(tab: Viewer) -> Iterator[Viewer]:
    tab.start_over()
    yield tab
    tab.check()


def titles(page: Page) -> list[str]:
    """The rows of the list that have their words, from the top."""
    rows = page.locator(".row:not(.bare)").all()
    found = sorted((int(row.get_attribute("data-i") or 0), row.locator(".title bdi, .title i").last.inner_text()) for row in rows)
    return [title for _, title in found]


def save(live: LiveWorker, title: str, text: str = "said by hand", project: str = "atlas-api") -> int:
    body = {"text": text, "title": title, "project": project}
    return int(live.ask("POST", "/api/memory/save", body).json["id"])


def toast(page: Page, words: str) -> None:
    expect(page.locator(".toast")).to_contain_text(words)


# The way in -------------------------------------------------------------------------------


def test_the_code_leaves_the_address_and_nothing_is_kept_but_the_session(viewer: Viewer) -> None:
    page = viewer.open("/memories")
    assert "#" not in page.url
    assert viewer.context.cookies() == []
    kept = page.evaluate("[Object.keys(localStorage), Object.keys(sessionStorage)]")
    assert kept == [[], ["mem.session"]]
    page.reload()
    expect(page.locator(".row").first).to_be_visible()


def test_without_a_session_the_page_asks_for_a_code(viewer: Viewer) -> None:
    page = viewer.page
    page.goto(f"{viewer.base}/memories/1#not-a-code-that-was-ever-given")
    expect(page.get_by_role("heading", name="This page is locked")).to_be_visible()
    expect(page.locator(".fault")).to_contain_text("mem open")
    printed = Home(viewer.live.paths).mem("open", "--print").stdout.split()[-1]
    assert printed.startswith(f"{viewer.base}/#")
    page.get_by_role("textbox").fill(printed)
    page.get_by_role("button", name="Open").click()
    expect(page.locator(".mtitle")).to_be_visible()


def test_a_new_tab_is_locked(viewer: Viewer) -> None:
    viewer.open()
    other = viewer.context.new_page()
    other.goto(f"{viewer.base}/memories")
    expect(other.get_by_role("heading", name="This page is locked")).to_be_visible()


# The list ---------------------------------------------------------------------------------


def test_what_is_stored_appears_by_itself(viewer: Viewer) -> None:
    page = viewer.open()
    page.wait_for_selector(".row")
    save(viewer.live, "It came while nobody read")
    expect(page.locator(".row").filter(has_text="It came while nobody read")).to_be_visible()
    assert titles(page)[0] == "It came while nobody read"
    assert page.locator(".newer").is_hidden()


def test_nothing_moves_while_somebody_reads(viewer: Viewer) -> None:
    page = viewer.open()
    page.locator(".rowlink").nth(2).click()
    expect(page.locator(".mtitle")).to_be_visible()
    before = titles(page)
    read = page.locator(".mtitle").inner_text()
    save(viewer.live, "It came while somebody read")
    expect(page.locator(".newer")).to_contain_text("1 new")
    assert titles(page) == before
    assert page.locator(".mtitle").inner_text() == read
    page.keyboard.press(".")
    expect(page.locator(".newer")).to_be_hidden()
    assert titles(page)[0] == "It came while somebody read"
    assert page.locator(".mtitle").inner_text() == read


def test_search_as_one_types(viewer: Viewer) -> None:
    page = viewer.open()
    page.keyboard.press("/")
    page.keyboard.type("refresh")
    expect(page.locator(".listhead")).to_contain_text("result")
    expect(page.locator(".row mark").first).to_have_text(re.compile("refresh", re.IGNORECASE))
    assert page.url.endswith("?q=refresh")
    expect(page.locator(".label").filter(has_text="Best match")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".rowlink[aria-current=true]")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.locator(".listhead")).to_contain_text("memories")
    page.keyboard.type("zeppelin")
    expect(page.locator(".note")).to_contain_text("Nothing matches \u201czeppelin\u201d")
    page.get_by_role("button", name="Clear", exact=True).last.click()
    expect(page.locator(".row").first).to_be_visible()


def test_filters_stand_in_the_address_and_back_works(viewer: Viewer) -> None:
    page = viewer.open()
    page.wait_for_selector(".row")
    page.get_by_role("button", name="Project", exact=True).click()
    page.get_by_role("option", name=re.compile("payments-worker")).click()
    page.wait_for_url(re.compile("project=payments-worker"))
    expect(page.locator(".row").filter(has_text="atlas-api")).to_have_count(0)
    page.get_by_role("button", name="Type").click()
    page.keyboard.type("dec")  # a short list takes no typing; the keys move in it
    page.get_by_role("option", name=re.compile("Decision")).click()
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("Amounts stay in minor units")
    page.reload()
    expect(page.locator(".row")).to_have_count(1)
    page.go_back()
    expect(page.locator(".row").nth(3)).to_be_visible()
    page.go_back()
    expect(page.locator(".row").filter(has_text="atlas-api").first).to_be_visible()


def test_a_filter_takes_several_values(viewer: Viewer) -> None:
    page = viewer.open("/memories?project=payments-worker")
    expect(page.locator(".row").filter(has_text="payments-worker").first).to_be_visible()
    page.locator("[data-name=project]").click()
    chosen = page.locator(".pop [role=option][aria-selected=true]")
    expect(chosen).to_have_count(1)
    page.get_by_role("option", name=re.compile("atlas-api")).click()
    expect(chosen).to_have_count(2)
    page.wait_for_url(re.compile("project=payments-worker&project=atlas-api"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-name=project]")).to_be_focused()
    expect(page.locator("[data-name=project]")).to_contain_text("2 projects")
    expect(page.locator(".row").filter(has_text="atlas-api").first).to_be_visible()
    expect(page.locator(".row").filter(has_text="payments-worker").first).to_be_visible()
    expect(page.locator(".row").filter(has_text="lighthouse-web")).to_have_count(0)
    page.locator("[data-name=type]").click()
    page.get_by_role("option", name=re.compile("Decision")).click()
    page.get_by_role("option", name=re.compile("Discovery")).click()
    page.keyboard.press("Escape")
    expect(page.locator("[data-name=type]")).to_contain_text("2 types")
    page.reload()
    expect(page.locator("[data-name=type]")).to_contain_text("2 types")
    page.get_by_role("searchbox").fill("refresh tokens")
    expect(page.locator(".row mark").first).to_be_visible()
    expect(page.locator(".row").filter(has_text="lighthouse-web")).to_have_count(0)


def test_dates_and_hosts_narrow_the_list(viewer: Viewer) -> None:
    page = viewer.open()
    page.get_by_role("button", name="Date", exact=True).click()
    page.get_by_role("option", name="Last 7 days").click()
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator(".row").filter(has_text="valid for 30 days")).to_have_count(0)
    page.get_by_role("button", name="Host").click()
    page.get_by_role("option", name=re.compile("Claude Code")).click()
    page.wait_for_url(re.compile("host=claude-code"))
    expect(page.locator(".row").filter(has_text="by hand")).to_have_count(0)


# One memory -------------------------------------------------------------------------------


def test_a_memory_shows_what_it_came_from(viewer: Viewer, scene: tuple[LiveWorker, Seeded]) -> None:
    page = viewer.open(f"/memories/{scene[1].newest}")
    panel = page.locator(".panel")
    expect(panel.locator(".mtitle")).to_contain_text("Refresh tokens rotate")
    expect(panel.locator("blockquote").first).to_contain_text("Think about two tabs")
    expect(panel.locator(".trail summary")).to_have_count(2)
    panel.locator(".trail summary").last.click()
    expect(panel.locator(".inside").last).to_contain_text("1 passed")
    panel.locator(".replaced").click()
    expect(panel.locator(".banner")).to_contain_text(f"Replaced by #{scene[1].newest}")
    panel.locator(".banner a").click()
    expect(panel.locator(".mtitle")).to_contain_text("Refresh tokens rotate")


def test_edit_keeps_the_words_before_and_undo_brings_them_back(viewer: Viewer) -> None:
    number = save(viewer.live, "Words to edit")
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".mtitle")
    page.keyboard.press("e")
    page.get_by_label("Title").fill("Edited words")
    page.get_by_label("Facts").fill("one fact\nanother fact")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".mtitle")).to_have_text("Edited words")
    expect(page.locator(".facts li")).to_have_text(["one fact", "another fact"])
    expect(page.locator(".row").filter(has_text="Edited words")).to_be_visible()
    expect(page.locator(".done")).to_contain_text("Edited")
    toast(page, "The words before are kept")
    page.keyboard.press("z")
    expect(page.locator(".mtitle")).to_have_text("Words to edit")
    assert viewer.memory(number)["fields"]["facts"] == []


def test_two_people_who_edit_at_once_see_both_versions(viewer: Viewer) -> None:
    number = save(viewer.live, "Both edit this")
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".mtitle")
    page.keyboard.press("e")
    page.get_by_label("Title").fill("Mine")
    viewer.live.ask("PATCH", f"/api/memories/{number}", {"title": "Theirs"})
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".conflict")).to_contain_text("Theirs")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator(".mtitle")).to_have_text("Mine")
    assert viewer.memory(number)["fields"]["title"] == "Mine"


def test_words_that_are_not_saved_are_not_lost_by_a_key(viewer: Viewer) -> None:
    number = save(viewer.live, "Half edited")
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".mtitle")
    page.keyboard.press("e")
    page.get_by_label("Title").fill("Not saved")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Your words are not saved.")).to_be_visible()
    page.get_by_role("button", name="Drop them").click()
    expect(page.locator(".mtitle")).to_have_text("Half edited")


def test_delete_opens_the_next_one_and_undo_brings_it_back(viewer: Viewer) -> None:
    number = save(viewer.live, "To be deleted")
    page = viewer.open()
    page.locator(".rowlink").filter(has_text="To be deleted").click()
    expect(page.locator(".mtitle")).to_have_text("To be deleted")
    page.keyboard.press("#")
    toast(page, f"Deleted #{number}")
    expect(page.locator(".row").filter(has_text="To be deleted")).to_have_count(0)
    expect(page.locator(".mtitle")).not_to_have_text("To be deleted")
    assert viewer.live.ask("GET", f"/api/memories/{number}").status == 404
    page.keyboard.press("z")
    expect(page.locator(".row").filter(has_text="To be deleted")).to_have_count(1)


def test_what_was_deleted_is_listed_and_comes_back(viewer: Viewer) -> None:
    number = save(viewer.live, "Deleted yesterday")
    viewer.live.ask("DELETE", f"/api/memories/{number}")
    page = viewer.open("/memories?state=deleted")
    page.locator(".rowlink").filter(has_text="Deleted yesterday").click()
    page.get_by_role("button", name="Bring back").click()
    toast(page, f"#{number} is back")
    expect(page.locator(".mtitle")).to_have_text("Deleted yesterday")


def test_pinned_and_wrong_say_so_everywhere(viewer: Viewer) -> None:
    number = save(viewer.live, "Pin me, then doubt me")
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".mtitle")
    row = page.locator(".row").filter(has_text="Pin me, then doubt me")
    page.keyboard.press("p")
    expect(row.locator(".flag")).to_have_text("Pinned")
    expect(page.get_by_role("button", name="Unpin")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("w")
    expect(page.locator(".banner.bad")).to_contain_text("No session is given it")
    expect(row).to_have_class(re.compile("struck"))
    found = viewer.live.ask("GET", "/api/search?query=doubt").json["observations"]
    assert found == []
    page.get_by_role("button", name="It is right").click()
    expect(page.locator(".banner.bad")).to_have_count(0)
    assert viewer.memory(number)["flags"] == ["pinned"]


def test_several_at_once(viewer: Viewer) -> None:
    for number in range(3):
        save(viewer.live, f"One of several {number}", project="several")
    page = viewer.open("/memories?project=several")
    expect(page.locator(".row")).to_have_count(3)
    page.locator(".ticon").nth(0).click()
    page.locator(".ticon").nth(1).click()
    expect(page.locator(".bulkbar")).to_contain_text("2 selected")
    page.locator(".bulkbar").get_by_role("button", name="Delete").click()
    expect(page.locator(".row")).to_have_count(1)
    page.keyboard.press("z")
    expect(page.locator(".row")).to_have_count(3)


def test_all_of_a_filter_at_once(viewer: Viewer) -> None:
    """The filter is sent, with the number that was seen."""
    for number in range(4):
        save(viewer.live, f"One of all {number}", project="whole")
    page = viewer.open("/memories?project=whole")
    expect(page.locator(".row")).to_have_count(4)
    page.locator(".ticon").nth(0).click()
    bar = page.locator(".bulkbar")
    bar.get_by_role("button", name="All 4").click()
    expect(bar).to_contain_text("All 4 selected")
    with page.expect_request(lambda one: one.url.endswith("/bulk")) as sent:
        bar.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    body = sent.value.post_data_json
    assert body == {"filter": {"project": ["whole"]}, "count": 4, "action": "delete"}
    expect(page.locator(".row")).to_have_count(0)
    toast(page, "Deleted 4 memories")
    page.keyboard.press("z")
    expect(page.locator(".row")).to_have_count(4)


def forget_dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Forget for good")


def test_a_memory_is_forgotten_for_good_with_its_proof(viewer: Viewer) -> None:
    """First it says what would go; nothing goes before that was seen and agreed to."""
    words = "The vermilion lighthouse keeper's phone number"
    number = save(viewer.live, "Forget me wholly", words)
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".mtitle")
    page.keyboard.press("f")
    dialog = forget_dialog(page)
    expect(dialog.locator(".going")).to_contain_text("This goes: 1 memory")
    expect(dialog.locator(".going")).to_contain_text("Forget me wholly")
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert viewer.memory(number)["key"] == str(number)

    page.get_by_role("button", name="Forget for good").click()
    page.keyboard.press("Shift+Tab")  # from Cancel back to the field
    expect(dialog.get_by_label("whatever says exactly this")).to_be_focused()
    dialog.get_by_role("button", name="Forget for good").click()
    expect(dialog.get_by_role("heading", name="Forgotten")).to_be_focused()
    expect(dialog.locator(".proven")).to_have_text(
        re.compile(r"Proven: \d+ files of the data directory looked at, and the text is in none\.")
    )
    dialog.get_by_role("button", name="Close").click()
    expect(page.locator(".row").filter(has_text="Forget me wholly")).to_have_count(0)
    expect(page.locator(".mtitle")).not_to_have_text("Forget me wholly")
    assert viewer.live.ask("GET", f"/api/memories/{number}").status == 404
    files = [path for path in viewer.live.paths.data.rglob("*") if path.is_file()]
    assert [path for path in files if words.encode() in path.read_bytes()] == []


def test_a_selection_or_a_text_is_forgotten_and_the_proof_may_fail(viewer: Viewer) -> None:
    for number in range(3):
        save(viewer.live, f"Puce matter {number}", f"words of puce {number}", project="puce")
    page = viewer.open("/memories?project=puce")
    page.locator(".ticon").nth(0).click()
    page.keyboard.press("f")
    dialog = forget_dialog(page)
    expect(dialog.locator(".going")).to_contain_text("Puce matter 2")
    field = dialog.get_by_label("whatever says exactly this")
    field.fill("puc")
    expect(dialog.locator(".going")).to_contain_text("4 characters or more")
    expect(dialog.get_by_role("button", name="Forget for good")).to_be_disabled()
    mine = viewer.live.paths.data / "mine.txt"
    mine.write_text("words of puce 1, in a file of my own")
    field.fill("words of puce 1")
    expect(dialog.locator(".going")).to_contain_text("Puce matter 1")
    dialog.get_by_role("button", name="Forget for good").click()
    expect(dialog.get_by_role("heading", name="Not all of it is gone")).to_be_visible()
    expect(dialog.locator(".unproven")).to_have_text("The text is still in 1 place.")
    expect(dialog).to_contain_text(f"rm {mine}")
    mine.unlink()
    page.keyboard.press("Escape")
    expect(page.locator(".row")).to_have_count(2)

    page.locator(".ticon").nth(0).click()
    bar = page.locator(".bulkbar")
    bar.get_by_role("button", name="All 2").click()
    bar.get_by_role("button", name="Forget").click()
    expect(dialog.locator(".going")).to_contain_text("This goes: 2 memories")
    late = save(viewer.live, "Puce matter late", project="puce")
    dialog.get_by_role("button", name="Forget for good").click()
    expect(dialog.get_by_role("alert")).to_have_text("3 fit by now; look at them again")
    assert viewer.memory(late)["project"] == "puce"


def test_selected_memories_become_one_and_part_again(viewer: Viewer) -> None:
    older = save(viewer.live, "The cache holds an hour", "It was measured.", project="merging")
    newer = save(viewer.live, "The cache holds sixty minutes", "Since May.", project="merging")
    page = viewer.open("/memories?project=merging")
    expect(page.locator(".row")).to_have_count(2)
    page.locator(".ticon").nth(0).click()
    expect(page.locator(".bulkbar").get_by_role("button", name="Merge")).to_have_count(0)
    page.locator(".ticon").nth(1).click()
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name="Merge memories")
    choices = dialog.get_by_role("group", name="Which one stays?").get_by_role("radio")
    expect(choices.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(choices.nth(1)).to_be_checked()
    page.keyboard.press("Enter")
    toast(page, f"Merged 2 memories into #{older}")
    assert viewer.memory(newer)["replaced_by"] == str(older)
    assert viewer.memory(older)["fields"]["narrative"] == "It was measured.\n\nSince May."
    page.keyboard.press("z")
    until(lambda: viewer.memory(newer)["replaced_by"] is None)
    assert viewer.memory(older)["fields"]["narrative"] == "It was measured."
    other = save(viewer.live, "Of another project", project="apart")
    viewer.go("/memories?project=merging&project=apart")
    expect(page.locator(".row")).to_have_count(3)
    for name in ("The cache holds an hour", "Of another project"):
        page.get_by_role("listitem").filter(has_text=name).get_by_role("button").click()
        expect(page.locator(".row.picked").filter(has_text=name)).to_be_visible()
    page.locator(".bulkbar").get_by_role("button", name="Merge").click()
    dialog.get_by_role("button", name="Merge").click()
    expect(dialog.get_by_role("alert")).to_contain_text("project")
    assert viewer.memory(other)["replaced_by"] is None


def test_what_a_person_says_of_a_memory_moves_it(viewer: Viewer) -> None:
    number = save(viewer.live, "Say what you think of me")
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".verdict")
    useful, outdated = (page.get_by_role("button", name=name) for name in ("Useful", "Outdated"))
    useful.click()
    toast(page, "Marked useful")
    expect(useful).to_have_attribute("aria-pressed", "true")
    expect(useful).to_be_focused()
    assert viewer.memory(number)["useful"] == 1
    page.keyboard.press("z")
    expect(useful).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("o")
    expect(outdated).to_have_attribute("aria-pressed", "true")
    assert viewer.memory(number)["outdated"]
    page.keyboard.press("o")
    until(lambda: not viewer.memory(number)["outdated"])


def test_what_has_changed_since_is_confirmed(viewer: Viewer, scene: tuple[LiveWorker, Seeded]) -> None:
    number = scene[1].stale
    page = viewer.open(f"/memories/{number}?project=shop")
    banner = page.locator(".banner.warn")
    expect(banner).to_contain_text("Is it still true? conf.ini changed since.")
    expect(page.locator(".row").filter(has_text="port 8080").locator(".flag")).to_have_text("Verify")
    banner.get_by_role("button", name="Still true").click()
    toast(page, "it holds as things are now")
    expect(banner).to_have_count(0)
    assert viewer.memory(number)["verify"] == ""


def test_only_a_terminal_gives_a_memory_to_every_project(viewer: Viewer) -> None:
    number = save(viewer.live, "For every project")
    page = viewer.open(f"/memories/{number}")
    page.get_by_role("button", name="For every project").click()
    dialog = page.get_by_role("dialog", name="Every project")
    expect(dialog.locator(".command")).to_have_text(f"mem promote {number}")
    page.keyboard.press("Escape")
    body = {"typed": True, "confirmed": True}
    assert viewer.live.ask("POST", f"/api/personal/{number}", body).status == 200
    expect(page.locator(".mline")).to_contain_text("Every project")
    expect(page.get_by_role("button", name="In every project")).to_be_visible()


def test_a_change_in_another_place_is_seen(viewer: Viewer) -> None:
    number = save(viewer.live, "Changed elsewhere")
    page = viewer.open(f"/memories/{number}")
    page.wait_for_selector(".mtitle")
    viewer.live.ask("PATCH", f"/api/memories/{number}", {"title": "Changed on the command line"})
    expect(page.locator(".mtitle")).to_have_text("Changed on the command line")
    viewer.live.ask("DELETE", f"/api/memories/{number}")
    expect(page.locator(".panel")).to_contain_text(f"There is no memory #{number}")


def test_keys_move_through_the_list(viewer: Viewer) -> None:
    page = viewer.open()
    page.wait_for_selector(".row")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".row[data-i='1'] .rowlink")).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(page.locator(".row[data-i='2'] .rowlink")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("/memories$"))
    assert page.evaluate("document.activeElement.closest('.row').dataset.i") == "2"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url(re.compile("/status$"))
    page.keyboard.press("Control+k")
    page.keyboard.type("pinned")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("state=pinned"))


# The other pages ---------------------------------------------------------------------------


def test_my_work_is_checked_and_new_work_brings_it_back(viewer: Viewer) -> None:
    page = viewer.open("/")
    expect(page.locator(".g-needs")).to_contain_text("Shall I remove the old cookie")
    row = page.locator(".g-ready .wrow").filter(has_text="Who else calls")
    row.click()
    expect(page.locator(".mtitle")).to_have_text("Who else calls the callback?")
    page.get_by_role("button", name="Mark checked").click()
    expect(page.locator(".g-checked")).to_contain_text("Who else calls")
    page.keyboard.press("z")
    expect(page.locator(".g-ready")).to_contain_text("Who else calls")


def test_a_session_turn_by_turn(viewer: Viewer) -> None:
    page = viewer.open("/sessions")
    page.get_by_role("link", name="We charged twice.").click()
    expect(page.locator(".turns")).to_contain_text("Double charge on retry")
    page.locator(".turns a").first.click()
    page.wait_for_url(re.compile("/memories/"))
    expect(page.locator(".mtitle")).to_be_visible()


def test_dead_letters_are_retried(viewer: Viewer) -> None:
    page = viewer.open("/queue")
    expect(page.locator(".letters")).to_contain_text("the model gave no usable reply")
    expect(page.locator(".letters")).to_contain_text("2 pieces of work")
    page.locator(".letters").get_by_role("button", name="Retry").click()
    toast(page, "2 pieces of work are tried again")
    expect(page.get_by_text("No dead letters.")).to_be_visible()


def test_settings_are_previewed_checked_and_saved(viewer: Viewer) -> None:
    page = viewer.open("/settings")
    page.get_by_label("Project", exact=True).select_option("payments-worker")
    context = page.locator(".ctx")
    expect(context).to_contain_text("Amounts stay in minor units")
    page.get_by_role("combobox", name="Host", exact=True).select_option("claude-code")
    page.get_by_role("button", name="As sent").click()
    expect(context).to_contain_text('"hookEventName":')
    expect(context).to_contain_text("SessionStart")
    page.get_by_role("button", name="Text", exact=True).click()
    expect(context.locator(".hd").first).to_be_visible()
    field = page.get_by_label("Observations", exact=True)
    field.fill("1")
    expect(page.locator(".savebar")).to_contain_text("1 change, not saved")
    expect(context.locator(".del").first).to_be_visible()
    expect(page.locator(".ctxfacts b")).to_contain_text("tokens")
    field.fill("100000")
    field.blur()
    expect(page.locator(".st .fault").filter(has_text="from 1 to 200")).to_be_visible()
    field.fill("2")
    field.blur()
    page.get_by_role("button", name="Save", exact=True).click()
    toast(page, "Saved")
    key = "CLAUDE_MEM_CONTEXT_OBSERVATIONS"
    assert viewer.live.ask("GET", "/api/settings").json[key] == "2"
    page.keyboard.press("z")
    until(lambda: viewer.live.ask("GET", "/api/settings").json[key] == "50")
    page.get_by_label("Find a setting").fill("include all sources")
    expect(page.locator(".st[data-key]:visible")).to_have_count(1)


def test_leaving_with_changes_asks(viewer: Viewer) -> None:
    page = viewer.open("/settings")
    page.get_by_label("Session count").fill("7")
    page.get_by_role("link", name="Memories", exact=True).click()
    expect(page.get_by_text("Your changes are not saved.")).to_be_visible()
    page.get_by_role("button", name="Drop them").click()
    expect(page.locator(".row").first).to_be_visible()


def test_health_names_what_is_wrong_and_shows_the_log(viewer: Viewer) -> None:
    page = viewer.open("/status")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Memory works")
    expect(page.locator(".hosts")).to_contain_text("Claude Code")
    page.get_by_text("Log of today").click()
    expect(page.locator(".log")).to_contain_text("started, pid")


def test_usage_says_when_there_is_none_and_what_was_used(
    viewer: Viewer, scene: tuple[LiveWorker, Seeded]
) -> None:
    page = viewer.open("/usage")
    expect(page.get_by_text("No model was asked for anything.")).to_be_visible()
    ledger = Ledger(scene[0].paths.data / "usage.db")
    day = time.strftime("%Y-%m-%d", time.gmtime())
    for model, tokens in (("small-model", 1_200), ("large-model", 40_000)):
        account = Account(day=day, provider="gemini", model=model, project=1)
        ledger.add(account, Cost(calls=1, input=tokens, output=100, cost=0.02))
    ledger.close()
    viewer.go("/sessions")
    viewer.go("/usage")
    expect(page.locator(".bigline b")).to_have_text("41,400")
    expect(page.locator(".bars li").filter(has_text="large-model")).to_contain_text("about $0.02")
    viewer.shot("usage-wide-light")


def test_the_tv_shows_titles_only(viewer: Viewer) -> None:
    viewer.open("/")
    page = viewer.go("/tv")
    save(viewer.live, "Seen across the room", "words that stay here")
    expect(page.locator(".tvnow h1")).to_have_text("Seen across the room")
    assert "words that stay here" not in page.content()
    assert page.locator(".rail").is_hidden()


def test_the_theme_is_kept(viewer: Viewer) -> None:
    page = viewer.open()
    page.get_by_role("radio", name="Dark").click()
    page.reload()
    page.wait_for_selector(".row")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 16, 18)"
    assert page.evaluate("Object.keys(localStorage)") == ["mem.theme"]


def test_on_a_phone_a_memory_is_a_page_of_its_own(chrome: Browser, scene: tuple[LiveWorker, Seeded]) -> None:
    with viewing(chrome, scene[0], NARROW, has_touch=True) as viewer:
        page = viewer.open()
        page.locator(".rowlink").first.tap()
        expect(page.locator(".mtitle")).to_be_visible()
        expect(page.locator(".list")).to_be_hidden()
        page.get_by_role("link", name="Back to the list").tap()
        expect(page.locator(".row").first).to_be_visible()
        for path in ("/", "/memories", "/sessions", "/queue", "/status", "/usage", "/settings"):
            viewer.go(path)
            wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
            assert not wide, path


# The worker goes and comes back -------------------------------------------------------------


def free_port() -> int:
    """One that no program gets by chance while the worker is away: below those given out."""
    for port in range(20_000 + os.getpid() % 10_000, 31_000):
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def test_the_page_waits_for_a_worker_that_went(chrome: Browser) -> None:
    port = free_port()
    with worker(seed, port) as (live, _), viewing(chrome, live) as viewer:
        page = viewer.open()
        page.wait_for_selector(".row")
        live.kill()
        expect(page.locator(".offline")).to_contain_text("The worker does not answer")
        expect(page.locator(".row").first).to_be_visible()
        with page.expect_request(lambda one: one.url.endswith("/stream")):
            page.get_by_role("button", name="Try now").click()
        again = start(live.paths, tcp=True, port=port)
        try:
            # It tries by itself. Sessions die with their worker; it says how to get in again.
            locked = page.get_by_role("heading", name="This page is locked")
            expect(locked).to_be_visible(timeout=60_000)
            code = again.ask("POST", "/api/admin/open", {}).json["code"]
            page.get_by_role("textbox").fill(code)
            page.get_by_role("button", name="Open").click()
            expect(page.locator(".row").first).to_be_visible()
            save(again, "After the restart")
            expect(page.locator(".row").filter(has_text="After the restart")).to_be_visible()
        finally:
            again.stop()
        viewer.faults.clear()  # the browser says of each try that nobody answered
