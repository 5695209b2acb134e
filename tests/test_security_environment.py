"""Whatever surrounds a hook or the worker does not steer it (ENV-1, C20, C21, C23, C29, C39)."""

from __future__ import annotations

import glob
import json
import marshal
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.worker.identity import started_at
from tests.worker_home import Home, home, until, workers_of

pytestmark = pytest.mark.slow

KEY = "sk-proj-" + "Q7w9" * 10
NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Home]:
    with home() as made:
        yield made


def run_hook(
    place: Home, prompt: str, env: Mapping[str, str] | None = None, cwd: Path | str = "/"
) -> subprocess.CompletedProcess[bytes]:
    """The installed hook with exactly this environment."""
    argv = [sys.executable, "-I", "-S", "-E", str(place.paths.hook / "launch.py")]
    payload = {
        "session_id": "s", "cwd": str(place.paths.data.parent / "p"), "prompt": prompt,
        "hook_event_name": "UserPromptSubmit", "transcript_path": "",
    }  # fmt: skip
    return subprocess.run(
        [*argv, "claude-code", "UserPromptSubmit"], input=json.dumps(payload).encode(),
        capture_output=True, timeout=30, check=False, cwd=cwd, env=dict(env or {}),
    )  # fmt: skip


def environ(pid: int) -> dict[str, str]:
    """What a process was started with; root may look at those that forbid it to others."""
    raw = Path(f"/proc/{pid}/environ").read_bytes()
    pairs = (os.fsdecode(part).partition("=") for part in raw.split(b"\0") if part)
    return {name: value for name, _, value in pairs}


