"""What Gemini CLI's payloads mean, and what it may be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_gemini.adapter import Gemini
from claude_mem_host_gemini.installer import GeminiInstaller

from claude_mem_core.editing import Json
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup, StartSource

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Gemini()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("gemini", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, **fields: Any) -> Event:
    payload = {"session_id": "s1", "cwd": "/srv/app", "hook_event_name": name, **fields}
    call = Delivery(host="gemini", event=name, stdin=json.dumps(payload).encode())
    (event,) = ADAPTER.parse(call)
    return event


def test_a_turn() -> None:
    assert example("SessionStart.resume").source is StartSource.RESUME
    used = example("AfterTool.run_shell_command").tool
    assert used
    assert used.input == {"command": "ls"}
    assert example("AfterAgent").answer == "final one"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("<hook_context>CTX</hook_context>\n\nPROMPT-1 do it", "PROMPT-1 do it"),
        ("<hook_context>a</hook_context>\n<hook_context>b</hook_context>\n\nx", "x"),
        ("say <hook_context>x</hook_context>", "say <hook_context>x</hook_context>"),
        ("<hook_context>open", "<hook_context>open"),
        ("<hook_context>&lt;claude-mem-context id=1&gt;</hook_context>\n\nx", "x"),
        ("<hook_context>CTX</hook_context>", "[media prompt]"),
        ("", "[media prompt]"),
    ],
)
def test_what_hooks_put_before_a_prompt_is_not_the_users(sent: str, kept: str) -> None:
    assert parsed("BeforeAgent", prompt=sent).prompt == kept


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (
            {"llmContent": "Output: bad\nExit Code: 3\nProcess"},
            "Output: bad\nExit Code: 3\nProcess",
        ),
        ({"llmContent": [{"text": "x\nExit Code: 1"}]}, "x\nExit Code: 1"),
        ({"llmContent": "", "error": {"message": "no such file", "type": "x"}}, "no such file"),
        ({"llmContent": "Output: ok\nExit Code: 0"}, None),
        ({"llmContent": "the words Exit Code: 3 in a line"}, None),
        ("Exit Code: 3", None),
        (None, None),
    ],
)
def test_failures_hide_in_the_text(response: Any, error: str | None) -> None:
    event = parsed("AfterTool", tool_name="run_shell_command", tool_response=response)
    assert event.tool
    assert event.tool.error == error
    assert (event.kind is EventKind.TOOL_FAILED) == (error is not None)


def test_two_equal_uses_are_two() -> None:
    same = {"tool_name": "x", "tool_input": {}, "tool_response": {"llmContent": "y"}}
    one = parsed("AfterTool", timestamp="2026-11-30T20:26:35.663Z", **same).tool
    two = parsed("AfterTool", timestamp="2026-11-30T20:26:36.101Z", **same).tool
    assert one
    assert two
    assert one.id != two.id


def test_only_json_is_said() -> None:
    start = Answer(kind=EventKind.SESSION_STARTED, host_event="SessionStart", context="x")
    said = json.loads(ADAPTER.reply(start).stdout)
    known = {"hookEventName": "SessionStart", "additionalContext": "x"}
    assert said == {"hookSpecificOutput": known}
    for kind in EventKind:
        assert json.loads(ADAPTER.reply(Answer(kind=kind)).stdout) == {}


@pytest.mark.parametrize(
    "text", ['{"hooksConfig": {"enabled": false}}', '{"hooksConfig": {"disabled": ["say"]}}']
)
def test_switches_that_stop_our_hooks_are_named(text: str) -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["x"])
    ours = {"AfterTool": {"hooks": [{"command": "say"}]}}
    (problem,) = GeminiInstaller().problems(setup, Json(text, "settings.json"), ours)
    assert "hooksConfig" in problem


def test_timeouts_are_milliseconds() -> None:
    assert all(wait >= 60_000 for wait in GeminiInstaller.timeouts.values())
