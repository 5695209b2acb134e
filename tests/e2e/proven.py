"""What the real programs were seen to do: `proven.json`, from which the page of hosts is made.

    MEM_PROVEN=write pytest tests/e2e      writes what is seen
    pytest tests/e2e                       fails where the file claims what is not seen
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.e2e.agents import Agent
from tools import hosts

FILE = Path(__file__).parent / "proven.json"
WRITES = os.environ.get("MEM_PROVEN") == "write"


def hold(agent: Agent, part: str, limits: str | None = None, **shown: bool) -> None:
    """Hold the file to what an agent has shown in its sessions, or write it down.

    Args:
        part: which sessions these were, for what they left.
        limits: what the program can't do, for people.
        shown: what else was shown, by the name of its column.
    """
    facts = {"version": hosts.pins()[agent.host]["version"], **shown}
    if limits is not None:
        facts["limits"] = limits
    if WRITES:
        write(agent.host, part, sorted(captured(agent)), facts)
        return
    claimed = read()[agent.host]
    wanted = set(claimed["captured"][part])
    agent.place.wait(lambda: wanted <= captured(agent), f"{wanted} of {agent.host}")
    assert {name: claimed[name] for name in facts} == facts, (
        "run it once with MEM_PROVEN=write, then `make reference`"
    )


def captured(agent: Agent) -> set[str]:
    """The kinds of events that have come."""
    rows = agent.place.rows("SELECT DISTINCT kind FROM events")
    return {str(row[0]) for row in rows} - {"notice"}


def read() -> dict[str, dict[str, Any]]:
    """The file, by host."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def write(host: str, part: str, kinds: Sequence[str], facts: Mapping[str, Any]) -> None:
    """Put what was seen of one host into the file; what other sessions showed stays."""
    known = read()
    before = known.get(host, {})
    parts = before.get("captured", {}) if before.get("version") == facts["version"] else {}
    whole = {**before, **facts, "captured": {**parts, part: kinds}}
    text = json.dumps({**known, host: whole}, indent=2, ensure_ascii=False, sort_keys=True)
    FILE.write_text(text + "\n")
