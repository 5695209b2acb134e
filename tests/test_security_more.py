"""Neighbours of the handed security scripts: other heads, bodies, links, patterns, repositories."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.testing.worker import LiveWorker, data_dir, running
from tests.worker_home import Home, home, until

pytestmark = pytest.mark.slow

MARK = "host-secret-marker"
DRIVES = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(tcp=True) as worker:
        body = {"text": f"{MARK} needle", "title": MARK, "project": "sec"}
        assert worker.ask("POST", "/api/memory/save", body).json["success"]
        until(lambda: MARK in str(worker.ask("GET", "/api/search?query=needle").json))
        yield worker


@pytest.fixture
def place() -> Iterator[Home]:
    with home() as made:
        yield made


def raw(live: LiveWorker, data: bytes, seconds: float = 10.0) -> bytes:
    """What comes back for these bytes until the worker closes."""
    found = b""
    with socket.create_connection(("127.0.0.1", live.port), seconds) as link:
        try:
            link.sendall(data)
            while part := link.recv(65_536):
                found += part
        except (TimeoutError, ConnectionError):
            pass
    return found


def statuses(found: bytes) -> list[int]:
    return [int(part[:3]) for part in found.split(b"HTTP/1.1 ")[1:]]


def head(live: LiveWorker, line: str, *more: str, token: bool = True, host: str = "") -> str:
    """The head of a request, with the right Host and the token unless told otherwise."""
    lines = [line, f"Host: {host or f'127.0.0.1:{live.port}'}", *more]
    lines += [f"Authorization: Bearer {live.token}"] if token else []
    return "\r\n".join([*lines, "Connection: close", "", ""])


SEARCH = "GET /api/search?query=needle HTTP/1.1"
SAVE = "POST /api/memory/save HTTP/1.1"
JSON_TYPE = "Content-Type: application/json"


def test_the_plain_request_is_answered(live: LiveWorker) -> None:
    """Else all that follows would prove nothing."""
    assert MARK.encode() in raw(live, head(live, SEARCH).encode())


HOSTS = (
    "127.0.0.1:{p}\t", "127.0.0.1:{p};x", "127.0.0.1:{p}?x", "127.0.0.1:{p}#x", "127.0.0.1:{p}\\",
    "127.0.0.1:{p}@evil.example", "evil.example\\@127.0.0.1:{p}", "127.0.0.1,127.0.0.1:{p}",
    "127.0.0.1:{p}:80", "127.000.000.001:{p}", "127.0.0.1.:{p}", "127.1:{p}", "[::127.0.0.1]:{p}",
    "[0000:0000:0000:0000:0000:0000:0000:0001]:{p}", "[::1%25eth0]:{p}", "localhost\x0b:{p}",
    "LocalHost.LocalDomain:{p}", "localhost6:{p}", "127.0.0.1:{q}", "127.0.0.1:{p}0", "::1",
    "xn--localhost:{p}", "lоcalhost:{p}", "１２７.0.0.1:{p}", "localhost:{p}\u00a0", "*", "-",
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_no_other_name_of_the_host(live: LiveWorker, host: str) -> None:
    named = host.format(p=live.port, q=live.port - 1)
    for line in (
        SEARCH,
        "GET /api/health HTTP/1.1",
        "GET / HTTP/1.1",
        "GET /prove?n=abcdefghijklmnopq HTTP/1.1",
    ):
        found = raw(live, head(live, line, host=named).encode("utf-8"))
        assert not found or statuses(found)[0] in {400, 421}, (line, found[:80])
        assert MARK.encode() not in found


TRICKS: dict[str, tuple[str, ...]] = {
    "two hosts, other case": (SEARCH, "HOST: evil.example"),
    "host folded into another header": (SEARCH, "X-A: b\r\n Host: evil.example"),
    "blank before the colon": (SEARCH, "Host : evil.example"),
    "forwarded": ("GET /api/search?query=needle HTTP/1.1", "X-Forwarded-For: 127.0.0.1"),
    "absolute form": ("GET http://127.0.0.1/api/search?query=needle HTTP/1.1",),
    "absolute form of ours": ("GET http://{h}/api/search?query=needle HTTP/1.1",),
    "no path": ("GET api/search?query=needle HTTP/1.1",),
    "two slashes": ("GET //evil.example/api/search?query=needle HTTP/1.1",),
    "asterisk": ("OPTIONS * HTTP/1.1",),
    "connect": ("CONNECT {h} HTTP/1.1",),
    "trace": ("TRACE /api/search HTTP/1.1", "X-Secret: 1"),
    "two lengths": (SAVE, JSON_TYPE, "Content-Length: 2", "Content-Length: 4"),
    "signed length": (SAVE, JSON_TYPE, "Content-Length: +2"),
    "length and chunks": (SAVE, JSON_TYPE, "Content-Length: 4", "Transfer-Encoding: chunked"),
    "unknown coding": (SAVE, JSON_TYPE, "Transfer-Encoding: xchunked"),
    "announced 5 GB": (SAVE, JSON_TYPE, "Content-Length: 5000000000"),
    "overflowing length": (SAVE, JSON_TYPE, f"Content-Length: {'9' * 40}"),
    "two proofs": (SEARCH, "Authorization: Bearer nothing"),
    "basic": (SEARCH, "Authorization: Basic AAAA"),
    "override": ("GET /api/admin/shutdown HTTP/1.1", "X-HTTP-Method-Override: POST"),
    "hook over TCP": ("POST /hook HTTP/1.1", "x-mem-host: claude-code", "Content-Length: 0"),
    "an endless head": (SEARCH, *(f"X-{n}: {'a' * 900}" for n in range(900))),
}  # fmt: skip


@pytest.mark.parametrize("name", TRICKS)
def test_no_head_gets_round_the_rules(live: LiveWorker, name: str) -> None:
    """Each with the token; only the first one, and of that nothing, may be answered."""
    line, *more = (part.replace("{h}", f"127.0.0.1:{live.port}") for part in TRICKS[name])
    token = name != "forwarded"
    found = raw(live, head(live, line, *more, token=token).encode() + b"{}")
    assert all(400 <= status < 500 for status in statuses(found)), found[:200]
    assert MARK.encode() not in found
    assert b"X-Secret" not in found
    assert live.ask("GET", "/api/health").status == 200


def test_every_request_of_a_connection_is_judged(live: LiveWorker) -> None:
    """The second may not live on the first one's name or proof."""
    good = f"GET /api/search?query=none HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nAuthorization: Bearer {live.token}\r\n\r\n"
    assert statuses(raw(live, (good + head(live, SEARCH, host="evil.example")).encode())) == [
        200,
        421,
    ]
    assert statuses(raw(live, (good + head(live, SEARCH, token=False)).encode())) == [200, 401]
    cross = head(live, SEARCH, "Origin: http://localhost:3000")
    assert statuses(raw(live, (good + cross).encode())) == [200, 403]


