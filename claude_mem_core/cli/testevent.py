"""Sending the test event of `mem doctor`, as a host does: by the installed hook."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from claude_mem_core.cli.finding import FAIL, OK, WARN, Row
from claude_mem_core.edge import hook_argv
from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.testevent import is_test, new_session, words
from claude_mem_core.types import Delivery, Event, EventKind, Host, hookform

WAIT_S = 20  # a busy machine may need more than a host waits
TOPIC = "test event"
KINDS = (
    EventKind.PROMPT_SENT, EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.TURN_ENDED,
)  # fmt: skip


@attrs.frozen
class Call:
    """What a host would hand to the hook."""

    host: str
    event: str
    session: str
    payload: Mapping[str, Any]

    @property
    def stdin(self) -> bytes:
        return json.dumps(self.payload).encode()


def call_for(host: Host, cwd: str) -> Call | None:
    """A call that this host's adapter reads as a test event; None when none is known.

    It is read here first: what could be taken for a real event is never sent.
    """
    session = new_session()
    adapter = host.open()
    found: list[tuple[int, Call]] = []
    for event in host.hooks:
        call = Call(host.name, event, session, _payload(session, event, cwd))
        kinds = _kinds(adapter.parse, call)
        if kinds is not None:
            found.append((min(map(KINDS.index, kinds)), call))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _kinds(parse: Any, call: Call) -> list[EventKind] | None:
    """What the adapter reads in it; None for anything but test events of our kinds."""
    delivery = Delivery(host=call.host, event=call.event, stdin=call.stdin, size=len(call.stdin))
    try:
        events: Iterable[Event] = tuple(parse(delivery))
    except MemError:
        return None
    if not events or not all(is_test(event) and event.kind in KINDS for event in events):
        return None
    told = all(event.prompt or event.tool or event.answer for event in events)
    # Words that the host does not tell are looked for elsewhere, and are nowhere.
    told = told and not any(event.prompt == hookform.UNTOLD for event in events)
    return [event.kind for event in events] if told else None


def _payload(session: str, event: str, cwd: str) -> dict[str, Any]:
    """The words of all hosts in one payload; each adapter reads its own."""
    said, use = words(session), f"use-{session}"
    return {
        "session_id": session, "sessionId": session, "sessionID": session, "sid": session,
        "trajectory_id": session, "tool_info": {"user_prompt": said, "command_line": "true"},
        "hook_event_name": event, "cwd": cwd, "prompt": said,
        "last_assistant_message": said, "prompt_response": said,
        "event": {"prompt": said}, "output": {"parts": [{"type": "text", "text": said}]},
        "tool_name": "Bash", "toolName": "Bash", "tool_use_id": use,
        "tool_input": {"command": "true", "description": said},
        "toolArgs": {"command": "true", "description": said},
        "conversationId": session, "error": said,
        "toolCall": {"name": "Bash", "args": {"command": "true", "description": said}},
        "tool_response": {"stdout": said}, "toolResult": {"textResultForLlm": said},
    }  # fmt: skip


def send(paths: Paths, call: Call) -> Row:
    """Run the hook with it; what came of it, as a row.

    Raises:
        MemError: the worker can't be asked what came of it.
    """
    from claude_mem_core.cli.client import WorkerClient

    fault = _hook(paths, call)
    if fault:
        return Row(TOPIC, FAIL, f"hook: {fault}", "mem repair")
    report = WorkerClient(paths).get("/api/admin/doctor").get("test_event")
    if not report or report["session"] != call.session:
        text = "hook: the worker did not get the event; it was put on disk"
        return Row(TOPIC, FAIL, text, "mem repair")
    return row_of(report)


def row_of(report: Mapping[str, Any]) -> Row:
    """How far it came, for people."""
    steps = report["steps"]
    stopped = next((step for step in steps if step["fault"]), None)
    if stopped is None:
        way = ", ".join(step["name"] for step in steps)
        return Row(TOPIC, OK, f"{report['host']}: went through in {report['ms']:.0f} ms: {way}")
    state = WARN if stopped["cure"] in {"mem resume", "mem on"} else FAIL
    return Row(TOPIC, state, f"{stopped['name']}: {stopped['fault']}", stopped["cure"])


def _hook(paths: Paths, call: Call) -> str:
    """Start the hook as a host does; what is wrong with its answer, else empty."""
    argv = [*hook_argv(paths), call.host, call.event, "--wait", str(WAIT_S)]
    try:
        done = subprocess.run(
            argv, input=call.stdin, capture_output=True, timeout=2 * WAIT_S, check=False,
            env=_environment(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it can't be run: {type(error).__name__}"
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if done.returncode or said:
        return said[-1] if said else f"it ended with {done.returncode}"
    return ""


def _environment() -> dict[str, str]:
    """A host's environment, without the switches that would keep the event out."""
    return {k: v for k, v in os.environ.items() if not k.startswith("CLAUDE_MEM_DISABLE_")}


def rows(paths: Paths, hosts: Iterable[Host], cwd: str) -> Iterator[Row]:
    """Send one for the first host that has a call."""
    if not (paths.hook / "launch.py").exists():
        yield Row(TOPIC, WARN, "not sent: the hook is not installed", "mem install")
        return
    call = next(filter(None, (call_for(host, cwd) for host in hosts)), None)
    if call is None:
        text = "not sent: no host is known in whose words it could be said"
        yield Row(TOPIC, WARN, text, "mem plugins")
        return
    yield send(paths, call)
