"""The hot path of the hook against a stand-in for the worker."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from claude_mem_core.edge import hook_faults, install_hook
from tests.hook_home import HookHome, answer, environment, hook_home, stand_in

# Everything that the hook may import beside what a bare interpreter has.
ALLOWED = {"_socket", "select", "posix", "time", "marshal", "_imp", "client"}
EVENT = {"session_id": "s1", "hook_event_name": "Stop"}


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def imported(argv: list[str], stdin: bytes = b"{}") -> set[str]:
    """Names of all modules that a run of Python imports."""
    argv = [argv[0], "-X", "importtime", *argv[1:]]
    done = subprocess.run(argv, input=stdin, capture_output=True, timeout=30, check=False)
    return set(re.findall(r"\| +([\w.]+)$", done.stderr.decode(), re.MULTILINE))


def test_the_worker_says_what_the_host_gets(home: HookHome) -> None:
    said = answer(b'{"continue":true}', b"a line\n", code=3)
    with stand_in(home, lambda _: said):
        ran = home.run("Stop", EVENT)
    assert (ran.code, ran.out, ran.err) == (3, b'{"continue":true}', b"a line\n")
    assert not home.records()


def test_a_request_carries_host_event_key_time_size_and_body(home: HookHome) -> None:
    before = time.time_ns() // 1_000_000
    with stand_in(home) as worker:
        home.run("Stop", b'{"a": 1}', host="kimi")
    (request,) = worker.requests
    headers = request.headers
    assert request.body == b'{"a": 1}'
    assert (headers["x-mem-host"], headers["x-mem-event"]) == ("kimi", "Stop")
    assert re.fullmatch(r"\d{20}-\d+", headers["x-mem-key"])
    assert before <= int(headers["x-mem-at"]) <= time.time_ns() // 1_000_000
    assert headers["x-mem-size"] == headers["content-length"] == "8"


def test_of_the_environment_only_the_settled_names_travel(home: HookHome) -> None:
    env = {
        "CLAUDE_PROJECT_DIR": "/home/ü x;y\r\nz",
        "CLAUDE_MEM_DISABLE_SUMMARY": "1",
        "ANTHROPIC_API_KEY": "sk-ant-never",
    }
    with stand_in(home) as worker:
        home.run("Stop", EVENT, env=env)
    (request,) = worker.requests
    assert request.headers["x-mem-env"] == (
        "CLAUDE_MEM_DISABLE_SUMMARY=1;CLAUDE_PROJECT_DIR=/home/%C3%BC%20x%3By%0D%0Az"
    )
    assert b"sk-ant-never" not in str(request.headers).encode()


def test_a_host_that_does_not_say_where_it_works_is_asked_by_place(
    home: HookHome, tmp_path: Path
) -> None:
    """`--here` sends the directory that the hook was started in, over what is set."""
    where = tmp_path / "wörk"
    where.mkdir()
    env = {"CLAUDE_PROJECT_DIR": "/elsewhere"}
    with stand_in(home) as worker:
        home.run("pre_user_prompt", EVENT, "--here", host="windsurf", env=env, cwd=where)
    (request,) = worker.requests
    sent = f"CLAUDE_PROJECT_DIR={quote(str(where), safe='/')}"
    assert request.headers["x-mem-env"] == sent
    home.run("pre_user_prompt", EVENT, "--here", host="windsurf", cwd=where)
    head, _ = home.record()
    assert head["env"] == {"CLAUDE_PROJECT_DIR": str(where)}


@pytest.mark.parametrize("worker", ["silent", "speaking", "down", "broken"])
def test_a_host_that_waits_for_leave_gets_it_whatever_is_wrong(
    home: HookHome, worker: str
) -> None:
    """`--allow`: without those words the host would use no tool."""
    if worker == "broken":
        for part in home.paths.hook.glob("cold*"):
            part.unlink()
    if worker in {"down", "broken"}:
        ran = home.run("PreToolUse", EVENT, "--wait", "0.25", "--allow")
    else:
        with stand_in(home, b'{"decision": "ask"}' if worker == "speaking" else b""):
            ran = home.run("PreToolUse", EVENT, "--allow")
    said = b'{"decision": "%s"}' % (b"ask" if worker == "speaking" else b"allow")
    assert (ran.code, ran.out) == (0, said)


def test_the_hot_path_imports_next_to_nothing(home: HookHome) -> None:
    flags = home.argv[:4]
    with stand_in(home) as worker:
        ours = imported([*home.argv, "claude-code", "Stop"])
    assert len(worker.requests) == 1
    assert ours - imported([*flags, "-c", "pass"]) <= ALLOWED


def test_words_that_are_no_text_do_no_harm(home: HookHome) -> None:
    with stand_in(home) as worker:
        done = subprocess.run(
            [*map(os.fsencode, home.argv), b"h\xff\xc3", b"\xe9v\x80ent"], input=b"{}",
            capture_output=True, env=environment({"LC_ALL": "C"}), timeout=30, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(worker.requests) == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(home: HookHome, closed: str) -> None:
    with stand_in(home, b"{}") as worker:
        words = f"{shlex.join([*home.argv, 'claude-code', 'Stop'])} {closed}"
        done = subprocess.run(
            ["/bin/sh", "-c", words], stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == b""
    assert [request.body for request in worker.requests] == [b""]


def test_a_host_that_does_not_listen_is_no_fault(home: HookHome) -> None:
    with stand_in(home, b"x" * 1_000_000):
        words = shlex.join([*home.argv, "claude-code", "Stop"])
        done = subprocess.run(
            ["/bin/sh", "-c", f"({words}; echo code $? >&2) | true"], input=b"{}",
            capture_output=True, timeout=30, check=False,
        )  # fmt: skip
    assert b"code 0" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("switch", "event", "travels"),
    [
        ("CLAUDE_MEM_DISABLE_TOOL_HOOKS", "PreToolUse", False),
        ("CLAUDE_MEM_DISABLE_TOOL_HOOKS", "PostToolUse", False),
        ("CLAUDE_MEM_DISABLE_TOOL_HOOKS", "Stop", True),
        ("CLAUDE_MEM_DISABLE_OBSERVATION", "PostToolUseFailure", False),
        ("CLAUDE_MEM_DISABLE_OBSERVATION", "PreToolUse", True),
        ("CLAUDE_MEM_DISABLE_FILE_CONTEXT", "PreToolUse", False),
        ("CLAUDE_MEM_DISABLE_FILE_CONTEXT", "PostToolUse", True),
        ("CLAUDE_MEM_DISABLE_SUMMARY", "Stop", True),
    ],
)
def test_switches_of_the_host_save_the_work(
    home: HookHome, switch: str, event: str, travels: bool
) -> None:
    with stand_in(home) as worker:
        ran = home.run(event, EVENT, env={switch: "1"})
    assert (ran.code, ran.out, len(worker.requests)) == (0, b"", int(travels))


def test_a_worker_that_says_nothing_costs_a_quarter_of_a_second(home: HookHome) -> None:
    with stand_in(home, lambda _: None):
        ran = home.run("PostToolUse", EVENT)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert 0.2 < ran.seconds < 1.5
    assert len(home.records()) == 1


def test_an_event_that_injects_waits_for_a_slow_worker_but_once(home: HookHome) -> None:
    with stand_in(home, lambda _: None):
        first = home.run("SessionStart", EVENT)
        second = home.run("SessionStart", EVENT)
    assert 2.9 < first.seconds < 6
    assert second.seconds < 1.5
    assert len(home.records()) == 2


def test_an_installer_may_say_how_long_to_wait(home: HookHome) -> None:
    with stand_in(home, lambda _: None):
        ran = home.run("Stop", EVENT, "--wait", "1")
    assert 0.9 < ran.seconds < 3


@pytest.mark.parametrize("said", [b"HTTP/1.1 200 OK\r\n\r\n", b"garbage\r\n\r\n", b""])
def test_an_answer_that_is_none_leaves_the_event_on_disk(home: HookHome, said: bytes) -> None:
    with stand_in(home, lambda _: said or answer(status=b"503 starting")):
        ran = home.run("PostToolUse", EVENT)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    if said[:8] != b"HTTP/1.1":
        assert len(home.records()) == 1


def test_a_long_path_has_its_socket_elsewhere(home: HookHome, tmp_path: Path) -> None:
    deep = tmp_path / ("long" * 30)
    from claude_mem_core.paths import Paths

    far = HookHome(Paths(deep), install_hook(Paths(deep)))
    with stand_in(home, b"{}") as worker:
        far.paths.socket_elsewhere.write_bytes(os.fsencode(home.paths.socket))
        ran = far.run("Stop", EVENT)
    assert (ran.out, len(worker.requests)) == (b"{}", 1)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_strangers_socket_gets_not_one_byte(home: HookHome) -> None:
    listen = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]);"
        "s.listen(); os.chmod(sys.argv[1], 0o777); os.setuid(65534); print('up', flush=True);"
        "c, _ = s.accept(); c.settimeout(3); print(c.recv(100), flush=True)"
    )
    # The credentials of a listener are those of the process that called listen().
    listen = listen.replace(
        "s.listen(); os.chmod(sys.argv[1], 0o777); os.setuid(65534);",
        "os.chmod(sys.argv[1], 0o777); os.setuid(65534); s.listen();",
    )
    stranger = subprocess.Popen(
        [sys.executable, "-c", listen, str(home.paths.socket)], stdout=subprocess.PIPE
    )
    assert stranger.stdout is not None
    assert stranger.stdout.readline() == b"up\n"
    ran = home.run("Stop", EVENT)
    heard = stranger.communicate(timeout=10)[0]
    assert heard.strip() == b"b''"
    assert ran.code == 0
    assert len(home.records()) == 1


def test_more_hooks_than_the_socket_holds_wait_their_turn(home: HookHome) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home.paths.socket))
    listener.listen(0)
    crowd = []
    for _ in range(2):
        link = socket.socket(socket.AF_UNIX)
        link.setblocking(False)
        crowd.append(link)
        if link.connect_ex(str(home.paths.socket)) != 0:
            break
    ran = home.run("PostToolUse", EVENT)
    assert (ran.code, ran.err) == (0, b"")
    assert len(home.records()) == 1
    for link in (*crowd, listener):
        link.close()


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "Stop"])
@pytest.mark.parametrize("gone", ["hook/launch.py", "hook", "."])
def test_a_deleted_hook_blocks_nothing(home: HookHome, event: str, gone: str) -> None:
    """Python itself would end with 2, by which a host refuses the prompt."""
    path = home.paths.data / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    ran = home.run(event, EVENT, cwd="/")
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


@pytest.mark.parametrize("text", [None, b"def half("])
def test_without_its_client_the_hook_says_one_line(home: HookHome, text: bytes | None) -> None:
    for path in home.paths.hook.glob("client.*"):
        path.unlink()
    if text:
        (home.paths.hook / "client.py").write_bytes(text)
    ran = home.run("Stop", EVENT)
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err.startswith(b"claude-mem: ")
    assert ran.err.endswith(b"continuing without memory\n")
    assert ran.err.count(b"\n") == 1


def test_swapped_cached_code_is_not_run(home: HookHome) -> None:
    cached = next(home.paths.hook.glob("client.*.pyc"))
    other = next(home.paths.hook.glob("slow.*.pyc"))
    cached.write_bytes(other.read_bytes())
    with stand_in(home, b"{}"):
        assert home.run("Stop", EVENT).out == b"{}"
    assert [cached.name in fault for fault in hook_faults(home.paths)] == [True]
    install_hook(home.paths)
    assert hook_faults(home.paths) == []


@pytest.mark.parametrize("garbage", [b"", b"\x00" * 200, b"x" * 10])
def test_broken_cached_code_is_not_run(home: HookHome, garbage: bytes) -> None:
    for cached in home.paths.hook.glob("*.pyc"):
        cached.write_bytes(garbage)
    with stand_in(home, b"{}"):
        assert home.run("Stop", EVENT).out == b"{}"
    assert home.run("PostToolUse", EVENT).err == b""
    assert len(home.records()) == 1
