"""Advisor calls, kept only when the user switched it on.

The host reports no event for them; they stand in its transcript, which is read when a
turn ends. Nothing is generated from them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

import apsw

from claude_mem_core.clean.cleaner import Cleaner
from claude_mem_core.errors import MemError
from claude_mem_core.pipeline import transcript
from claude_mem_core.pipeline.adapters import OpenHost
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.record import Cleaners
from claude_mem_core.plugins.calls import call_sync, describe
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, journal
from claude_mem_core.types import AdvisorCall, Event, EventKind, ReadsAdvice

log = logging.getLogger(__name__)

INSERT = """
  INSERT INTO advisor_calls (session_db_id, tool_use_id, model, prompt, advice, created_at_epoch)
  SELECT ?1, ?2, ?3, (SELECT prompt_text FROM user_prompts
    WHERE session_db_id = ?1 AND prompt_number = ?6), ?4, ?5
  WHERE true ON CONFLICT DO NOTHING
"""


class Advisor:
    """Reads the advisor calls of a turn that ended."""

    def __init__(
        self,
        *,
        settings: SettingsSource,
        store: Store,
        cleaners: Cleaners,
        start: Callable[..., object],
    ) -> None:
        self._settings = settings
        self._store = store
        self._cleaners = cleaners
        self._start = start

    def of(
        self, host: OpenHost, event: Event, receipt: journal.Receipt, env: Mapping[str, str]
    ) -> None:
        """Look for them, after the host has its reply, if the user wants that."""
        off = env.get("CLAUDE_MEM_DISABLE_SUMMARY") == "1"
        if off or event.kind is not EventKind.TURN_ENDED:
            return
        if not self._settings.current()["CLAUDE_MEM_CAPTURE_ADVISOR_CALLS"]:
            return
        if receipt.state != "skipped" and isinstance(host.adapter, ReadsAdvice):
            self._start(self._keep, host, event, receipt, env)

    async def _keep(
        self, host: OpenHost, event: Event, receipt: journal.Receipt, env: Mapping[str, str]
    ) -> None:
        calls = _found(host, event, env)
        if calls:
            cleaner = self._cleaners.current(self._settings.current())
            await self._store.awrite(lambda conn: _insert(conn, receipt, calls, cleaner))


def _found(host: OpenHost, event: Event, env: Mapping[str, str]) -> Sequence[AdvisorCall]:
    assert isinstance(host.adapter, ReadsAdvice)
    try:
        lines = transcript.last_lines(host.record, event, env)
    except (OSError, MemError) as error:
        log.info("transcript not read: %s", error)
        return ()
    outcome = call_sync(host.record.name, host.adapter.advisor_calls, lines or [])
    if outcome.error is not None:
        log.warning("advisor calls not read: %s", describe(outcome.error))
        return ()
    return outcome.value or ()


def _insert(
    conn: apsw.Connection,
    receipt: journal.Receipt,
    calls: Sequence[AdvisorCall],
    cleaner: Cleaner,
) -> None:
    for call in calls:
        advice = cleaner.text(call.advice, "answer")
        values = (receipt.session_db_id, call.id, call.model, advice, now_ms())
        conn.execute(INSERT, (*values, receipt.prompt_number))
