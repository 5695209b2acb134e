"""The index of memories that a seat is given, and the lines for its own log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from claude_mem_core.types import Desk, Observation
from claude_mem_host_grok_bot import PREFIX
from claude_mem_host_grok_bot.seats import Seat

MARK = b"<!-- claude-mem: written by the worker; `mem uninstall --ide grok-bot` removes it -->"


def page(lines: Sequence[str], tier: str) -> str:
    """The whole file."""
    rank = "" if tier == "plain" else f"[{tier}] "
    body = "".join(line.replace("[]", rank, 1) + "\n" for line in lines)
    return MARK.decode() + "\n" + body


def day(observation: Observation) -> str:
    """The day on which it happened."""
    return datetime.fromtimestamp(observation.created_ms / 1000, UTC).date().isoformat()


def line(observation: Observation, shown: str) -> str:
    """`- (2026-12-01) [episode] [claude-mem] 12 Title`, with the rank left open."""
    return f"- ({day(observation)}) [][claude-mem] {observation.id} {shown}"


def awareness(observation: Observation, shown: str, today: str) -> str:
    """A dated line for the bot's own log."""
    return f"- {today} [awareness] [claude-mem] {observation.id} {shown}\n"


def projects_of(seat: Seat, settings: Mapping[str, Any]) -> list[str]:
    """The projects of a seat: those that the settings name, else its own."""
    for part in str(settings[PREFIX + "INJECT_PROJECTS_BY_AGENT"]).split(";"):
        agent, _, names = part.partition("=")
        if agent.strip() == seat.agent:
            return [name.strip() for name in names.split(",") if name.strip()]
    return [seat.agent]


def matters(observation: Observation, settings: Mapping[str, Any]) -> bool:
    """Whether the bot should hear of it."""
    concepts = set(settings[PREFIX + "AWARENESS_TRIGGER_CONCEPTS"])
    types = settings[PREFIX + "AWARENESS_TRIGGER_TYPES"]
    return observation.type in types or bool(concepts & set(observation.concepts))


async def rows(desk: Desk, seat: Seat) -> list[Observation]:
    """What stands in a seat's index, newest first; its own before those of the house."""
    settings = desk.settings()
    window = int(settings[PREFIX + "INJECT_WINDOW"])
    host = str(settings[PREFIX + "INJECT_PLATFORM_SOURCE"] or "")
    own = list(await desk.newest(window, projects=projects_of(seat, settings), host=host))
    if settings[PREFIX + "INJECT_FALLBACK"] == "house" and len(own) < window:
        known = {observation.id for observation in own}
        house = [o for o in await desk.newest(window, host=host) if o.id not in known]
        own += house[: window - len(own)]
    return sorted(own, key=lambda o: (-o.created_ms, -o.id))
