"""Every setting that the core knows, and how people may name it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from claude_mem_core.settings.capture_area import (
    CAPTURE,
    OBSERVER,
    PROJECTS,
    REDACTION,
    STORAGE,
)
from claude_mem_core.settings.dedup_area import DEDUP
from claude_mem_core.settings.observer_area import MODELLED
from claude_mem_core.settings.provider_area import PROVIDER
from claude_mem_core.settings.recall_area import CONTEXT, MCP, SEARCH
from claude_mem_core.settings.retention_area import RETENTION
from claude_mem_core.settings.worker_area import HOOKS, SECURITY, SPOOL, WORKER
from claude_mem_core.types import Setting

PREFIX = "CLAUDE_MEM_"

CORE: tuple[Setting, ...] = (
    *CONTEXT,
    *CAPTURE,
    *PROJECTS,
    *REDACTION,
    *OBSERVER,
    *MODELLED,
    *PROVIDER,
    *SEARCH,
    *MCP,
    *STORAGE,
    *RETENTION,
    *DEDUP,
    *WORKER,
    *HOOKS,
    *SPOOL,
    *SECURITY,
)


def full_key(name: str) -> str:
    """`provider` and `context-observations` name the keys that people mean by them."""
    key = name.strip().upper().replace("-", "_").replace(".", "_")
    return key if key.startswith(PREFIX) else PREFIX + key


def nearest(name: str, declared: Iterable[Setting]) -> list[str]:
    """Up to three known keys that look like `name`, or contain it."""
    key = full_key(name)
    keys = [setting.key for setting in declared]
    close = get_close_matches(key, keys, n=3, cutoff=0.75)
    part = key.removeprefix(PREFIX)
    return close or [known for known in keys if part and part in known][:3]
