"""Edits of Claude Code's settings file as a whole: bytes in, bytes out."""

from __future__ import annotations

from collections.abc import Mapping

from claude_mem_core.editing import Json, encode, opened, readable
from claude_mem_core.errors import HostConfigError
from claude_mem_host_claude_code import hooks

AUTO_MEMORY = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
OFF = "1"


def with_hooks(
    content: bytes | None, name: str, groups: Mapping[str, hooks.Group], quiet: bool
) -> bytes:
    """The file with our hooks, and with Claude Code's own memory off when `quiet`.

    Raises:
        HostConfigError: the file can't be read, or holds other things in these places.
    """
    doc = opened(content, name)
    hooks.put(doc, groups)
    if quiet:
        _set_quiet(doc)
    return encode(doc.text, name)


def without_hooks(
    content: bytes, name: str, before: bytes | None, quiet: str | None = None
) -> bytes:
    """The file without our hooks.

    Args:
        before: the file before us as far as known.
        quiet: what stood for the switch of Claude Code's memory before we set it, as
            JSON; empty for nothing, None when we did not set it.

    Raises:
        HostConfigError: the file can't be read.
    """
    doc = opened(content, name)
    old = readable(before, name)
    if quiet is not None:
        _take_quiet(doc, quiet, old)
    hooks.take(doc, old)
    return encode(doc.text, name)


def switch(content: bytes | None, name: str) -> str:
    """What stands for the switch of Claude Code's own memory, as JSON; empty for nothing."""
    doc = opened(content, name)
    node = doc.find("env", AUTO_MEMORY)
    return "" if node is None else doc.source(node)


def _set_quiet(doc: Json) -> None:
    env = doc.find("env")
    if env is None:
        doc.add((doc.root, [("env", {AUTO_MEMORY: OFF})]))
        return
    if env.kind != "object":
        raise HostConfigError(f"{doc.name}: `env` is no object; it was left as it is")
    node = env.get(AUTO_MEMORY)
    if node is None:
        doc.add((env, [(AUTO_MEMORY, OFF)]))
    elif doc.value(node) != OFF:
        doc.replace([(node, OFF)])


def _take_quiet(doc: Json, quiet: str, old: Json | None) -> None:
    """Undo exactly our value; one that somebody changed since stays."""
    node, env = doc.find("env", AUTO_MEMORY), doc.find("env")
    if node is None or env is None or doc.value(node) != OFF:
        return
    if quiet:
        doc.rewrite(node, quiet)
        return
    doc.remove((env, [i for i, key in enumerate(env.keys) if key == AUTO_MEMORY]))
    left = doc.find("env")
    known = old.find("env") if old is not None else None
    if left is None or left.items:
        return
    if known is not None and old is not None and not known.items:
        doc.rewrite(left, old.source(known))
    elif known is None and doc.bare(left):
        doc.remove((doc.root, [i for i, key in enumerate(doc.root.keys) if key == "env"]))
