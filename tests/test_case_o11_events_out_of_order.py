"""Case O11: events in the wrong order or without their partners, through hook and worker.

What the journal makes of every order is in `test_journal_order.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.case_home import Played, played
from tests.hook_home import lines

SEQUENCE = lines("O11-events-out-of-order", "sequence.jsonl")
Events = list[dict[str, Any]]
ORDERS: dict[str, Callable[[Events], Events]] = {
    "as it stands": lambda events: events,
    "reversed": lambda events: events[::-1],
    "by kind": lambda events: sorted(events, key=lambda e: str(e["hook_event_name"])),
    "shuffled": lambda events: random.Random(11).sample(events, len(events)),
}


def check(home: Played, *, in_order: bool) -> None:
    home.settle()
    (session,) = home.rows("SELECT project, status, prompt_counter FROM sdk_sessions")
    assert session == ("work", "completed", 2)
    texts = [event["prompt"] for event in SEQUENCE if "prompt" in event]
    assert sorted(home.prompts()) == texts
    if in_order:
        assert home.prompts() == texts
    used = {row[0] for row in home.rows("SELECT tool_use_id FROM tool_uses")}
    assert used == {"toolu_o1", "toolu_o2", "toolu_o3"}
    answers = home.rows(
        "SELECT json_extract(payload, '$.answer') FROM events WHERE kind = 'turn_ended'"
    )
    assert answers == [("Status is clean.",)]
    assert home.rows("SELECT count(*) FROM events") == [(len(SEQUENCE),)]
    assert home.rows("SELECT count(*) FROM pending_messages") == [(0,)]
    assert "constraint" not in home.logs().lower()
    home.is_sound()


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_o11_the_same_rows_whatever_the_order(order: str) -> None:
    with played() as home:
        for event in ORDERS[order](SEQUENCE):
            home.hook(home.filled(event))
        check(home, in_order=order == "as it stands")


@pytest.mark.slow
def test_o11_all_of_them_at_once() -> None:
    with played() as home:
        events = [home.filled(event) for event in SEQUENCE]
        assert home.all_at_once(events) == [0] * len(events)
        check(home, in_order=False)


@pytest.mark.slow
def test_o11_through_the_spool_while_no_worker_runs() -> None:
    with played(running=False) as home:
        home.hooks.worker_is(["/bin/false"])
        for event in reversed(SEQUENCE):
            home.hook(home.filled(event))
        home.start()
        check(home, in_order=False)


ALONE = {
    "a tool": {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t",
               "tool_input": {"command": "make"}, "tool_response": {"stdout": "ok"}},
    "a failed tool": {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                      "tool_use_id": "t", "tool_input": {"command": "make"}, "error": "exit 2"},
    "a stop": {"hook_event_name": "Stop", "last_assistant_message": "All is done."},
    "a failed stop": {"hook_event_name": "StopFailure", "error": "overloaded"},
    "a sub-agent's stop": {"hook_event_name": "SubagentStop", "agent_id": "a1",
                           "agent_type": "Explore", "last_assistant_message": "Found it."},
    "an end": {"hook_event_name": "SessionEnd", "reason": "other"},
    "a compaction": {"hook_event_name": "PreCompact", "trigger": "auto"},
    "what was compacted": {"hook_event_name": "PostCompact", "compact_summary": "so far"},
}  # fmt: skip


def test_o11_each_event_alone_makes_its_session() -> None:
    """Joined in the middle: every kind of event may be the first one there is."""
    with played() as home:
        for session, event in ALONE.items():
            home.hook({"session_id": session, "cwd": str(home.place), **event})
        home.settle()
        known = {row[0] for row in home.rows("SELECT content_session_id FROM sdk_sessions")}
        assert known == set(ALONE)
        kept = "SELECT count(*) FROM events WHERE reason IS NULL OR reason NOT LIKE '%error%'"
        assert home.rows(kept) == [(len(ALONE),)]
        assert {row[0] for row in home.rows("SELECT project FROM sdk_sessions")} == {"work"}
        home.is_sound()


def test_o11_a_late_event_after_the_end_does_not_open_the_session_again() -> None:
    with played() as home:
        home.hook(home.payload("UserPromptSubmit", prompt="one"))
        home.hook(home.payload("SessionEnd", reason="other"))
        for number, event in enumerate(("PostToolUse", "Stop", "SubagentStop")):
            late = {
                "session_id": "s-1",
                "cwd": str(home.place),
                **ALONE["a tool"],
                **ALONE["a stop"],
            }
            home.hook({**late, "hook_event_name": event, "tool_use_id": f"late{number}"})
        home.settle()
        assert home.rows("SELECT status, prompt_counter FROM sdk_sessions") == [
            ("completed", 1)
        ]
        assert home.prompts() == ["one"]
        home.is_sound()