ORIGINS = (
    "http://[::1]:{p}", "http://localhost:{p}", "http://127.0.0.1:{p}, http://evil.example",
    "http://127.0.0.1:{p}\tx", "http://127.0.0.1:{p}/", "http://127.0.0.1", "https://127.0.0.1:{p}",
    "http://127.0.0.1:{p}0", "http://user@127.0.0.1:{p}", "moz-extension://x", "about:blank", "data:",
    "blob:http://127.0.0.1:{p}/x", "http://127.0.0.1:{p}#", "http://127.0.0.1:{p}.evil.example",
)  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_the_page_of_the_very_host(live: LiveWorker, origin: str) -> None:
    """Not even our port under another name: somebody else may listen there."""
    said = f"Origin: {origin.format(p=live.port)}"
    for line, more in (
        (SEARCH, ()),
        ("POST /api/admin/shutdown HTTP/1.1", (JSON_TYPE, "Content-Length: 0")),
    ):
        found = raw(live, head(live, line, said, *more).encode())
        assert statuses(found) in ([403], [400])
        assert b"access-control" not in found.lower()
    own = head(live, SEARCH, f"Origin: http://127.0.0.1:{live.port}")
    assert statuses(raw(live, own.encode())) == [200]


@pytest.mark.parametrize("dest", ["iframe", "empty", "script", "object", "embed", ""])
def test_pages_are_opened_on_top_only(live: LiveWorker, dest: str) -> None:
    fetch = (
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Mode: navigate",
        f"Sec-Fetch-Dest: {dest}",
    )
    found = raw(live, head(live, "GET /viewer HTTP/1.1", *fetch, token=False).encode())
    assert statuses(found) == [403]


