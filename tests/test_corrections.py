"""Editing, deleting, pinning, marking wrong, and taking it back: in the store, over HTTP, by command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import NotFound
from claude_mem_core.store import correct, memories, trash
from claude_mem_core.types import DocKind, Draft, Observed, SummaryDraft
from tests.store_home import Home, opened
from tests.worker_home import Home as Commands
from tests.worker_home import home as commands

O, S = DocKind.OBSERVATION, DocKind.SUMMARY
DAY = 86_400_000


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as made:
        yield made


def turn(home: Home, title: str = "First words", **more: Any) -> int:
    """One turn with a tool use; returns the id of its memory."""
    home.prompt(f"do {title}", id_of(home))
    home.tool(f"t{title}", id_of(home) + 10)
    home.stop("done", id_of(home) + 20)
    (work,) = home.claim(id_of(home) + 30, force=True)
    draft = Draft(type="decision", title=title, narrative="Old text", facts=("a", "b"),
                  files_modified=("src/a.py",), events=work.event_ids, **more)  # fmt: skip
    summary = SummaryDraft(request="asked", completed="did it", events=work.event_ids)
    return home.keep(work, Observed(observations=(draft,), summary=summary)).observations[0].id


def id_of(home: Home) -> int:
    return int(home.value("SELECT count(*) FROM user_prompts")) * 1000


def everything(home: Home) -> dict[str, list[Any]]:
    """All that a memory's deletion touches, but its revision."""
    tables = {
        "observations": "id, title, narrative, facts, superseded_by, trust, created_at_epoch",
        "evidence": "*", "memory_files": "*", "tool_uses": "id, observation_id", "pins": "*",
        "totals": "*", "events": "id, payload",
    }  # fmt: skip
    return {t: sorted(home.rows(f"SELECT {c} FROM {t}"), key=repr) for t, c in tables.items()}


# The store -----------------------------------------------------------------------------------


def test_an_edit_keeps_the_words_before_and_counts(home: Home) -> None:
    number = turn(home)
    words = {"title": "New words", "facts": ["c"]}
    done = home.write(lambda conn: correct.edit(conn, O, number, words, 1, home.now))
    assert done.rev == 2
    found = home.store.read(lambda conn: memories.observation(conn, number))
    assert (found.title, found.facts, found.narrative) == ("New words", ("c",), "Old text")
    with pytest.raises(correct.Changed, match="in the meantime"):
        home.write(lambda conn: correct.edit(conn, O, number, {"title": "Late"}, 1, home.now))
    home.write(lambda conn: correct.undo(conn, done.undo, home.now))
    found = home.store.read(lambda conn: memories.observation(conn, number))
    assert (found.title, found.facts) == ("First words", ("a", "b"))
    with pytest.raises(NotFound, match="taken back already"):
        home.write(lambda conn: correct.undo(conn, done.undo, home.now))


@pytest.mark.parametrize("words", [{"id": "9"}, {"title": "x", "trust": "user"}, {"request": "x"}])
def test_only_words_can_be_edited(home: Home, words: dict[str, Any]) -> None:
    number = turn(home)
    with pytest.raises(NotFound, match="can be edited"):
        home.write(lambda conn: correct.edit(conn, O, number, words, None, home.now))


def test_an_edit_of_nothing_changes_nothing(home: Home) -> None:
    number = turn(home)
    done = home.write(lambda conn: correct.edit(conn, O, number, {}, None, home.now))
    assert (done.undo, done.rev) == (0, 1)
    assert home.rows("SELECT 1 FROM corrections") == []


def test_search_follows_an_edit(home: Home) -> None:
    number = turn(home)
    home.write(lambda conn: conn.execute("DELETE FROM changes").fetchall())
    home.write(lambda conn: correct.edit(conn, O, number, {"title": "x"}, None, home.now))
    assert home.rows("SELECT kind, record_id, op FROM changes") == [("observation", number, "put")]


