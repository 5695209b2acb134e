"""The watcher: looks at the transcripts in turn and hands in what is new in them.

What was handed in is on disk before the mark moves, so a crash repeats and never loses;
what is repeated is known by its key.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import attrs

from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.transcripts import Found, find, roots_of
from claude_mem_core.types import Desk, Event, Transcripts
from claude_mem_transcripts import state as states
from claude_mem_transcripts.config import Source, parse_config
from claude_mem_transcripts.following import Follower, Pulled
from claude_mem_transcripts.state import Mark, State

log = logging.getLogger(__name__)

LOOK_S = 1.0  # between looks at files that changed lately
SEARCH_EVERY = 5  # looks; then folders are searched for new files
REST_MS = 30_000  # without a new line, the turn counts as over
LIVE_MS = 3_600_000  # files that changed within are looked at each time
CONFIG = "transcript-watch.json"
LARGEST = 1 << 20


class TranscriptWatcher:
    """Follows all sources; a file that can't be read is told once and passed over."""

    def __init__(self, look_s: float = LOOK_S, rest_ms: int = REST_MS) -> None:
        self._look_s = look_s
        self._rest_ms = rest_ms
        self._followers: dict[str, Follower] = {}
        self._seen: dict[str, Found] = {}  # as they were when last read to the end
        self._faults: set[str] = set()
        self._config: tuple[object, list[Source]] = (None, [])

    async def run(self, desk: Desk) -> None:
        """Watch until cancelled."""
        state = await anyio.to_thread.run_sync(states.load, desk.data)
        number = 0
        while True:
            wanted = desk.settings()["CLAUDE_MEM_TRANSCRIPTS_ENABLED"]
            some = wanted and await self.look(desk, state, search=number % SEARCH_EVERY == 0)
            desk.keep_awake(some)
            number = number + 1 if some else 0
            await anyio.sleep(self._look_s if some else self._look_s * SEARCH_EVERY)

    async def look(self, desk: Desk, state: State, *, search: bool = True) -> bool:
        """Look at every source once; False when there is none."""
        sources = list(self._sources(desk))
        for source in sources:
            first = source.name not in state.sources and "*" not in state.sources
            found = await anyio.to_thread.run_sync(self._files, source, search or first)
            for file in found:
                at_end = first and source.at_end and file.path not in state.marks
                await self._file(desk, state, source, file, at_end=at_end)
            if first:
                state.sources.add(source.name)
                await self._save(state)
        if search:
            self._forget_idle()
        return bool(sources)

    # Where to look ---------------------------------------------------------------------

    def _sources(self, desk: Desk) -> Iterator[Source]:
        settings = desk.settings()
        for host in desk.hosts():
            main, inner = _wanted(host.name, settings)
            for form in host.transcripts:
                if form.form == "lines" and (form.live or main or inner):
                    for root in filter(partial(_is_marked, form), roots_of(host, {})):
                        yield Source(
                            name=f"host:{host.name}:{root}:{form.pattern}", root=root, form=form,
                            host=host.name, main=form.live or main, inner=form.live or inner,
                        )  # fmt: skip
        yield from self._configured(desk, settings)

    def _configured(self, desk: Desk, settings: Mapping[str, Any]) -> list[Source]:
        """The sources of the settings file, read anew when it changed."""
        named = settings["CLAUDE_MEM_TRANSCRIPTS_CONFIG_PATH"]
        path = Path(named).expanduser() if named else desk.data / CONFIG
        try:
            there = path.stat()
            stamp = (path, there.st_mtime_ns, there.st_size)
        except OSError:
            return []
        if self._config[0] != stamp:
            self._config = (stamp, self._read(path, desk))
        return self._config[1]

    def _read(self, path: Path, desk: Desk) -> list[Source]:
        try:
            with path.open("rb") as file:
                return parse_config(json.loads(file.read(LARGEST)), desk.hosts())
        except (OSError, ValueError, RecursionError, InvalidInput) as error:
            log.warning("%s is not followed: %s; mend the file", path, error)
            return []

    def _files(self, source: Source, search: bool) -> list[Found]:
        """Files to look at: all that are there, or those that changed lately."""
        if search:
            return list(find(source.root, source.form))
        since = time.time() * 1000 - LIVE_MS
        known = [f for f in self._seen.values() if f.changed_ms > since]
        return [now for f in known if f.root == source.root and (now := _again(f, source))]

    def _forget_idle(self) -> None:
        """Readers of files that rest; they are made anew when the file grows."""
        since = time.time() * 1000 - LIVE_MS
        idle = [path for path, f in self._seen.items() if f.changed_ms < since]
        for path in idle:
            self._followers.pop(path, None)

    # One file --------------------------------------------------------------------------

    async def _file(
        self, desk: Desk, state: State, source: Source, file: Found, *, at_end: bool
    ) -> None:
        mark = state.marks.get(file.path)
        seen = self._seen.get(file.path)
        same = seen is not None and (seen.size, seen.inode) == (file.size, file.inode)
        if mark is not None and (same or _is_read(mark, file)):
            self._seen[file.path] = file
            quiet = time.time() * 1000 - file.changed_ms > self._rest_ms
            if mark.rested or not quiet:
                return
        try:
            await self._follow(desk, state, source, file, at_end=at_end)
        except OSError as error:
            if file.path not in self._faults:
                self._faults.add(file.path)
                log.warning("a transcript of %s is not read: %s", source.host, error.strerror)
        except StoreError as error:
            # Its reader is ahead of what is kept; from the mark it is made anew.
            self._followers.pop(file.path, None)
            log.warning("transcripts wait: %s", error)

    async def _follow(
        self, desk: Desk, state: State, source: Source, file: Found, *, at_end: bool
    ) -> None:
        follower = await anyio.to_thread.run_sync(self._follower, state, file, at_end)
        pulled = await anyio.to_thread.run_sync(follower.pull)
        if pulled is None:
            follower = await self._rotated(desk, state, source, follower, file)
            pulled = await anyio.to_thread.run_sync(follower.pull)
        while pulled is not None:
            await self._hand_in(desk, state, source, follower, pulled)
            more = pulled.more
            pulled = await anyio.to_thread.run_sync(follower.pull) if more else None
        self._seen[file.path] = file
        if not follower.mark.rested and time.time() * 1000 - file.changed_ms > self._rest_ms:
            await self._hand_in(desk, state, source, follower, follower.rest())

    def _follower(self, state: State, file: Found, at_end: bool) -> Follower:
        known = self._followers.get(file.path)
        if known is None:
            mark = state.marks.get(file.path)
            known = self._followers[file.path] = Follower.start(file, mark, at_end=at_end)
            if mark is None:
                state.marks[file.path] = known.mark
        return known

    async def _rotated(
        self, desk: Desk, state: State, source: Source, old: Follower, file: Found
    ) -> Follower:
        """The rest of a file that was renamed, then the new one from its start."""
        moved = await anyio.to_thread.run_sync(_renamed, old)
        if moved is not None:
            old.found = moved
            while (pulled := await anyio.to_thread.run_sync(old.pull)) is not None:
                await self._hand_in(desk, state, source, old, pulled, path=file.path)
                if not pulled.more:
                    break
        fresh = Follower.start(file, Mark(inode=file.inode), at_end=False)
        self._followers[file.path] = fresh
        return fresh

    async def _hand_in(
        self, desk: Desk, state: State, source: Source, follower: Follower, pulled: Pulled,
        path: str = "",
    ) -> None:  # fmt: skip
        events = [e for e in pulled.events if await _is_wanted(desk, source, e)]
        if events:
            await desk.report(events)
        if pulled.mark != follower.mark:
            follower.mark = pulled.mark
            state.marks.pop(path or follower.found.path, None)
            state.marks[path or follower.found.path] = pulled.mark
            await self._save(state)

    async def _save(self, state: State) -> None:
        """Without it a restart reads again what is known already, which costs no event."""
        try:
            await anyio.to_thread.run_sync(state.save)
        except OSError as error:
            if str(state.path) not in self._faults:
                self._faults.add(str(state.path))
                log.warning("%s is not written: %s", state.path, error.strerror)


