"""Our MCP server in a host's JSON: one member of an object, put in and taken out again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from claude_mem_core.editing.files import read_config
from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.jsontext import Node
from claude_mem_core.editing.restore import restored
from claude_mem_core.editing.text import decode, encode
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, McpStatus

# The documented name; the second where a stranger has the first.
NAMES = ("claude-mem", "claude-mem-core")
BRIDGES = ("/hook/bridge.py", "\\hook\\bridge.py")


def is_ours(value: object) -> bool:
    """Whether a host's entry of an MCP server starts our bridge."""
    if isinstance(value, str):
        return value.endswith(BRIDGES)
    if isinstance(value, dict):
        return any(is_ours(value.get(key)) for key in ("command", "args"))
    return isinstance(value, list) and any(map(is_ours, value))


@attrs.frozen
class JsonServers:
    """The object of MCP servers in one JSON file; or another one with a member of ours.

    Attributes:
        path: the file.
        keys: names that lead to the object of servers; none for the file's own object.
        mine: whether a member is ours.
        inside: folder that the path may not leave by a link.
        mode: permission of a file that we make.
    """

    path: str
    keys: tuple[str, ...] = ("mcpServers",)
    inside: str | None = None
    mode: int = 0o600
    mine: Callable[[object], bool] = is_ours

    def status(self) -> McpStatus:
        """Whether our server stands in the file."""
        try:
            doc = self._opened(read_config(self.path, self.inside))
            there = any(self.mine(doc.value(node)) for _, node in self._servers(doc))
        except HostConfigError as error:
            return McpStatus(registered=False, config=self.path, problems=(str(error),))
        return McpStatus(registered=there, config=self.path)

    def install(self, entry: Mapping[str, Any]) -> Sequence[FileChange]:
        """The file with our server; nothing when it stands there already.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        before = read_config(self.path, self.inside)
        return self._change(before, self.put(before, entry))

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file as it was, or without our server where others wrote meanwhile.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        now = read_config(self.path, self.inside)
        entry = None if now is None else self.entry(now)
        if now is None or entry is None:
            return ()

        def again(content: bytes | None) -> bytes:
            return self.put(content, entry)

        def ours(content: bytes) -> bool:
            return self.entry(content) is not None

        before = restored(setup.data_dir, self.path, now, again, ours)
        if before.proven:
            return self._change(now, before.content)
        left = self.take(now, before.content)
        return self._change(now, None if before.made and left.strip() == b"{}" else left)

    # The content -------------------------------------------------------------

    def entry(self, content: bytes) -> dict[str, Any] | None:
        """Our entry as it stands there; None when there is none, or no JSON to look at."""
        try:
            doc = self._opened(content)
            found = (doc.value(node) for _, node in self._servers(doc))
            return next((value for value in found if self.mine(value)), None)
        except HostConfigError:
            return None

    def put(self, content: bytes | None, entry: Mapping[str, Any]) -> bytes:
        """The content with this entry of ours, and no second one.

        Raises:
            HostConfigError: it is no JSON object, or holds other things in this place.
        """
        doc = self._opened(content)
        ours = [(name, node) for name, node in self._servers(doc) if self.mine(doc.value(node))]
        if ours:
            if doc.value(ours[0][1]) != entry:
                doc.replace([(ours[0][1], dict(entry))])
            return encode(doc.text, self.path)
        taken = {name for name, _ in self._servers(doc)}
        name = next((name for name in NAMES if name not in taken), None)
        if name is None:
            raise HostConfigError(f"{self.path}: both of our names are taken by other servers")
        self._add(doc, name, dict(entry))
        return encode(doc.text, self.path)

    def take(self, content: bytes, before: bytes | None = None) -> bytes:
        """The content without our entries; an object that we made goes with them.

        Raises:
            HostConfigError: it is no JSON object.
        """
        doc = self._opened(content)
        box = doc.find(*self.keys)
        if box is None:
            return content
        places = [i for i, node in enumerate(box.items) if self.mine(doc.value(node))]
        doc.remove((box, places))
        for depth in range(len(self.keys), 0, -1):
            self._tidy(doc, self.keys[:depth], before)
        return encode(doc.text, self.path)

    def _tidy(self, doc: Json, keys: tuple[str, ...], before: bytes | None) -> None:
        """Take out an object that is empty now and was not there before us."""
        node, outer = doc.find(*keys), doc.find(*keys[:-1])
        if node is None or outer is None or not doc.bare(node):
            return
        if before is not None and self._had(before, keys):
            return
        places = [i for i, key in enumerate(outer.keys) if key == keys[-1]]
        doc.remove((outer, places))

    def _had(self, before: bytes, keys: tuple[str, ...]) -> bool:
        try:
            return self._opened(before).find(*keys) is not None
        except HostConfigError:
            return True

    def _opened(self, content: bytes | None) -> Json:
        text = decode(content or b"", self.path)
        return Json(text if text.strip("\ufeff \t\r\n") else "{}\n", self.path)

    def _servers(self, doc: Json) -> list[tuple[str, Node]]:
        box = doc.find(*self.keys)
        if box is None:
            return []
        if box.kind != "object":
            raise HostConfigError(
                f"{self.path}: `{'.'.join(self.keys)}` is no object; it was left as it is"
            )
        return list(zip(box.keys, box.items, strict=True))

    def _add(self, doc: Json, name: str, entry: Any) -> None:
        """Append the entry, with the objects on the way to it."""
        value: Any = {name: entry}
        for depth in range(len(self.keys), -1, -1):
            box = doc.find(*self.keys[:depth])
            if box is not None:
                if box.kind != "object":
                    where = ".".join(self.keys[:depth])
                    raise HostConfigError(f"{self.path}: `{where}` is no object")
                doc.add((box, list(value.items())))
                return
            value = {self.keys[depth - 1]: value}

    def _change(self, before: bytes | None, after: bytes | None) -> list[FileChange]:
        if before == after:
            return []
        change = FileChange(
            path=self.path, before=before, after=after, inside=self.inside, mode=self.mode
        )
        return [change]
