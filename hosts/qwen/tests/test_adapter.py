"""What Qwen Code's payloads mean, and what it may be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_qwen.adapter import Qwen
from claude_mem_host_qwen.installer import QwenInstaller

from claude_mem_core.editing import Json
from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Qwen()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("qwen", EXAMPLES / f"{name}.json"))
    return event


def events(name: str, **fields: Any) -> list[Event]:
    payload = {"session_id": "s1", "cwd": "/srv/app", "hook_event_name": name, **fields}
    call = Delivery(host="qwen", event=name, stdin=json.dumps(payload).encode())
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    prompt = example("UserPromptSubmit")
    assert prompt.prompt == "PROMPT-1 do it"
    assert prompt.prompt_id == example("PostToolUse.read_file").prompt_id
    assert example("Stop").answer == "final one"
    failed = example("PostToolUseFailure.run_shell_command")
    assert failed.tool
    assert "Exit Code: 3" in (failed.tool.error or "")
    report = example("SubagentStop")
    assert (report.agent_type, report.answer) == ("general-purpose", "sub final")


@pytest.mark.parametrize("fields", [{"prompt": ""}, {"prompt": " \n"}, {}])
def test_the_hook_before_later_requests_is_no_prompt(fields: dict[str, Any]) -> None:
    assert events("UserPromptSubmit", **fields) == []


def test_prompts_of_other_forms() -> None:
    (picture,) = events("UserPromptSubmit", prompt="", submitted_prompt="")
    assert picture.prompt == "[media prompt]"
    (older,) = events("UserPromptSubmit", prompt="an older version")
    assert older.prompt == "an older version"
    with pytest.raises(InvalidInput, match="missing-field: prompt"):
        events("UserPromptSubmit", prompt=["x"])


def test_the_end_of_a_background_task_is_no_prompt() -> None:
    note = "<task-notification>\n<task-id>x</task-id>\n</task-notification>"
    (event,) = events("UserPromptSubmit", prompt=note, submitted_prompt=note)
    assert (event.kind, event.reason) == (EventKind.NOTICE, "task_notification")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Output: bad\nExit Code: 3\nSignal: (none)", EventKind.TOOL_FAILED),
        ("Output: ok\nExit Code: 0\nSignal: (none)", EventKind.TOOL_USED),
        ("it says Exit Code: 3 somewhere", EventKind.TOOL_USED),
    ],
)
def test_failures_hide_in_the_text(text: str, kind: EventKind) -> None:
    fields = {"tool_name": "run_shell_command", "tool_response": {"llmContent": text}}
    (event,) = events("PostToolUse", **fields)
    assert event.kind is kind


def test_only_json_is_said_and_only_at_the_start() -> None:
    for kind in EventKind:
        said = json.loads(ADAPTER.reply(Answer(kind=kind, host_event="X", context="x")).stdout)
        assert ("hookSpecificOutput" in said) == (kind is EventKind.SESSION_STARTED)
    assert json.loads(ADAPTER.reply(Answer()).stdout) == {}


def test_a_switch_that_stops_our_hooks_is_named() -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["x"])
    doc = Json('{"disableAllHooks": true}', "settings.json")
    (problem,) = QwenInstaller().problems(setup, doc, {})
    assert "disableAllHooks" in problem


def test_timeouts_are_seconds() -> None:
    assert all(wait < 1000 for wait in QwenInstaller.timeouts.values())
