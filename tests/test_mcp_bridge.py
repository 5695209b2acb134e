"""The bridge as a process, and the protocol as raw messages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.edge import bridge_argv, install_hook
from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from tests.cli_run import mem
from tests.hook_home import answer, environment, hook_home, stand_in
from tests.mcp_kit import bridge
from tests.test_hook_client import imported
from tests.worker_home import until

# What the bridge may import beside a bare interpreter's, for a session without faults.
ALLOWED = {"__future__", "_socket", "select", "posix", "time", "_thread"}
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with data_dir() as paths:
        install_hook(paths)
        worker = start(paths, tcp=True)
        try:
            yield worker
        finally:
            worker.stop()


def message(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def post(live: LiveWorker, body: Any) -> tuple[int, Any]:
    raw = live.ask("POST", "/mcp", body)
    return raw.status, raw.json


# The protocol --------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_a_known_version_is_spoken(live: LiveWorker, version: str) -> None:
    _, found = post(live, message("initialize", protocolVersion=version))
    assert found["result"]["protocolVersion"] == version
    assert found["result"]["capabilities"] == {"tools": {"listChanged": False}}


@pytest.mark.parametrize("wished", ["2999-01-01", None, 7])
def test_for_an_unknown_version_ours_is_offered(live: LiveWorker, wished: Any) -> None:
    _, found = post(live, message("initialize", protocolVersion=wished))
    assert found["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
        (message("server/discover"), -32601),
        (message("resources/list"), -32601),
        (message("tools/call", name="no-such"), -32602),
        (message("tools/call", name=3), -32602),
        (message("tools/call", name="search", arguments=[1]), -32602),
        ("text", -32600),
        (7, -32600),
        ([], -32600),
        ([message("ping")] * 51, -32600),
    ],
)
def test_what_is_wrong_with_a_message_is_said(live: LiveWorker, body: Any, code: int) -> None:
    status, found = post(live, body)
    assert (status, found["error"]["code"]) == (200, code)


@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 4, "result": {}},
        [{"jsonrpc": "2.0", "method": "notifications/initialized"}],
    ],
)
def test_a_notification_gets_no_answer(live: LiveWorker, body: Any) -> None:
    raw = live.ask("POST", "/mcp", body)
    assert (raw.status, raw.body) == (202, b"")


def test_several_messages_at_once(live: LiveWorker) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    status, found = post(live, [message("ping", 1), note, message("nope", "b")])
    assert status == 200
    assert [one["id"] for one in found] == [1, "b"]
    assert found[0]["result"] == {}


def test_who_asks_for_a_stream_is_told_there_is_none(live: LiveWorker) -> None:
    assert live.ask("GET", "/mcp").status == 405
    assert live.ask("DELETE", "/mcp").status == 405


def test_over_tcp_the_token_is_needed(live: LiveWorker) -> None:
    import httpx2

    url = f"http://127.0.0.1:{live.port}/mcp"
    body = message("tools/list")
    with httpx2.Client() as web:
        assert web.post(url, json=body).status_code == 401
        wrong = {"Authorization": "Bearer " + "0" * 64}
        assert web.post(url, json=body, headers=wrong).status_code == 401
        right = {"Authorization": f"Bearer {live.token}"}
        assert web.post(url, json=body, headers=right).status_code == 200
        foreign = {**right, "Origin": "http://evil.example"}
        assert web.post(url, json=body, headers=foreign).status_code == 403
        rebound = {**right, "Host": "evil.example"}
        assert web.post(url, json=body, headers=rebound).status_code == 421
        assert web.post(url, content=b"{", headers=right).status_code in (400, 415)


def test_it_can_be_switched_off(live: LiveWorker) -> None:
    client = WorkerClient(live.paths)
    assert client.get("/api/mcp/status") == {"enabled": True}
    assert client.post("/api/mcp/toggle", {"enabled": False})["enabled"] is False
    try:
        assert client.get("/api/mcp/status") == {"enabled": False}
        assert post(live, message("tools/list"))[1]["result"]["tools"] == []
        _, found = post(live, message("tools/call", name="important_workflow"))
        assert found["result"]["isError"] is True
        assert "CLAUDE_MEM_MCP_ENABLED" in found["result"]["content"][0]["text"]
    finally:
        client.post("/api/mcp/toggle", {"enabled": True})
    assert post(live, message("tools/list"))[1]["result"]["tools"]


# The process ---------------------------------------------------------------------


def test_nothing_but_the_protocol_is_printed(live: LiveWorker) -> None:
    with bridge(live.paths) as made:
        made.send(
            b"", b"   ", message("ping", 1), b"\xff\xfe no json", b"{",
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            message("tools/call", "two", name="search", arguments={"query": "\x00\ud800"}),
            b'{"jsonrpc":"2.0","id":3,"method":"ping"}\r',
        )  # fmt: skip
        found = made.rest()
    assert {one.get("id") for one in found} == {1, "two", 3}
    assert all(one["jsonrpc"] == "2.0" for one in found)
    assert made.process.returncode == 0


def test_questions_do_not_wait_for_one_another(live: LiveWorker) -> None:
    with bridge(live.paths) as made:
        made.send(*(message("ping", n) for n in range(40)))
        assert {one["id"] for one in made.rest()} == set(range(40))


def test_a_last_line_without_its_end_is_answered(live: LiveWorker) -> None:
    with bridge(live.paths) as made:
        assert made.process.stdin is not None
        made.process.stdin.write(json.dumps(message("ping", 9)).encode())
        assert [one["id"] for one in made.rest()] == [9]


def test_a_session_costs_a_bare_interpreter(live: LiveWorker) -> None:
    argv = [*bridge_argv(live.paths), "claude-code"]
    lines = (message("initialize"), message("tools/list", 2), message("tools/call", 3))
    stdin = b"\n".join(json.dumps(line).encode() for line in lines)
    bare = imported([*argv[:4], "-c", "pass"])
    assert imported(argv, stdin) - bare <= ALLOWED


@LINUX
def test_it_is_small(live: LiveWorker) -> None:
    with bridge(live.paths) as made:
        made.ask("initialize")
        made.ask("tools/call", name="search", arguments={"query": "x"})
        status = Path(f"/proc/{made.process.pid}/status").read_text("ascii")
    peak = next(row for row in status.splitlines() if row.startswith("VmHWM"))
    assert int(peak.split()[1]) < 20 * 1024, peak


CLIENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n'); child.stdin.flush()
child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_its_client(live: LiveWorker, number: int) -> None:
    argv = [sys.executable, "-c", CLIENT, *bridge_argv(live.paths), "x"]
    client = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdout is not None
    pid = int(client.stdout.readline())
    client.send_signal(number)
    client.communicate()
    until(lambda: not is_alive(pid))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_of_the_environment_only_the_projects_directory_travels() -> None:
    env = {"ANTHROPIC_API_KEY": "sk-ant-never", "CLAUDE_PROJECT_DIR": "/srv/an ü project"}
    pong = answer(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    with hook_home() as home, stand_in(home, lambda _: pong) as worker:
        done = subprocess.run(
            [*bridge_argv(home.paths), "kimi"], env=environment(env), cwd="/",
            input=json.dumps(message("ping")).encode(), capture_output=True, timeout=60,
            check=False,
        )  # fmt: skip
    assert json.loads(done.stdout)["result"] == {}
    (request,) = worker.requests
    assert request.target == "/mcp?client=kimi&cwd=/srv/an%20%C3%BC%20project"
    assert "sk-ant-never" not in f"{request.headers}{request.body!r}"


# A worker that is down -----------------------------------------------------------


@pytest.fixture
def idle() -> Iterator[Paths]:
    """A data directory with everything installed and no worker."""
    with data_dir() as paths:
        install_hook(paths)
        try:
            yield paths
        finally:
            mem(paths.data, "stop")


def test_a_worker_that_is_down_is_started(idle: Paths) -> None:
    with bridge(idle) as made:
        made.send(message("initialize", 1), message("tools/list", 2))
        found = {one["id"]: one for one in made.rest()}
    assert found[1]["result"]["serverInfo"]["name"] == "claude-mem"
    names = {tool["name"] for tool in found[2]["result"]["tools"]}
    assert {"search", "timeline", "get_observations", "remember"} <= names
    assert WorkerClient(idle).running()


def test_the_worker_does_not_descend_from_the_bridge(idle: Paths) -> None:
    """Some hosts end, at their own end, whatever descends from what they have started."""
    with bridge(idle) as made:
        assert made.ask("initialize")["result"]
        below = psutil.Process(made.process.pid).children(recursive=True)
        assert below == []
    assert WorkerClient(idle).running()


def test_a_worker_that_dies_between_two_questions_is_started_again(idle: Paths) -> None:
    worker = start(idle)
    with bridge(idle) as made:
        assert made.ask("ping")["result"] == {}
        worker.kill()
        assert made.ask("ping", 2)["result"] == {}


def test_where_it_may_not_be_started_the_answer_says_so(idle: Paths) -> None:
    mem(idle.data, "config", "set", "CLAUDE_MEM_WORKER_AUTOSTART", "false")
    worker = start(idle)
    until(lambda: b'"autostart": false' in idle.edge.read_bytes().replace(b'":f', b'": f'))
    worker.stop()
    with bridge(idle) as made:
        made.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        found = made.ask("initialize", 5)
        assert made.rest() == []
    assert found["id"] == 5
    assert "`mem run`" in found["error"]["message"]
    assert not WorkerClient(idle).running()


def test_a_worker_that_can_not_start_is_no_reason_to_hang(idle: Paths) -> None:
    (idle.data / "memory.db").mkdir()
    with bridge(idle) as made:
        found = made.ask("initialize")
    assert "mem doctor" in found["error"]["message"]


def test_an_uninstalled_data_directory_ends_quietly(idle: Paths) -> None:
    argv = [*bridge_argv(idle), "x"]
    (idle.hook / "bridge.py").unlink()
    done = subprocess.run(argv, input=b"{}", capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
