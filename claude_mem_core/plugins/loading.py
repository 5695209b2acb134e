"""Importing one plugin and checking it before its hooks may be called."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from pluggy import PluginManager

from claude_mem_core import hookspecs
from claude_mem_core.errors import PluginError
from claude_mem_core.plugins.calls import within
from claude_mem_core.plugins.entry import Entry
from claude_mem_core.plugins.kinds import KINDS, foreign_hooks, kind_of
from claude_mem_core.types import CONTRACT

HOOKS = frozenset(
    name for name, value in vars(hookspecs).items() if hasattr(value, "claude_mem_spec")
)


def manager() -> PluginManager:
    """A pluggy manager that knows our hooks and no plugin."""
    made = PluginManager(hookspecs.NAME)
    made.add_hookspecs(hookspecs)
    return made


def bring(entry: Entry, limit: float) -> Any:
    """Import what the entry names, within `limit` seconds.

    Raises:
        PluginError: its name has no kind that we know.
        BaseException: whatever the import raised.
    """
    kind = kind_of(entry.name)
    if kind not in KINDS or not entry.name.partition(".")[2]:
        known = ", ".join(sorted(KINDS))
        raise PluginError(entry.name, f"unknown kind {kind!r} (known: {known})")
    # The core's own modules are trusted to come back, and a thread costs time.
    return entry.load() if entry.own else within(limit, entry.load)


def hooks_in(found: Any) -> frozenset[str]:
    """Names of our hooks that `found` implements, or meant to."""
    return frozenset(name for name in dir(found) if _is_hook(found, name))


def _is_hook(found: Any, name: str) -> bool:
    value = inspect.getattr_static(found, name, None)
    if hasattr(value, "claude_mem_spec"):
        return False  # the specification itself, imported for its type
    return hasattr(value, "claude_mem_impl") or (name in HOOKS and callable(value))


def check(name: str, found: Any, hooks: frozenset[str]) -> None:
    """Refuse what pluggy would take.

    Raises:
        PluginError: the contract is newer than ours, a hook is a wrapper, lacks its
            mark or does not belong to the plugin's kind, or there is no hook at all.
    """
    wanted = contract_of(found)
    if type(wanted) is not int or wanted > CONTRACT:
        advice = f"needs plugin contract {wanted!r}, this core has {CONTRACT}"
        raise PluginError(name, f"{advice}: `pip install -U claude-mem-core`")
    if not hooks:
        raise PluginError(name, "implements no hook of claude_mem")
    for hook in sorted(hooks):
        _check_mark(name, hook, inspect.getattr_static(found, hook))
    foreign = foreign_hooks(kind_of(name), hooks & HOOKS)
    if foreign:
        advice = f"{kind_of(name)!r} plugins are not asked for {', '.join(foreign)}"
        raise PluginError(name, f"{advice}; an entry point `plugin.NAME` is")


def _check_mark(name: str, hook: str, function: Any) -> None:
    marks = getattr(function, "claude_mem_impl", None)
    if marks is None:
        raise PluginError(name, f"{hook} lacks @hookimpl")
    if marks.get("wrapper") or marks.get("hookwrapper"):
        raise PluginError(name, f"{hook} is a hook wrapper, which is not supported")


def contract_of(found: Any) -> Any:
    """The contract a plugin says it was written for: on the object or its module."""
    own = getattr(found, "CLAUDE_MEM_CONTRACT", None)
    if own is not None:
        return own
    module = sys.modules.get(getattr(found, "__module__", None) or "")
    return getattr(module, "CLAUDE_MEM_CONTRACT", CONTRACT)


def register(hooks: PluginManager, name: str, found: Any) -> None:
    """Hand a checked plugin to pluggy; leaves nothing behind when it is refused.

    Raises:
        PluginValidationError: an unknown hook or a wrong argument.
    """
    try:
        hooks.register(found, name=name)
        hooks.check_pending()
    except BaseException:
        # An unknown hook is found out after registering; so was, up to pluggy 1.6,
        # a wrong argument.
        if hooks.get_plugin(name) is found:
            hooks.unregister(found)
        raise
