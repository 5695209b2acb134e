"""What has been broken for an hour is said once at a session's start, until it is mended."""

from __future__ import annotations

import json
from collections.abc import Mapping

import apsw
import attrs

from claude_mem_core.store import Store, meta

HOUR_MS = 3_600_000
KEY = "broken_since"


@attrs.define
class _Fault:
    since: int
    told: bool = False
    text: str = ""
    cure: str = ""


class LongBroken:
    """Since when what is broken; outlives the worker."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, _Fault] | None = None

    async def seen(self, faults: Mapping[str, tuple[str, str]], now: int) -> None:
        """What is broken now: text and cure by topic. What is not among it is mended."""
        known = await self._load()
        before = set(known)
        for topic in before - set(faults):
            del known[topic]
        for topic, (text, cure) in faults.items():
            fault = known.setdefault(topic, _Fault(now))
            fault.text, fault.cure = text, cure
        if before != set(known):
            await self._save()

    async def line(self, now: int) -> str:
        """One line, or nothing; each fault is told once."""
        for topic, fault in (await self._load()).items():
            if fault.text and not fault.told and now - fault.since >= HOUR_MS:
                fault.told = True
                await self._save()
                hours = (now - fault.since) // HOUR_MS
                span = "an hour" if hours == 1 else f"{hours} hours"
                return f"memory: {topic} has been broken for {span}: {fault.text}; `{fault.cure}`"
        return ""

    async def _load(self) -> dict[str, _Fault]:
        if self._known is None:
            kept = json.loads(await self._store.aread(lambda conn: meta.get(conn, KEY) or "{}"))
            self._known = {topic: _Fault(since, told) for topic, (since, told) in kept.items()}
        return self._known

    async def _save(self) -> None:
        kept = {topic: (f.since, f.told) for topic, f in (self._known or {}).items()}

        def put(conn: apsw.Connection) -> None:
            meta.put(conn, KEY, json.dumps(kept))

        await self._store.awrite(put)