def children(pid: int) -> list[int]:
    """Processes that `pid` has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry.name))
    return found


def plant(folder: Path) -> Path:
    """Modules and programs that leave a mark when they run; the mark."""
    mark = folder / "OWNED"
    code = f"open({str(mark)!r}, 'a').write(__name__)\n"
    for name in (
        "sitecustomize", "usercustomize", "json", "socket", "os", "asyncio", "apsw", "attrs",
        "uvicorn", "claude_mem_core/__init__", "claude_mem_core/worker/main", "encodings/utf_8",
    ):  # fmt: skip
        (folder / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(code)
    (folder / "x.pth").write_text(f"import os; open({str(mark)!r}, 'a').write('pth')\n")
    for name in ("git", "python", "python3", "sh", "mem", "ps", "env"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {mark}\n")
        (folder / name).chmod(0o755)
    return mark


@pytest.mark.root
def test_a_hostile_environment_does_not_reach_the_worker(place: Home) -> None:
    place.install()
    evil = place.paths.data.parent / "evil"
    evil.mkdir()
    mark = plant(evil)
    (place.paths.data.parent / "p").mkdir()
    elsewhere = place.paths.data.parent / "elsewhere"
    hostile = {
        "PATH": f"{evil}:.", "HOME": str(evil), "PYTHONPATH": str(evil), "PYTHONHOME": "",
        "PYTHONSTARTUP": str(evil / "json.py"), "PYTHONINSPECT": "1", "PYTHONWARNINGS": "error",
        "PYTHONUSERBASE": str(evil), "PYTHONPLATLIBDIR": "evil", "PYTHONMALLOC": "debug",
        "LD_LIBRARY_PATH": str(evil), "LD_DEBUG_OUTPUT": str(evil / "ld"), "TMPDIR": str(evil),
        "XDG_CONFIG_HOME": str(evil), "XDG_RUNTIME_DIR": str(evil), "VIRTUAL_ENV": str(evil),
        "HTTPS_PROXY": "http://evil.example", "SSL_CERT_FILE": str(evil / "ca"),
        "GIT_DIR": str(evil), "GIT_SSH_COMMAND": str(evil / "sh"), "BASH_ENV": str(evil / "sh"),
        "OPENAI_API_KEY": KEY, "ANTHROPIC_BASE_URL": "http://evil.example", "DEBUG": "*",
        "CLAUDE_MEM_DATA_DIR": str(elsewhere), "CLAUDE_MEM_REDACT_ENABLED": "false",
        "CLAUDE_MEM_WORKER_HOST": "0.0.0.0", "CLAUDE_MEM_WORKER_PORT": "45999",
        "CLAUDE_MEM_PROVIDER": "openrouter", "CLAUDE_MEM_LOG_LEVEL": "DEBUG",
        "CLAUDE_MEM_EXCLUDED_PROJECTS": "nothing", "CLAUDE_MEM_NO_PLUGINS": "1",
    }  # fmt: skip
    done = run_hook(place, f"the key is {KEY} today", hostile, cwd=evil)
    assert (done.returncode, done.stderr) == (0, b"")
    until(lambda: place.paths.socket.exists() and WorkerClient(place.paths).running())
    (worker,) = workers_of(place.paths)
    given = environ(worker)
    for name, value in hostile.items():
        assert given.get(name, "") != value or not value, name
    assert not [
        name for name in given if name.startswith(("CLAUDE_MEM_", "PYTHON", "LD_", "GIT_"))
    ]
    assert "evil" not in json.dumps(given)
    assert os.readlink(f"/proc/{worker}/cwd") == str(place.paths.data.resolve())
    assert not mark.exists()
    assert not elsewhere.exists()
    until(lambda: place.prompts())
    assert KEY not in place.prompts()[0]
    assert "<redacted" in place.prompts()[0]
    settings = WorkerClient(place.paths).get("/api/settings")
    assert str(settings["CLAUDE_MEM_REDACT_ENABLED"]).lower() == "true"
    assert listening(worker) == []


@pytest.mark.root
def test_no_process_of_ours_holds_a_key_or_the_token(place: Home) -> None:
    """The worker and the child that tries own patterns, started from a shell full of keys."""
    own = json.dumps([{"name": "ticket", "regex": "TCK-[0-9]+"}])
    assert place.mem("config", "set", "CLAUDE_MEM_REDACT_CUSTOM_PATTERNS", own).returncode == 0
    keys = {"OPENAI_API_KEY": KEY, "SOME_TOKEN": KEY, "PYTHONPATH": "/nonexistent"}
    assert place.mem("start", "--tcp", env=keys).returncode == 0
    place.install()
    assert run_hook(place, "ticket TCK-12 please", {"OPENAI_API_KEY": KEY}).returncode == 0
    (worker,) = workers_of(place.paths)
    until(lambda: children(worker))
    token = place.paths.token.read_text()
    for pid in (worker, *children(worker)):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
        all_ = json.dumps(environ(pid)) + words
        assert KEY not in all_
        assert token not in all_
        assert "PYTHONPATH" not in all_
        limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
        (core,) = [line for line in limits if line.startswith("Max core")]
        assert core.split()[4] == "0"
    assert place.prompts() == ["ticket <redacted type='ticket'/> please"]


def listening(pid: int) -> list[str]:
    """Addresses of TCP on which a process listens, as the system writes them."""
    links = [os.readlink(fd) for fd in glob.glob(f"/proc/{pid}/fd/*") if os.path.islink(fd)]
    sockets = {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [
        line.split() for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]  # fmt: skip
    return [row[1] for row in rows if row[3] == "0A" and row[9] in sockets]


def test_no_port_until_somebody_asks(place: Home) -> None:
    """C20; the address is written as the system has it: 127.0.0.1 backwards."""
    assert place.mem("start").returncode == 0
    (worker,) = workers_of(place.paths)
    assert listening(worker) == []
    assert not place.paths.port.exists()
    assert place.mem("open", "--print").returncode == 0
    (address,) = listening(worker)
    assert address.partition(":")[0] == "0100007F"
    assert int(address.partition(":")[2], 16) == int(place.paths.port.read_text())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1"])
def test_other_machines_are_refused(place: Home, host: str) -> None:
    """C39: whatever says it, and however the worker is started."""
    place.paths.data.mkdir(mode=0o700)
    place.paths.settings.write_text(json.dumps({"CLAUDE_MEM_WORKER_HOST": host}))
    for command in (["start"], ["start", "--tcp"], ["run"], ["open", "--print"]):
        done = place.mem(*command)
        assert done.returncode == 3, command
        assert "CLAUDE_MEM_WORKER_HOST" in done.stderr
        assert "Traceback" not in done.stderr
    until(lambda: not workers_of(place.paths))


def test_the_environment_of_a_repository_does_not_open_a_port(place: Home) -> None:
    env = {"CLAUDE_MEM_WORKER_HOST": "0.0.0.0", "CLAUDE_MEM_WORKER_PORT": "45998"}
    assert place.mem("start", env=env).returncode == 0
    assert listening(workers_of(place.paths)[0]) == []
    assert place.mem("stop").returncode == 0
    assert place.mem("run", env=env).returncode == 3


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours that has nothing to do with the worker."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    yield process
    process.kill()
    process.wait()


def names_of(pid: int) -> list[str]:
    """What pid, lock and heartbeat files may say of a process."""
    start = started_at(pid)
    full = {"pid": pid, "start": start, "version": "0.1.0", "start_id": "x", "at_ms": 1}
    return [
        str(pid), json.dumps(full), json.dumps({**full, "waiting_s": 9e9, "quiet_s": 9e9}),
        json.dumps({"pid": pid, "port": 37700, "startedAt": start}), f"{time.time():.3f} {pid} started\n",
    ]  # fmt: skip


def test_files_that_name_a_stranger_never_end_it(
    place: Home, stranger: subprocess.Popen[bytes]
) -> None:
    """C23: with no worker, with one, and with one that does not answer."""
    assert place.mem("start").returncode == 0
    assert place.mem("stop").returncode == 0
    files = (
        place.paths.pid,
        place.paths.lock,
        place.paths.heartbeat,
        place.paths.data / "worker.pid",
    )
    for said in names_of(stranger.pid):
        for file in files:
            file.write_text(said)
        assert place.mem("stop").returncode == 0
        assert stranger.poll() is None, said
    assert place.mem("start").returncode == 0
    (worker,) = workers_of(place.paths)
    for said in names_of(stranger.pid):
        for file in files:
            file.write_text(said)
    place.mem("status")
    place.mem("doctor")
    os.kill(worker, 19)  # stopped: it holds the lock and says nothing
    try:
        place.mem("stop")
        assert stranger.poll() is None
    finally:
        os.kill(worker, 18)
    place.mem("restart")
    assert stranger.poll() is None


@pytest.mark.parametrize("running", [True, False], ids=["warm", "cold"])
def test_cached_code_that_was_swapped_is_not_run(place: Home, running: bool) -> None:
    """C29: the hook goes on from its source, and the doctor says so."""
    place.install()
    if running:
        assert place.mem("start").returncode == 0
    mark = place.paths.data.parent / "OWNED"
    evil = marshal.dumps(compile(f"open({str(mark)!r}, 'w').write('x')", "x", "exec"))
    swapped = sorted(place.paths.hook.glob("*.pyc"))
    assert len(swapped) > 8
    for file in swapped:
        file.write_bytes(file.read_bytes()[:16] + evil)
    done = run_hook(place, "after the swap")
    assert (done.returncode, done.stderr) == (0, b"")
    assert not mark.exists()
    doctor = place.mem("doctor")
    assert doctor.returncode == 1
    assert "client" in doctor.stdout
    assert "mem install" in doctor.stdout
    place.mem("start")
    until(lambda: "after the swap" in place.prompts())


@pytest.mark.root
def test_a_socket_of_another_user_gets_nothing(place: Home) -> None:
    """C21: hook and command line look who listens before they say a word."""
    place.install()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(os.fspath(place.paths.socket))
    heard = place.paths.data.parent / "heard"
    child = os.fork()
    if child == 0:
        _listen_as_nobody(listener, os.open(heard, os.O_WRONLY | os.O_CREAT, 0o600))
    try:
        until(lambda: _accepts(place))
        assert run_hook(place, "not for strangers").returncode == 0
        assert "Traceback" not in place.mem("status").stderr
        place.mem("search", "strangers")
        assert heard.read_bytes() == b""
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        listener.close()
    assert place.mem("start").returncode == 0
    until(lambda: "not for strangers" in place.prompts())
    assert heard.read_bytes() == b""


def _accepts(place: Home) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(os.fspath(place.paths.socket)) == 0


def _listen_as_nobody(listener: socket.socket, heard: int) -> None:
    """The system remembers who called `listen`."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    listener.listen(16)
    while True:
        link, _ = listener.accept()
        link.settimeout(2)
        try:
            os.write(heard, link.recv(65536))
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        except OSError:
            pass
        link.close()


@pytest.mark.root
def test_another_user_at_our_socket_is_not_heard(place: Home) -> None:
    """Even where its modes were loosened."""
    assert place.mem("start").returncode == 0
    os.chmod(place.paths.data.parent, 0o755)
    os.chmod(place.paths.data, 0o755)
    os.chmod(place.paths.socket, 0o666)
    code = (
        "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "s.sendall(b'GET /api/health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); print(s.recv(9))"
    )
    argv = [
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "/usr/bin/python3",
    ]
    done: Any = subprocess.run(
        [*argv, "-I", "-c", code, os.fspath(place.paths.socket)], cwd="/",
        capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.stdout.strip() in {b"", b"b''"}, done.stderr
    assert WorkerClient(place.paths).running()
