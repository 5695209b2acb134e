"""What hosts write down by themselves: where it lies, and how it is told as events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs

from claude_mem_core.types.events import Event
from claude_mem_core.types.memories import Observation


@attrs.frozen(kw_only=True)
class TranscriptFile:
    """One transcript, before it is read.

    Attributes:
        path: where it lies, below one of the host's roots.
        beside: content of the small files that `Transcripts.beside` names, where they are.
    """

    path: str
    beside: Mapping[str, bytes] = attrs.field(factory=dict)


class TranscriptReader(Protocol):
    """Tells one transcript as events, record after record. Pure: no disk, no clock.

    The same records give the same events, with ids of their own, so that reading twice
    keeps nothing twice. A record that makes no sense gives no event and no error.
    """

    def read(self, record: Mapping[str, Any]) -> Sequence[Event]:
        """The events that are complete with this record."""
        ...

    def rest(self) -> Sequence[Event]:
        """What is open while nothing more comes: the end of a turn that has an answer."""
        ...


@attrs.frozen(kw_only=True)
class Transcripts:
    """Transcripts of one form that a host keeps below its `transcript_roots`.

    Attributes:
        pattern: the files below a root: `*/*.jsonl`; `**` is any number of folders.
        open: a reader for one file.
        form: `lines`: a JSON object a line; `document`: one a file; `database`: the rows
            of the tables that `tables` names, as objects with `"table"` in them.
        beside: small files that a reader needs, relative to the transcript's folder.
        tables: for a database, the columns to read of each table, in this order.
        inner: they are those of sub-agents, which are read only where asked for.
        live: the host has no hooks, so they are watched as they grow.
        marker: pattern of the file below the root that says that the user installed us;
            without one of those nothing is watched. Empty: no such file is needed.
    """

    pattern: str
    open: Callable[[TranscriptFile], TranscriptReader]
    form: str = "lines"
    beside: tuple[str, ...] = ()
    tables: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    inner: bool = False
    live: bool = False
    marker: str = ""


class Desk(Protocol):
    """What the core gives a watcher: a way in, and a few questions it may ask."""

    @property
    def data(self) -> Path:
        """The data directory; a watcher keeps its files in it, named after itself."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """The settings as they are now."""
        ...

    def hosts(self) -> Sequence[Any]:
        """The hosts that plugins offer (`Host` records)."""
        ...

    def keep_awake(self, wanted: bool) -> None:
        """Say whether the worker must stay, however little happens otherwise."""
        ...

    async def report(self, events: Sequence[Event]) -> int:
        """Hand in what happened, oldest first; how many were new. On disk on return.

        It is judged, cleaned and kept like what hooks report, and known by its key.

        Raises:
            StoreError: nothing more could be written; report the same again later.
        """
        ...

    async def hooked(self, host: str, session_id: str) -> bool:
        """Whether hooks report of this session, so that a transcript adds nothing."""
        ...

    async def newest(
        self, limit: int, *, projects: Sequence[str] = (), host: str = ""
    ) -> Sequence[Observation]:
        """The newest observations that hold, newest first."""
        ...

    def line(self, observation: Observation) -> str:
        """It as one harmless line for an agent; empty when no agent may be shown it."""
        ...

    def paused(self) -> bool:
        """Whether the user wants nothing kept and nothing shown just now."""
        ...

    async def changed(self, timeout: float) -> bool:
        """Wait until an observation is kept; False when none was for so many seconds."""
        ...


class Watching(Protocol):
    """A watcher, opened."""

    async def run(self, desk: Desk) -> None:
        """Watch until cancelled. What it raises is logged and ends it."""
        ...
