"""The trees that tables and indexes are, walked as far as their pages are sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from claude_mem_core.store.salvage.pages import Broken, Pages, number
from claude_mem_core.store.salvage.records import Values, signed, values, varint

INDEX_NODE, TABLE_NODE, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
NODES = frozenset({INDEX_NODE, TABLE_NODE})
INDEX = frozenset({INDEX_NODE, INDEX_LEAF})
TABLE = frozenset({TABLE_NODE, TABLE_LEAF})
Takes = Callable[["Row"], bool]
LARGEST = 64 << 20  # bytes of one record; ours have few fields of 64 KB


@attrs.frozen
class Row:
    """One record: its rowid (0 in an index) and its values."""

    rowid: int
    values: Values


class Trees:
    """Reads trees page by page and remembers which pages it has seen."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.seen: set[int] = set()
        self.bad: set[int] = set()

    def walk(
        self, root: int, kinds: frozenset[int] = TABLE, takes: Takes = lambda _: True
    ) -> Iterator[Row]:
        """The rows below `root`; what can't be read is left out and noted in `bad`.

        A page whose rows `takes` refuses is another tree's, whatever points to it.
        """
        waiting = [root]
        while waiting:
            here = waiting.pop()
            if here in self.seen:
                continue
            try:
                page, rows = self._read(here, kinds, takes)
            except Broken:
                self.bad.add(here)
                continue
            self.seen.add(here)
            waiting.extend(reversed(children(page)))
            yield from rows

    def orphans(self) -> Iterator[tuple[int, list[Row]]]:
        """Leaves that no walk has come to: those below a page that is broken."""
        known = self.seen | self.pages.free()
        for here in range(1, self.pages.count + 1):
            if here in known:
                continue
            try:
                page = self._page(here, frozenset({TABLE_LEAF, INDEX_LEAF}))
            except Broken:
                continue
            yield here, list(self._rows(page))

    def _read(
        self, here: int, kinds: frozenset[int], takes: Takes
    ) -> tuple[Page, list[Row]]:
        page = self._page(here, kinds)
        rows = list(self._rows(page))
        if not all(map(takes, rows)):
            raise Broken
        return page, rows

    def _page(self, here: int, kinds: frozenset[int]) -> Page:
        page = Page(self.pages.page(here), 100 if here == 1 else 0)
        if page.kind not in kinds or page.cells > (self.pages.usable - page.first) // 2:
            raise Broken
        return page

    def _rows(self, page: Page) -> Iterator[Row]:
        if page.kind == TABLE_NODE:
            return
        for at in page.places():
            try:
                yield self._row(page, at)
            except Broken:
                continue

    def _row(self, page: Page, at: int) -> Row:
        rowid = 0
        at += 4 if page.kind == INDEX_NODE else 0
        size, at = varint(page.data, at)
        if page.kind == TABLE_LEAF:
            rowid, at = varint(page.data, at)
        return Row(signed(rowid), values(self._payload(page, at, size)))

    def _payload(self, page: Page, at: int, size: int) -> bytes:
        """A record's bytes, with those that did not fit into its page."""
        here = local(size, self.pages.usable, page.kind)
        if size > LARGEST or at + here > len(page.data):
            raise Broken
        record = page.data[at : at + here]
        onward = number(page.data, at + here) if size > here else 0
        parts = [record]
        left = size - here
        while left > 0:
            more = self.pages.page(onward)
            parts.append(more[4 : 4 + min(left, self.pages.usable - 4)])
            left -= len(parts[-1])
            onward = number(more, 0)
        return b"".join(parts)


class Page:
    """One page of a tree, with the places of its cells."""

    def __init__(self, data: bytes, offset: int) -> None:
        self.data = data
        self.kind = data[offset]
        self.cells = int.from_bytes(data[offset + 3 : offset + 5])
        self.first = offset + (12 if self.kind in NODES else 8)
        self._last_child = offset + 8

    def places(self) -> Iterator[int]:
        """Where each cell begins."""
        for at in range(self.first, self.first + 2 * self.cells, 2):
            yield int.from_bytes(self.data[at : at + 2])

    def last_child(self) -> int:
        """The rightmost page below."""
        return number(self.data, self._last_child)


def children(page: Page) -> list[int]:
    """The pages below a page, in order."""
    if page.kind not in NODES:
        return []
    return [*(number(page.data, at) for at in page.places()), page.last_child()]


def local(size: int, usable: int, kind: int) -> int:
    """How much of a record of `size` bytes lies in its own page."""
    most = usable - 35 if kind in TABLE else (usable - 12) * 64 // 255 - 23
    if size <= most:
        return size
    least = (usable - 12) * 32 // 255 - 23
    wanted = least + (size - least) % (usable - 4)
    return wanted if wanted <= most else least
