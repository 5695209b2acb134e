"""The keyword index as a search backend: our own feature through everybody's hook."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from claude_mem_core import hookimpl
from claude_mem_core.recall import feed as feeding
from claude_mem_core.recall.counts import Counts, records
from claude_mem_core.recall.find import find
from claude_mem_core.types import Found, Query, SearchBackend, Values

if TYPE_CHECKING:
    from claude_mem_core.store import Store

log = logging.getLogger(__name__)

STEP = 100  # records taken in one transaction: about 20 ms of the writer's time
BROKEN = (apsw.CorruptError, apsw.SQLError, apsw.FormatError)


@hookimpl
def mem_search_backends() -> Iterator[SearchBackend]:
    yield SearchBackend(
        name="keyword",
        summary="finds words, parts of words and any script",
        order=10,
        exact=True,
        open=lambda store, _: KeywordIndex(store),
    )


class KeywordIndex:
    """The word index of a store. Mends itself when it is missing or broken."""

    def __init__(self, store: Store, values: Values | None = None) -> None:
        self._store = store
        self._counts = Counts()
        self._broken = threading.Event()
        self._checked = False

    def search(self, query: Query) -> Found:
        """The records that hold the words of `query`; never an error for any text.

        A broken index answers with nothing and a coverage of 0; the next `feed` makes
        it anew.
        """
        return self._store.read(lambda conn: self._search(conn, query))

    def _search(self, conn: apsw.Connection, query: Query) -> Found:
        try:
            return find(conn, query, self._counts, coverage(conn))
        except BROKEN:
            if not self._broken.is_set():
                log.exception("the word index is broken and is made anew")
            self._broken.set()
            return Found(coverage=0.0)

    def feed(self, limit: int) -> int:
        """Take up to `limit` changes, in small transactions; return how many."""
        done = 0
        while done < limit:
            step = partial(self._step, limit=min(STEP, limit - done))
            taken = self._store.write(step).result()
            if not taken:
                break
            done += taken
        return done

    def _step(self, conn: apsw.Connection, limit: int) -> int:
        if self._broken.is_set() or not self._checked:
            self._mend(conn)
        try:
            return feeding.feed(conn, limit)
        except BROKEN:
            self._broken.set()
            raise

    def _mend(self, conn: apsw.Connection) -> None:
        if self._broken.is_set() or not _sound(conn):
            feeding.remake(conn)
            self._broken.clear()
        self._checked = True


def _sound(conn: apsw.Connection) -> bool:
    try:
        return feeding.ready(conn)
    except BROKEN:
        return False


def coverage(conn: apsw.Connection) -> float:
    """Share of the records that the index has taken in, 0 to 1."""
    waiting = feeding.pending(conn)
    if not waiting:
        return 1.0
    there = records(conn)
    return round(there / (there + waiting), 4)


def rebuild(conn: apsw.Connection) -> int:
    """Make the whole index anew (on the writing connection); return its records."""
    return feeding.rebuild(conn)


def open_index(store: Any, values: Values | None = None) -> KeywordIndex:
    """The index of a store, for callers without a registry."""
    return KeywordIndex(store, values)
