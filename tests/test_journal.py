"""The journal: each event once, complete, whatever is delivered how often."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from claude_mem_core.projects import Place
from claude_mem_core.store import journal, sessions
from claude_mem_core.store.text import LIMIT
from claude_mem_core.types import EventKind, StartSource, ToolUse, Trust
from tests.store_home import NOW, Home, opened

DAY_MS = 86_400_000


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as home:
        yield home


def load(home: Home, number: int | None = None) -> list[journal.StoredEvent]:
    return home.store.read(lambda conn: journal.load_events(conn, 1, number))


def test_a_turn_is_stored_and_comes_back(home: Home) -> None:
    assert home.start().new_session
    home.prompt("fix the login", 1)
    home.tool("t1", 2, input={"command": "pytest"}, output={"stdout": "1 failed"})
    home.tool("t2", 3, kind=EventKind.TOOL_FAILED, output=None, error="exit 1")
    home.stop("It was the clock.", 4)
    turn = load(home, 1)
    assert [e.event.kind.value for e in turn] == [
        "prompt_sent", "tool_used", "tool_failed", "turn_ended",
    ]  # fmt: skip
    assert turn[0].event.prompt == "fix the login"
    assert turn[1].event.tool == ToolUse(
        name="Bash", id="t1", input={"command": "pytest"}, output={"stdout": "1 failed"}
    )
    assert turn[2].event.tool is not None
    assert (turn[2].event.tool.output, turn[2].event.tool.error) == (None, "exit 1")
    assert turn[3].event.answer == "It was the clock."
    assert [e.prompt_number for e in load(home)] == [0, 1, 1, 1, 1]


def test_the_payload_holds_no_prompt_and_no_tool_values(home: Home) -> None:
    home.prompt("the words of the prompt")
    home.tool("t1", 1, input={"command": "said-in"}, output="said-out")
    kept = "".join(row[0] for row in home.rows("SELECT payload FROM events"))
    assert "the words" not in kept
    assert "said-" not in kept
    assert home.rows("SELECT tool_input, tool_response FROM tool_uses") == [
        ('{"command":"said-in"}', '"said-out"')
    ]


def test_what_columns_other_people_read(home: Home) -> None:
    home.prompt("p", 5)
    home.tool("t1", 6)
    row = home.rows("""SELECT content_session_id, memory_session_id, project, platform_source,
        user_prompt, started_at, started_at_epoch, status, prompt_counter FROM sdk_sessions""")
    assert row == [(
        "s1", "claude-code:s1", "here", "claude-code", "p", "2026-09-21T14:13:20.005Z",
        NOW + 5, "active", 1,
    )]  # fmt: skip
    assert home.rows("SELECT tool_use_id, tool_name, prompt_number FROM tool_uses") == [
        ("t1", "Bash", 1)
    ]


# Repeats ----------------------------------------------------------------------------


def test_the_same_event_key_is_one_event(home: Home) -> None:
    first = home.tool("t1", 1)
    again = home.tool("t1", 2, output={"stdout": "another"})
    assert (again.event_id, again.duplicate, again.new_session) == (first.event_id, True, False)
    assert home.value("SELECT count(*) FROM events") == 1
    assert home.value("SELECT tool_response FROM tool_uses") == '{"stdout":"x"}'
    assert home.value("SELECT count(*) FROM pending_messages") == 1


def test_a_repeat_fills_what_was_empty(home: Home) -> None:
    home.tool("t1", 1, output=None, cwd="")
    before = home.value("SELECT content_hash FROM tool_uses")
    home.tool("t1", 2, input={"command": "other"}, output="late")
    row = home.rows("SELECT tool_input, tool_response, cwd, content_hash FROM tool_uses")[0]
    assert row[:3] == ('{"command":"ls"}', '"late"', "/home/u/here")
    assert row[3] != before


def test_a_repeated_stop_fills_a_missing_answer_only(home: Home) -> None:
    stop = home.stop("", 1, key="k")
    home.stop("the answer", 2, key="k")
    home.stop("another", 3, key="k")
    (event,) = load(home)
    assert (event.id, event.event.answer) == (stop.event_id, "the answer")


def test_a_repeated_delivery_is_known_whatever_it_holds(home: Home) -> None:
    first = home.stop("done", 1, key="k#1", delivery="000-1")
    again = home.stop("done", 1, key="k#2", delivery="000-1")
    assert (again.event_id, again.duplicate) == (first.event_id, True)
    assert home.value("SELECT count(*) FROM events") == 1


def test_the_delivery_of_a_repeat_is_known_too(home: Home) -> None:
    first = home.stop("done", 1, key="k#1", delivery="000-1")
    home.stop("done", 1, key="k#1", delivery="000-2")
    again = home.stop("done", 1, key="k#2", delivery="000-2")
    assert (again.event_id, again.duplicate) == (first.event_id, True)


def test_another_tool_use_with_equal_content_is_kept(home: Home) -> None:
    home.tool("t1", 1)
    assert not home.tool("t2", 1).duplicate
    assert home.value("SELECT count(*) FROM tool_uses") == 2


def test_used_and_failed_of_one_tool_use_share_a_row(home: Home) -> None:
    home.tool("t1", 1, output=None, error="boom", kind=EventKind.TOOL_FAILED)
    home.tool("t1", 2, output="fine")
    assert home.value("SELECT count(*) FROM tool_uses") == 1
    assert home.value("SELECT count(*) FROM events") == 2
    failed, used = load(home)
    assert failed.event.tool is not None
    assert failed.event.tool.error == "boom"
    assert used.event.tool is not None
    assert used.event.tool.input == {"command": "ls"}


def test_tool_uses_without_an_id_are_told_apart(home: Home) -> None:
    home.tool("", 1, key="a")
    home.tool("", 1, key="b", output="y")
    assert [e.event.tool and e.event.tool.output for e in load(home)] == [{"stdout": "x"}, "y"]


def test_old_delivery_keys_are_dropped(home: Home) -> None:
    home.tool("t0", 0, delivery=f"{NOW:020d}-1")
    home.now += 8 * DAY_MS
    for n in range(1, 2 * journal.PRUNE_EVERY):
        home.tool(f"t{n}", n, delivery=f"{home.now + n:020d}-1")
    assert home.value("SELECT count(*) FROM deliveries WHERE key LIKE ?", f"{NOW:020d}%") == 0
    assert home.value("SELECT count(*) FROM deliveries") == 2 * journal.PRUNE_EVERY - 1


# Prompts ----------------------------------------------------------------------------


def test_prompts_are_numbered_as_they_come(home: Home) -> None:
    assert [home.prompt(f"p{n}", n * 60_000).prompt_number for n in range(3)] == [1, 2, 3]
    assert home.value("SELECT prompt_counter FROM sdk_sessions") == 3


def test_equal_prompts_within_ten_seconds_are_one(home: Home) -> None:
    first = home.prompt("again", 0)
    second = home.prompt("again", 9_999)
    third = home.prompt("again", 10_000)
    assert second.duplicate
    assert second.event_id == first.event_id
    assert not third.duplicate
    assert home.rows("SELECT prompt_number, prompt_text FROM user_prompts") == [
        (1, "again"), (2, "again"),
    ]  # fmt: skip


def test_equal_prompts_with_ids_are_told_apart_by_them(home: Home) -> None:
    home.prompt("again", 0, prompt_id="a")
    assert not home.prompt("again", 5, prompt_id="b").duplicate
    assert home.prompt("again", 60_000, prompt_id="a").duplicate
    assert home.value("SELECT count(*) FROM user_prompts") == 2


def test_equal_prompts_of_two_sessions_are_two(home: Home) -> None:
    home.prompt("again")
    home.session = "s2"
    assert not home.prompt("again").duplicate


def test_a_late_event_goes_to_the_prompt_it_names(home: Home) -> None:
    home.prompt("one", 0, prompt_id="a")
    home.prompt("two", 60_000, prompt_id="b")
    assert home.tool("t1", 70_000, prompt_id="a").prompt_number == 1
    assert home.tool("t2", 70_001, prompt_id="b").prompt_number == 2
    assert home.tool("t3", 70_002, prompt_id="unknown").prompt_number == 2


def test_a_late_event_goes_to_the_prompt_before_it(home: Home) -> None:
    home.tool("t0", -5)
    home.prompt("one", 0)
    home.prompt("two", 60_000)
    assert home.tool("t1", 59_999).prompt_number == 1
    assert home.tool("t2", 60_000).prompt_number == 2
    assert home.tool("t3", -1).prompt_number == 0


def test_a_late_prompt_takes_the_events_that_overtook_it(home: Home) -> None:
    home.prompt("one", 0)
    home.tool("t1", 10)
    home.tool("t2", 60_001)
    assert home.stop("done", 60_002).prompt_number == 1
    home.prompt("two", 60_000)
    of_tools = "SELECT prompt_number FROM events WHERE kind = 'tool_used' ORDER BY id"
    assert home.rows(of_tools) == [(1,), (2,)]
    assert home.rows("SELECT prompt_number FROM tool_uses ORDER BY id") == [(1,), (2,)]
    assert home.rows("SELECT prompt_number FROM pending_messages ORDER BY id") == [
        (1,), (2,), (2,),
    ]  # fmt: skip


def test_two_late_prompts_in_the_wrong_order(home: Home) -> None:
    home.prompt("second", 60_000)
    home.prompt("first", 0)
    assert home.tool("t1", 30_000).prompt_number == 2
    assert home.tool("t2", 60_001).prompt_number == 1


# Private turns ------------------------------------------------------------------------


def test_a_private_turn_leaves_receipts_only(home: Home) -> None:
    home.start()
    home.prompt("open words", 1)
    private = home.private(60_000)
    tool = home.tool("t1", 60_001, input="hidden-in", output="hidden-out")
    stop = home.stop("hidden answer", 60_002)
    assert (private.state, private.reason, private.prompt_number) == ("skipped", "private", 1)
    assert (tool.state, tool.reason) == (stop.state, stop.reason) == ("skipped", "private")
    assert home.value("SELECT count(*) FROM tool_uses") == 0
    assert home.value("SELECT count(*) FROM pending_messages") == 0
    assert home.value("SELECT count(*) FROM user_prompts") == 1
    assert home.value("SELECT count(*) FROM events WHERE payload LIKE '%hidden%'") == 0
    after = home.prompt("open again", 120_000)
    assert after.prompt_number == 2
    assert home.tool("t2", 120_001).state == "pending"


def test_a_late_event_of_a_private_turn_is_skipped(home: Home) -> None:
    home.prompt("one", 0)
    home.private(60_000, prompt_id="secret")
    home.prompt("two", 120_000)
    assert home.tool("t1", 60_001).reason == "private"
    assert home.tool("t2", 130_000, prompt_id="secret").reason == "private"
    assert home.tool("t3", 59_999).state == "pending"
    assert home.tool("t4", 120_001).state == "pending"


def test_a_late_private_prompt_takes_back_what_overtook_it(home: Home) -> None:
    home.prompt("one", 0)
    home.tool("before", 10)
    home.tool("inside", 60_001, output="hidden")
    home.stop("hidden", 60_002)
    home.private(60_000)
    states = home.rows("SELECT state, reason FROM events WHERE at_ms > ?", NOW + 60_000)
    assert states == [("skipped", "private")] * 2
    assert home.rows("SELECT tool_use_id FROM tool_uses") == [("before",)]
    assert home.value("SELECT count(*) FROM pending_messages") == 1
    assert home.verify().off == ()


def test_start_and_end_of_a_session_are_no_secret(home: Home) -> None:
    home.private(0)
    assert home.end(10).state == "recorded"
    assert home.value("SELECT status FROM sdk_sessions") == "completed"


def test_skipped_events_make_no_session_and_keep_nothing(home: Home) -> None:
    receipt = home.tool("t1", 1, state="skipped", reason="excluded")
    assert (receipt.session_db_id, receipt.state) == (0, "skipped")
    assert home.value("SELECT count(*) FROM sdk_sessions") == 0
    assert home.rows("SELECT payload, cwd, session_db_id FROM events") == [(None, None, None)]
    assert home.verify().skipped == {"excluded": 1}


# Sessions ---------------------------------------------------------------------------


def session(home: Home) -> sessions.Session:
    found = home.store.read(lambda conn: sessions.get(conn, 1))
    assert found is not None
    return found


def test_a_session_ends_and_a_late_event_does_not_reopen_it(home: Home) -> None:
    home.start()
    home.end(10)
    home.tool("late", 11)
    assert (session(home).status, session(home).completed_ms) == ("completed", NOW + 10)


@pytest.mark.parametrize(
    ("source", "later", "status"),
    [
        (StartSource.RESUME, 20, "active"),
        (StartSource.STARTUP, 20, "completed"),
        (StartSource.STARTUP, DAY_MS, "active"),
    ],
)
def test_a_session_goes_on(home: Home, source: StartSource, later: int, status: str) -> None:
    home.start()
    home.end(10)
    home.start(later, source)
    assert session(home).status == status


def test_a_prompt_days_later_goes_on_with_the_session(home: Home) -> None:
    home.prompt("one")
    home.end(10)
    assert home.prompt("two", DAY_MS).session_db_id == 1
    assert session(home).status == "active"


def test_an_early_event_that_comes_late_moves_the_start(home: Home) -> None:
    home.tool("t1", 50)
    home.start(0)
    assert session(home).started_ms == NOW


def test_a_session_that_began_nowhere_finds_its_project(home: Home) -> None:
    nowhere = Place(key="general", label="general", kind="general")
    home.place, somewhere = nowhere, home.place
    home.start()
    assert session(home).project == "general"
    home.place = somewhere
    home.tool("t1", 1)
    assert (session(home).project, session(home).root) == ("here", "/home/u/here")


def test_hosts_do_not_share_sessions(home: Home) -> None:
    home.prompt("one")
    home.host = "kimi"
    assert home.prompt("one").session_db_id == 2


# Limits -----------------------------------------------------------------------------


def test_long_output_keeps_head_and_tail_as_json(home: Home) -> None:
    said = "HEAD" + "x" * 300_000 + "TAIL"
    home.tool("t1", 1, output={"stdout": said, "code": 1})
    stored = home.value("SELECT tool_response FROM tool_uses")
    assert len(stored.encode()) <= LIMIT
    value = json.loads(stored)
    assert value["code"] == 1
    assert value["stdout"].startswith("HEAD")
    assert value["stdout"].endswith("TAIL")
    cut = int(value["stdout"].partition("...[truncated: ")[2].split()[0])
    left = value["stdout"].replace(f"...[truncated: {cut} bytes]", "")
    assert len(left) + cut == len(said)


def test_the_hash_is_of_the_original(home: Home) -> None:
    home.tool("t1", 1, output="x" * 300_000)
    home.tool("t2", 2, output="x" * 299_000 + "y" * 1_000)
    one, two = home.rows("SELECT content_hash FROM tool_uses")
    assert one != two


@pytest.mark.parametrize("text", ["é" * 60_000, "\U0001f600" * 30_000, "x" * 70_000])
def test_cuts_fall_between_characters(home: Home, text: str) -> None:
    home.tool("t1", 1, output=text)
    stored = home.value("SELECT tool_response FROM tool_uses")
    assert len(stored.encode()) <= LIMIT
    assert "\ufffd" not in stored
    assert "...[truncated: " in stored


def test_many_small_strings_are_cut_as_text(home: Home) -> None:
    home.tool("t1", 1, output=["line"] * 50_000)
    stored = home.value("SELECT tool_response FROM tool_uses")
    assert len(stored) <= LIMIT
    assert "...[truncated: " in stored
    assert isinstance(load(home)[0].event.tool.output, str)  # type: ignore[union-attr]


def test_long_prompt_and_answer_are_cut(home: Home) -> None:
    home.prompt("p" * 100_000)
    home.stop("a" * 100_000, 1)
    prompt, stop = load(home)
    assert len(prompt.event.prompt or "") <= LIMIT
    assert len(stop.event.answer or "") <= LIMIT
    assert stop.event.extra["cut"]["answer"]["bytes"] == 100_000


@pytest.mark.parametrize("odd", ["\ud83d lone", "nul \0 nul", "swapped \ude00\ud83d", "\x1b[31m"])
def test_odd_characters_are_stored_everywhere(home: Home, odd: str) -> None:
    home.session = f"s{odd}"
    home.prompt(f"marker {odd}", prompt_id=odd)
    home.tool(f"t{odd}", 1, input={odd: [odd]}, output=odd, name=odd, cwd=odd, delivery=odd)
    home.stop(odd, 2, key=f"k{odd}", agent_id=odd)
    turn = load(home, 1)
    assert len(turn) == 3
    assert "marker" in (turn[0].event.prompt or "")
    assert home.verify().off == ()


@pytest.mark.parametrize("at", [-5, 0, 2**80])
def test_absurd_times_are_stored(home: Home, at: int) -> None:
    event = home.event(EventKind.TURN_ENDED, answer="x")
    home.accept(attrs.evolve(event, at_ms=at), key="k")
    assert home.value("SELECT at_ms FROM events") in range(1, 253_402_300_800_000)


def test_an_event_that_can_not_be_read_does_not_hold_up_its_turn(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    home.tool("t1", 1)
    home.tool("t2", 2)
    home.write(lambda conn: conn.execute("UPDATE events SET payload = '{]' WHERE id = 1"))
    assert [event.id for event in load(home)] == [2]
    assert "event 1 can't be read" in caplog.text


def test_the_trust_of_an_event_is_kept(home: Home) -> None:
    home.tool("t1", 1, trust=Trust.FOREIGN)
    assert load(home)[0].trust is Trust.FOREIGN


def test_accepted_and_skipped_are_counted_by_day(home: Home) -> None:
    home.tool("t1", 1)
    home.tool("t1", 1)
    home.tool("t2", 1, state="skipped", reason="excluded")
    assert dict(home.rows("SELECT name, n FROM counters")) == {
        "accepted": 2, "duplicate": 1, "skipped:excluded": 1,
    }  # fmt: skip
