"""Keeping memories: rows, evidence, receipts, trust; and deleting them for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from claude_mem_core.errors import NotFound
from claude_mem_core.projects import Place
from claude_mem_core.store import journal, memories, projects, queue
from claude_mem_core.types import DocKind, Draft, Observed, Skip, SummaryDraft, Trust
from tests.store_home import IDLE, Home, observing, opened


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as home:
        yield home


def turn(home: Home, at: int = 0, trust: Trust = Trust.WORK) -> queue.Work:
    """A claimed turn of two tool uses and an end; events 2, 3 and 4 if it is the first."""
    home.prompt("do it", at)
    home.tool(f"{home.session}-{at}-1", at + 1, trust=trust)
    home.tool(f"{home.session}-{at}-2", at + 2)
    home.stop("done", at + 3)
    (work,) = home.claim(at)
    return work


def draft(*events: int, title: str = "The clock was wrong", **more: Any) -> Draft:
    return Draft(type="bugfix", title=title, events=events, **more)


def test_all_fields_come_back(home: Home) -> None:
    work = turn(home)
    made = draft(
        2, 3, subtitle="sub", narrative="story", facts=("a fact", "zwei"), concepts=("gotcha",),
        files_read=("a/b.py",), files_modified=("c.py",), model="builtin", tokens=321,
        agent_id="a1", agent_type="explore", metadata={"k": [1]},
    )  # fmt: skip
    summary = SummaryDraft(
        request="r", investigated="i", learned="l", completed="c", next_steps="n", notes="o",
        files_read=("a/b.py",), files_edited=("c.py",), tokens=5,
    )  # fmt: skip
    kept = home.keep(work, Observed(observations=(made,), summary=summary))
    (found,) = kept.observations
    for field in ("type", "title", "subtitle", "narrative", "facts", "concepts", "files_read",
                  "files_modified", "model", "tokens", "agent_id", "agent_type"):  # fmt: skip
        assert getattr(found, field) == getattr(made, field), field
    assert found.metadata == {"k": [1]}
    assert (found.project, found.host, found.prompt_number) == ("here", "claude-code", 1)
    assert found.created_ms == home.now + 2
    assert kept.summary is not None
    assert (kept.summary.request, kept.summary.notes, kept.summary.tokens) == ("r", "o", 5)
    assert (kept.summary.files_edited, kept.summary.created_ms) == (("c.py",), home.now + 3)
    assert home.store.read(lambda c: memories.observation(c, found.id)) == found
    assert home.store.read(lambda c: memories.summary(c, 1)) == kept.summary


def test_evidence_files_and_tool_uses_are_linked(home: Home) -> None:
    work = turn(home)
    home.keep(work, Observed(observations=(
        draft(2, files_read=("a/b.py",), files_modified=("a/b.py", "C:\\x\\y.py")),
    )))  # fmt: skip
    assert home.rows("SELECT kind, memory_id, event_id FROM evidence") == [("observation", 1, 2)]
    assert home.rows("SELECT path, modified, name FROM memory_files ORDER BY path, modified") == [
        ("C:\\x\\y.py", 1, "y.py"), ("a/b.py", 0, "b.py"), ("a/b.py", 1, "b.py"),
    ]  # fmt: skip
    assert home.rows("SELECT observation_id FROM tool_uses ORDER BY id") == [(1,), (None,)]


def test_a_tool_use_is_linked_once(home: Home) -> None:
    work = turn(home)
    home.keep(work, Observed(observations=(draft(2), draft(2, 3, title="Another"))))
    assert home.rows("SELECT observation_id FROM tool_uses ORDER BY id") == [(1,), (2,)]


def test_a_draft_without_evidence_has_that_of_its_work(home: Home) -> None:
    home.keep(turn(home), Observed(observations=(draft(),)))
    assert home.value("SELECT count(*) FROM evidence") == 3


def test_events_of_others_are_no_evidence(home: Home) -> None:
    turn(home)
    home.session = "s2"
    work = turn(home)
    home.keep(work, Observed(observations=(draft(2, work.event_ids[0], 999),)))
    assert home.rows("SELECT event_id FROM evidence") == [(work.event_ids[0],)]


def test_the_lowest_trust_of_the_evidence_wins(home: Home) -> None:
    work = turn(home, trust=Trust.FOREIGN)
    found = home.keep(work, Observed(
        observations=(draft(2, trust=Trust.USER), draft(3, title="Work", trust=Trust.USER)),
        summary=SummaryDraft(request="r"),
    ))  # fmt: skip
    assert [o.trust for o in found.observations] == [Trust.FOREIGN, Trust.WORK]
    assert found.summary is not None
    assert found.summary.trust is Trust.FOREIGN


def test_every_event_gets_its_receipt(home: Home) -> None:
    work = turn(home)
    skip = Skip(event_id=2, reason="routine")
    other = Skip(event_id=1, reason="not its own")
    home.keep(work, Observed(observations=(draft(3),), skipped=(skip, other)))
    assert home.rows("SELECT id, state, reason, payload IS NULL, cwd FROM events") == [
        (1, "recorded", None, 0, "/home/u/here"), (2, "skipped", "routine", 1, None),
        (3, "stored", None, 0, "/home/u/here"), (4, "stored", None, 0, "/home/u/here"),
    ]  # fmt: skip
    assert home.value("SELECT count(*) FROM tool_uses") == 2
    assert home.verify().skipped == {"routine": 1}
    assert home.verify().off == ()


def test_an_empty_answer_confirms_the_work(home: Home) -> None:
    home.keep(turn(home), Observed())
    assert home.verify().stored == 3
    assert home.verify().pending == 0


def test_all_or_nothing(home: Home) -> None:
    work = turn(home)
    bad = attrs.evolve(draft(2), facts=(object(),))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        home.keep(work, Observed(observations=(draft(3, title="Good"), bad)))
    assert home.value("SELECT count(*) FROM observations") == 0
    assert home.value("SELECT count(*) FROM pending_messages") == 3
    assert home.verify().off == ()


def test_the_same_words_in_a_session_are_one_observation(home: Home) -> None:
    first = turn(home)
    home.keep(first, Observed(observations=(draft(2),)))
    second = turn(home, 60_000, Trust.FOREIGN)
    kept = home.keep(second, Observed(observations=(draft(second.event_ids[0]),)))
    (found,) = kept.observations
    assert found.id == 1
    assert found.trust is Trust.FOREIGN
    assert home.rows("SELECT occurrence_count FROM observations") == [(2,)]
    assert home.rows("SELECT event_id FROM evidence") == [(2,), (second.event_ids[0],)]


def test_the_same_words_in_two_sessions_are_two(home: Home) -> None:
    home.keep(turn(home), Observed(observations=(draft(2),)))
    home.session = "s2"
    work = turn(home)
    home.keep(work, Observed(observations=(draft(),)))
    assert home.value("SELECT count(*) FROM observations") == 2


# Superseded ---------------------------------------------------------------------------------


def test_a_later_observation_supersedes_an_earlier_one(home: Home) -> None:
    home.keep(turn(home), Observed(observations=(draft(2),)))
    work = turn(home, 60_000)
    home.keep(work, Observed(observations=(draft(title="It was the cache", supersedes=(1, 77)),)))
    assert home.rows("SELECT superseded_by FROM observations") == [(2,), (None,)]
    left = home.store.read(lambda conn: memories.of_session(conn, 1))
    assert [o.id for o in left] == [2]


def test_nobody_supersedes_what_is_not_of_the_project(home: Home) -> None:
    home.keep(turn(home), Observed(observations=(draft(2),)))
    home.session, home.place = "s2", Place(key="k2", label="there", kind="folder", root="/t")
    work = turn(home)
    home.keep(work, Observed(observations=(draft(title="Else", supersedes=(1,)),)))
    assert home.rows("SELECT superseded_by FROM observations") == [(None,), (None,)]


def test_parts_give_way_to_the_whole_turn(home: Home) -> None:
    home.prompt("do it")
    home.tool("t1", 1)
    (part,) = home.claim(IDLE + 2)
    partial = {"partial": True}
    home.keep(part, Observed(observations=(
        draft(title="Half seen", metadata=partial), draft(title="Same", metadata=partial),
    )))  # fmt: skip
    home.tool("t2", IDLE + 3)
    home.stop("done", IDLE + 4)
    (whole,) = home.claim(IDLE + 4)
    home.keep(whole, Observed(observations=(draft(title="Whole"), draft(title="Same"))))
    assert home.rows("SELECT title, superseded_by, metadata FROM observations ORDER BY id") == [
        ("Half seen", 3, '{"partial":true}'), ("Same", None, None), ("Whole", None, None),
    ]  # fmt: skip


def test_a_second_summary_of_a_turn_takes_the_place_of_the_first(home: Home) -> None:
    work = turn(home)
    home.keep(work, Observed(summary=SummaryDraft(request="one")))
    again = attrs.evolve(work, item_ids=(), event_ids=())
    home.write(
        lambda conn: memories.keep(conn, None, 1, Observed(
            summary=SummaryDraft(request="two", prompt_number=1)), home.now)
    )  # fmt: skip
    assert home.keep(again, Observed()).lost
    assert home.rows("SELECT request, superseded_by FROM session_summaries") == [
        ("one", 2), ("two", None),
    ]  # fmt: skip


def test_earlier_observations_of_the_session(home: Home) -> None:
    for n in range(3):
        work = turn(home, n * 60_000)
        home.keep(work, Observed(observations=(draft(title=f"Turn {n}"),)))
    before = home.store.read(lambda conn: memories.of_session(conn, 1, before_prompt=3))
    assert [o.title for o in before] == ["Turn 0", "Turn 1"]


# By hand --------------------------------------------------------------------------------------


def save(home: Home, title: str, words: str) -> memories.Observation:
    def fn(conn: Any) -> memories.Observation:
        project = projects.resolve(conn, home.place, home.now)
        return memories.save_manual(conn, title, words, project, Trust.USER, home.now, {"a": 1})

    return home.write(fn)


def test_a_memory_by_hand(home: Home) -> None:
    saved = save(home, "Use tabs", "We use tabs here.")
    assert (saved.title, saved.narrative, saved.trust) == ("Use tabs", "We use tabs here.", Trust.USER)
    assert (saved.project, saved.host, saved.metadata) == ("here", "manual", {"a": 1})
    assert save(home, "Use tabs", "We use tabs here.").id == saved.id
    assert save(home, "Use tabs", "No: spaces.").id != saved.id
    assert home.value("SELECT count(*) FROM sdk_sessions") == 1


# Deleting ---------------------------------------------------------------------------------------


def delete(home: Home, kind: DocKind, number: int) -> None:
    home.write(lambda conn: memories.delete(conn, kind, number))


@pytest.mark.parametrize("kind", list(DocKind))
def test_what_is_not_there_can_not_be_deleted(home: Home, kind: DocKind) -> None:
    with pytest.raises(NotFound, match="#7 not found"):
        delete(home, kind, 7)


def test_a_deleted_observation_takes_its_source_along(home: Home) -> None:
    work = turn(home)
    home.keep(work, Observed(observations=(draft(2), draft(3, title="Other", supersedes=(1,)))))
    delete(home, DocKind.OBSERVATION, 1)
    assert home.rows("SELECT id FROM observations") == [(2,)]
    assert home.rows("SELECT event_id, observation_id FROM tool_uses") == [(3, 2)]
    events = home.store.read(lambda conn: journal.load_events(conn, 1, 1))
    assert [e.event.tool and e.event.tool.id for e in events] == [None, None, "s1-0-2", None]
    assert home.rows("SELECT memory_id FROM evidence") == [(2,)]
    assert home.verify().off == ()


def test_a_source_that_others_rest_on_stays(home: Home) -> None:
    work = turn(home)
    home.keep(work, Observed(observations=(draft(2), draft(2, title="Other"))))
    delete(home, DocKind.OBSERVATION, 2)
    assert home.value("SELECT count(*) FROM tool_uses") == 2
    assert home.verify().off == ()


def test_a_deletion_is_in_the_change_log(home: Home) -> None:
    home.keep(turn(home), Observed(observations=(draft(2),), summary=SummaryDraft(request="r")))
    for kind in DocKind:
        delete(home, kind, 1)
    gone = home.rows("SELECT kind, record_id FROM changes WHERE op = 'del' ORDER BY seq")
    assert gone == [("observation", 1), ("summary", 1), ("prompt", 1)]
    assert home.value("SELECT user_prompt FROM sdk_sessions") is None
    assert home.rows("SELECT n FROM totals") == [(0,)] * 3
    assert home.verify().off == ()


def test_a_deleted_session_is_gone_with_all_of_it(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    home.keep(turn(home), observing(queue.Work(
        session_db_id=1, prompt_number=1, item_ids=(2,), event_ids=(2, 3, 4))))  # fmt: skip
    home.session = "s2"
    turn(home)
    home.write(lambda conn: memories.delete_session(conn, 1, home.now))
    for table in ("events", "tool_uses", "user_prompts", "sdk_sessions"):
        column = "session_db_id" if table != "sdk_sessions" else "id"
        assert {row[0] for row in home.rows(f"SELECT {column} FROM {table}")} == {2}, table
    for table in ("observations", "session_summaries", "evidence", "memory_files"):
        assert home.value(f"SELECT count(*) FROM {table}") == 0, table
    assert home.verify().off == ()
    with pytest.raises(NotFound):
        home.write(lambda conn: memories.delete_session(conn, 1, home.now))
    home.write(lambda conn: memories.delete_session(conn, 2, home.now))
    assert "session 2 deleted with pendingCount=3" in caplog.text


def test_missing_ids_are_left_out_of_a_batch(home: Home) -> None:
    home.keep(turn(home), Observed(observations=(draft(2), draft(3, title="Other"))))
    found = home.store.read(lambda conn: memories.observations(conn, [2, 99, 1]))
    assert [o.id for o in found] == [2, 1]
    with pytest.raises(NotFound, match="Observation #99 not found"):
        home.store.read(lambda conn: memories.observation(conn, 99))
    with pytest.raises(NotFound, match="Session #99 not found"):
        home.store.read(lambda conn: memories.summary(conn, 99))
