"""The one tool that writes: a memory that an agent was asked to keep.

Nobody can tell whether the user said so or a web page did, so such a memory is `foreign`:
found and listed, but never put before a session in full. `mem remember` at a terminal is
the user's own word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.mcp.asker import Asker
from claude_mem_core.render import for_prompt
from claude_mem_core.worker.routes import memory

LONGEST = 65_536
INDEXED_S = 2.0  # to wait until a search finds it


async def remember(asker: Asker, arguments: Mapping[str, Any]) -> str:
    """Keep a text in the client's project; it can be read back at once.

    Raises:
        InvalidInput: there is no text, or it is too long, or the project is not open.
    """
    text, title = arguments.get("text"), arguments.get("title")
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("text is required: what to remember")
    if len(text) > LONGEST:
        raise InvalidInput(
            f"text is longer than {LONGEST:,} characters; keep what matters of it"
        )
    named = str(arguments.get("project") or "")
    store = asker.call.services.store
    scope = await store.aread(lambda conn: asker.scope(conn, named))
    body = {
        "text": text,
        "title": title[:500] if isinstance(title, str) else None,
        "project": scope.project if named else None,
        "cwd": asker.cwd,
        "typed": False,
        "metadata": {"source": "mcp", "client": asker.client},
    }
    kept = await memory.save(attrs.evolve(asker.call, body=body, params={}))
    if not kept["success"]:
        raise InvalidInput(str(kept["message"]))
    with anyio.move_on_after(INDEXED_S):
        await asker.call.services.indexer.catch_up()
    label = for_prompt(str(kept["project"]), 80)
    return f"Memory #{kept['id']} is kept in project {label}; get_observations shows it."
