"""The store: one SQLite file, one writer, durable before it answers.

`Store` opens the file; the modules beside it are functions on a connection, to be
handed to `Store.write` or `Store.read`.
"""

from __future__ import annotations

from claude_mem_core.store.database import Store

__all__ = ["Store"]
