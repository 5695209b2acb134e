"""Our part of Claude Code's settings: put in, found, and taken out again.

Hooks are written in exec form (`command` and `args`), which starts the program without
a shell. No other host understands that form; never copy such a block elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from claude_mem_core.editing import Json, Node
from claude_mem_core.errors import HostConfigError

HOST = "claude-code"
LAUNCH = ("/hook/launch.py", "\\hook\\launch.py")
TOOLS = "Read|Bash|Grep|Glob|memory_search|memory|mcp__.*__memory_search"

Group = dict[str, Any]
Cut = tuple[Node, list[int]]

# Seconds until Claude Code gives up on a hook. Ours end long before, each by its own
# deadline. SessionEnd needs one: without it the host cancels hooks after a second.
TIMEOUTS = {
    "SessionStart": 60,
    "UserPromptSubmit": 15,
    "PreToolUse": 15,
    "PostToolUse": 120,
    "PostToolUseFailure": 120,
    "Stop": 120,
    "StopFailure": 120,
    "SubagentStop": 120,
    "PreCompact": 60,
    "PostCompact": 60,
    "SessionEnd": 60,
}
MATCHERS = {"PreToolUse": TOOLS, "PostToolUse": "*", "PostToolUseFailure": "*"}


def wanted(argv: Sequence[str]) -> dict[str, Group]:
    """The group of hooks for each event; none is async: such a Stop dies with `-p`."""
    return {event: _group(event, argv) for event in TIMEOUTS}


def _group(event: str, argv: Sequence[str]) -> Group:
    hook = {
        "type": "command",
        "command": argv[0],
        "args": [*argv[1:], HOST, event],
        "timeout": TIMEOUTS[event],
    }
    head = {"matcher": MATCHERS[event]} if event in MATCHERS else {}
    return {**head, "hooks": [hook]}


def is_ours(hook: object) -> bool:
    """Whether one hook starts our client for this host, of whatever version or place."""
    if not isinstance(hook, dict):
        return False
    args = hook.get("args")
    words = [str(word) for word in args] if isinstance(args, list) else []
    if any(w.endswith(LAUNCH) and HOST in words[i + 1 :] for i, w in enumerate(words)):
        return True
    command = hook.get("command")
    shell = command if isinstance(command, str) else ""
    return any(launch in shell for launch in LAUNCH) and f" {HOST} " in shell


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def whole(group: object) -> bool:
    """Whether a group holds hooks of ours and nobody else's."""
    hooks = _hooks_of(group)
    return bool(hooks) and all(map(is_ours, hooks))


def events_of(doc: Json) -> Iterator[tuple[Node, int, str, Node]]:
    """Every event's list of groups: the `hooks` object, place in it, name, list.

    Raises:
        HostConfigError: `hooks` does not have the form that Claude Code reads.
    """
    for key, hooks in zip(doc.root.keys, doc.root.items, strict=True):
        if key != "hooks":
            continue
        if hooks.kind != "object":
            raise HostConfigError(f"{doc.name}: `hooks` is no object; it was left as it is")
        for place, (event, groups) in enumerate(zip(hooks.keys, hooks.items, strict=True)):
            if groups.kind == "array":
                yield hooks, place, event, groups
            elif event in TIMEOUTS:
                raise HostConfigError(
                    f"{doc.name}: `hooks.{event}` is no list; it was left as it is"
                )


def found(doc: Json) -> dict[str, Group]:
    """Our groups as they stand in the file, by event."""
    ours: dict[str, Group] = {}
    for _, _, event, groups in events_of(doc):
        for group in map(doc.value, groups.items):
            if whole(group):
                ours.setdefault(event, group)
    return ours


