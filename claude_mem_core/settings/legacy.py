"""Forms that claude-mem's settings files have had, and their meaning now.

Nothing is rewritten: an old form is read as what it stands for, each time. A value that
the user set through this product is meant as it is (`settings.set` lists those keys).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

MINUTES = frozenset({"30000"})

# Defaults of earlier versions that were written into the files; the present default
# counts instead.
SUPERSEDED: Mapping[str, Callable[[str], bool]] = {
    "CLAUDE_MEM_LLM_TIMEOUT_MS": MINUTES.__contains__,
    "CLAUDE_MEM_FIELD_OPTIMIZE_TIMEOUT_MS": MINUTES.__contains__,
    "CLAUDE_MEM_OPENROUTER_MODEL": "xiaomi/mimo-v2-flash:free".__eq__,
    "CLAUDE_MEM_CLAUDE_OBSERVATION_BATCH_SIZE": "1".__eq__,
    "CLAUDE_MEM_TIER_SIMPLE_MODEL": "haiku".__eq__,
    "CLAUDE_MEM_TELEGRAM_TRIGGER_TYPES": "security_alert".__eq__,
}
# Settings of claude-mem that have another name here; the name of today wins.
RENAMED = {"CLAUDE_CODE_PATH": "CLAUDE_MEM_CLAUDE_PATH"}
HUB_KEY = "CLAUDE_MEM_CLOUD_SYNC_HUB_URL"
HUB = "https://sync.cmem.ai"
# Keys that act only once they were set on this machine through this product.
CONFIRMED = frozenset({"CLAUDE_MEM_PROVIDER", "CLAUDE_MEM_QUOTA_FALLBACK_PROVIDER"})


def remembers(key: str) -> bool:
    """Whether setting `key` must be noted, since its value alone would not show it."""
    return key in SUPERSEDED or key == HUB_KEY or key in CONFIRMED


def current_form(values: Mapping[str, Any], explicit: Collection[str]) -> dict[str, Any]:
    """The file's values in the present form: one flat map, names of today, no superseded default."""
    flat = _renamed(_flattened(values))
    kept = {
        key: raw for key, raw in flat.items() if key in explicit or not _superseded(key, raw)
    }
    hub = kept.get(HUB_KEY)
    if isinstance(hub, str) and ".workers.dev" in hub and HUB_KEY not in explicit:
        kept[HUB_KEY] = HUB
    return kept


def _flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """The first schema had everything under `env`; what stands beside it is newer."""
    inner = values.get("env")
    if not isinstance(inner, dict):
        return dict(values)
    return {**inner, **{key: raw for key, raw in values.items() if key != "env"}}


def _renamed(values: dict[str, Any]) -> dict[str, Any]:
    """An empty value was claude-mem's default and says nothing."""
    for old, new in RENAMED.items():
        raw = values.pop(old, None)
        if isinstance(raw, str) and raw.strip():
            values.setdefault(new, raw)
    return values


def _superseded(key: str, raw: Any) -> bool:
    old = SUPERSEDED.get(key)
    return old is not None and bool(old(str(raw).strip()))
