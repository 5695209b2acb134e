"""Keeps each seat's index up to date, and notes in its log what matters."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.to_thread

from claude_mem_core.errors import MemError
from claude_mem_core.files import opened_inside, write_at
from claude_mem_core.types import Desk, Observation
from claude_mem_host_grok_bot import PREFIX
from claude_mem_host_grok_bot.index import (
    MARK,
    awareness,
    line,
    matters,
    page,
    projects_of,
    rows,
)
from claude_mem_host_grok_bot.seats import NAME, Seat, root_of, seats_of

log = logging.getLogger(__name__)

WAIT_S = 30.0
SETTLE_S = 1.0  # one turn often brings several observations


class SeatWatcher:
    """Writes after observations were kept, and once at the start."""

    def __init__(self) -> None:
        self._last = 0  # id of the newest observation that the bots know of
        self._faults: set[str] = set()

    async def run(self, desk: Desk) -> None:
        """Watch until cancelled."""
        newest = await desk.newest(1)
        self._last = newest[0].id if newest else 0
        while True:
            await self.write(desk)
            if await desk.changed(WAIT_S):
                await anyio.sleep(SETTLE_S)

    async def write(self, desk: Desk) -> None:
        """Bring all seats up to date; one that can't be written is named once."""
        seats = list(await anyio.to_thread.run_sync(_installed, desk))
        for seat in seats:
            try:
                await self._seat(desk, seat)
            except (OSError, MemError) as error:
                if seat.agent not in self._faults:
                    self._faults.add(seat.agent)
                    log.warning("the index of seat %s is not written: %s", seat.agent, error)
        if seats:
            await self._tell(desk, seats)

    async def _seat(self, desk: Desk, seat: Seat) -> None:
        settings = desk.settings()
        wanted = settings[PREFIX + "INJECT_ENABLED"] and not desk.paused()
        found = await rows(desk, seat) if wanted else []
        lines = [line(o, shown) for o in found if (shown := desk.line(o))]
        text = page(lines, str(settings[PREFIX + "INJECT_TIER"])).encode()
        await anyio.to_thread.run_sync(_replace, seat, text)

    async def _tell(self, desk: Desk, seats: list[Seat]) -> None:
        """Append what is new and matters to the logs of the seats that it concerns."""
        settings = desk.settings()
        for seat in seats:
            found = await desk.newest(50, projects=projects_of(seat, settings))
            news = [o for o in reversed(found) if o.id > self._last and matters(o, settings)]
            if settings[PREFIX + "AWARENESS_ENABLED"] and not desk.paused():
                await anyio.to_thread.run_sync(_append, seat, _lines(desk, news))
        newest = await desk.newest(50)
        self._last = max([self._last, *(observation.id for observation in newest)])


def _lines(desk: Desk, news: list[Observation]) -> str:
    today = f"{_today():%Y-%m-%d}"
    return "".join(awareness(o, shown, today) for o in news if (shown := desk.line(o)))


def _today() -> datetime:
    return datetime.now(UTC)


def _installed(desk: Desk) -> Iterator[Seat]:
    """The seats to be served, once `mem install` has put our index into one of them."""
    root = root_of(os.environ, os.path.expanduser("~"))
    seats = list(seats_of(root))
    if not any(_is_ours(seat.log / NAME) for seat in seats):
        return iter(())
    names = {name.strip() for name in desk.settings()[PREFIX + "INJECT_AGENT_IDS"]}
    every = not names or bool(names & {"*", "all"})
    return iter([seat for seat in seats if every or seat.agent in names])


def _is_ours(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.read_bytes()[: len(MARK)] == MARK
    except OSError:
        return False


def _replace(seat: Seat, text: bytes) -> None:
    """Write the index; a file of somebody else under its name is left alone."""
    path = seat.log / NAME
    if path.exists() and (not _is_ours(path) or path.read_bytes() == text):
        return
    with opened_inside(seat.root, seat.log, make=True) as handle:
        write_at(handle, path, text)


def _append(seat: Seat, text: str) -> None:
    if not text:
        return
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    with opened_inside(seat.root, seat.log, make=True) as handle:
        name = f"{_today():%Y-%m}.md"
        place = name if handle is not None else str(seat.log / name)
        file = os.open(place, flags, 0o600, dir_fd=handle)
        with os.fdopen(file, "ab") as out:
            out.write(text.encode())
