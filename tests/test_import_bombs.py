"""Files made to do harm (IMP-1): a clear refusal, in bounded time, and nothing is kept."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.testing import worker
from tests.cli_run import mem
from tests.store_home import opened

GOOD = "goodrowxyz"
SECONDS = 20


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def row(**more: Any) -> dict[str, Any]:
    return {"title": "t", "narrative": "n", "project": "sec", "type": "discovery", **more}


def zip_bomb() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("../../evil.txt", "/tmp/evil_abs.txt", "C:\\evil.txt"):
            file.writestr(name, "x")
        file.writestr("memories.json", b"0" * (50 << 20))
    return made.getvalue()


def tar_tricks() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as file:
        for name, kind, target in (
            ("../evil4.txt", tarfile.REGTYPE, ""),
            ("link", tarfile.SYMTYPE, "/etc/passwd"),
            ("fifo", tarfile.FIFOTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            file.addfile(info, io.BytesIO(b""))
    return made.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "deep lists": lambda: b"[" * 200_000,
    "deep objects": lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep in row": lambda: b'{"observations":[' + b"[" * 50_000 + b"]" * 50_000 + b"]}",
    "huge int": lambda: b'{"observations":[{"id":' + b"9" * 100_000 + b',"title":"t"}]}',
    "nan": lambda: b'{"observations":[{"title":"t","created_at_epoch":NaN}]}',
    "infinity": lambda: b'{"observations":[{"title":1e999}]}',
    "not json": lambda: b"\x00\xff\xfe",
    "utf16": lambda: '{"observations":[]}'.encode("utf-16"),
    "lone surrogate, number": lambda: b'{"observations":[{"title":"\\ud800","narrative":7}]}',
    "wrong types": lambda: dumped(
        {"observations": [{"title": {"a": 1}, "files_modified": "x" * 10}]}
    ),
    "null rows": lambda: dumped({"observations": [None]}),
    "half good": lambda: dumped({"observations": [row(title=GOOD), {"title": 5, "facts": 7}]}),
    "zip": zip_bomb,
    "tar": tar_tricks,
    "gzip": lambda: gzip.compress(b"[" + b" " * (100 << 20), 9),
    "1 MB key": lambda: b'{"' + b"k" * (1 << 20) + b'":1}',
    "path in a name": lambda: dumped({"observations": 3, "corpora": {"../../evil5": {}}}),
    "empty": lambda: b"",
    "many small rows": lambda: b'{"observations":[' + b"{}," * 1_200_000 + b"{}]}",
    "many numbers": lambda: b'{"observations":[{"facts":[' + b"1," * 6_000_000 + b"1]}]}",
    "a row without words": lambda: dumped({"observations": [{"project": "sec"}]}),
    "a time out of all years": lambda: dumped({"observations": [row(created_at_epoch=10**15)]}),
    "a date that is none": lambda: dumped({"observations": [row(created_at="yesterday")]}),
    "a list for a text": lambda: dumped({"observations": [row(title=["a"])]}),
    "a long list": lambda: dumped({"observations": [row(facts=["f"] * 1001)]}),
    "a long label": lambda: dumped({"observations": [row(project="p" * 1001)]}),
    "large metadata": lambda: dumped({"observations": [row(metadata={"a": "x" * 70_000})]}),
    "a session without id": lambda: dumped({"sessions": [{"project": "sec"}]}),
}


@pytest.fixture(scope="module")
def live() -> Iterator[worker.LiveWorker]:
    with worker.running() as found:
        yield found


@pytest.mark.parametrize("name", BOMBS)
def test_the_command_refuses_with_a_clear_error(name: str, tmp_path: Path) -> None:
    file = tmp_path / "bomb.json"
    file.write_bytes(BOMBS[name]())
    started = time.monotonic()
    done = mem(tmp_path / "data", "import", str(file))
    assert time.monotonic() - started < SECONDS
    assert done.code == 2, done.out
    assert done.err.startswith("mem: ")
    assert str(file) in done.err or "observations" in done.err or "sessions" in done.err
    assert len(done.err) < 500


@pytest.mark.parametrize("name", [name for name in BOMBS if name != "empty"])
def test_the_worker_refuses_and_goes_on(name: str, live: worker.LiveWorker) -> None:
    from claude_mem_core.worker.ask import ask

    started = time.monotonic()
    answer = ask(live.paths, "POST", "/api/import", BOMBS[name](), timeout=30)
    assert time.monotonic() - started < SECONDS
    assert answer.status == 400, answer.json
    assert answer.json["error"]
    assert live.ask("GET", "/api/health").status == 200


def test_a_file_that_fails_half_way_leaves_nothing(live: worker.LiveWorker) -> None:
    from claude_mem_core.worker.ask import ask

    assert ask(live.paths, "POST", "/api/import", BOMBS["half good"](), timeout=30).status == 400
    found = live.ask("GET", "/api/observations?limit=100").json["items"]
    assert not [one for one in found if one["title"] == GOOD]


def test_nothing_is_written_beside_the_database(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name in ("zip", "tar", "path in a name"):
        (tmp_path / "bomb").write_bytes(BOMBS[name]())
        mem(data, "import", str(tmp_path / "bomb"))
    assert {p.name for p in tmp_path.iterdir()} == {"data", "bomb"}
    assert not list(data.glob(".import-*"))


@pytest.mark.slow
def test_memory_stays_bounded(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    file.write_bytes(b'{"observations":[' + b'{"a":"bc"},' * 5_500_000 + b"{}]}")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
        "sys.argv[1:] = ['import', sys.argv[1]];"
        "from claude_mem_core.cli.main import run; run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, timeout=90,
        env={**os.environ, "CLAUDE_MEM_DATA_DIR": str(tmp_path / "d")}, check=False,
    )  # fmt: skip
    assert (done.returncode, "more than 1,000,000" in done.stderr) == (2, True), done.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 900_000


def test_a_file_of_more_than_64_mb_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "sparse.json"
    with open(file, "wb") as sparse:
        sparse.truncate(6 << 30)
    done = mem(tmp_path / "data", "import", str(file))
    assert (done.code, "too large" in done.err) == (2, True)


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "missing", "database"])
def test_what_is_no_file_of_json_is_not_opened(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "thing"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "database":
        with opened(path):
            pass
    done = mem(tmp_path / "data", "import", str(path))
    assert done.code == 2
    if kind == "database":
        assert "mem import claude-mem" in done.err


def test_an_announced_5_gb_is_refused_at_once(live: worker.LiveWorker) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(5)
        link.connect(str(live.paths.socket))
        link.sendall(
            b"POST /api/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 5000000000\r\n\r\n{"
        )
        assert link.recv(64).split()[1] in {b"400", b"413"}


def test_the_copy_of_a_database_goes(tmp_path: Path) -> None:
    data = Paths(tmp_path / "data")
    source = Path(__file__).parent / "data" / "claude-mem-13.25.3.db"
    assert mem(data.data, "import", "claude-mem", str(source)).code == 0
    assert not list(data.data.glob(".import-*"))
    assert data.database.stat().st_mode & 0o777 == 0o600
