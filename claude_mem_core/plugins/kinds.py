"""Which kinds of plugins are asked for which hook.

The kind is the part of the entry-point name before the dot (`host.cursor`), so it is
known without an import. Asking a hook loads the plugins of its kinds and calls no
others; a plugin that implements a hook outside its kind is refused when it loads,
because it would never be called. `plugin.x` may implement every hook and is loaded
with any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

ANY = "plugin"

# Plugins that decide what may be stored. When one of them is broken, recording stops.
GUARDS = frozenset({"redactor", "policy"})
GUARD_HOOKS = frozenset({"mem_redactors", "mem_should_record"})

# Kinds that are loaded only when a hook of their own, or `load`, asks for them: a
# provider may import a vendor's SDK, which takes seconds and holds a key.
LATE = frozenset({"provider"})

OWN_HOOKS: Mapping[str, frozenset[str]] = {
    "mem_hosts": frozenset({"host"}),
    "mem_observers": frozenset({"observer"}),
    "mem_providers": frozenset({"provider"}),
    "mem_search_backends": frozenset({"search"}),
    "mem_embedders": frozenset({"embedder"}),
    "mem_redactors": GUARDS,
    "mem_should_record": GUARDS,
    # A host may have a service of its own to tell.
    "mem_sinks": frozenset({"sink", "host"}),
    # A host without hooks is watched by its own package.
    "mem_watchers": frozenset({"watcher", "host"}),
    "mem_routes": frozenset({"routes"}),
    "mem_commands": frozenset({"command"}),
    "mem_tools": frozenset({"tool"}),
    "mem_context_blocks": frozenset({"context"}),
}

# Hooks that plugins of every kind may implement.
COMMON_HOOKS = frozenset(
    {
        "mem_settings",
        "mem_started",
        "mem_stopped",
        "mem_session_started",
        "mem_observation_stored",
        "mem_session_ended",
    }
)

KINDS = frozenset({ANY}).union(*OWN_HOOKS.values())


def kind_of(name: str) -> str:
    """The kind in an entry-point name: what stands before the dot."""
    return name.partition(".")[0]


def kinds_of(hook: str) -> frozenset[str]:
    """Kinds whose plugins are called for `hook`."""
    own = OWN_HOOKS.get(hook)
    return KINDS if own is None else own | {ANY}


def loaded_for(hook: str) -> frozenset[str]:
    """Kinds that are imported, if they are not yet, when `hook` is asked."""
    return KINDS - LATE if hook in COMMON_HOOKS else kinds_of(hook)


def foreign_hooks(kind: str, hooks: frozenset[str]) -> list[str]:
    """Hooks out of `hooks` that a plugin of this kind is never asked for."""
    return sorted(hook for hook in hooks if kind not in kinds_of(hook))
