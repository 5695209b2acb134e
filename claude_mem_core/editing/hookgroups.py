"""Our hooks in a JSON file of the nested form: put in, found, and taken out again.

    {"hooks": {"Event": [{"matcher": "...", "hooks": [{"type": "command", ...}]}]}}

Several hosts keep hooks so, each with its own words inside; what one hook looks like is
the host's business and never shared: a form that one host runs safely is run by another
as a bare command.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import attrs

from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.jsontext import Node
from claude_mem_core.errors import HostConfigError

Group = dict[str, Any]
Cut = tuple[Node, list[int]]


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


@attrs.frozen
class HookGroups:
    """The hooks of one host.

    Attributes:
        events: the host's event names that we register.
        mine: whether one hook starts our client for this host, of whatever version.
    """

    events: Collection[str]
    mine: Callable[[object], bool]

    def whole(self, group: object) -> bool:
        """Whether a group holds hooks of ours and nobody else's."""
        hooks = _hooks_of(group)
        return bool(hooks) and all(map(self.mine, hooks))

    def lists(self, doc: Json) -> Iterator[tuple[Node, int, str, Node]]:
        """Every event's list of groups: the `hooks` object, place in it, name, list.

        Raises:
            HostConfigError: `hooks` does not have the form that the host reads.
        """
        for key, hooks in zip(doc.root.keys, doc.root.items, strict=True):
            if key != "hooks":
                continue
            if hooks.kind != "object":
                raise HostConfigError(f"{doc.name}: `hooks` is no object; it was left as it is")
            named = zip(hooks.keys, hooks.items, strict=True)
            for place, (event, groups) in enumerate(named):
                if groups.kind == "array":
                    yield hooks, place, event, groups
                elif event in self.events:
                    raise HostConfigError(
                        f"{doc.name}: `hooks.{event}` is no list; it was left as it is"
                    )

    def found(self, doc: Json) -> dict[str, Group]:
        """Our groups as they stand in the file, by event.

        Raises:
            HostConfigError: `hooks` does not have the form that the host reads.
        """
        ours: dict[str, Group] = {}
        for _, _, event, groups in self.lists(doc):
            for group in map(doc.value, groups.items):
                if self.whole(group):
                    ours.setdefault(event, group)
        return ours

    def put(self, doc: Json, groups: Mapping[str, Group]) -> None:
        """Bring our groups into the file: older ones in their place, others at the end.

        Raises:
            HostConfigError: `hooks` does not have the form that the host reads.
        """
        self._drop(doc, keep=groups, stay=groups)
        self._renew(doc, groups)
        hooks = doc.find("hooks")
        present = self.found(doc)
        missing = {event: group for event, group in groups.items() if event not in present}
        if hooks is None:
            new = {event: [group] for event, group in missing.items()}
            doc.add((doc.root, [("hooks", new)]))
            return
        lists = {event: node for event in missing if (node := hooks.get(event)) is not None}
        more = [(node, [(None, missing[event])]) for event, node in lists.items()]
        fresh = [(event, [group]) for event, group in missing.items() if event not in lists]
        doc.add(*more, (hooks, fresh))

    def take(self, doc: Json, before: Json | None) -> None:
        """Take our hooks out; lists and objects that we made go with them.

        Args:
            before: the file as it was before us, as far as known: what was there and
                empty stays, written as it was.

        Raises:
            HostConfigError: `hooks` does not have the form that the host reads.
        """
        empty = self._empty_lists(before)
        self._drop(doc, keep=(), stay=empty)
        for event in empty:
            _as_before(doc, before, "hooks", event)
        hooks = doc.find("hooks")
        if hooks is not None and doc.bare(hooks):
            if before is not None and before.find("hooks") is not None:
                _as_before(doc, before, "hooks")
            else:
                places = [i for i, key in enumerate(doc.root.keys) if key == "hooks"]
                doc.remove((doc.root, places))
        _as_before(doc, before)

    def _drop(self, doc: Json, keep: Collection[str], stay: Collection[str]) -> None:
        """Take out our hooks: for events in `keep` all but one whole group, else all.

        A list emptied by this goes as well, unless its event is in `stay`.
        """
        cuts: list[Cut] = []
        dead: dict[int, Cut] = {}
        kept: set[str] = set()
        for hooks, place, event, list_ in self.lists(doc):
            drop, inner = self._unwanted(doc, list_, event in keep and event not in kept)
            if any(self.whole(doc.value(item)) for item in list_.items):
                kept.add(event)
            if drop and len(drop) == len(list_.items) and event not in stay:
                dead.setdefault(hooks.start, (hooks, []))[1].append(place)
            else:
                cuts += [(list_, drop), *inner]
        doc.remove(*cuts, *dead.values())

    def _unwanted(self, doc: Json, list_: Node, keep_one: bool) -> tuple[list[int], list[Cut]]:
        """Places of our whole groups but the one to keep, and of our hooks among others'."""
        drop: list[int] = []
        inner: list[Cut] = []
        for place, item in enumerate(list_.items):
            group = doc.value(item)
            if self.whole(group):
                drop += [] if keep_one else [place]
                keep_one = False
            elif any(map(self.mine, _hooks_of(group))):
                places = [i for i, hook in enumerate(_hooks_of(group)) if self.mine(hook)]
                inner.append((_member(item, "hooks"), places))
        return drop, inner

    def _renew(self, doc: Json, groups: Mapping[str, Group]) -> None:
        """Write our groups anew where they differ from what is wanted."""
        changes = [
            (item, groups[event])
            for _, _, event, list_ in self.lists(doc)
            for item in list_.items
            if event in groups
            and self.whole(doc.value(item))
            and doc.value(item) != groups[event]
        ]
        doc.replace(changes)

    def _empty_lists(self, before: Json | None) -> set[str]:
        """Events that had an empty list of their own before us."""
        if before is None:
            return set()
        return {event for _, _, event, list_ in self.lists(before) if not list_.items}


def _member(node: Node, key: str) -> Node:
    found = node.get(key)
    assert found is not None
    return found


def _as_before(doc: Json, before: Json | None, *keys: str) -> None:
    """Write an emptied list or object as it was written before us."""
    node = doc.find(*keys)
    old = before.find(*keys) if before is not None else None
    if before is None or node is None or old is None or node.items or old.items:
        return
    if node.kind == old.kind:
        doc.rewrite(node, before.source(old))