async def _is_wanted(desk: Desk, source: Source, event: Event) -> bool:
    """Whether nobody else reports it, and the user wants it."""
    if event.in_subagent:
        return source.inner
    return source.main and not await desk.hooked(event.host, event.session_id)


def _wanted(host: str, settings: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether the sessions of a host with hooks, and their sub-agents, are followed too."""
    if host != "codex":
        return False, False
    inner = settings["CLAUDE_MEM_CODEX_SUBAGENT_INGESTION"]
    skipped = settings["CLAUDE_MEM_SKIP_SUBAGENT_OBSERVATIONS"]
    return bool(settings["CLAUDE_MEM_CODEX_TRANSCRIPT_INGESTION"]), bool(inner and not skipped)


def _is_marked(form: Transcripts, root: str) -> bool:
    """Whether the user installed us there, where that is to be seen from a file."""
    wanted = attrs.evolve(form, pattern=form.marker) if form.marker else None
    return wanted is None or next(find(root, wanted), None) is not None


def _is_read(mark: Mark, file: Found) -> bool:
    return (mark.offset, mark.inode) == (file.size, file.inode)


def _again(file: Found, source: Source) -> Found | None:
    """The same file as it is now."""
    try:
        path = Path(file.path)
        there = path.lstat()
    except OSError:
        return None
    return attrs.evolve(
        file, size=there.st_size, changed_ms=there.st_mtime_ns // 1_000_000,
        inode=(there.st_dev, there.st_ino), form=source.form,
    )  # fmt: skip


def _renamed(old: Follower) -> Found | None:
    """The file that was followed, under the name that it has now; in the same folder."""
    folder = Path(old.found.path).parent
    try:
        for entry in folder.iterdir():
            there = entry.lstat()
            if (there.st_dev, there.st_ino) == old.mark.inode and entry.is_file():
                steps = (*old.found.steps[:-1], entry.name)
                return attrs.evolve(old.found, steps=steps)
    except OSError:
        return None
    return None
