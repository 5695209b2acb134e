"""What Claude Code's payloads mean, word for word."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_claude_code.adapter import EVENTS, ClaudeCode
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, StartSource

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = ClaudeCode()
SESSION = "11111111-2222-3333-4444-555555555555"
NOTIFIED = (
    "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n"
    "</task-notification>\nRead the output file for the result: /tmp/x.output"
)


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("claude-code", EXAMPLES / f"{name}.json"))
    return event


def given_to(name: str, **fields: Any) -> Delivery:
    payload = {"session_id": SESSION, "cwd": "/srv/app", "hook_event_name": name, **fields}
    return Delivery(host="claude-code", event=name, stdin=json.dumps(payload).encode())


def parsed(name: str, **fields: Any) -> Event:
    (event,) = ADAPTER.parse(given_to(name, **fields))
    return event


@pytest.mark.parametrize("source", list(StartSource))
def test_every_source_of_a_session(source: StartSource) -> None:
    assert example(f"SessionStart.{source}").source is source


def test_a_session_of_an_unknown_source_is_a_startup() -> None:
    assert parsed("SessionStart", source="teleport").source is StartSource.STARTUP
    assert parsed("SessionStart").source is StartSource.STARTUP


def test_a_prompt() -> None:
    event = example("UserPromptSubmit")
    assert event.kind is EventKind.PROMPT_SENT
    assert event.prompt == "FIRST-PROMPT please do the work"
    assert event.prompt_id == "b29a8cb9-fa88-4d9d-984d-df9a68dceeb1"
    assert event.transcript
    assert event.transcript.endswith(".jsonl")


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        (NOTIFIED, "task_notification"),
        ("  \n" + NOTIFIED, "task_notification"),
        ("<system-reminder>x</system-reminder>", "internal_protocol"),
        (
            "<command-name>/x</command-name>\n<command-args>a</command-args>",
            "internal_protocol",
        ),
        ("<local-command-stdout></local-command-stdout>", "internal_protocol"),
    ],
)
def test_what_nobody_typed_is_no_prompt(prompt: str, reason: str) -> None:
    event = parsed("UserPromptSubmit", prompt=prompt)
    assert (event.kind, event.reason, event.prompt) == (EventKind.NOTICE, reason, None)


@pytest.mark.parametrize(
    "prompt",
    [
        "why do I get a <task-notification>?",
        "<task-notification> what is this",
        "<system-reminder>x</system-reminder> and now?",
        "<task-notifications></task-notifications>",
        "<b>bold</b>",
    ],
)
def test_what_somebody_typed_about_it_is_one(prompt: str) -> None:
    assert parsed("UserPromptSubmit", prompt=prompt).prompt == prompt


def test_protocol_is_told_in_linear_time() -> None:
    import time

    def seconds(count: int) -> float:
        start = time.perf_counter()
        parsed("UserPromptSubmit", prompt="<command-name>x</command-name>\n" * count)
        parsed("UserPromptSubmit", prompt="<command-name>" * count)
        return time.perf_counter() - start

    seconds(100)
    assert seconds(40_000) < 0.5 + 40 * seconds(5_000)


def test_a_prompt_of_pictures_alone() -> None:
    assert parsed("UserPromptSubmit", prompt=" ").prompt == "[media prompt]"


def test_tools() -> None:
    read = example("PostToolUse.Read").tool
    assert read
    assert (read.name, read.id, read.duration_ms) == ("Read", "toolu_fake000001", 11)
    assert read.output["file"]["content"] == "alpha = 1\n"
    failed = example("PostToolUseFailure.Bash")
    assert failed.kind is EventKind.TOOL_FAILED
    assert failed.tool
    assert failed.tool.error == "Exit code 3\nout\nbad"
    assert not failed.tool.is_interrupt
    starting = example("PreToolUse.Read")
    assert starting.kind is EventKind.TOOL_STARTING
    mcp = example("PostToolUse.mcp__usermem__recall").tool
    assert mcp
    assert mcp.output == [{"type": "text", "text": "MCP-RESULT-MARK for q2"}]


def test_interrupted_tools() -> None:
    stopped = parsed("PostToolUse", tool_name="Bash", tool_response={"interrupted": True})
    assert stopped.tool
    assert stopped.tool.is_interrupt
    failed = parsed("PostToolUseFailure", tool_name="Bash", error="x", is_interrupt=True)
    assert failed.tool
    assert failed.tool.is_interrupt


def test_inside_a_subagent() -> None:
    event = example("PostToolUse.Read.in-subagent")
    assert event.in_subagent
    assert event.agent_type == "general-purpose"


@pytest.mark.parametrize("value", ["", "x" * 129, 7, None, ["a"], {"a": 1}])
def test_only_good_agent_ids_count(value: Any) -> None:
    event = parsed("PostToolUse", tool_name="Read", agent_id=value, agent_type="t")
    assert event.agent_id is None
    assert not event.in_subagent


def test_ends() -> None:
    assert example("Stop").answer == "All done: final answer."
    assert example("SubagentStop").answer == "Subagent final report: README has notes."
    failed = example("StopFailure")
    assert failed.kind is EventKind.TURN_FAILED
    assert failed.error == "unknown: API Error: 400 scripted 400"
    assert failed.answer is None
    assert example("SessionEnd.clear").reason == "clear"
    assert example("PostCompact.manual").answer == "Resumed answer."
    assert example("PreCompact.manual").extra["custom_instructions"] == "keep the names"
    assert parsed("Stop", stop_hook_active=True).extra == {"stop_hook_active": True}
    assert parsed("Stop", last_assistant_message=" \n").answer is None


@pytest.mark.parametrize("agent_type", ["", None])
def test_the_subagent_of_a_compaction_is_none(agent_type: str | None) -> None:
    call = given_to("SubagentStop", agent_type=agent_type, last_assistant_message="summary")
    assert ADAPTER.parse(call) == []


@pytest.mark.parametrize("name", ["MessageDisplay", "Notification", "Tomorrow", ""])
def test_other_events_say_nothing(name: str) -> None:
    assert ADAPTER.parse(given_to(name)) == []


@pytest.mark.parametrize(
    ("stdin", "reason"),
    [
        (b"", "empty"),
        (b" \r\n", "empty"),
        (b"null", "not-an-object"),
        (b"[1,2,3]", "not-an-object"),
        (b"42", "not-an-object"),
        (b'"hello"', "not-an-object"),
        (b"{}", "missing-field: session_id"),
        (b'{"session_id": "s", "hook_event_name": "UserPromptSubmit", "pr', "truncated"),
        (b'{"session_id": "s", "prompt": "x"', "truncated"),
        (b'{"session_id": tru', "truncated"),
        (b'{"session_id": "s"}zz', "not-json"),
        (b'{"a": 1}\n{"b": 2}', "not-json"),
        (b"<html></html>", "not-json"),
        (b'{"session_id": NaN}', "not-json"),
        (b'{"n": ' + b"9" * 5000 + b"}", "not-json"),
        (b'{"session_id": 77, "cwd": ["/tmp"]}', "missing-field: session_id"),
        (b'{"session_id": null, "cwd": null}', "missing-field: session_id"),
        (b'{"session_id": "s", "cwd": ["/tmp"]}', "missing-field: cwd"),
        (b'{"session_id": "s", "prompt": {"a": 1}}', "missing-field: prompt"),
        (b'{"session_id": "s"}', "missing-field: prompt"),
        (b"[" * 100_000, "not-json"),
    ],
)
def test_refusals(stdin: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ADAPTER.parse(Delivery(host="claude-code", event="UserPromptSubmit", stdin=stdin))
    assert str(caught.value) == reason


def test_a_tool_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="missing-field: tool_name"):
        ADAPTER.parse(given_to("PostToolUse", tool_name=None))


def test_bytes_that_are_no_utf8_cost_only_themselves() -> None:
    stdin = b'\xef\xbb\xbf{"session_id": "s", "prompt": "caf\xe9 \xe2\x98\x83"}'
    call = Delivery(host="claude-code", event="UserPromptSubmit", stdin=stdin)
    assert ADAPTER.parse(call)[0].prompt == "caf\ufffd \u2603"


def test_deep_values_become_text() -> None:
    deep: Any = "bottom"
    for _ in range(300):
        deep = [deep]
    event = parsed("PostToolUse", tool_name="X", tool_response=deep)
    assert event.tool
    assert "bottom" in json.dumps(event.tool.output)
    level, value = 0, event.tool.output
    while isinstance(value, list):
        level, value = level + 1, value[0]
    assert level < 64
    assert isinstance(value, str)


@pytest.mark.parametrize("path", ["", "a.jsonl", "../x", "~/x", "\0", "/a\0b", "/" * 5000, 7])
def test_only_whole_paths_of_transcripts(path: Any) -> None:
    assert parsed("Stop", transcript_path=path).transcript is None


@pytest.mark.parametrize("path", ["/a/b.jsonl", "C:\\a\\b.jsonl", "C:/a"])
def test_whole_paths_are_kept(path: str) -> None:
    assert parsed("Stop", transcript_path=path).transcript == path


@given(st.sampled_from(sorted(EVENTS)), st.binary(max_size=300))
def test_no_bytes_break_it(name: str, stdin: bytes) -> None:
    with suppress(InvalidInput):
        ADAPTER.parse(Delivery(host="claude-code", event=name, stdin=stdin))


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    [
        "session_id",
        "cwd",
        "prompt",
        "source",
        "tool_name",
        "tool_input",
        "tool_response",
        "error",
        "agent_id",
        "agent_type",
        "transcript_path",
        "agent_transcript_path",
        "last_assistant_message",
        "prompt_id",
        "reason",
        "trigger",
        "custom_instructions",
        "compact_summary",
        "stop_hook_active",
        "duration_ms",
        "tool_use_id",
    ]
)


@given(st.sampled_from(sorted(EVENTS)), st.dictionaries(FIELDS, JSONS, max_size=6))
def test_no_payload_breaks_it(name: str, fields: dict[str, Any]) -> None:
    with suppress(InvalidInput):
        ADAPTER.parse(given_to(name, **fields))


# Answers ---------------------------------------------------------------------


def said(**answer: Any) -> dict[str, Any]:
    output = ADAPTER.reply(Answer(**answer))
    assert output.stdout.isascii(), "any locale prints it"
    body: dict[str, Any] = json.loads(output.stdout)
    return body


def test_context_names_its_event_exactly() -> None:
    for kind, name in (
        (EventKind.SESSION_STARTED, "SessionStart"),
        (EventKind.TOOL_STARTING, "PreToolUse"),
    ):
        inner = said(kind=kind, host_event=name, context="known ü")["hookSpecificOutput"]
        assert inner == {"hookEventName": name, "additionalContext": "known ü"}


def test_permissions_are_left_alone() -> None:
    text = ADAPTER.reply(Answer(kind=EventKind.TOOL_STARTING, host_event="PreToolUse")).stdout
    assert "ermission" not in text
    assert "decision" not in text


def test_a_notice_is_a_message_for_the_person() -> None:
    body = said(kind=EventKind.SESSION_STARTED, host_event="SessionStart", notice="look")
    assert body["systemMessage"] == "look"
    assert body["hookSpecificOutput"]["additionalContext"] == ""


def test_nothing_to_say() -> None:
    assert said(host_event="Stop") == {"continue": True, "suppressOutput": True}
    assert said(kind=EventKind.TURN_ENDED, host_event="Stop") == said(host_event="Stop")
