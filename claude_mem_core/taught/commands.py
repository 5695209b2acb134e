"""Our commands in the lists of a program's JSON file: put in, found, and taken out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from claude_mem_core.editing import Json, Node, encode, opened, readable, starts_us
from claude_mem_core.errors import HostConfigError

Wanted = Mapping[tuple[str, ...], Any]


@attrs.frozen
class Commands:
    """The commands of one host in one file.

    Attributes:
        host: its name, which our command line holds.
        path: the file, for errors.
    """

    host: str
    path: str

    def put(self, content: bytes | None, wanted: Wanted) -> bytes:
        """The content with these entries, each at its place, and no other of ours.

        Raises:
            HostConfigError: it is no JSON object, or holds other things in these places.
        """
        doc = opened(content, self.path)
        self._sweep(doc, set(wanted))
        for keys, entry in wanted.items():
            self._put(doc, keys, entry)
        return encode(doc.text, self.path)

    def take(self, content: bytes, before: bytes | None) -> bytes:
        """The content without ours; lists that we made go with them.

        Raises:
            HostConfigError: it is no JSON object.
        """
        doc, old = opened(content, self.path), readable(before, self.path)
        places = [keys for keys, _ in self._lists(doc, doc.root, ())]
        self._sweep(doc, set())
        for keys in places:
            self._tidy(doc, keys, old)
        return encode(doc.text, self.path)

    def found(self, content: bytes | None) -> set[tuple[str, ...]]:
        """The places where ours stand.

        Raises:
            HostConfigError: it is no JSON object.
        """
        doc = opened(content, self.path)
        return {keys for keys, _ in self._lists(doc, doc.root, ())}

    def is_ours(self, value: object) -> bool:
        """Whether an entry starts our client for this host."""
        if isinstance(value, dict | list):
            return any(map(self.is_ours, value.values() if isinstance(value, dict) else value))
        return starts_us(value, self.host)

    def _lists(
        self, doc: Json, node: Node, keys: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Every list below objects that holds an entry of ours."""
        if node.kind == "array" and any(self.is_ours(doc.value(item)) for item in node.items):
            yield keys, node
        for key, item in zip(node.keys, node.items, strict=True) if node.keys else ():
            yield from self._lists(doc, item, (*keys, key))

    def _sweep(self, doc: Json, keep: set[tuple[str, ...]]) -> None:
        """Take ours out of every list but these."""
        gone = [
            (node, [i for i, item in enumerate(node.items) if self.is_ours(doc.value(item))])
            for keys, node in self._lists(doc, doc.root, ())
            if keys not in keep
        ]
        doc.remove(*gone)

    def _put(self, doc: Json, keys: tuple[str, ...], entry: Any) -> None:
        box = doc.find(*keys)
        if box is None:
            self._make(doc, keys, [entry])
            return
        if box.kind != "array":
            raise HostConfigError(
                f"{self.path}: `{'.'.join(keys)}` is no list; it was left as it is"
            )
        ours = [item for item in box.items if self.is_ours(doc.value(item))]
        if not ours:
            doc.add((box, [(None, entry)]))
        elif doc.value(ours[0]) != entry:
            doc.replace([(ours[0], entry)])

    def _make(self, doc: Json, keys: Sequence[str], value: Any) -> None:
        """Add a member, with the objects on the way to it."""
        for depth in range(len(keys) - 1, -1, -1):
            box = doc.find(*keys[:depth])
            if box is None:
                value = {keys[depth]: value}
                continue
            if box.kind != "object":
                where = ".".join(keys[:depth])
                raise HostConfigError(
                    f"{self.path}: `{where}` is no object; it was left as it is"
                )
            doc.add((box, [(keys[depth], value)]))
            return

    def _tidy(self, doc: Json, keys: tuple[str, ...], old: Json | None) -> None:
        """Take out what is empty now and was not there before us."""
        for depth in range(len(keys), 0, -1):
            node, outer = doc.find(*keys[:depth]), doc.find(*keys[: depth - 1])
            if node is None or outer is None or not doc.bare(node):
                return
            if old is not None and old.find(*keys[:depth]) is not None:
                return
            at = [i for i, key in enumerate(outer.keys) if key == keys[depth - 1]]
            doc.remove((outer, at))