def test_who_has_not_proved_himself_sends_little(live: LiveWorker) -> None:
    """PRE-1: the one open endpoint with a body takes no flood and waits for nobody."""
    post = "POST /api/session HTTP/1.1"
    large = b'{"code":"' + b"a" * 300_000 + b'"}'
    length = f"Content-Length: {len(large)}"
    found = raw(live, head(live, post, JSON_TYPE, length, token=False).encode() + large)
    assert statuses(found) in ([413], [])
    begun = time.monotonic()
    found = raw(
        live, head(live, post, JSON_TYPE, "Content-Length: 50", token=False).encode() + b"{"
    )
    assert statuses(found) == [408]
    assert time.monotonic() - begun < 9
    assert (
        chunks_taken(
            live, head(live, post, JSON_TYPE, "Transfer-Encoding: chunked", token=False)
        )
        < 32
    )


def test_a_refused_body_is_not_read_on(live: LiveWorker) -> None:
    line = head(live, SAVE, JSON_TYPE, "Transfer-Encoding: chunked", token=False)
    assert chunks_taken(live, line) < 32


def chunks_taken(live: LiveWorker, begin: str) -> int:
    """How many chunks of 1 MB the worker takes until it hangs up; at most 200."""
    chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
    taken = 0
    with (
        socket.create_connection(("127.0.0.1", live.port), 10) as link,
        suppress(ConnectionError),
    ):
        link.sendall(begin.encode())
        while taken < 200:
            link.sendall(chunk)
            taken += 1
    return taken


def test_silent_connections_do_not_keep_others_out_for_long(live: LiveWorker) -> None:
    """And never the socket of the hooks."""
    links = [socket.create_connection(("127.0.0.1", live.port)) for _ in range(64)]
    try:
        assert live.ask("GET", "/api/health").status == 200
        until(lambda: statuses(raw(live, head(live, SEARCH).encode())) == [200], 12)
    finally:
        for link in links:
            link.close()


def test_events_of_the_stream_can_not_be_forged(live: LiveWorker) -> None:
    text = "x\n\nevent: forged\ndata: {}\r\rdata: y\u2028id: 1"
    with socket.create_connection(("127.0.0.1", live.port), 10) as link:
        link.sendall(head(live, "GET /stream HTTP/1.1").encode())
        link.recv(65_536)
        body = {"text": f"{text} last-of-all", "title": text, "project": "sec"}
        assert live.ask("POST", "/api/memory/save", body).json["success"]
        found = b""
        while b"new_observation" not in found:
            found += link.recv(65_536)
    lines = [line for line in re.split(r"\r\n|\r|\n", found.decode()) if line]
    chunked = re.compile(r"[0-9a-f]+")
    for line in lines:
        assert line.startswith(("data: {", "event: ", ": ", ":")) or chunked.fullmatch(line), (
            line
        )
        if line.startswith("data: "):
            json.loads(line.removeprefix("data: "))
    assert "event: forged" not in lines


def test_keys_in_odd_places_reach_no_log_and_no_file(place: Home) -> None:
    """In names of hosts and events, paths, headers, odd fields, half requests."""
    key = "sk-ant-api03-" + "Ab9" * 15
    place.install()
    assert place.mem("start", "--tcp", "--json").returncode == 0
    for event, payload in (
        (f"Stop{key}", {"x": 1}), ("PostToolUse", {"tool_name": key, "tool_input": {key: key}}),
        ("UserPromptSubmit", {"prompt": [key]}), ("UserPromptSubmit", {"prompt": key, "cwd": {"x": key}}),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": f"/x/{key}"}}),
        ("SessionStart", {"source": key, "model": key}), ("SessionEnd", {"reason": key}),
        ("PreCompact", {"trigger": key, "custom_instructions": key}),
        ("PostToolUseFailure", {"tool_name": "Bash", "tool_input": {}, "error": {"message": key}}),
    ):  # fmt: skip
        given = {"session_id": "s", "cwd": "/srv/p", "hook_event_name": event, **payload}
        assert place.hook(event, given).returncode == 0
    port = int(place.paths.port.read_text())
    for line in (f"GET /api/{key}?token={key} HTTP/1.1", f"{key} / HTTP/1.1", f"GET /{key}"):
        with socket.create_connection(("127.0.0.1", port), 5) as link:
            link.sendall(f"{line}\r\nHost: 127.0.0.1:{port}\r\nX-A: {key}\r\n\r\n".encode())
            link.recv(1000)
    assert place.mem("api", "GET", f"/api/{key}").returncode != 0
    assert place.mem("stop").returncode == 0
    holding = [
        str(file.relative_to(place.paths.data)) for file in place.paths.data.rglob("*")
        if file.is_file() and key.encode() in file.read_bytes()
    ]  # fmt: skip
    assert holding == []