def put(doc: Json, groups: Mapping[str, Group]) -> None:
    """Bring our groups into the file: older ones in their place, missing ones at the end.

    Raises:
        HostConfigError: `hooks` does not have the form that Claude Code reads.
    """
    _drop(doc, keep=groups, stay=groups)
    _renew(doc, groups)
    hooks = doc.find("hooks")
    present = found(doc)
    missing = {event: group for event, group in groups.items() if event not in present}
    if hooks is None:
        new = {event: [group] for event, group in missing.items()}
        doc.add((doc.root, [("hooks", new)]))
        return
    lists = {event: node for event in missing if (node := hooks.get(event)) is not None}
    more = [(node, [(None, missing[event])]) for event, node in lists.items()]
    fresh = [(event, [group]) for event, group in missing.items() if event not in lists]
    doc.add(*more, (hooks, fresh))


def _drop(doc: Json, keep: Collection[str], stay: Collection[str]) -> None:
    """Take out our hooks: for events in `keep` all but one whole group, else all.

    A list emptied by this goes as well, unless its event is in `stay`.
    """
    cuts: list[Cut] = []
    dead: dict[int, Cut] = {}
    kept: set[str] = set()
    for hooks, place, event, list_ in events_of(doc):
        drop, inner = _unwanted(doc, list_, event in keep and event not in kept)
        if any(whole(doc.value(item)) for item in list_.items):
            kept.add(event)
        if drop and len(drop) == len(list_.items) and event not in stay:
            dead.setdefault(hooks.start, (hooks, []))[1].append(place)
        else:
            cuts += [(list_, drop), *inner]
    doc.remove(*cuts, *dead.values())


def _unwanted(doc: Json, list_: Node, keep_one: bool) -> tuple[list[int], list[Cut]]:
    """Places of our whole groups but the one to keep, and of our hooks among others'."""
    drop: list[int] = []
    inner: list[Cut] = []
    for place, item in enumerate(list_.items):
        group = doc.value(item)
        if whole(group):
            drop += [] if keep_one else [place]
            keep_one = False
        elif any(map(is_ours, _hooks_of(group))):
            places = [i for i, hook in enumerate(_hooks_of(group)) if is_ours(hook)]
            inner.append((_member(item, "hooks"), places))
    return drop, inner


def _member(node: Node, key: str) -> Node:
    found = node.get(key)
    assert found is not None
    return found


def _renew(doc: Json, groups: Mapping[str, Group]) -> None:
    """Write our groups anew where they differ from what is wanted."""
    changes = [
        (item, groups[event])
        for _, _, event, list_ in events_of(doc)
        for item in list_.items
        if event in groups and whole(doc.value(item)) and doc.value(item) != groups[event]
    ]
    doc.replace(changes)


def take(doc: Json, before: Json | None) -> None:
    """Take our hooks out; lists and objects that we made go with them.

    Args:
        before: the file as it was before us, as far as known: what was there and empty
            stays, written as it was.

    Raises:
        HostConfigError: `hooks` does not have the form that Claude Code reads.
    """
    empty = _empty_lists(before)
    _drop(doc, keep=(), stay=empty)
    for event in empty:
        _as_before(doc, before, "hooks", event)
    hooks = doc.find("hooks")
    if hooks is not None and doc.bare(hooks):
        if before is not None and before.find("hooks") is not None:
            _as_before(doc, before, "hooks")
        else:
            doc.remove((doc.root, [i for i, k in enumerate(doc.root.keys) if k == "hooks"]))
    _as_before(doc, before)


def _empty_lists(before: Json | None) -> set[str]:
    """Events that had an empty list of their own before us."""
    if before is None:
        return set()
    return {event for _, _, event, list_ in events_of(before) if not list_.items}


def _as_before(doc: Json, before: Json | None, *keys: str) -> None:
    """Write an emptied list or object as it was written before us."""
    node = doc.find(*keys)
    old = before.find(*keys) if before is not None else None
    if before is None or node is None or old is None or node.items or old.items:
        return
    if node.kind == old.kind:
        doc.rewrite(node, before.source(old))
