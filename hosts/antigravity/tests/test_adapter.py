"""What Antigravity CLI's payloads mean, what it may be told, and its transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_antigravity.adapter import Antigravity
from claude_mem_host_antigravity.installer import AntigravityInstaller

from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup, hookform

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Antigravity()
START, PROMPT = EventKind.SESSION_STARTED, EventKind.PROMPT_SENT


def example(name: str) -> list[Event]:
    return list(ADAPTER.parse(recorded("antigravity", EXAMPLES / f"{name}.json")))


def events(name: str, **fields: Any) -> list[Event]:
    payload = {"conversationId": "c1", "workspacePaths": ["/srv/app"], **fields}
    call = Delivery(host="antigravity", event=name, stdin=json.dumps(payload).encode())
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    start, prompt = example("PreInvocation.first")
    assert (start.kind, start.cwd) == (START, "/home/dev/shop")
    assert (prompt.kind, prompt.prompt) == (PROMPT, hookform.UNTOLD)
    assert [event.kind for event in example("PreInvocation.later")] == [PROMPT]
    _, used = example("PreToolUse.run_command")
    assert used.tool
    assert (used.tool.name, used.tool.id) == ("run_command", "step-3")
    assert used.tool.input["CommandLine"] == "pytest -q"
    assert example("PostToolUse") == []
    (failed,) = example("PostToolUse.failed")
    assert failed.tool
    assert (failed.tool.name, failed.tool.error) == ("run_command", "exit status 1")
    (unnamed,) = example("PostToolUse.unnamed")
    assert unnamed.tool
    assert (unnamed.tool.name, unnamed.tool.id) == ("tool", "step-3")
    assert [event.kind for event in example("PostInvocation")] == [PROMPT]
    assert [event.kind for event in example("Stop.model_stop")] == [
        PROMPT,
        EventKind.TURN_ENDED,
    ]
    assert example("Stop.error")[1].error == "quota"


@pytest.mark.parametrize(
    ("number", "steps", "starts"),
    [(0, 0, True), (0, 2, True), (0, 9, False), (1, 0, False), (None, 0, False)],
)
def test_only_the_first_request_of_a_conversation_is_a_start(
    number: int | None, steps: int, starts: bool
) -> None:
    found = events("PreInvocation", invocationNum=number, initialNumSteps=steps)
    assert (found[0].kind is START) == starts


def test_the_event_is_named_by_our_command_line_alone() -> None:
    assert events("", hook_event_name="Stop") == []


def test_a_tool_is_always_let_through_and_nothing_unknown_is_said() -> None:
    def said(event: str, **fields: Any) -> Any:
        return json.loads(ADAPTER.reply(Answer(host_event=event, **fields)).stdout)

    assert said("PreToolUse", context="c", notice="n") == {"decision": "allow"}
    assert said("PreInvocation", context="c") == {"injectSteps": [{"ephemeralMessage": "c"}]}
    for event in ("PreInvocation", "PostInvocation", "PostToolUse", "Stop", ""):
        assert said(event, notice="n") == {}


def test_the_form_of_the_hooks_and_their_seconds() -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["/py", "/h/hook/launch.py"])
    (change,) = AntigravityInstaller().install(setup)
    assert change.after
    (ours,) = json.loads(change.after).values()
    assert {name for name, (entry,) in ours.items() if "matcher" in entry} == {
        "PreToolUse", "PostToolUse",
    }  # fmt: skip
    for (entry,) in ours.values():
        (hook,) = entry.get("hooks", [entry])
        assert hook["timeout"] == 30
    (tool,) = ours["PreToolUse"][0]["hooks"]
    assert tool["command"].endswith(" antigravity PreToolUse --wait 0.25 --allow")


def test_hooks_that_are_switched_off_are_named(tmp_path: Path) -> None:
    setup = HostSetup(
        home=str(tmp_path), data_dir=str(tmp_path / "d"), argv=["/py", "/h/hook/launch.py"]
    )
    (change,) = AntigravityInstaller().install(setup)
    file = Path(change.path)
    file.parent.mkdir(parents=True)
    assert change.after
    (ours,) = json.loads(change.after).values()
    file.write_text(json.dumps({"claude-mem": {"enabled": False, **ours}}))
    (problem,) = AntigravityInstaller().status(setup).problems
    assert "enabled = false" in problem


def line(kind: str, content: Any, number: int = 0) -> bytes:
    step = {"step_index": number, "source": "MODEL", "type": kind, "content": content}
    return json.dumps(step).encode()


ASKED = line("USER_INPUT", "mend it", 4)
DONE, RAN = line("PLANNER_RESPONSE", " Done. "), line("RUN_COMMAND", "12 passed")


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ([ASKED, RAN, DONE, line("PLANNER_RESPONSE", ""), b"half {"], "Done."),
        ([ASKED, line("PLANNER_RESPONSE", [{"text": "a"}, {"x": 1}, {"text": "b"}])], "a\nb"),
        ([DONE, ASKED], None),
        ([ASKED, RAN], None),
        ([b"[]", b""], None),
        ([], None),
    ],
)
def test_the_final_answer(lines: list[bytes], answer: str | None) -> None:
    assert ADAPTER.final_answer(lines) == answer


@pytest.mark.parametrize(
    ("lines", "prompt"),
    [
        ([line("USER_INPUT", "old"), DONE, ASKED, RAN], ("step-4", "mend it")),
        ([line("USER_INPUT", [{"text": "a"}], 7)], ("step-7", "a")),
        (
            [line("USER_INPUT", "<USER_REQUEST>\nmend it\n</USER_REQUEST>\n<META>x</META>", 2)],
            ("step-2", "mend it"),
        ),
        ([b'{"type": "USER_INPUT", "content": "no number"}', DONE], None),
        ([], None),
    ],
)
def test_the_newest_prompt(lines: list[bytes], prompt: tuple[str, str] | None) -> None:
    assert ADAPTER.last_prompt(lines) == prompt
