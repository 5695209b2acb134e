"""`mem start`, `stop`, `status`, `doctor` and their like, as people run them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from claude_mem_core import __version__
from claude_mem_core.cli import launch
from claude_mem_core.cli.client import WorkerClient, target
from claude_mem_core.cli.commands.update import update_command
from claude_mem_core.cli.worker_text import duration, size
from claude_mem_core.errors import InvalidInput, NotFound, WorkerError
from claude_mem_core.files import secure_dir
from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.worker import recycle, room
from tests.worker_home import Home, home, unmount, until, workers_of


@pytest.fixture
def made() -> Iterator[Home]:
    with home() as fresh:
        yield fresh


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        yield worker


def test_start_status_stop(made: Home) -> None:
    assert "not running" in made.mem("status").stdout
    assert made.mem("status").returncode == 1
    started = made.mem("start")
    assert started.returncode == 0
    assert started.stdout.startswith("worker started: pid ")
    again = made.mem("start")
    assert again.stdout.startswith("worker is running: pid ")
    shown = made.mem("status")
    assert shown.returncode == 0
    assert "worker    ok, pid" in shown.stdout
    assert "off (only the private socket)" in shown.stdout
    assert made.mem("stop").stdout == "the worker has stopped\n"
    assert made.mem("stop").stdout == "no worker was running\n"
    until(lambda: workers_of(made.paths) == [])


def test_start_with_tcp_and_json(made: Home) -> None:
    first = made.json("start")
    assert first["started"] is True
    assert first["port"] is None
    opened = json.loads(made.mem("start", "--tcp", "--json").stdout)
    assert opened["started"] is False
    assert opened["pid"] == first["pid"]
    assert opened["port"] == int(made.paths.port.read_text())
    page = made.json("open")
    assert page["url"].startswith(f"http://127.0.0.1:{opened['port']}/#")
    restarted = made.mem("restart")
    assert str(opened["port"]) in restarted.stdout


def test_the_page_of_mem_open_is_private_and_forwards(made: Home, tmp_path: Path) -> None:
    from claude_mem_core.cli.commands.open import write_page
    from claude_mem_core.files import secure_dir

    secure_dir(made.paths.data)
    file = write_page(made.paths, 'http://127.0.0.1:1/#a"b<c')
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert "a&quot;b&lt;c" in text
    assert 'url=http://127.0.0.1:1/#a"b' not in text


@pytest.mark.slow
def test_a_worker_ends_when_its_directory_is_deleted() -> None:
    with running() as worker:
        shutil.rmtree(worker.paths.data)
        secure_dir(worker.paths.data)
        worker.paths.pid.write_text("another's")
        assert worker.process.wait(30) == 0
        assert worker.paths.pid.read_text() == "another's"


def test_autostart_off_means_that_nothing_launches_one(made: Home) -> None:
    made.paths.data.mkdir(mode=0o700)
    made.paths.settings.write_text('{"CLAUDE_MEM_WORKER_AUTOSTART": "false"}')
    done = made.mem("start")
    assert done.returncode == 3
    assert "mem run" in done.stderr
    until(lambda: not workers_of(made.paths))
    argv = [sys.executable, "-m", "claude_mem_core.cli.main", "run"]
    env = {**os.environ, "CLAUDE_MEM_DATA_DIR": str(made.paths.data)}
    foreground = subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL)
    try:
        client = WorkerClient(made.paths)

        until(client.running, 30)
        assert (client.health() or {})["pid"] == foreground.pid
        assert made.mem("start").returncode == 0
    finally:
        foreground.terminate()
        assert foreground.wait(20) == 0


def test_bad_places_are_told_in_one_line(made: Home) -> None:
    made.paths.data.write_text("a file")
    done = made.mem("start")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert str(made.paths.data) in done.stderr
    for command in ("status", "doctor", "stop", "logs"):
        shown = made.mem(command)
        assert "Traceback" not in shown.stderr + shown.stdout, command
    made.paths.data.unlink()


def test_a_failed_start_is_remembered_in_the_status(made: Home) -> None:
    made.paths.data.mkdir(mode=0o700)
    made.paths.settings.write_text('{"CLAUDE_MEM_WORKER_HOST": "0.0.0.0"}')
    done = made.mem("start")
    assert done.returncode == 3
    assert "CLAUDE_MEM_WORKER_HOST" in done.stderr
    assert "last start failed" in made.mem("status").stdout
    rows = {row["topic"]: row for row in made.json("doctor")["checks"]}
    assert rows["worker"]["state"] == "fail"
    assert "CLAUDE_MEM_WORKER_HOST" in rows["worker"]["text"]


def test_a_worker_of_another_version_is_replaced(
    made: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = launch.start(made.paths)
    monkeypatch.setattr(launch, "__version__", "99.0.0")
    second = launch.start(made.paths)
    assert second.fresh
    assert second.health["pid"] != first.health["pid"]
    assert len(workers_of(made.paths)) == 1


def test_one_that_could_not_be_replaced_is_left_alone_after_that(
    made: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = launch.start(made.paths)
    monkeypatch.setattr(launch, "__version__", "99.0.0")
    asked = []
    monkeypatch.setattr(launch.reclaim, "stop", lambda *_, **__: asked.append(1) and False)
    for _ in range(2):
        found = launch.start(made.paths)
        assert not found.fresh
        assert "could not be stopped" in found.note
    assert len(asked) == 1
    version, start_id = first.health["version"], first.health["start_id"]
    assert recycle.failed_before(made.paths, version, start_id)
    assert not recycle.failed_before(made.paths, version, "another start")


def test_status_counts_what_happened(made: Home) -> None:
    made.install()
    assert made.prompt("first").returncode == 0
    assert made.prompt("<private>no</private>", "s-2").returncode == 0
    tool = {"session_id": "s-2", "cwd": "/srv/project", "tool_name": "Bash", "tool_use_id": "t"}
    assert made.hook("PostToolUse", {**tool, "tool_input": {"command": "ls"}}).returncode == 0
    made.mem("start")

    until(lambda: made.status().get("counters", {}).get("accepted") == 3)
    found = made.status()
    # Whether a hook met the worker or the spool: a private prompt hides its turn.
    assert found["counters"]["skipped:private"] == 2
    assert "claude-code" in found["hosts"]
    text = made.mem("status").stdout
    assert "host      claude-code: last event" in text
    assert "3 accepted, 2 skipped (2 private)" in text


def test_doctor_names_a_cure_for_every_red_line(made: Home) -> None:
    made.install()
    launcher = made.paths.hook / "launch.py"
    launcher.write_text("swapped")
    made.paths.token.write_text("x")
    made.paths.token.chmod(0o644)
    done = made.mem("doctor")
    assert done.returncode == 1
    found = made.json("doctor")["checks"]
    assert all(row["cure"] for row in found if row["state"] == "fail")
    failed = {row["topic"] for row in found if row["state"] == "fail"}
    assert {"hook", "modes"} <= failed
    mended = made.mem("repair")
    assert mended.returncode == 0
    assert f"put {made.paths.hook} right: files of the hook are not" in mended.stdout
    assert launcher.read_text() != "swapped"
    assert stat.S_IMODE(made.paths.token.stat().st_mode) == 0o600
    after = {row["topic"]: row["state"] for row in made.json("doctor")["checks"]}
    assert after["hook"] == after["worker"] == "ok"
    assert "modes" not in after


def test_doctor_sees_another_mem_on_the_path(made: Home, tmp_path: Path) -> None:
    fake = tmp_path / "mem"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = made.mem("doctor", "--json", env={"PATH": path})
    rows = {row["topic"]: row for row in json.loads(done.stdout)["checks"]}
    assert rows["mem command"]["state"] == "warn"
    assert str(fake) in rows["mem command"]["text"]


def test_repair_clears_what_a_crash_left(made: Home) -> None:
    made.paths.data.mkdir(mode=0o700)
    for path in (made.paths.pid, made.paths.port, made.paths.heartbeat):
        path.write_text("{}")
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(made.paths.socket))
    done = made.mem("repair")
    assert done.returncode == 0, done.stderr
    assert "left behind" in done.stdout
    assert "started the worker" in done.stdout


def test_repair_says_what_it_did_and_no_more(made: Home) -> None:
    done = made.mem("repair")
    assert f"put the hook's files into {made.paths.hook}; `mem install`" in done.stdout
    done = made.mem("repair")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("all is as it should be")
    made.mem("config", "set", "CLAUDE_MEM_WORKER_AUTOSTART", "false")
    made.mem("stop")
    done = made.mem("repair")
    assert (done.returncode, done.stderr) == (0, "")
    assert "`mem run`" in done.stdout


def test_status_says_that_no_host_is_connected(made: Home, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert "none is connected: `mem install`" in made.mem("status", env=home).stdout
    (tmp_path / ".claude").mkdir()
    made.mem("install", "--ide", "claude-code", "--no-mcp", "--no-skills", env=home)
    shown = made.mem("status", env=home).stdout
    assert "none is connected" not in shown
    assert "claude-code: connected; no event yet" in shown


def test_a_place_that_can_not_be_written_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert room.fault(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    assert room.fault(tmp_path / "nothing yet") is None
    for number, text in ((errno.ENOSPC, "no space left"), (errno.EROFS, "can't be written")):

        def refuse(path: Path, number: int = number) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(room, "_try", refuse)
        assert text in (room.fault(tmp_path) or "")


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs mounts")
def test_a_read_only_data_directory_is_told_everywhere(made: Home) -> None:
    made.mem("start")
    made.mem("stop")
    place = str(made.paths.data)
    mount = ["mount", "--bind", place, place]
    subprocess.run(mount, check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        for command, code in (("start", 3), ("repair", 3), ("doctor", 1), ("status", 1)):
            done = made.mem(command)
            assert done.returncode == code, (command, done.stderr)
            assert "Traceback" not in done.stderr
        assert "read-only" in made.mem("start").stderr
    finally:
        unmount(place)
    assert made.mem("start").returncode == 0


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs mounts")
def test_a_full_disk_is_told_and_survived(made: Home) -> None:
    made.paths.data.mkdir(mode=0o700)
    place = str(made.paths.data)
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", place]
    subprocess.run(mount, check=True)
    try:
        made.install()
        assert made.mem("start").returncode == 0
        fill = made.paths.data / "fill"
        with suppress(OSError), fill.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        shown = made.mem("status")
        assert shown.returncode == 1
        assert "worker    degraded" in shown.stdout
        assert "recording HELD UP" in shown.stdout
        assert f"! disk: no space left in {place}" in shown.stdout
        assert "Hooks keep their events in" in shown.stdout
        for number in range(5):
            assert made.prompt(f"{number} " + "word " * 4000).returncode == 0
        made.mem("stop")
        done = made.mem("start")
        assert done.returncode in {0, 3}
        assert "Traceback" not in done.stderr
        fill.unlink()
        assert made.mem("start").returncode == 0
        assert made.prompt("there is room again", "s-2").returncode == 0

        until(lambda: "there is room again" in made.prompts())
        assert "disk" not in made.status()["notes"]
        account = made.json("verify")
        assert account["ok"]
        kept = len([p for p in made.prompts() if "word" in p])
        assert kept + made.status()["lost"] >= 5
    finally:
        made.mem("stop")
        subprocess.run(["umount", "--lazy", place], check=True)


def test_logs_are_shown_without_driving_the_terminal(made: Home) -> None:
    from claude_mem_core.worker.logs import log_file

    made.paths.logs.mkdir(parents=True)
    entry = {"at": "2026-11-30T10:00:00.000", "level": "INFO", "pid": 1, "area": "x"}
    path = log_file(made.paths.logs)
    path.write_text(
        json.dumps({**entry, "text": "quiet", "level": "DEBUG"}) + "\n"
        + json.dumps({**entry, "text": "evil \x1b]52;c;x\x07"}) + "\nno json\n"
        + json.dumps({**entry, "text": "bad", "level": "ERROR", "error": "a.py:1:f"}) + "\n"
    )  # fmt: skip
    shown = made.mem("logs").stdout
    assert "\x1b" not in shown
    assert "\\x1b]52" in shown
    assert "bad (a.py:1:f)" in shown
    assert "quiet" not in made.mem("logs", "--level", "INFO").stdout
    assert made.mem("logs", "-n", "1").stdout.count("\n") == 1
    assert made.mem("logs", "--path").stdout.strip() == str(path)


def test_api_asks_by_hand(live: LiveWorker) -> None:
    by_hand = Home(live.paths)
    assert by_hand.json("api", "GET", "/api/version") == {"version": __version__}
    body = '{"text": "by hand", "project": "p"}'
    assert by_hand.json("api", "post", "/api/memory/save", body)["success"]
    piped = by_hand.mem("api", "POST", "/api/memory/save", "-", stdin=body)
    assert piped.returncode == 0
    missing = by_hand.mem("api", "GET", "/api/observation/99999")
    assert missing.returncode == 1
    assert "not found" in missing.stdout
    assert by_hand.mem("api", "GET", "api/version").returncode == 2
    assert by_hand.mem("api", "POST", "/api/version", "{nope").returncode == 2


def test_the_client_words_errors(live: LiveWorker) -> None:
    client = WorkerClient(live.paths)
    with pytest.raises(NotFound, match="#5555"):
        client.get("/api/observation/5555")
    with pytest.raises(InvalidInput, match="limit"):
        client.get("/api/observations", limit=0)
    assert client.post("/api/spool")["success"]
    with pytest.raises(WorkerError, match="mem start"):
        WorkerClient(type(live.paths)(Path("/nonexistent"))).request("GET", "/")


def test_targets_are_quoted() -> None:
    given = {"q": "a b&c", "n": 5, "no": None, "yes": True}
    assert target("/api/x", given) == "/api/x?q=a+b%26c&n=5&yes=true"
    assert target("/api/x?a=1", None) == "/api/x?a=1"
    assert target("/api/\udcfe", {"q": "\udcff"}) == "/api/%FE?q=%FF"
    assert target("/a b\r\nX: y", None) == "/a%20b%0D%0AX:%20y"


def test_update_names_the_command_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert " -m pip install --upgrade claude-mem-core" in update_command(["claude-mem-core"])
    monkeypatch.setattr(sys, "prefix", "/home/x/.local/pipx/venvs/claude-mem-core")
    assert update_command([]).startswith("pipx upgrade")
    monkeypatch.setattr(sys, "prefix", "/home/x/.local/share/uv/tools/claude-mem-core")
    assert update_command([]).startswith("uv tool upgrade")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (90_061, "1 d 1 h")]
)
def test_durations(seconds: int, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"), [(5, "5 B"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (3e12, "3000.0 GB")]
)
def test_sizes(count: float, words: str) -> None:
    assert size(int(count)) == words