ESCAPES = "\x1b]0;own\x07\x1b[2J\x9b2J\u202eevil\U000e0041"


@pytest.mark.parametrize(
    "words",
    [
        ["X"], ["status", "X"], ["status", "--X"], ["search", "-X"], ["queue", "X"], ["show", "X"],
        ["queue", "retry", "X"], ["config", "get", "X"], ["config", "set", "X", "X"], ["why", "X"],
        ["config", "set", "CLAUDE_MEM_LOG_LEVEL", "X"], ["timeline", "X"], ["import", "X"],
        ["logs", "--level", "X"], ["install", "--ide", "X"], ["install", "--scope", "X"],
        ["api", "GET", "X"], ["api", "X", "/"], ["plugins", "block", "X"], ["db", "X"],
        ["context", "--project", "X"], ["redact", "test", "X"], ["start", "--port", "X"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_words_of_the_command_line_do_not_drive_the_terminal(
    words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """TERM-1: complaints about a word repeat it, harmless."""
    with data_dir() as paths:
        done = subprocess.run(
            [sys.executable, "-m", "claude_mem_core.cli.main", *(w.replace("X", ESCAPES) for w in words)],
            capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "CLAUDE_MEM_DATA_DIR": str(paths.data)},
        )  # fmt: skip
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        subprocess.run(
            [sys.executable, "-m", "claude_mem_core.cli.main", "stop"], capture_output=True,
            env={**os.environ, "CLAUDE_MEM_DATA_DIR": str(paths.data)}, check=False, timeout=60,
        )  # fmt: skip
    assert not DRIVES.search(said), repr(said)
    assert "Traceback" not in said


def test_a_bad_skip_pattern_does_not_stop_the_worker(place: Home) -> None:
    """RE-1: the event is skipped, after three of them the pattern is, and the status says so."""
    place.install()
    key = "CLAUDE_MEM_SKIP_BASH_PATTERNS"
    assert place.mem("config", "set", key, "(a+)+$").returncode == 0
    assert (
        place.mem("config", "set", "CLAUDE_MEM_EXCLUDED_PROJECTS", "*a*a*a*a*a*a*b").returncode
        == 0
    )
    assert place.mem("start").returncode == 0
    for number in range(5):
        payload = {
            "session_id": "s", "cwd": "/srv/" + "a" * 80, "hook_event_name": "PostToolUse",
            "tool_name": "Bash", "tool_use_id": f"t{number}",
            "tool_input": {"command": "a" * 40 + "!"}, "tool_response": {"stdout": "x"},
        }  # fmt: skip
        begun = time.monotonic()
        assert place.hook("PostToolUse", payload).returncode == 0
        assert time.monotonic() - begun < 4
    client = WorkerClient(place.paths)
    until(lambda: client.running())
    until(lambda: not list(place.paths.spool.glob("*.ev")), 20)
    until(lambda: key in place.mem("status").stdout, 20)
    found = place.json("verify")
    assert found["skipped"] == {"command_skipped": 3}


def spooled(
    place: Home, number: int, record: dict[str, Any] | bytes, body: bytes = b"{}"
) -> Path:
    """A file in the spool with a record's name."""
    file = place.paths.spool / f"{number:020d}-7.ev"
    whole = {"v": 1, "host": "claude-code", "event": "UserPromptSubmit", "env": {}, "at_ms": 5}
    data = record if isinstance(record, bytes) else json.dumps({**whole, **record}).encode()
    file.write_bytes(data if isinstance(record, bytes) else data + b"\n" + body)
    return file


def test_what_lies_in_the_spool_is_hostile(place: Home) -> None:
    """SPOOL-1: names, heads, bodies, links out of it; also the folder for what is rejected."""
    place.install()
    assert place.mem("start").returncode == 0
    token = place.paths.token.read_text()
    assert place.mem("stop").returncode == 0
    spool, outside = place.paths.spool, place.paths.data.parent / "outside"
    spool.mkdir(exist_ok=True)
    outside.mkdir(mode=0o700)
    (spool / "rejected").symlink_to(outside)
    prompt = {
        "session_id": "s",
        "hook_event_name": "UserPromptSubmit",
        "cwd": "/srv/p",
        "prompt": "kept",
    }
    good = json.dumps(prompt).encode()
    heads: list[dict[str, Any] | bytes] = [
        {"v": 2}, {"v": "1"}, {"host": "../../x"}, {"host": "a\0b"}, {"host": 5}, {"host": "A" * 5000},
        {"host": "\ud800"}, {"length": 3}, {"length": -1}, b"", b"\n", b"{}\n{}", b"[" * 60_000 + b"\n{}",
        b'{"v":1,"at_ms":' + b"9" * 5000 + b"}\n{}", b"\0" * 4096, os.urandom(5000),
    ]  # fmt: skip
    for number, record in enumerate(heads, 100):
        spooled(place, number, record, good)
    odd = [
        "0-1.ev",
        f"{1:020d}-1.EV",
        "٠" * 20 + "-1.ev",
        f"{1:020d}-1\n.ev",
        "rejected.ev",
        ".h.ev",
        "-rf",
    ]
    for name in odd:
        (spool / name).write_bytes(b'{"v":1,"host":"claude-code"}\n' + good)
    os.link(place.paths.token, spool / f"{2:020d}-1.ev")
    (spool / f"{3:020d}-1.ev").symlink_to("/proc/self/environ")
    (spool / f"{4:020d}-1.ev").symlink_to(spool)
    (spool / f"{5:020d}-1.ev" / "sub").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(spool / f"{6:020d}-1.ev"))
    rejected = len(heads) + len(odd) + 5
    for number, body in enumerate(
        (b"[" * 300_000, b'{"a":' * 50_000, b"\xff\xfe", b"NaN", b""), 200
    ):
        spooled(place, number, {}, body)
    env = {"CLAUDE_MEM_DATA_DIR": "/x", "PATH": "/evil", "CLAUDE_PROJECT_DIR": ["a"]}
    spooled(
        place,
        300,
        {"env": env, "key": "../../x", "at_ms": 2**80, "size": -1, "dropped": 7},
        good,
    )

    assert place.mem("start").returncode == 0
    until(lambda: not [f for f in spool.iterdir() if f.name != "rejected"], 20)
    assert list(outside.iterdir()) == []
    assert not (spool / "rejected").is_symlink()
    assert len(list((spool / "rejected").iterdir())) == rejected
    until(lambda: place.prompts() == ["kept"])
    assert (
        place.paths.token.read_text() != token
    )  # the one with a second name is not used any more
    assert place.paths.token.stat().st_nlink == 1
    assert place.mem("verify").returncode == 0


# Those that keep the worker from starting are planted alone, so that the others are tried.
NAMES = (
    ("memory.db",), ("memory.db-wal",), ("memory.db-shm",), ("spool",),
    ("token", ".worker.port", ".worker.pid", "worker.lock", "worker-heartbeat.json", "worker.err",
     "edge.json", "settings.json", "plugins.json", "open.html", "mute", "lost.count", "starting",
     "worker-failed.json", "notice.json", "w.sock", "w.sock.path"),
)  # fmt: skip


@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_pipes_at_our_names_hold_nobody_up(place: Home, names: tuple[str, ...]) -> None:
    """Nothing is waited for; the host gets its answer, `mem` says what it can't use."""
    place.install()
    for name in names:
        (place.paths.data / name).unlink(missing_ok=True)
        os.mkfifo(place.paths.data / name)
    begun = time.monotonic()
    assert place.prompt("first").returncode == 0
    assert "Traceback" not in place.mem("start").stderr
    assert place.prompt("second").returncode == 0
    assert "Traceback" not in place.mem("status").stderr
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("kind", ["file", "folder", "nothing"])
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_links_at_our_names_are_not_written_through(
    place: Home, names: tuple[str, ...], kind: str
) -> None:
    """DIR-1: whatever is at their other end."""
    place.install()
    outside = place.paths.data.parent / "outside"
    outside.mkdir()
    for name in names:
        if kind == "file":
            (outside / name).write_bytes(b"")
        elif kind == "folder":
            (outside / name).mkdir()
        (place.paths.data / name).unlink(missing_ok=True)
        (place.paths.data / name).symlink_to(outside / name)
    place.prompt("first")
    place.mem("start", "--tcp")
    place.prompt("second")
    place.mem("open", "--print")
    for name in names:
        victim = outside / name
        if kind == "nothing":
            assert not victim.exists(), name
        else:
            assert (
                (os.listdir(victim) == []) if kind == "folder" else (victim.read_bytes() == b"")
            ), name


def fifo(folder: Path, name: str) -> None:
    (folder / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(folder / ".git" / name)


def sparse(folder: Path, name: str) -> None:
    with open(folder / ".git" / name, "wb") as file:
        file.truncate(6 << 30)


def endless(folder: Path, name: str) -> None:
    (folder / ".git" / name).unlink(missing_ok=True)
    (folder / ".git" / name).symlink_to("/dev/zero")


CONFIGS = {
    "include": "[include]\n\tpath = {mark}.fifo\n",
    "includeIf": '[includeIf "gitdir:/"]\n\tpath = {mark}.fifo\n',
    "programs": (
        "[core]\n\tfsmonitor = touch {mark}\n\tpager = touch {mark}\n\thooksPath = {hooks}\n"
        "\tsshCommand = touch {mark}\n\tgitProxy = touch {mark}\n\talternateRefsCommand = touch {mark}\n"
        "[gpg]\n\tprogram = {prog}\n[log]\n\tshowSignature = true\n\tmailmap = true\n"
        '[remote "origin"]\n\turl = ext::touch {mark}\n\tpromisor = true\n\tvcs = evil\n'
        "[extensions]\n\tpartialClone = origin\n\tworktreeConfig = true\n[trace2]\n\teventTarget = {mark}\n"
        "[alias]\n\tlog = !touch {mark}\n[protocol]\n\tallow = always\n[diff]\n\texternal = {prog}\n"
    ),
    "worktree": "[core]\n\tworktree = /\n\tbare = true\n",
}


@pytest.mark.parametrize(
    "trick", [*CONFIGS, "fifo", "sparse", "endless", "alternates", "dotgit", "nested"]
)
def test_no_repository_holds_us_up_or_runs_anything(place: Home, trick: str) -> None:
    """GIT-1: other keys of its config, files of `.git` that hang, one that points in a circle."""
    place.install()
    assert place.mem("start").returncode == 0
    base = place.paths.data.parent
    repo, mark, hooks = base / "repo", base / "TOUCHED", base / "hooks"
    repo.mkdir()
    hooks.mkdir()
    prog = base / "prog"
    prog.write_text(f"#!/bin/sh\ntouch {mark}\n")
    prog.chmod(0o755)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).symlink_to(prog)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-C", str(repo)]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(
            [*git, *words],
            check=True,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": str(base)},
        )
    os.mkfifo(f"{mark}.fifo")
    if trick in CONFIGS:
        text = CONFIGS[trick].format(mark=mark, prog=prog, hooks=hooks)
        with open(repo / ".git" / "config", "a") as file:
            file.write(text)
        (repo / ".git" / "config.worktree").write_text(text)
    elif trick in ("fifo", "sparse", "endless"):
        for name in ("config", "HEAD", "commondir", "gitdir", "packed-refs", "index"):
            {"fifo": fifo, "sparse": sparse, "endless": endless}[trick](repo, name)
    elif trick == "alternates":
        os.mkfifo(repo / ".git" / "objects" / "info" / "alternates")
    else:
        subprocess.run(["rm", "-r", str(repo / ".git")], check=True)
        (repo / ".git").write_text("gitdir: " + ("." if trick == "dotgit" else "a/../" * 1500))
    for event, more in (
        ("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": f"look at {trick}"}),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": str(repo / "a.py")}}),
        ("Stop", {"last_assistant_message": "done"}),
    ):  # fmt: skip
        begun = time.monotonic()
        payload = {"session_id": "s", "cwd": str(repo), "hook_event_name": event, **more}
        assert place.hook(event, payload).returncode == 0
        assert time.monotonic() - begun < 4, event
    until(lambda: place.prompts() == [f"look at {trick}"])
    assert not mark.exists()
    assert WorkerClient(place.paths).running()
