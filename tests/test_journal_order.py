"""Whatever the order of arrival, the same rows come of the same events (case O11)."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.pipeline.keys import event_key
from claude_mem_core.types import Event, EventKind, StartSource, ToolUse
from tests.store_home import Home, key_of, opened

CASES = Path(__file__).parent / "cases"
CASE = CASES / "O11-events-out-of-order" / "sequence.jsonl"
REPEATED = CASES / "O10-duplicate-delivery"

KINDS = {
    "PostToolUse": EventKind.TOOL_USED,
    "Stop": EventKind.TURN_ENDED,
    "UserPromptSubmit": EventKind.PROMPT_SENT,
    "SessionStart": EventKind.SESSION_STARTED,
    "SessionEnd": EventKind.SESSION_ENDED,
}


def event_of(payload: dict[str, Any]) -> Event:
    """As an adapter would parse it; what matters here, no more."""
    use = None
    if "tool_use_id" in payload:
        use = ToolUse(
            name=payload["tool_name"], id=payload["tool_use_id"],
            input=payload["tool_input"], output=payload["tool_response"],
        )  # fmt: skip
    return Event(
        kind=KINDS[payload["hook_event_name"]], host="claude-code", cwd="/home/u/here",
        session_id=payload["session_id"], tool=use, prompt=payload.get("prompt"),
        answer=payload.get("last_assistant_message"), source=payload.get("source"),
        prompt_id=payload.get("prompt_id"),
    )  # fmt: skip


def sequence() -> list[Event]:
    return [event_of(json.loads(line)) for line in CASE.read_text().splitlines()]


def deliver(home: Home, events: Sequence[Event]) -> None:
    """One after another, each with the time at which it arrives."""
    for n, event in enumerate(events):
        home.accept(attrs.evolve(event, at_ms=home.now + n))


def rows(home: Home) -> dict[str, Any]:
    """What must not depend on the order."""
    return {
        "sessions": home.rows("SELECT content_session_id, project, status FROM sdk_sessions"),
        "prompts": home.rows("SELECT prompt_text FROM user_prompts ORDER BY prompt_text"),
        "tools": home.rows("SELECT tool_use_id, tool_response FROM tool_uses ORDER BY 1"),
        "answers": home.rows("SELECT json_extract(payload, '$.answer') FROM events"
                             " WHERE kind = 'turn_ended'"),
        "pending": home.value("SELECT count(*) FROM pending_messages"),
        "off": home.verify().off,
    }  # fmt: skip


def expected() -> dict[str, Any]:
    tools = [("toolu_o1", "clean"), ("toolu_o2", "abc"), ("toolu_o3", "late")]
    return {
        "sessions": [("5e0f7c1a-0000-4000-8000-000000001101", "here", "completed")],
        "prompts": [("n=1 check the tree",), ("n=2 and the last commit",)],
        "tools": [
            (name, f'{{"stdout":"{out}","stderr":"","interrupted":false}}')
            for name, out in tools
        ],
        "answers": [("Status is clean.",)],
        "pending": 4,
        "off": (),
    }


def test_case_o11_as_written(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home:
        deliver(home, sequence())
        assert rows(home) == expected()


def test_case_o11_reversed(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home:
        deliver(home, sequence()[::-1])
        assert rows(home) == expected()


def test_case_o11_in_parallel(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home, ThreadPoolExecutor(8) as threads:
        each = [attrs.evolve(event, at_ms=home.now + n) for n, event in enumerate(sequence())]
        list(threads.map(home.accept, each))
        assert rows(home) == expected()


@given(seed=st.integers(0, 10**9), repeats=st.integers(0, 5))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_case_o11_in_any_order_with_repeats(
    seed: int, repeats: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shuffled = random.Random(seed)
    events = sequence()
    events += shuffled.choices([e for e in events if e.tool], k=repeats)
    shuffled.shuffle(events)
    with opened(tmp_path_factory.mktemp("o11") / "memory.db") as home:
        deliver(home, events)
        assert rows(home) == expected()


def test_case_o10_repeated_deliveries(tmp_path: Path) -> None:
    """Each delivery has a key and a time of its own; five of them at the same moment."""
    count = 0

    def deliver_once(home: Home, name: str) -> None:
        nonlocal count
        count += 1
        event = event_of(json.loads((REPEATED / f"{name}.json").read_text()))
        event = attrs.evolve(event, at_ms=home.now + count)
        key = home.store.read(lambda conn: event_key(conn, event))
        home.accept(event, key=key, delivery=f"{count:020d}-1")

    with opened(tmp_path / "memory.db") as home, ThreadPoolExecutor(5) as threads:
        for name in ("prompt", "prompt"):
            deliver_once(home, name)
        list(threads.map(lambda _: deliver_once(home, "tool"), range(5)))
        for name in ("tool-again", "stop", "stop", "stop"):
            deliver_once(home, name)
    with opened(tmp_path / "memory.db") as home:
        for name in ("tool", "stop", "same-text-later"):
            deliver_once(home, name)
        assert home.rows("SELECT prompt_id, prompt_text FROM user_prompts") == [
            ("pr-1", "run the linter twice"), ("pr-2", "run the linter twice"),
        ]  # fmt: skip
        assert sorted(home.rows("SELECT tool_use_id FROM tool_uses")) == [
            ("toolu_d1",), ("toolu_d2",),
        ]  # fmt: skip
        assert home.value("SELECT count(*) FROM events WHERE kind = 'turn_ended'") == 1
        assert home.value("SELECT count(*) FROM pending_messages") == 3
        assert home.verify().off == ()


# True times: hooks overtake each other, but know when they ran ---------------------------


def turns() -> list[Event]:
    """Three turns of a session, a private one among them, with the times they happened."""
    made = [(EventKind.SESSION_STARTED, 0, {"source": StartSource.STARTUP})]
    for turn, at in enumerate((1_000, 60_000, 120_000)):
        words = {"prompt": "" if turn == 1 else f"prompt {turn}"}
        made.append((EventKind.PROMPT_SENT, at, words))
        for n in range(3):
            use = ToolUse(name="Bash", id=f"t{turn}-{n}", input=n, output=f"out {turn} {n}")
            made.append((EventKind.TOOL_USED, at + 10 + n, {"tool": use}))
        made.append((EventKind.TURN_ENDED, at + 50, {"answer": f"answer {turn}"}))
    return [
        Event(kind=kind, host="h", session_id="s", cwd="/x", at_ms=at + 1_000_000, **more)
        for kind, at, more in made
    ]


def accept(home: Home, event: Event) -> None:
    private = event.kind is EventKind.PROMPT_SENT and not event.prompt
    home.accept(
        event, key_of(event), state="skipped" if private else "",
        reason="private" if private else None,
    )  # fmt: skip


def by_turn(home: Home) -> list[tuple[Any, ...]]:
    """Each event with the words of its prompt, and what became of it."""
    return home.rows("""
      SELECT e.kind, e.at_ms, e.state, p.prompt_text FROM events e
      LEFT JOIN user_prompts p ON p.session_db_id = e.session_db_id
        AND p.prompt_number = e.prompt_number
      WHERE NOT (e.state = 'skipped') ORDER BY e.at_ms""")


@given(seed=st.integers(0, 10**9))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_late_events_find_their_turn(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    events = turns()
    random.Random(seed).shuffle(events)
    with opened(tmp_path_factory.mktemp("turns") / "memory.db") as home:
        home.host, home.session = "h", "s"
        for event in events:
            accept(home, event)
        found = by_turn(home)
        said = json.dumps(home.rows("SELECT * FROM tool_uses"))
        off = home.verify().off
    # Of the last turn, events that came before its prompt may have passed for private.
    kept = [row for row in found if row[1] < 1_120_000]
    assert [kind for kind, *_ in kept] == ["session_started", "prompt_sent", *["tool_used"] * 3,
                                           "turn_ended"]  # fmt: skip
    for kind, at_ms, _, words in found:
        turn = None if kind == "session_started" else f"prompt {2 * (at_ms >= 1_120_000)}"
        assert words == turn, (kind, at_ms)
    assert "out 1" not in said
    assert off == ()


@given(seed=st.integers(0, 10**9))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_late_events_find_the_turn_they_name(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    named = [
        attrs.evolve(event, prompt_id=str((event.at_ms - 1_000_000) // 60_000))
        for event in turns()[1:]
    ]
    random.Random(seed).shuffle(named)
    with opened(tmp_path_factory.mktemp("named") / "memory.db") as home:
        home.host, home.session = "h", "s"
        for event in named:
            accept(home, event)
        found = by_turn(home)
        off = home.verify().off
    assert len(found) == 10
    for _, at_ms, _, words in found:
        assert words == f"prompt {2 * (at_ms >= 1_120_000)}"
    assert off == ()
