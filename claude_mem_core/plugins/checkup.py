"""Asking every plugin for everything it offers, so that each fault is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claude_mem_core.plugins.registry import Registry
from claude_mem_core.types import (
    Command,
    Embedder,
    Host,
    ObserverRecord,
    Provider,
    Redactor,
    RouteSet,
    SearchBackend,
    Setting,
    Sink,
    Tool,
    Watcher,
)

# What each hook that takes no argument and offers something yields.
RECORDS: Mapping[str, type[Any]] = {
    "mem_settings": Setting,
    "mem_hosts": Host,
    "mem_observers": ObserverRecord,
    "mem_providers": Provider,
    "mem_search_backends": SearchBackend,
    "mem_embedders": Embedder,
    "mem_redactors": Redactor,
    "mem_sinks": Sink,
    "mem_watchers": Watcher,
    "mem_routes": RouteSet,
    "mem_commands": Command,
    "mem_tools": Tool,
}


def ask_all(registry: Registry) -> dict[str, list[Any]]:
    """Load every plugin and collect what they offer, by hook."""
    registry.load(None)
    offers = {hook: list(registry.records(hook, kind)) for hook, kind in RECORDS.items()}
    registry.recording_fault()
    return offers
