"""What a host sends is data: no word of it is run, whichever host starts our hook."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.types import FileChange, Host, HostSetup
from tests.hook_home import environment, hook_home, stand_in

RECORDS = {record.name: record for record in Registry(scan()).records("mem_hosts", Host)}
# These load a script of ours, are given only our server, or run other hosts.
WITHOUT = {"openclaw", "opencode", "pi", "claude-desktop", "grok-bot", "t3code"}
SPAWNING = sorted(set(RECORDS) - WITHOUT)
WORDS = (
    "$(touch PWNED) `touch PWNED`; touch PWNED & touch PWNED | touch PWNED\n"
    "touch PWNED\n' ; touch PWNED ; ' \" ; touch PWNED ; \" %PATH% ${IFS}touch${IFS}PWNED"
)
FIELDS = (
    "session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id", "cwd",
    "prompt", "user_prompt", "hook_event_name", "agent_action_name", "tool_name", "command",
)  # fmt: skip
PAYLOADS = (
    json.dumps({**dict.fromkeys(FIELDS, WORDS), "tool_input": {"command": WORDS}}).encode(),
    WORDS.encode(),
)


def plan(name: str, home: Path, argv: list[str]) -> list[FileChange]:
    """What the host's installer writes into a fresh home."""
    installer = RECORDS[name].installer
    assert installer is not None
    setup = HostSetup(home=str(home), data_dir=str(home / ".claude-mem"), argv=argv)
    return list(installer().install(setup))


def commands(changes: list[FileChange]) -> list[list[str]]:
    """How each hook is started: through a shell, but with its arguments where a host has them."""
    return [command for change in changes for command in _found(_value(change))]


def _value(change: FileChange) -> Any:
    text = (change.after or b"").decode()
    return tomllib.loads(text) if change.path.endswith(".toml") else json.loads(text)


def _found(value: Any) -> Iterator[list[str]]:
    if isinstance(value, dict):
        program = value.get("command", value.get("bash"))
        if isinstance(program, str) and "args" in value:
            yield [program, *value["args"]]
        elif isinstance(program, str):
            yield ["/bin/sh", "-c", program]
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _found(inner)


def test_no_host_that_starts_commands_is_left_out() -> None:
    assert WITHOUT - {"grok-bot"} <= set(RECORDS)
    assert len(SPAWNING) >= 10


def test_shell_text_in_a_payload_does_nothing(tmp_path: Path) -> None:
    with hook_home() as home, stand_in(home, b"{}") as worker:
        for name in SPAWNING:
            started = commands(plan(name, tmp_path / name, home.argv))
            assert len(started) >= len(RECORDS[name].hooks), name
            for payload in PAYLOADS:
                done = subprocess.run(
                    started[0], input=payload, capture_output=True, cwd=tmp_path,
                    env=environment(), timeout=60, check=False,
                )  # fmt: skip
                assert (done.returncode, done.stderr) == (0, b""), name
                assert worker.requests[-1].body == payload, f"{name}: it came as it was sent"
        assert len(worker.requests) == len(SPAWNING) * len(PAYLOADS)
    assert not list(tmp_path.rglob("PWNED*"))


@pytest.mark.parametrize("name", SPAWNING)
def test_shell_text_in_a_path_is_quoted(name: str, tmp_path: Path) -> None:
    argv = ["/opt/my python/bin/python", "-I", "/srv/a $(touch PWNED) 'b' ;c/hook/launch.py"]
    for started in commands(plan(name, tmp_path, argv)):
        words = shlex.split(started[2]) if started[0] == "/bin/sh" else started
        assert words[: len(argv)] == argv