def test_a_deleted_memory_comes_back_whole(home: Home) -> None:
    old = turn(home, "Older")
    number = turn(home, "Newer", supersedes=(old,))
    home.write(lambda conn: correct.pin(conn, O, number, home.now))
    before = everything(home)
    done = home.write(lambda conn: correct.delete(conn, O, number, home.now))
    gone = everything(home)
    assert number not in [row[0] for row in gone["observations"]]
    assert gone["pins"] == []
    assert [row for row in gone["evidence"] if row[1] == number and row[0] == "observation"] == []
    assert {r[0]: r[4] for r in gone["observations"]}[old] is None, "what it replaced holds again"
    home.write(lambda conn: correct.undo(conn, done.undo, home.now))
    assert everything(home) == before


def test_what_was_deleted_is_forgotten_after_a_week(home: Home) -> None:
    number = turn(home)
    summary = home.value("SELECT id FROM session_summaries")
    done = home.write(lambda conn: correct.delete(conn, O, number, home.now))
    home.write(lambda conn: correct.delete(conn, S, summary, home.now))
    assert home.write(lambda conn: correct.purge(conn, home.now + 6 * DAY)) == 0
    assert len(home.store.read(lambda conn: trash.listed(conn, 9))) == 2
    assert home.write(lambda conn: correct.purge(conn, home.now + 8 * DAY)) == 2
    with pytest.raises(NotFound, match="for good"):
        home.write(lambda conn: correct.undo(conn, done.undo, home.now))
    left = [row[0] for row in home.rows("SELECT before FROM corrections") if row[0]]
    assert left == []
    assert home.value("SELECT count(*) FROM tool_uses") == 0, "nothing else rests on them"


def test_deleting_for_good_takes_earlier_words_along(home: Home) -> None:
    number = turn(home)
    home.write(lambda conn: correct.edit(conn, O, number, {"title": "x"}, None, home.now))
    home.write(lambda conn: memories.delete(conn, O, number))
    assert home.rows("SELECT before FROM corrections") == []


def test_a_session_takes_its_corrections_and_its_trash_along(home: Home) -> None:
    number = turn(home)
    home.write(lambda conn: correct.delete(conn, O, number, home.now))
    home.write(lambda conn: memories.delete_session(conn, 1, home.now))
    assert home.rows("SELECT 1 FROM corrections") == []


def test_wrong_is_no_successor_and_stays_when_it_is_observed_again(home: Home) -> None:
    number = turn(home)
    first = home.write(lambda conn: correct.mark_wrong(conn, O, number, home.now))
    again = home.write(lambda conn: correct.mark_wrong(conn, O, number, home.now))
    assert again.undo == first.undo, "it was so already"
    home.write(lambda conn: conn.execute("UPDATE observations SET sync_rev = 'opaque'").fetchall())
    assert home.write(lambda conn: correct.mark_right(conn, O, number, home.now)).rev == 1
    assert home.value("SELECT superseded_by FROM observations WHERE id = ?", number) is None


def test_the_newest_change_goes_first(home: Home) -> None:
    number = turn(home)
    first = home.write(lambda conn: correct.edit(conn, O, number, {"title": "1"}, None, home.now))
    home.write(lambda conn: correct.edit(conn, O, number, {"title": "2"}, None, home.now))
    with pytest.raises(correct.Changed, match="newer change"):
        home.write(lambda conn: correct.undo(conn, first.undo, home.now))
    for expected in ("1", "First words"):
        home.write(lambda conn: correct.undo(conn, None, home.now))
        assert home.value("SELECT title FROM observations WHERE id = ?", number) == expected
    with pytest.raises(NotFound, match="nothing to take back"):
        home.write(lambda conn: correct.undo(conn, None, home.now))


def test_a_pin_goes_and_comes(home: Home) -> None:
    number = turn(home)
    home.write(lambda conn: correct.pin(conn, O, number, home.now))
    done = home.write(lambda conn: correct.unpin(conn, O, number, home.now))
    assert not home.store.read(lambda conn: correct.pinned(conn, O, number))
    home.write(lambda conn: correct.undo(conn, done.undo, home.now))
    assert home.store.read(lambda conn: correct.pinned(conn, O, number))


