"""What Codex CLI's payloads mean, and what it may be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_codex.adapter import Codex

from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, StartSource

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Codex()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("codex", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, **fields: Any) -> Event:
    payload = {"session_id": "s1", "cwd": "/srv/app", "hook_event_name": name, **fields}
    call = Delivery(host="codex", event=name, stdin=json.dumps(payload).encode())
    (event,) = ADAPTER.parse(call)
    return event


def test_a_turn() -> None:
    assert example("SessionStart.resume").source is StartSource.RESUME
    assert example("UserPromptSubmit").prompt == "PROMPT-1 do the work"
    used = example("PostToolUse.apply_patch").tool
    assert used
    assert "*** Begin Patch" in used.input["command"]
    ended = example("Stop")
    assert ended.answer == "final answer"
    assert ended.transcript
    assert ended.transcript.startswith("/home/dev/codex/home/.codex/sessions/")


def test_two_prompts_of_one_turn_are_two() -> None:
    first = parsed("UserPromptSubmit", turn_id="t1", prompt="do it")
    second = parsed("UserPromptSubmit", turn_id="t1", prompt="stop, do that")
    assert first.prompt_id is None
    assert first.prompt != second.prompt


def test_a_subagents_task_is_no_prompt() -> None:
    task = parsed("UserPromptSubmit", prompt="SUBTASK", agent_id="a1", agent_type="default")
    assert (task.kind, task.reason) == (EventKind.NOTICE, "subagent_prompt")
    report = example("SubagentStop")
    assert (report.agent_type, report.answer) == ("default", "sub final")
    inner = example("PostToolUse.Bash.in-subagent")
    assert inner.in_subagent
    assert inner.session_id == report.session_id


@pytest.mark.parametrize("kind", list(EventKind))
def test_output_has_only_keys_that_codex_knows(kind: EventKind) -> None:
    """One unknown key, and all of the output is lost."""
    answer = Answer(kind=kind, host_event="SessionStart", context="x", notice="n")
    said = json.loads(ADAPTER.reply(answer).stdout)
    assert set(said) <= {"hookSpecificOutput", "systemMessage"}
    if kind is EventKind.SESSION_STARTED:
        known = {"hookEventName": "SessionStart", "additionalContext": "x"}
        assert said["hookSpecificOutput"] == known
    else:
        assert "hookSpecificOutput" not in said


def test_nothing_to_say_is_no_output() -> None:
    assert ADAPTER.reply(Answer(kind=EventKind.SESSION_STARTED)).stdout == ""
    assert ADAPTER.reply(Answer()).stdout == ""
