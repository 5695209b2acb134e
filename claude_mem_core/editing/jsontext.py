"""JSON with comments and trailing commas, as a tree of places in the text.

Strings and numbers are read by the standard library's own scanner; this module adds
where they stand. Why no package does it: `docs/decisions/0002-host-files-are-edited-in-place.md`.
"""

from __future__ import annotations

import json
import re
from json import decoder
from typing import Any

import attrs

from claude_mem_core.editing.text import BOM, refused
from claude_mem_core.errors import HostConfigError

SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
WORD = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
DEPTH = 200
scanstring = decoder.scanstring  # type: ignore[attr-defined] # public, but not in the stubs


@attrs.define
class Node:
    """A value and its place: `text[start:end]`.

    Attributes:
        kind: `object`, `array`, `string` or `word` (a number, true, false, null).
        items: elements of an array, values of an object, in order.
        keys: names of an object's members, in order; they may repeat.
        starts: where each element begins, its key included.
        commas: where the comma after each element stands, None for none.
    """

    kind: str
    start: int
    end: int = 0
    items: list[Node] = attrs.field(factory=list)
    keys: list[str] = attrs.field(factory=list)
    starts: list[int] = attrs.field(factory=list)
    commas: list[int | None] = attrs.field(factory=list)

    def get(self, key: str) -> Node | None:
        """A member of an object; of repeated ones the last, as programs read it."""
        for name, item in zip(reversed(self.keys), reversed(self.items), strict=True):
            if name == key:
                return item
        return None

    def value(self, text: str) -> Any:
        """The value, for comparing; numbers too long for Python stay text."""
        if self.kind == "object":
            return {k: v.value(text) for k, v in zip(self.keys, self.items, strict=True)}
        if self.kind == "array":
            return [item.value(text) for item in self.items]
        raw = text[self.start : self.end]
        return raw if self.kind == "word" and len(raw) > 400 else json.loads(raw, strict=False)


def parse(text: str, name: str) -> Node:
    """The one value of a file.

    Raises:
        HostConfigError: it is no JSON; the text names file, line and column.
    """
    scanner = Scanner(text, name)
    root = scanner.node(scanner.skip(1 if text.startswith(BOM) else 0), 0)
    after = scanner.skip(root.end)
    if after < len(text):
        raise scanner.wrong(after, "nothing more was expected here")
    return root


@attrs.frozen
class Scanner:
    """Walks a text; each method takes a place and gives back what it found."""

    text: str
    name: str

    def wrong(self, at: int, what: str) -> HostConfigError:
        return refused(self.name, self.text, min(at, len(self.text)), what)

    def skip(self, at: int) -> int:
        """The next place that is neither white space nor comment."""
        found = SPACE.match(self.text, at)
        return found.end() if found else at

    def node(self, at: int, depth: int) -> Node:
        char = self.text[at : at + 1]
        if char in {"{", "["} and depth >= DEPTH:
            raise self.wrong(at, f"nested deeper than {DEPTH} levels")
        if char == "{":
            return self.inside(Node("object", at), "}", depth)
        if char == "[":
            return self.inside(Node("array", at), "]", depth)
        if char == '"':
            return Node("string", at, self.string(at)[1])
        found = WORD.match(self.text, at)
        if not found:
            raise self.wrong(at, "a value was expected here")
        return Node("word", at, found.end())

    def string(self, at: int) -> tuple[str, int]:
        try:
            found: tuple[str, int] = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self.wrong(error.pos, error.msg.lower()) from None
        return found

    def inside(self, node: Node, close: str, depth: int) -> Node:
        at = self.skip(node.start + 1)
        while self.text[at : at + 1] != close:
            node.starts.append(at)
            if node.kind == "object":
                at = self.key(node, at)
            item = self.node(at, depth + 1)
            node.items.append(item)
            at = self.comma(node, self.skip(item.end), close)
        node.end = at + 1
        return node

    def key(self, node: Node, at: int) -> int:
        if self.text[at : at + 1] != '"':
            raise self.wrong(at, "a name in double quotes was expected here")
        key, after = self.string(at)
        node.keys.append(key)
        colon = self.skip(after)
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon was expected here")
        return self.skip(colon + 1)

    def comma(self, node: Node, at: int, close: str) -> int:
        if self.text[at : at + 1] == ",":
            node.commas.append(at)
            return self.skip(at + 1)
        if self.text[at : at + 1] != close:
            raise self.wrong(at, f"a comma or {close} was expected here")
        node.commas.append(None)
        return at
