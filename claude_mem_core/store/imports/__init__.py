"""Taking in memories that others wrote: an export, plain rows, a database of claude-mem.

Everything is read, checked, cleaned and put into a `Staged` first, which needs no
writer. `keep` then writes it in one transaction: all of it or nothing.
"""

from __future__ import annotations

from claude_mem_core.store.imports.claude_mem import read_claude_mem
from claude_mem_core.store.imports.form import read_json
from claude_mem_core.store.imports.keep import Counts, keep
from claude_mem_core.store.imports.staging import Staged

__all__ = ["Counts", "Staged", "keep", "read_claude_mem", "read_json"]
