"""Our plugin in Claude Code's settings: its marketplace named, the plugin switched on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from claude_mem_core.editing import Json, encode, opened, read_config, readable, restored
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup
from claude_mem_host_claude_code import hooks, market

ID = f"{market.NAME}@{market.MARKET}"
MARKETS, ENABLED = "extraKnownMarketplaces", "enabledPlugins"
PLACES = ((MARKETS, market.MARKET), (ENABLED, ID))


def where(doc: Json) -> str | None:
    """The folder that our marketplace is read from; None when it is not named."""
    node = doc.find(MARKETS, market.MARKET, "source", "path")
    found = None if node is None else doc.value(node)
    return found if isinstance(found, str) else None


def install(setup: HostSetup, path: str) -> Sequence[FileChange]:
    """The marketplace's folder, and the settings that name it.

    Raises:
        HostConfigError: the settings can't be edited, hold our hooks already, or name the
            plugin of another data directory. Nothing is changed.
    """
    before = read_config(path)
    doc = opened(before, path)
    if hooks.found(doc):
        raise HostConfigError(
            f"{path} holds our hooks already, and with the plugin each event would come"
            " twice; run `mem uninstall --ide claude-code` first"
        )
    other = where(doc)
    if other not in (None, market.folder(setup)) and os.path.isdir(str(other)):
        raise HostConfigError(
            f"{path} names the plugin of another data directory, {other}; take that out"
            " first: `claude plugin uninstall " + ID + "`"
        )
    after = _with(before, path, market.folder(setup))
    return [*market.written(setup), *_change(path, before, after)]


def uninstall(setup: HostSetup, path: str) -> Sequence[FileChange]:
    """The settings as they were, or without our part where others wrote meanwhile.

    Raises:
        HostConfigError: the settings can't be edited; they are left as they are.
    """
    now = read_config(path)
    named = None if now is None else where(opened(now, path))
    if now is None or named is None:
        return market.removed(setup)

    def again(content: bytes | None) -> bytes:
        return _with(content, path, named)

    def ours(content: bytes) -> bool:
        try:
            return where(opened(content, path)) is not None
        except HostConfigError:
            return False

    before = restored(setup.data_dir, path, now, again, ours)
    left = before.content if before.proven else _without(now, path, before.content)
    if before.made and left is not None and left.strip() == b"{}":
        left = None
    return [*_change(path, now, left), *market.removed(setup)]


def problems(doc: Json) -> tuple[str, ...]:
    """What keeps the plugin from working."""
    found = where(doc)
    if found is None:
        return ()
    node = doc.find(ENABLED, ID)
    if node is not None and doc.value(node) is not True:
        return (f"the plugin {ID} is switched off; `claude plugin enable {ID}`",)
    if not os.path.isdir(found):
        return (f"the plugin's folder {found} is gone; run `mem install` again",)
    return ()


def _with(content: bytes | None, name: str, folder: str) -> bytes:
    doc = opened(content, name)
    source = {"source": {"source": "directory", "path": folder}}
    _put(doc, MARKETS, market.MARKET, source)
    if doc.find(ENABLED, ID) is None:  # whoever switched it off keeps his will
        _put(doc, ENABLED, ID, True)
    return encode(doc.text, name)


def _put(doc: Json, box: str, name: str, value: object) -> None:
    node = doc.find(box)
    if node is None:
        doc.add((doc.root, [(box, {name: value})]))
        return
    if node.kind != "object":
        raise HostConfigError(f"{doc.name}: `{box}` is no object; it was left as it is")
    old = node.get(name)
    if old is None:
        doc.add((node, [(name, value)]))
    elif doc.value(old) != value:
        doc.replace([(old, value)])


def _without(content: bytes, name: str, before: bytes | None) -> bytes:
    doc, old = opened(content, name), readable(before, name)
    for box, key in PLACES:
        node = doc.find(box)
        if node is None or node.kind != "object" or key not in node.keys:
            continue
        doc.remove((node, [i for i, found in enumerate(node.keys) if found == key]))
        left = doc.find(box)
        made = old is None or old.find(box) is None
        if made and left is not None and doc.bare(left):
            doc.remove((doc.root, [i for i, found in enumerate(doc.root.keys) if found == box]))
    return encode(doc.text, name)


def _change(path: str, before: bytes | None, after: bytes | None) -> list[FileChange]:
    return [] if before == after else [FileChange(path=path, before=before, after=after)]
