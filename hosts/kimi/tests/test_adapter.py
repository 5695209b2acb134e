"""What Kimi Code's payloads mean, and its own journal of a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_kimi import wire
from claude_mem_host_kimi.adapter import KimiCode

from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = KimiCode()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("kimi", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, at_ms: int = 0, **fields: Any) -> Event:
    payload = {"session_id": "session_1", "cwd": "/srv/app", "hook_event_name": name, **fields}
    call = Delivery(host="kimi", event=name, stdin=json.dumps(payload).encode(), at_ms=at_ms)
    (event,) = ADAPTER.parse(call)
    return event


def test_a_prompt_is_a_list_of_parts() -> None:
    assert example("UserPromptSubmit").prompt == "PROMPT-1 do it"
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, 3, {"text": "b"}]
    assert parsed("UserPromptSubmit", prompt=parts).prompt == "a\nb"
    assert parsed("UserPromptSubmit", prompt="plain").prompt == "plain"
    assert parsed("UserPromptSubmit", prompt=[{"type": "image_url"}]).prompt == "[media prompt]"


@pytest.mark.parametrize("prompt", [None, 3, {"text": "x"}])
def test_a_prompt_of_another_kind_is_refused(prompt: Any) -> None:
    with pytest.raises(InvalidInput, match="missing-field: prompt"):
        parsed("UserPromptSubmit", prompt=prompt)


def test_tools() -> None:
    used = example("PostToolUse.Bash").tool
    assert used
    assert (used.name, used.id, used.output) == ("Bash", "call_fake000003", "README.md\na.py\n")
    failed = example("PostToolUseFailure.Bash").tool
    assert failed
    assert failed.error == "bad\nCommand failed with exit code: 3."


def test_two_ends_of_turns_are_two_events() -> None:
    assert parsed("Stop", at_ms=1) != parsed("Stop", at_ms=2)
    assert parsed("Stop", at_ms=1) == parsed("Stop", at_ms=1)


def test_failures_and_subagents() -> None:
    failed = parsed("StopFailure", error_type="APIError", error_message="429 slow down")
    assert (failed.kind, failed.error) == (EventKind.TURN_FAILED, "APIError: 429 slow down")
    sub = example("SubagentStop")
    assert sub.agent_type == "coder"
    assert sub.answer
    assert sub.answer.startswith("sub final")


def test_only_a_prompt_is_answered_and_plainly() -> None:
    text = "line one\n<fence>ü</fence>"
    prompt = Answer(kind=EventKind.PROMPT_SENT, host_event="UserPromptSubmit", context=text)
    assert ADAPTER.reply(prompt).stdout == text
    for kind in set(EventKind) - {EventKind.PROMPT_SENT}:
        assert ADAPTER.reply(Answer(kind=kind, context=text, notice="x")).stdout == ""
    assert ADAPTER.reply(Answer()).stdout == ""


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/srv/My App (2)/", "wd_my-app-2_"),
        ("/", "wd_workspace_"),
        ("C:\\src\\app", "wd_app_"),
        ("/x/" + "a" * 60, "wd_" + "a" * 40 + "_"),
    ],
)
def test_where_a_session_lies(cwd: str, folder: str) -> None:
    path = wire.path_of(cwd, "session_1")
    assert path
    assert path.startswith(folder)
    assert path.endswith("/session_1/agents/main/wire.jsonl")


@pytest.mark.parametrize("session", ["../../x", "a/b", "", "a" * 200])
def test_odd_sessions_have_no_journal(session: str) -> None:
    assert wire.path_of("/srv/app", session) is None


def line(kind: str, **fields: Any) -> bytes:
    event = {"type": kind, **fields}
    return json.dumps({"type": "context.append_loop_event", "event": event}).encode()


PROMPT = json.dumps({"type": "turn.prompt", "input": "x"}).encode()
BEGIN, CALL = line("step.begin"), line("tool.call")
WORDS = line("content.part", part={"type": "text", "text": "Done: it works."})
THOUGHT = line("content.part", part={"type": "think", "think": "hm"})
MORE, END = line("step.end", finishReason="tool_use"), line("step.end", finishReason="end_turn")
EARLIER = [PROMPT, BEGIN, line("content.part", part={"type": "text", "text": "OLD"}), END]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ([*EARLIER, PROMPT, BEGIN, THOUGHT, WORDS, END, b"{}", b"half {"], "Done: it works."),
        ([*EARLIER, PROMPT, BEGIN, WORDS, CALL, MORE, BEGIN, WORDS, END], "Done: it works."),
        ([*EARLIER, PROMPT, BEGIN, WORDS, CALL], None),
        ([*EARLIER, PROMPT, BEGIN, WORDS, CALL, MORE], None),
        ([*EARLIER, PROMPT, BEGIN], None),
        ([*EARLIER, PROMPT], None),
        ([*EARLIER, PROMPT, BEGIN, END], None),
        ([], None),
    ],
)
def test_the_final_answer(lines: list[bytes], answer: str | None) -> None:
    assert ADAPTER.final_answer(lines) == answer
