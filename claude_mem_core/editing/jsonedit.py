"""Changes of a JSON file that touch only what they name."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from claude_mem_core.editing import jsontext
from claude_mem_core.editing.jsontext import Node
from claude_mem_core.editing.text import indent_at, newline_of, unit_of
from claude_mem_core.errors import HostConfigError

Items = Sequence[tuple[str | None, Any]]
Splice = tuple[int, int, str]


class Json:
    """A JSON file being edited. Every change makes `text` and `root` anew.

    Args:
        text: the file; a byte order mark may lead.
        name: its path, for errors.

    Raises:
        HostConfigError: it is no JSON object; the text names file, line and column.
    """

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self._take(text)
        if self.root.kind != "object":
            raise HostConfigError(f"{name}: this is no JSON object; it was left as it is")

    def _take(self, text: str) -> None:
        self.text = text
        self.root = jsontext.parse(text, self.name)

    def find(self, *keys: str) -> Node | None:
        """The value under these names, one inside the other; None when there is none."""
        node: Node | None = self.root
        for key in keys:
            node = node.get(key) if node is not None and node.kind == "object" else None
        return node

    def value(self, node: Node) -> Any:
        """A node's value."""
        return node.value(self.text)

    def bare(self, node: Node) -> bool:
        """Whether a list or object holds nothing, not even a comment."""
        return not node.items and not self.source(node)[1:-1].strip()

    def source(self, node: Node) -> str:
        """A node as it is written."""
        return self.text[node.start : node.end]

    def replace(self, changes: Sequence[tuple[Node, Any]]) -> None:
        """Write other values in the place of these nodes."""
        self._splice([(n.start, n.end, self._written(v, n.start)) for n, v in changes])

    def rewrite(self, node: Node, source: str) -> None:
        """Put this very text in the place of a node."""
        self._splice([(node.start, node.end, source)])

    def add(self, *added: tuple[Node, Items]) -> None:
        """Append members (name, value) to objects, or elements (None, value) to lists."""
        self._splice([s for box, items in added if items for s in self._added(box, items)])

    def remove(self, *removed: tuple[Node, Collection[int]]) -> None:
        """Take elements out of lists or objects; an emptied one is as before `add`."""
        self._splice([s for box, at in removed if at for s in self._removed(box, set(at))])

    def _splice(self, changes: Sequence[Splice]) -> None:
        text = self.text
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        if text != self.text:
            self._take(text)

    # How things are written --------------------------------------------------

    def _flat(self, box: Node) -> bool:
        """Whether a list or object is written on one line and should stay so."""
        shown = box if box.items else self.root
        return bool(shown.items) and "\n" not in self.source(shown)

    def _written(self, value: Any, at: int) -> str:
        """A value as text, its further lines indented like the line it begins in."""
        if "\n" not in self.source(self.root):
            return json.dumps(value, ensure_ascii=False)
        return self._lines(value, indent_at(self.text, at))

    def _lines(self, value: Any, indent: str) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=unit_of(self.text))
        return text.replace("\n", newline_of(self.text) + indent)

    def _item(self, key: str | None, value: Any, indent: str | None) -> str:
        head = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        if indent is None:
            return head + json.dumps(value, ensure_ascii=False)
        return head + self._lines(value, indent)

    def _indent_in(self, box: Node) -> str:
        """The indentation of a list's elements: as the first that begins a line has it."""
        for start in box.starts:
            indent = indent_at(self.text, start)
            if self.text[:start].endswith("\n" + indent):
                return indent
        return indent_at(self.text, box.start) + unit_of(self.text)

    # Where it goes -----------------------------------------------------------

    def _added(self, box: Node, items: Items) -> list[Splice]:
        last = box.items[-1].end if box.items else box.start + 1
        gap = self.text[last : box.end - 1]
        place = last + len(gap.rstrip(" \t\r\n"))
        trailing = bool(box.commas) and box.commas[-1] is not None
        body = self._body(box, items) + ("," if trailing else "")
        if not box.items:
            return [(place, place, body + self._closing(box, gap))]
        if trailing:
            return [(place, place, body)]
        if place == last:
            return [(place, place, "," + body)]
        return [(last, last, ","), (place, place, body)]

    def _body(self, box: Node, items: Items) -> str:
        """The new elements, each with the white space before it."""
        if self._flat(box):
            texts = [self._item(key, value, None) for key, value in items]
            return (" " if box.items else "") + ", ".join(texts)
        indent = self._indent_in(box)
        lead = newline_of(self.text) + indent
        texts = [self._item(key, value, indent) for key, value in items]
        return lead + ("," + lead).join(texts)

    def _closing(self, box: Node, gap: str) -> str:
        """White space before the bracket of a list that was empty."""
        space = gap[len(gap.rstrip(" \t\r\n")) :]
        if self._flat(box) or "\n" in space:
            return ""
        return newline_of(self.text) + indent_at(self.text, box.start)

    def _removed(self, box: Node, places: set[int]) -> list[Splice]:
        stay = [i for i in range(len(box.items)) if i not in places]
        changes = [self._cut(box, i) for i in places]
        if stay and len(box.items) - 1 in places and box.commas[-1] is None:
            comma = box.commas[stay[-1]]
            if comma is not None:
                changes.append((comma, comma + 1, ""))
        left = self._left(box, changes)
        if not stay and not left.strip():
            return [(box.start + 1, box.end - 1, self._bare(box, left))]
        return changes

    def _bare(self, box: Node, left: str) -> str:
        """White space of an emptied list, without the line end that `_closing` adds."""
        closing = newline_of(self.text) + indent_at(self.text, box.start)
        inner = left.removeprefix(closing)
        return left if "\n" in inner else inner

    def _cut(self, box: Node, place: int) -> Splice:
        """An element with the white space before it and the comma after it."""
        start = box.starts[place]
        start = len(self.text[:start].rstrip(" \t\r\n"))
        comma = box.commas[place]
        return (start, box.items[place].end if comma is None else comma + 1, "")

    def _left(self, box: Node, changes: Sequence[Splice]) -> str:
        """What stays between the brackets when these changes are made."""
        parts, at = [], box.start + 1
        for start, end, _ in sorted(changes):
            parts.append(self.text[at:start])
            at = end
        return "".join([*parts, self.text[at : box.end - 1]])
