"""What Copilot CLI's payloads mean, what it may be told, and its log of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_copilot.adapter import Copilot
from claude_mem_host_copilot.installer import CopilotInstaller

from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup, StartSource

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Copilot()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("copilot", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, **fields: Any) -> list[Event]:
    payload = {"sessionId": "s1", "cwd": "/srv/app", "timestamp": 1, **fields}
    call = Delivery(host="copilot", event=name, stdin=json.dumps(payload).encode())
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    assert example("sessionStart.new").source is StartSource.STARTUP
    assert example("sessionStart.resume").source is StartSource.RESUME
    assert example("userPromptSubmitted").prompt == "PROMPT-1 do it"
    used = example("postToolUse.view").tool
    assert used
    assert (used.name, used.output) == ("view", "alpha = 1\n")
    failed = example("postToolUseFailure.view").tool
    assert failed
    assert failed.error == "Path does not exist"


def test_the_event_is_named_by_our_command_line_alone() -> None:
    payload = {"sessionId": "s1", "cwd": "/x", "hook_event_name": "userPromptSubmitted"}
    call = Delivery(host="copilot", event="", stdin=json.dumps(payload).encode())
    assert list(ADAPTER.parse(call)) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("bad\n<shellId: 1 completed with exit code 3>", EventKind.TOOL_FAILED),
        ("ok\n<shellId: 1 completed with exit code 0>", EventKind.TOOL_USED),
        ("it says <shellId: 1 completed with exit code 3> inside", EventKind.TOOL_USED),
    ],
)
def test_failures_hide_in_the_text(text: str, kind: EventKind) -> None:
    result = {"resultType": "success", "textResultForLlm": text}
    (event,) = parsed("postToolUse", toolName="bash", toolArgs={}, toolResult=result)
    assert event.kind is kind


def test_a_refused_tool_failed() -> None:
    result = {"resultType": "denied", "textResultForLlm": "no"}
    (event,) = parsed("postToolUse", toolName="bash", toolResult=result)
    assert event.tool
    assert (event.kind, event.tool.error) == (EventKind.TOOL_FAILED, "no")


def test_two_equal_uses_are_two() -> None:
    (one,) = parsed("postToolUse", toolName="x", timestamp=1796070831304)
    (two,) = parsed("postToolUse", toolName="x", timestamp=1796070831305)
    assert one.tool
    assert two.tool
    assert one.tool.id != two.tool.id


def test_a_subagent_belongs_to_the_session_that_started_it() -> None:
    task = example("userPromptSubmitted.in-subagent")
    assert (task.kind, task.reason) == (EventKind.NOTICE, "subagent_prompt")
    used = example("postToolUse.view.in-subagent")
    assert used.in_subagent
    main = example("agentStop")
    assert used.session_id == task.session_id == main.session_id
    assert not main.in_subagent


def test_a_subagents_end_is_told_once() -> None:
    call = recorded("copilot", EXAMPLES / "agentStop.in-subagent.json")
    assert list(ADAPTER.parse(call)) == []
    report = example("subagentStop")
    assert (report.agent_type, report.answer) == ("general-purpose", "sub final")


@pytest.mark.parametrize("kind", list(EventKind))
def test_context_stands_at_the_top(kind: EventKind) -> None:
    answer = Answer(kind=kind, host_event="sessionStart", context="x", notice="n")
    said = json.loads(ADAPTER.reply(answer).stdout)
    known = kind in {EventKind.SESSION_STARTED, EventKind.TOOL_STARTING}
    assert said == ({"additionalContext": "x"} if known else {})


def test_timeouts_are_seconds_and_the_form_is_flat() -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["/py", "/h/hook/launch.py"])
    (change,) = CopilotInstaller().install(setup)
    assert change.after
    hooks = json.loads(change.after)["hooks"]
    for event, (hook,) in hooks.items():
        assert set(hook) == {"type", "bash", "timeoutSec"}
        assert hook["timeoutSec"] <= 120
        assert f" copilot {event}" in hook["bash"]


def line(kind: str, **data: Any) -> bytes:
    return json.dumps({"type": kind, "data": data}).encode()


PROMPT, WORDS = line("user.message", content="x"), line("assistant.message", content=" Done. ")
CALL = line("assistant.message", content="I look", toolRequests=[{"name": "bash"}])
INNER = line("assistant.message", content="SUB", parentToolCallId="c1")


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ([PROMPT, CALL, WORDS, line("assistant.turn_end"), b"half {"], "Done."),
        ([PROMPT, WORDS, INNER], "Done."),
        ([PROMPT, WORDS, PROMPT], None),
        ([PROMPT, WORDS, PROMPT, CALL], None),
        ([WORDS, PROMPT, line("assistant.message", content="")], None),
        ([b"[]", b'{"type": "assistant.message"}'], None),
        ([], None),
    ],
)
def test_the_final_answer(lines: list[bytes], answer: str | None) -> None:
    assert ADAPTER.final_answer(lines) == answer
