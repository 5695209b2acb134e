"""What our plugin inside OpenCode hands on, and what it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_opencode.adapter import OpenCode

from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = OpenCode()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("opencode", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, **fields: Any) -> Event:
    payload = {"sessionID": "ses_1", "cwd": "/srv/app", **fields}
    call = Delivery(host="opencode", event=name, stdin=json.dumps(payload).encode())
    (event,) = ADAPTER.parse(call)
    return event


def sent(*parts: Any, **fields: Any) -> Event:
    return parsed("chat.message", output={"message": {"id": "msg_1"}, "parts": parts}, **fields)


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def test_a_turn() -> None:
    assert example("session.created").kind is EventKind.SESSION_STARTED
    assert example("chat.message").prompt == '"PROMPT-1 do the work"'
    used = example("tool.execute.after.bash").tool
    assert used
    assert (used.name, used.output) == ("bash", "README.md\na.py\n")
    foreign = example("tool.execute.after.usermem_recall").tool
    assert foreign
    assert foreign.output == [{"type": "text", "text": "MCP-RESULT-MARK for q1"}]
    assert example("session.idle").answer == "final answer"


def test_a_prompt_is_a_list_of_parts() -> None:
    assert sent(text("a"), {"type": "file"}, 3, text("b")).prompt == "a\nb"
    assert sent({"type": "file"}).prompt == "[media prompt]"
    ours = text("<claude-mem-context>x</claude-mem-context>", synthetic=True)
    assert sent(ours, text("mine")).prompt == "mine", "what we put there is not the user's"


@pytest.mark.parametrize("output", [None, [], {}, {"parts": "x"}])
def test_a_prompt_of_another_form_is_refused(output: Any) -> None:
    with pytest.raises(InvalidInput, match="missing-field: output"):
        parsed("chat.message", output=output)


def test_a_subagent_belongs_to_the_session_that_started_it() -> None:
    inner = {"parentID": "ses_0", "agent": "general"}
    task = sent(text("SUBTASK"), **inner)
    assert (task.kind, task.reason) == (EventKind.NOTICE, "subagent_prompt")
    used = parsed("tool.execute.after", input={"tool": "read"}, output={"output": "x"}, **inner)
    assert used.in_subagent
    assert used.session_id == "ses_0"
    end = example("session.idle.in-subagent")
    assert (end.kind, end.agent_type, end.answer) == (
        EventKind.SUBAGENT_ENDED, "general", "sub final",
    )  # fmt: skip
    assert parsed("session.created", **inner).kind is EventKind.SUBAGENT_STARTED


@pytest.mark.parametrize(
    ("code", "kind"),
    [(0, EventKind.TOOL_USED), (3, EventKind.TOOL_FAILED), (None, EventKind.TOOL_USED)],
)
def test_a_command_fails_by_its_exit_code(code: int | None, kind: EventKind) -> None:
    output = {"output": "bad", "metadata": {"exit": code}}
    event = parsed("tool.execute.after", input={"tool": "bash", "args": {}}, output=output)
    assert event.kind is kind
    assert event.tool
    assert event.tool.error == ("bad\nExit code 3" if code else None)


def test_failures() -> None:
    state = {"status": "error", "input": {"filePath": "x"}, "error": "no such file"}
    failed = parsed("tool.error", part={"tool": "read", "callID": "c1", "state": state})
    assert failed.tool
    assert (failed.kind, failed.tool.error) == (EventKind.TOOL_FAILED, "no such file")
    error = {"name": "APIError", "data": {"message": "429 slow down"}}
    assert parsed("session.error", error=error).error == "APIError: 429 slow down"


def test_only_a_prompt_is_answered_and_plainly() -> None:
    for kind in EventKind:
        said = ADAPTER.reply(Answer(kind=kind, context="x", notice="n")).stdout
        assert said == ("x" if kind is EventKind.PROMPT_SENT else "")
