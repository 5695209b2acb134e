"""What our plugin inside OpenClaw hands on, and what it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_openclaw.adapter import OpenClaw

from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = OpenClaw()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("openclaw", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, **fields: Any) -> list[Event]:
    payload = {"sessionId": "s1", "sessionKey": "agent:main:main", "cwd": "/x", **fields}
    call = Delivery(host="openclaw", event=name, stdin=json.dumps(payload).encode())
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    assert example("before_prompt_build").prompt == "PROMPT-1 do it"
    used = example("after_tool_call.exec").tool
    assert used
    assert (used.name, used.output, used.duration_ms) == ("exec", "alpha = 1\n", 20)
    failed = example("after_tool_call.failed").tool
    assert failed
    assert failed.error == "Tool usermem__recall not found"
    assert example("agent_end").answer == "final one"


@pytest.mark.parametrize(
    ("code", "failed"), [(0, False), (3, True), (None, False), (True, False)]
)
def test_a_command_fails_by_its_exit_code(code: Any, failed: bool) -> None:
    result = {"content": [{"type": "text", "text": "bad"}], "details": {"exitCode": code}}
    (event,) = parsed("after_tool_call", event={"toolName": "exec", "result": result})
    assert (event.kind is EventKind.TOOL_FAILED) is failed
    assert event.tool
    assert event.tool.error == ("bad\nExit code 3" if failed else None)


def test_the_tool_that_calls_others_is_no_tool_use() -> None:
    assert parsed("after_tool_call", event={"toolName": "tool_call", "params": {}}) == []


def test_a_subagent_is_told_by_its_key() -> None:
    key = {"sessionKey": "agent:main:subagent:1"}
    (task,) = parsed("before_prompt_build", prompt="SUBTASK", **key)
    assert (task.kind, task.reason) == (EventKind.NOTICE, "subagent_prompt")
    (used,) = parsed("after_tool_call", event={"toolName": "read"}, **key)
    assert used.in_subagent
    (end,) = parsed("agent_end", success=True, answer="done", **key)
    assert (end.kind, end.answer) == (EventKind.SUBAGENT_ENDED, "done")


def test_a_turn_that_failed() -> None:
    (failed,) = parsed("agent_end", success=False, error="429 slow down")
    assert (failed.kind, failed.error) == (EventKind.TURN_FAILED, "429 slow down")


def test_two_turns_with_the_same_words_are_two() -> None:
    assert parsed("agent_end", answer="x", at="r1") != parsed("agent_end", answer="x", at="r2")


def test_only_a_prompt_is_answered_and_plainly() -> None:
    for kind in EventKind:
        said = ADAPTER.reply(Answer(kind=kind, context="x", notice="n")).stdout
        assert said == ("x" if kind is EventKind.PROMPT_SENT else "")
