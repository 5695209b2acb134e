"""Case O12: the worker cannot be reached; afterwards everything is there, once.

The hook's own part is `test_case_o12_worker_unreachable.py`. Hooks speak over the socket,
so whoever holds the documented port is no obstacle to them; set-up (a) and (b) are played
both at the socket and at the port.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import pytest

from tests.case_home import Played, Ran, played, until
from tests.hook_home import alive, answer, lines, stand_in

EVENTS = lines("O12-worker-unreachable", "all-events.jsonl")
MORE = 100
NOT_FOUND = answer(b"<html>not here</html>", status=b"404 Not Found")
SLOWEST = {"a": 2, "b": 5, "c": 2}


def payloads(home: Played) -> list[dict[str, Any]]:
    """Every event of the case, then PostToolUse a hundred times more."""
    events = [home.filled(event) for event in EVENTS]
    (tool,) = [event for event in events if event["hook_event_name"] == "PostToolUse"]
    return events + [{**tool, "tool_use_id": f"toolu_more{n}"} for n in range(MORE)]


def silent(ran: list[Ran], slowest: float) -> None:
    assert max(r.seconds for r in ran) < slowest
    said = [json.loads(r.out) for r in ran if r.out]
    assert not [s for s in said if "decision" in s or s.get("continue") is False]
    assert len([s for s in said if s.get("systemMessage")]) <= 1


def notices(ran: list[Ran]) -> list[str]:
    return [m for r in ran if r.out and (m := json.loads(r.out).get("systemMessage"))]


def all_landed(home: Played) -> None:
    """Each event of the outage is there, once, without anybody doing anything."""
    home.settle(120)
    ids = [row[0] for row in home.rows("SELECT tool_use_id FROM tool_uses")]
    assert sorted(ids) == sorted({e["tool_use_id"] for e in payloads(home) if "tool_name" in e
                                  and e["hook_event_name"] == "PostToolUse"})  # fmt: skip
    assert home.prompts() == ["outage prompt marker-ironpetrel"]
    assert home.search("marker-ironpetrel")["prompts"]
    kinds = dict(home.rows("SELECT kind, count(*) FROM events GROUP BY kind"))
    stops = [e for e in EVENTS if e["hook_event_name"] == "Stop"]
    assert 1 <= kinds["turn_ended"] <= len(stops)
    assert kinds["session_ended"] == kinds["compacting"] == 1
    assert home.rows("SELECT count(*) FROM pending_messages") == [(0,)]
    assert not list(home.paths.spool.glob("*.ev"))
    home.is_sound()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("way", SLOWEST)
def test_o12_an_outage_is_silent_and_loses_nothing(way: str) -> None:
    with played(running=False) as home:
        argv = home.paths.worker_argv.read_bytes()
        home.hooks.worker_is(["/bin/false"])
        listener = {"a": lambda _: NOT_FOUND, "b": lambda _: None}.get(way)
        with stand_in(home.hooks, listener) if listener else nullcontext():
            silent([home.hook(payload) for payload in payloads(home)], SLOWEST[way])
        until(lambda: not alive(str(home.paths.data)))

        home.paths.worker_argv.write_bytes(argv)
        (home.paths.data / "starting").unlink(missing_ok=True)
        home.start()
        all_landed(home)
        start = home.filled(EVENTS[0])
        later = [home.hook({**start, "session_id": f"later-{n}"}) for n in range(6)]
        assert len([text for text in notices(later) if "worker was down" in text]) == 1
        assert len(alive(str(home.paths.data))) == 1


@contextmanager
def busy_port(say: bytes | None) -> Iterator[int]:
    """A stranger on a port: it answers everything alike, or never."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                link, _ = listener.accept()
                held.append(link)
                if say is not None:
                    link.sendall(say)
                    link.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)
        for link in held:
            link.close()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("say", [NOT_FOUND, None], ids=["a 404", "hang"])
def test_o12_a_stranger_on_the_port_is_no_outage(say: bytes | None) -> None:
    with busy_port(say) as port, played(running=False) as home:
        home.mem("config", "set", "worker-port", str(port))
        home.mem("config", "set", "worker-tcp", "true", check=False)
        home.start()
        silent([home.hook(payload) for payload in payloads(home)], 2)
        all_landed(home)


@pytest.mark.slow
def test_o12_the_next_hook_brings_the_worker_back() -> None:
    """Nobody starts it by hand: after the repair one event is enough."""
    with played(running=False) as home:
        argv = home.paths.worker_argv.read_bytes()
        home.hooks.worker_is(["/nonexistent/python"])
        for event in EVENTS:
            assert home.hook(home.filled(event)).seconds < 2
        home.paths.worker_argv.write_bytes(argv)
        (home.paths.data / "starting").unlink(missing_ok=True)
        home.hook({**home.filled(EVENTS[0]), "session_id": "later"})
        until(
            lambda: home.paths.database.exists() and not list(home.paths.spool.glob("*.ev")), 60
        )
        home.settle()
        assert home.prompts() == ["outage prompt marker-ironpetrel"]
        home.is_sound()
