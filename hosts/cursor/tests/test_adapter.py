"""What Cursor's payloads mean, what it may be told, and its transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_cursor.adapter import Cursor
from claude_mem_host_cursor.installer import CursorInstaller

from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Cursor()
TWO = ["/home/dev/shop", "/home/dev/shop-ui"]


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("cursor", EXAMPLES / f"{name}.json"))
    return event


def events(name: str, **fields: Any) -> list[Event]:
    payload = {"conversation_id": "c1", "workspace_roots": TWO, **fields}
    call = Delivery(host="cursor", event=name, stdin=json.dumps(payload).encode())
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    prompt = example("beforeSubmitPrompt")
    assert prompt.prompt == "PROMPT-1 mend the cart"
    answer, stop = example("afterAgentResponse"), example("stop.completed")
    assert answer.answer == "final one"
    assert (stop.kind, stop.answer, stop.extra) == (
        EventKind.TURN_ENDED, None, {"status": "completed"},
    )  # fmt: skip
    assert prompt.prompt_id == answer.prompt_id == stop.prompt_id
    assert prompt.session_id == example("sessionEnd").session_id
    ran = example("afterShellExecution").tool
    assert ran
    assert (ran.name, ran.input, ran.duration_ms) == ("Bash", {"command": "pytest -q"}, 1234)
    edit = example("afterFileEdit").tool
    assert edit
    assert edit.input["file_path"] == "/home/dev/shop/src/cart.py"
    assert example("subagentStop").answer == "sub final"


def test_what_an_mcp_server_says_comes_from_outside() -> None:
    tool = example("afterMCPExecution").tool
    assert tool
    assert tool.name == "mcp__cursor__recall"
    assert (tool.input, tool.output["content"][0]["text"]) == (
        {"query": "cart"},
        "nothing found",
    )


def test_every_folder_of_a_workspace_gets_its_context() -> None:
    started = ADAPTER.parse(recorded("cursor", EXAMPLES / "sessionStart.two-folders.json"))
    assert [event.cwd for event in started] == TWO
    assert {event.session_id for event in started} == {started[0].session_id}
    assert [event.cwd for event in events("sessionStart", workspace_roots=[])] == [""]
    many = [f"/srv/{number}" for number in range(40)]
    assert len(events("sessionStart", workspace_roots=many)) == 8


@pytest.mark.parametrize(
    ("name", "fields", "cwd"),
    [
        ("afterFileEdit", {"file_path": "/home/dev/shop-ui/app.ts"}, TWO[1]),
        ("afterFileEdit", {"file_path": "/home/dev/shop/a.py"}, TWO[0]),
        ("afterFileEdit", {"file_path": "/etc/hosts"}, TWO[0]),
        (
            "afterShellExecution",
            {"command": "ls", "cwd": "/home/dev/shop-ui/src"},
            f"{TWO[1]}/src",
        ),
        ("afterShellExecution", {"command": "ls", "cwd": "src"}, TWO[0]),
        ("afterShellExecution", {"command": "ls", "cwd": ""}, TWO[0]),
        ("beforeSubmitPrompt", {"prompt": "x"}, TWO[0]),
    ],
)
def test_an_event_belongs_to_the_folder_it_is_about(
    name: str, fields: dict[str, Any], cwd: str
) -> None:
    (event,) = events(name, **fields)
    assert event.cwd == cwd


def test_a_folder_in_a_folder_and_paths_of_windows() -> None:
    inner = ["/srv/a", "/srv/a/b"]
    (event,) = events("afterFileEdit", file_path="/srv/a/b/x.py", workspace_roots=inner)
    assert event.cwd == "/srv/a/b"
    roots = ["/c:/src/app", "/d:/ui"]
    (event,) = events("afterFileEdit", file_path="/d:/ui/x.ts", workspace_roots=roots)
    assert (event.cwd, event.tool and event.tool.input["file_path"]) == ("d:/ui", "d:/ui/x.ts")


def test_a_turn_that_failed() -> None:
    failed = example("stop.error")
    assert (failed.kind, failed.error) == (EventKind.TURN_FAILED, "the turn ended in an error")


@pytest.mark.parametrize("name", ["session_id", "generation_id", "id"])
def test_older_versions_name_the_session_otherwise(name: str) -> None:
    (event,) = events("beforeSubmitPrompt", prompt="x", conversation_id=None, **{name: "s9"})
    assert event.session_id == "s9"


def test_without_a_session_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match="missing-field: id"):
        events("beforeSubmitPrompt", prompt="x", conversation_id="")


def test_what_the_hook_had_to_cut_is_still_a_command() -> None:
    cut = {"tool_input": {"command": "make"}, "tool_output": {"too_large": "9 MB"}}
    (event,) = events("afterShellExecution", **cut)
    assert event.tool
    assert (event.tool.input, event.tool.output) == ({"command": "make"}, {"too_large": "9 MB"})


@pytest.mark.parametrize("kind", list(EventKind))
def test_context_only_at_the_start_and_no_prompt_is_held_up(kind: EventKind) -> None:
    said = json.loads(ADAPTER.reply(Answer(kind=kind, host_event="x", context="c")).stdout)
    assert said == ({"additional_context": "c"} if kind is EventKind.SESSION_STARTED else {})
    answer = Answer(host_event="beforeSubmitPrompt", notice="one line")
    assert json.loads(ADAPTER.reply(answer).stdout) == {"continue": True}


def test_only_the_start_waits_for_an_answer() -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["/py", "/h/hook/launch.py"])
    (change,) = CursorInstaller().install(setup)
    assert change.after
    made = json.loads(change.after)
    assert list(made) == ["version", "hooks"]
    for event, (hook,) in made["hooks"].items():
        assert set(hook) == {"command"}
        assert f" cursor {event}" in hook["command"]
        assert ("--wait" in hook["command"]) == (event == "sessionStart")


def line(role: str, *content: Any) -> bytes:
    return json.dumps({"role": role, "message": {"content": list(content)}}).encode()


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


PROMPT, WORDS = line("user", text("x")), line("assistant", text(" Done. "))
CALL = line("assistant", text("I look"), {"type": "tool_use", "name": "Shell"})


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ([PROMPT, CALL, WORDS, b"half {"], "Done."),
        ([PROMPT, line("assistant", text("a"), text("b"))], "a\nb"),
        ([PROMPT, WORDS, PROMPT], None),
        ([PROMPT, WORDS, PROMPT, CALL], None),
        ([b'{"role": "assistant", "message": {"content": "plain"}}'], "plain"),
        ([b'{"role": "assistant"}', b"[]", b""], None),
        ([], None),
    ],
)
def test_the_final_answer(lines: list[bytes], answer: str | None) -> None:
    assert ADAPTER.final_answer(lines) == answer