@pytest.mark.parametrize("act", [correct.pin, correct.unpin, correct.mark_wrong, correct.mark_right, correct.delete])
def test_what_is_not_there_is_named(home: Home, act: Any) -> None:
    with pytest.raises(NotFound, match="#S9 not found"):
        home.write(lambda conn: act(conn, S, 9, home.now))
    assert home.rows("SELECT 1 FROM corrections") == []


# By command, with a worker ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def mem() -> Iterator[Commands]:
    with commands() as made:
        made.mem("start")
        yield made


def client(mem: Commands) -> Any:
    from claude_mem_core.cli.client import WorkerClient

    return WorkerClient(mem.paths)


def keep(mem: Commands, title: str, project: str = "corrected") -> str:
    body = {"text": f"text of {title}", "title": title, "project": project}
    return str(client(mem).post("/api/memory/save", body)["id"])


@pytest.mark.slow
def test_the_commands(mem: Commands) -> None:
    key = keep(mem, "By command")
    assert "edited" in mem.mem("edit", key, "--title", "Edited by command", "--fact", "one").stdout
    assert client(mem).get(f"/api/memories/{key}")["fields"]["facts"] == ["one"]
    assert "pinned" in mem.mem("pin", f"#{key}").stdout
    assert client(mem).get(f"/api/memories/{key}")["flags"] == ["pinned"]
    deleted = mem.mem("delete", key)
    assert "mem undo" in deleted.stdout
    number = deleted.stdout.split()[-1]
    gone = mem.mem("delete", key)
    assert gone.returncode == 1
    assert f"#{key} not found" in gone.stderr
    assert "taken back (delete)" in mem.mem("undo", number).stdout
    assert "not pinned" in mem.mem("unpin", key).stdout
    assert "marked wrong" in mem.mem("wrong", key).stdout
    assert "not marked wrong" in mem.mem("wrong", "--not", key).stdout
    assert mem.mem("edit", key).returncode == 2
    assert mem.mem("undo", "999999").returncode == 1


def test_several_are_changed_all_or_none(mem: Commands) -> None:
    key = keep(mem, "One of two")
    assert mem.mem("delete", key, "987654").returncode == 1
    assert client(mem).get(f"/api/memories/{key}")["key"] == key


def test_new_words_pass_the_same_door(mem: Commands) -> None:
    key = keep(mem, "Door")
    secret = "ghp_" + "a1B2" * 9
    mem.mem("edit", key, "--text", f"see <private>hidden</private> {secret}", "--fact", secret)
    found = client(mem).get(f"/api/memories/{key}")["fields"]
    assert "hidden" not in found["narrative"]
    assert secret not in str(found)


def test_pinned_comes_first_and_wrong_never(mem: Commands) -> None:
    old = keep(mem, "Old but pinned", "ctx")
    for number in range(4):
        keep(mem, f"Newer {number}", "ctx")
    wrong = keep(mem, "Not true at all", "ctx")
    body = {"project": "ctx", "draft": {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "2"}}
    before = client(mem).post("/api/context/preview", body)["text"]
    assert "Old but pinned" not in before
    assert "Not true at all" in before
    mem.mem("pin", old)
    mem.mem("wrong", wrong)
    after = client(mem).post("/api/context/preview", body)["text"]
    assert "Old but pinned" in after
    assert "Not true at all" not in after
    assert after.index("Old but pinned") < after.index("Newer 3"), "each at its own time"
    found = client(mem).get("/api/search", query="true at all")["observations"]
    assert [row["title"] for row in found if row["title"] == "Not true at all"] == []
    assert "Marked wrong" in mem.mem("show", wrong).stdout


def test_a_starting_worker_empties_the_trash(tmp_path: Path) -> None:
    from claude_mem_core.testing.worker import data_dir, start
    from tests.worker_home import until

    with data_dir() as paths:
        paths.data.mkdir(mode=0o700)
        with opened(paths.database) as home:
            number = turn(home)
            home.write(lambda conn: correct.delete(conn, O, number, 1000))
        live = start(paths)
        try:
            listed = "/api/memories?state=deleted"
            until(lambda: live.ask("GET", listed).json["items"] == [])
            assert live.ask("POST", "/api/undo", {"undo": [1]}).status == 404
        finally:
            live.stop()
