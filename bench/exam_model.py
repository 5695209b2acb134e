"""The exam with a model as observer: the user's own settings and keys, and what it cost."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import apsw

from claude_mem_core.files import read_private, secure_dir, write_private
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.providing.ledger import Ledger
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store
from claude_mem_core.testing.worker import LiveWorker

UNLIMITED = {
    f"CLAUDE_MEM_BUDGET_{what}": "0"
    for what in ("DAILY_TOKENS", "SESSION_TOKENS", "DAILY_CALLS", "SESSION_CALLS")
}


def choose(paths: Paths, provider: str) -> None:
    """Give a fresh data directory the user's settings and keys, and this provider.

    What the user set counts, for the model and its address; a failure goes to nobody else.
    """
    own = Paths(data_dir())
    secure_dir(paths.data)
    for name in ("settings.json", ".env"):
        with suppress(FileNotFoundError):
            write_private(paths.data / name, read_private(own.data / name, 1_000_000))
    chosen = {"CLAUDE_MEM_PROVIDER": provider, "CLAUDE_MEM_QUOTA_FALLBACK_PROVIDER": "off"}
    SettingsSource(paths).update({**chosen, **UNLIMITED})


def cost(paths: Paths, store: Store) -> dict[str, Any]:
    """What models were asked and cost, and how many memories are not theirs."""
    ledger = Ledger(paths.data / "usage.db")
    try:
        spent = ledger.sums("", "model")
    finally:
        ledger.close()
    makers = store.read(_makers)
    return {
        "model": ", ".join(sorted(set(makers) - {"builtin"})),
        "requests": sum(one.calls for one in spent),
        "input_tokens": sum(one.input_tokens for one in spent),
        "output_tokens": sum(one.output_tokens for one in spent),
        "cached_tokens": sum(one.cached_tokens for one in spent),
        "cost_usd": round(sum(one.cost_usd for one in spent), 4),
        "by_rules": makers.get("builtin", 0),
    }


def _makers(conn: apsw.Connection) -> dict[str, int]:
    sql = "SELECT generated_by_model, count(*) FROM observations GROUP BY 1"
    return {str(name): int(count) for name, count in conn.execute(sql)}


def reason(live: LiveWorker) -> str:
    """Why the queue does not empty, as far as its first item says."""
    queue = live.ask("GET", "/api/pending-queue?limit=1").json or {}
    errors = [row["error"] for row in queue.get("queue", {}).get("messages", ())]
    return f": {errors[0]}" if errors and errors[0] else ""
