"""Whether memory works, for a person: a verdict, what is wrong, since when, and the cure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import fetch, stats
from claude_mem_core.worker import report
from claude_mem_core.worker.spec import Call, Endpoint

DAY_MS = 86_400_000
TODAY = """
  SELECT count(*), sum(state = 'skipped') FROM events WHERE host = ? AND received_ms >= ?
"""
HINDERING = {"hook", "rules", "spool", "redaction"}
CURES = {
    "hook": "mem repair", "store": "mem db check", "rules": "mem repair",
    "recording": "mem plugins", "disk": "make room on the disk",
}  # fmt: skip


async def wellness(call: Call) -> dict[str, Any]:
    """Verdict, problems with their cures, hosts with their last event, indexes, numbers."""
    state = await report.state_of(call)
    since = now_ms() - DAY_MS

    def read(conn: apsw.Connection) -> dict[str, Any]:
        hosts = [_host(conn, name, at, since) for name, at in state["hosts"].items()]
        return {"hosts": hosts, "stats": stats.stats(conn)["database"]}

    found = await call.services.store.aread(read)
    problems = list(faults(state))
    return {
        **found,
        "verdict": verdict(problems, found["hosts"]),
        "problems": problems,
        "recording": state["recording"],
        "version": state["version"], "uptime_s": state["uptime"], "pid": state["pid"],
        "database": state["database"], "queue": state["queue"], "spool": state["spool"],
        "indexes": state["indexes"], "plugins": state["plugins"],
    }  # fmt: skip


def _host(conn: apsw.Connection, name: str, at_ms: int, since: int) -> dict[str, Any]:
    events, skipped = fetch.row(conn, TODAY, name, since) or (0, 0)
    return {"name": name, "last_ms": at_ms, "events": events, "skipped": skipped or 0}


def verdict(problems: list[dict[str, str]], hosts: list[dict[str, Any]]) -> str:
    """One sentence that can be read from across the room."""
    broken = [problem for problem in problems if problem["level"] == "bad"]
    if broken:
        count = "One thing is" if len(broken) == 1 else f"{len(broken)} things are"
        return f"{count} broken."
    if not hosts:
        return "Ready. No host has sent an event yet."
    return "Memory works." if not problems else "Memory works. Something needs a look."


def faults(state: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What is wrong, worst first."""
    found = [*_broken(state), *_doubtful(state)]
    yield from sorted(found, key=lambda problem: problem["level"] != "bad")


def lasting(state: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Faults that keep the memory from its work: text and cure by topic.

    That recording is stopped is told at every session's start anyway.
    """
    return {
        fault["what"]: (fault["text"], fault["cure"])
        for fault in faults(state)
        if (fault["level"] == "bad" or fault["what"] in HINDERING) and fault["what"] != "recording"
    }


def _broken(state: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if not state["recording"] and "recording" not in state["notes"]:
        yield _problem("recording", "recording is stopped", "mem plugins")
    for topic, text in state["notes"].items():
        level = "bad" if topic in {"store", "recording", "disk"} else "warn"
        yield _problem(topic, text, CURES.get(topic, "mem logs"), level)
    for name, text in state["indexes"]["faults"].items():
        yield _problem(f"search {name}", text, "mem db rebuild-index")
    looks = state["database"]["state"]
    if looks not in {"ok", "none yet"}:
        yield _problem("database", looks, "mem db check")


def _doubtful(state: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    failed = (state["queue"] or {}).get("failed")
    if failed:
        text = f"{failed} pieces of work failed three times"
        yield _problem("queue", text, "mem queue retry", "warn")
    if state["lost"]:
        text = f"hooks could not write {state['lost']} events to disk"
        yield _problem("lost", text, "make room on the disk", "warn")
    if state["spool"].get("rejected"):
        text = f"{state['spool']['rejected']} files in the spool were no records of ours"
        yield _problem("spool", text, "look into spool/rejected", "warn")
    for plugin in state["plugins"]:
        if plugin["error"]:
            text, cure = plugin["error"], f"mem plugins block {plugin['package']}"
            yield _problem(f"plugin {plugin['name']}", text, cure, "warn")
    for warning in state["settings"]["warnings"]:
        yield _problem("settings", warning, "mem config list", "warn")


def _problem(what: str, text: str, cure: str, level: str = "bad") -> dict[str, str]:
    return {"what": what, "text": text, "cure": cure, "level": level}


ENDPOINTS = (
    Endpoint("GET", "/api/viewer/health", wellness, "Whether memory works", area="viewer"),
)
