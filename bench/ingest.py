"""How many events a second the worker takes in, cleaned and on disk, over 8 connections.

    .venv/bin/python bench/ingest.py --json

The client is one process that speaks the hook's protocol on 8 sockets. An event counts
when its answer is complete, and at the end the journal is counted too. First the turns
stay open, so that accepting is all there is to do; then they end, and the observer works
beside it (`observing_per_s`).
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import socket
import statistics
import time
from collections.abc import Iterator, Mapping

import apsw
import attrs

from claude_mem_core.paths import Paths
from claude_mem_core.store import fetch
from claude_mem_core.testing.worker import data_dir, start

CONNECTIONS = 8
SESSIONS = 16
TURN = 40  # events of a turn
OPEN = 1_000_000  # of one that does not end
WARM = 200
LINES = "\n".join(f"    value_{i} = compute({i}, scale=0.{i}, name='item {i}')" for i in range(24))


def payloads(count: int, start_at: int, turns: int) -> Iterator[tuple[str, bytes]]:
    """(event, payload) as Claude Code sends them: prompts, tool uses of 2 KB, stops.

    `turns`: how many events a turn has.
    """
    for number in range(start_at, start_at + count):
        turn, place = divmod(number // SESSIONS, turns)
        common = {
            "session_id": f"turns-of-{turns}-{number % SESSIONS}",
            "transcript_path": "",
            "cwd": "/srv/bench/project",
        }
        if place == 0:
            more = {"prompt": f"please look at step {turn} of part {number}"}
            yield event("UserPromptSubmit", common, more)
        elif place == turns - 1:
            more = {"last_assistant_message": f"step {turn} is done, see module_{number}.py"}
            yield event("Stop", common, more)
        else:
            yield event("PostToolUse", common, tool_use(number))


def event(name: str, *parts: Mapping[str, object]) -> tuple[str, bytes]:
    """One hook's input."""
    whole: dict[str, object] = {"hook_event_name": name}
    for part in parts:
        whole.update(part)
    return name, json.dumps(whole).encode()


def tool_use(number: int) -> dict[str, object]:
    """A Read and its result, 2 KB together."""
    path = f"/srv/bench/project/src/module_{number % 300}.py"
    return {
        "tool_name": "Read",
        "tool_use_id": f"toolu_{number:012d}",
        "tool_input": {"file_path": path},
        "tool_response": {"type": "text", "file": {"filePath": path, "content": LINES}},
    }


@attrs.define
class Connection:
    """One keep-alive connection with at most one request under way."""

    stream: socket.socket
    sent_at: float = 0.0
    buffer: bytes = b""

    def send(self, name: str, body: bytes, key: int) -> None:
        """Send one event."""
        head = (
            f"POST /hook HTTP/1.1\r\nHost: localhost\r\nx-mem-host: claude-code\r\n"
            f"x-mem-event: {name}\r\nx-mem-key: {time.time_ns():020d}-{key}\r\n"
            f"x-mem-at: {time.time_ns() // 1_000_000}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.sent_at = time.perf_counter()
        self.stream.sendall(head.encode() + body)

    def receive(self) -> bool:
        """Take what came; whether the answer is complete now."""
        self.buffer += self.stream.recv(65_536)
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"not accepted: {self.buffer[:300]!r}")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(body) < length:
            return False
        self.buffer = b""
        return True


def connect(paths: Paths) -> list[Connection]:
    """The connections to the worker's socket."""
    made = []
    for _ in range(CONNECTIONS):
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stream.connect(os.fspath(paths.socket))
        made.append(Connection(stream))
    return made


def play(connections: list[Connection], events: Iterator[tuple[str, bytes]]) -> list[float]:
    """Send all events, one under way on each connection; seconds that each took."""
    ready = selectors.DefaultSelector()
    times: list[float] = []
    for number, connection in enumerate(connections):
        ready.register(connection.stream, selectors.EVENT_READ, connection)
        connection.send(*next(events), key=number)
    waiting = len(connections)
    while waiting:
        for key, _ in ready.select():
            connection = key.data
            if not connection.receive():
                continue
            times.append(time.perf_counter() - connection.sent_at)
            following = next(events, None)
            if following is None:
                waiting -= 1
            else:
                connection.send(*following, key=len(times) + CONNECTIONS)
    ready.close()
    return times


def journal_size(paths: Paths) -> int:
    """How many events the database holds."""
    conn = apsw.Connection(os.fspath(paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(fetch.value(conn, "SELECT count(*) FROM events"))
    finally:
        conn.close()


@attrs.define
class Round:
    """What one round measured."""

    per_s: float
    p95_ms: float


def one_round(connections: list[Connection], count: int, sent: int, turns: int) -> Round:
    """Send `count` events and take the time."""
    events = payloads(count, sent, turns)
    begun = time.perf_counter()
    times = play(connections, events)
    rate = len(times) / (time.perf_counter() - begun)
    return Round(rate, statistics.quantiles(times, n=20)[-1] * 1000)


def measure(count: int, rounds: int) -> dict[str, float]:
    """The best of several rounds of each kind; memory at its highest in the first two."""
    with data_dir() as paths:
        live = start(paths)
        connections = connect(paths)
        play(connections, payloads(WARM, 0, OPEN))
        sent = WARM
        found: dict[int, list[Round]] = {OPEN: [], TURN: []}
        peak = 0.0
        for _ in range(rounds):
            for turns in (OPEN, TURN):
                found[turns].append(one_round(connections, count, sent, turns))
                sent += count
            peak = peak or live.memory_mb("VmHWM")
        for connection in connections:
            connection.stream.close()
        live.stop()
        stored = journal_size(paths)
    if stored != sent:
        raise SystemExit(f"{sent} events were accepted, {stored} are in the journal")
    best = max(found[OPEN], key=lambda r: r.per_s)
    return {
        "accepted_per_s": round(best.per_s),
        "p95_ms": round(best.p95_ms, 1),
        "rss_mb_peak": peak,
        "accepted_per_s_median": round(statistics.median(r.per_s for r in found[OPEN])),
        "observing_per_s": round(max(r.per_s for r in found[TURN])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    found = measure(args.events, args.rounds)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<22} {value}")


if __name__ == "__main__":
    main()
