"""What cmem.ai's gateway said when it stopped serving, where its own set-up looks for it.

The fields `CLAUDE_MEM_PRO_FALLBACK_*` of the settings file are written on a refusal that
does not pass by itself, and emptied with the next answer. Holds do not depend on them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from claude_mem_core.errors import Failure, MemError, ProviderError
from claude_mem_core.providing.advice import is_shown
from claude_mem_core.providing.candidates import NOTED, Candidate
from claude_mem_core.providing.origins import is_gateway
from claude_mem_core.settings import SettingsSource

log = logging.getLogger(__name__)

AT, MESSAGE, ACTION, URL = (NOTED + name for name in ("AT", "MESSAGE", "ACTION", "URL"))
# Only what its owner has to do something about.
TERMINAL = frozenset({Failure.QUOTA, Failure.PAYMENT, Failure.KEY_REFUSED})


class GatewayNotes:
    """Writes those fields, each time only when they change."""

    def __init__(self, settings: SettingsSource, clock: Callable[[], int]) -> None:
        self._settings = settings
        self._clock = clock

    async def failed(self, candidate: Candidate, error: ProviderError) -> None:
        """Note a refusal of the gateway; another provider's is none."""
        if not is_gateway(candidate.address) or error.failure not in TERMINAL:
            return
        said = {
            MESSAGE: str(error),
            ACTION: error.action,
            URL: error.url if is_shown(error.url) else "",
        }
        now = self._settings.current()
        if now.get(AT) and all(now.get(key) == text for key, text in said.items()):
            return  # it is noted since when
        at = datetime.fromtimestamp(self._clock() / 1000, UTC).isoformat(timespec="seconds")
        await self._write({AT: at, **said})

    async def worked(self, candidate: Candidate) -> None:
        """The gateway answers: nothing is noted any more."""
        if is_gateway(candidate.address) and self._settings.current().get(AT):
            await self._write(dict.fromkeys((AT, MESSAGE, ACTION, URL), ""))

    async def _write(self, values: Mapping[str, str]) -> None:
        known = {setting.key for setting in self._settings.declared}
        if not known.issuperset(values):
            return  # the gateway is used through a package that does not have these fields
        try:
            await asyncio.to_thread(self._settings.update, values)
        except MemError as error:
            log.warning("the settings file does not take what the gateway said: %s", error)
