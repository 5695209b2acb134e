"""Hooks in a JSON file of the flat form: each event's list holds the hooks themselves.

    {"version": 1, "hooks": {"event": [{"command": "..."}]}}

Only the words around a hook differ from host to host; the plans are those of
`JsonHooksInstaller`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs

from claude_mem_core.editing.hookgroups import Group, HookGroups
from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.jsonhooks import JsonHooksInstaller, opened, readable
from claude_mem_core.editing.servers import JsonServers
from claude_mem_core.editing.text import encode


@attrs.frozen
class FlatHooks(HookGroups):
    """The hooks of one host: what is a group elsewhere is one hook here."""

    def whole(self, group: object) -> bool:
        """Whether a hook is ours."""
        return self.mine(group)


class FlatHooksInstaller(JsonHooksInstaller):
    """Base of installers. A host inherits it and names what differs.

    Attributes:
        named: the host's events that our hooks are for.
        head: members that the file has to have beside the hooks.
    """

    named: ClassVar[Sequence[str]]
    timeouts: ClassVar[Mapping[str, int]] = {}
    head: ClassVar[Mapping[str, Any]] = {}

    @property
    def events(self) -> Sequence[str]:
        """The host's events that our hooks are for."""
        return self.named

    def hook(self, event: str, command: str) -> Group:
        """One hook as the host reads it."""
        raise NotImplementedError

    def _group(self, event: str, argv: Sequence[str]) -> Group:
        return self.hook(event, self.command(event, argv))

    @property
    def edit(self) -> HookGroups:
        """The editor of our hooks in the file."""
        return FlatHooks(self.events, self._mine)

    def hooks_in(self, group: Group) -> list[Any]:
        """The one hook."""
        return [group]

    def _with(
        self,
        content: bytes | None,
        file: str,
        groups: Mapping[str, Group],
        servers: JsonServers | None,
        entry: Mapping[str, Any] | None,
    ) -> bytes:
        doc = opened(content, file)
        doc.add((doc.root, [(k, v) for k, v in self.head.items() if doc.find(k) is None]))
        return super()._with(encode(doc.text, file), file, groups, servers, entry)

    def _without(
        self, content: bytes, file: str, before: bytes | None, servers: JsonServers | None
    ) -> bytes:
        doc = opened(super()._without(content, file, before, servers), file)
        doc.remove((doc.root, self._heads(doc, readable(before, file))))
        return encode(doc.text, file)

    def _heads(self, doc: Json, before: Json | None) -> list[int]:
        """Places of the members that came with our hooks and are of no use without them."""
        known = None if before is None else set(before.root.keys)
        if known is None and set(doc.root.keys) - set(self.head):
            return []
        return [
            place
            for place, key in enumerate(doc.root.keys)
            if key in self.head and key not in (known or ())
        ]
