"""Nothing of ours opens a connection but to the worker's own socket.

A whole session runs with an audit hook in every process of ours: the installed hook
client, the worker, `mem`. What they connect to is written down and compared with the
list in docs/outbound.md, which is empty.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.edge import install_hook, recorded_environment
from claude_mem_core.testing.worker import data_dir

WATCH = """
import sys
LOG = {log!r}
def seen(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        to = args[1] if len(args) > 1 else args
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        to = args[0]
    else:
        return
    with open(LOG, "a") as out:
        out.write(event + " " + repr(to) + "\\n")
sys.addaudithook(seen)
"""
RUN_MODULE = "import runpy; runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
RUN_PATH = "import runpy; runpy.run_path({name!r}, run_name='__main__')"


class Watched:
    """Runs our programs with the audit hook in them."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "connections"
        self.log.touch()

    def argv(self, code: str, name: str, args: list[str]) -> list[str]:
        text = WATCH.format(log=str(self.log)) + f"sys.argv = {[name, *args]!r}\n"
        return [sys.executable, "-c", text + code.format(name=name)]

    def run(
        self, code: str, name: str, args: list[str], env: Mapping[str, str], stdin: bytes = b""
    ) -> bytes:
        done = subprocess.run(
            self.argv(code, name, args), input=stdin, env={**os.environ, **env},
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def connections(self) -> set[str]:
        return set(self.log.read_text().splitlines())


@pytest.fixture
def scene() -> Iterator[tuple[Any, Watched]]:
    with data_dir() as paths:
        yield paths, Watched(paths.data.parent)


def test_the_watcher_sees_a_connection(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    code = "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    watched.run(code, "x", [], {})
    assert watched.connections() == {"socket.connect ('127.0.0.1', 9)"}


@pytest.mark.slow
def test_a_session_connects_to_nothing_but_our_socket(scene: tuple[Any, Watched]) -> None:
    paths, watched = scene
    install_hook(paths)
    env = {"CLAUDE_MEM_DATA_DIR": str(paths.data)}
    worker = subprocess.Popen(
        watched.argv(RUN_MODULE, "claude_mem_core.worker.main", ["--data-dir", str(paths.data)]),
        env=recorded_environment(os.environ), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until(paths.socket.exists)
        play(paths, watched, env)
        mem = "claude_mem_core.cli.main"
        for command in (
            ["status"],
            ["search", "cart"],
            ["verify"],
            ["context", "--cwd", "/srv/shop"],
            ["usage"],
            ["auth", "list"],
        ):
            watched.run(RUN_MODULE, mem, command, env)
    finally:
        worker.terminate()
        worker.wait(30)
    seen = watched.connections()
    ours = {line for line in seen if os.path.normpath(target(line)) == str(paths.socket)}
    assert any(line.startswith("socket.connect") for line in ours)
    assert seen - ours == set()


def target(line: str) -> str:
    """What a line of the log says was connected to or bound."""
    return line.split(" ", 1)[1].strip("'")


def play(paths: Any, watched: Watched, env: Mapping[str, str]) -> None:
    """A short session through the installed hook client."""
    base = {"session_id": "n-1", "cwd": "/srv/shop", "transcript_path": ""}
    edit = {"file_path": "/srv/shop/cart.py", "old_string": "a", "new_string": "b"}
    events = [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "mend the cart"}),
        ("PostToolUse", {"tool_name": "Edit", "tool_input": edit, "tool_use_id": "t1",
                         "tool_response": {"filePath": "/srv/shop/cart.py"}}),
        ("Stop", {"last_assistant_message": "The cart is mended."}),
        ("SessionEnd", {"reason": "other"}),
    ]  # fmt: skip
    for name, fields in events:
        payload = json.dumps({**base, "hook_event_name": name, **fields}).encode()
        client = str(paths.hook / "client.py")
        watched.run(RUN_PATH, client, ["claude-code", name], env, payload)
    time.sleep(0.5)  # the observer works after the hook has its answer


def until(what: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)
