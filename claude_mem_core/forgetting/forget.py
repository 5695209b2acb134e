"""Forgetting in a running worker: tables first, then what follows them, then the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.forgetting import apart, copies, words
from claude_mem_core.forgetting.copies import Done
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall import feed
from claude_mem_core.store import erase
from claude_mem_core.store.erase import Chosen, Erased

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

_alone = anyio.Lock()


@attrs.frozen(kw_only=True)
class Forgotten:
    """What went, or would go.

    Attributes:
        rows: of the database.
        files: of ours beside it.
        before, after: bytes of the database.
        looked: files that the proof went through; None without one, 0 when all that the
            memories said stands in others too, or is too short to look for.
        left: where the text still is, and what can be done about it.
    """

    rows: Erased
    files: Sequence[Done] = ()
    before: int = 0
    after: int = 0
    looked: int | None = None
    left: Sequence[Mapping[str, str]] = ()

    @property
    def proven(self) -> bool | None:
        """Whether nothing is left; None when nobody looked."""
        return not self.left if self.looked else None


def chosen_text(given: str) -> tuple[str, ...]:
    """The spellings of a text that is to be forgotten.

    Raises:
        InvalidInput: it is so short that it stands everywhere.
    """
    text = given.strip()
    if len(text) < words.SHORTEST:
        raise InvalidInput(
            f"the text must have {words.SHORTEST} characters or more: less stands everywhere"
        )
    return words.spellings(text)


async def preview(services: Services, chosen: Chosen, text: str) -> Forgotten:
    """What `forget` would do; nothing is written."""
    rows = await services.store.aread(lambda conn: erase.count(conn, chosen))
    texts = [text] if text else []
    found = await anyio.to_thread.run_sync(copies.would, services.paths, chosen, texts)
    return Forgotten(rows=rows, files=found)


async def forget(services: Services, chosen: Chosen, text: str, *, prove: bool) -> Forgotten:
    """Forget for good; with `prove` look for it afterwards.

    `text` is what is looked for; without it, passages of the memories that went.

    Raises:
        StoreError: it can't be written; what is gone by then stays gone.
    """
    async with _alone:
        texts = [text] if text else await services.store.aread(lambda c: erase.passages(c, chosen))
        # The spool first: the worker would take in what waits there. Files go by a text that
        # the user gave, not by passages: what waits may say the same in its own right.
        said = [text] if text else []
        done = await anyio.to_thread.run_sync(copies.clean, services.paths, chosen, said)
        rows = await _rows(services, chosen)
        await services.loop.forget_talks()
        await services.indexer.catch_up()
        await services.store.awrite(feed.tidy)
        texts = await services.store.aread(lambda conn: _gone(conn, texts, sure=bool(text)))
        tidied = await apart.tidied(services.paths, texts if prove else [])
    return Forgotten(
        rows=rows, files=done, before=tidied.get("before", 0), after=tidied.get("after", 0),
        looked=tidied.get("files", 0) if prove else None, left=tidied.get("left", ()),
    )  # fmt: skip


async def _rows(services: Services, chosen: Chosen) -> Erased:
    total, now = Erased(), now_ms()
    while gone := await services.store.awrite(lambda conn: erase.some(conn, chosen, now)):
        total += gone
        changed = [{"key": key, "action": "delete", "rev": 0, "undo": 0} for key in gone.memories]
        services.bus.publish("memory_changed", changed=changed)
    return total


def _gone(conn: apsw.Connection, texts: Sequence[str], *, sure: bool) -> list[str]:
    """What may be looked for: a passage that another memory has too is still there."""
    return [text for text in texts if sure or not erase.holds(conn, text)]
