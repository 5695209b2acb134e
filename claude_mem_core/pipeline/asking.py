"""Who is asked for memories: the chosen provider, as long as it can be asked.

`builtin` or another observer plugin works in the worker. Everything else is the name of
a provider; it is asked through the processor, and what it can't do now waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.modelled.observer import Ask, Limits, ModelObserver, Rules
from claude_mem_core.modes import Mode, Modes
from claude_mem_core.paths import Paths
from claude_mem_core.processor.client import Processor
from claude_mem_core.processor.wire import Asked
from claude_mem_core.settings import Settings, SettingsSource
from claude_mem_core.types import Batch, Message, Observed, Reply

log = logging.getLogger(__name__)

# Seconds until a provider is asked again after a failure that names no time.
HOLD_S = {
    Failure.RATE_LIMIT: 60.0, Failure.OVERLOAD: 30.0, Failure.OUTAGE: 30.0,
    Failure.TIMEOUT: 60.0, Failure.UNUSABLE: 30.0, Failure.BAD_REQUEST: 300.0,
}  # fmt: skip
LONG_S = 1800.0
WINDOW = 131_072
LEAST_WINDOW = 8_192


@attrs.frozen
class Hold:
    """Why a provider is not asked for now."""

    error: ProviderError
    until: float
    settings: Settings


class Asking:
    """Asks the chosen provider; remembers why it can't be asked."""

    def __init__(self, paths: Paths, settings: SettingsSource) -> None:
        self._paths = paths
        self._settings = settings
        self.processor = Processor(paths)
        self._observer = ModelObserver()
        self._hold: Hold | None = None
        own = paths.data / "modes"
        self._modes: Callable[[Path | None], Modes] = lambda override: Modes(own, override)
        self.now = time.monotonic

    def held(self) -> str | None:
        """Why nobody may be asked now; None when somebody may."""
        hold = self._hold
        if hold is None:
            return None
        if self.now() >= hold.until or self._settings.current() != hold.settings:
            self._hold = None
            return None
        return str(hold.error)

    async def observe(self, provider: str, batch: Batch, rules: Rules) -> Observed:
        """Have a model observe a turn.

        Raises:
            ProviderError: it can't be asked now; `held` says why from here on.
        """
        settings = self._settings.current()
        ask = self._ask(provider, batch, settings)
        try:
            return await self._observer.observe(
                batch, ask=ask, rules=rules, mode=self._mode(settings), limits=_limits(settings)
            )
        except ProviderError as error:
            self._failed(error, settings)
            raise

    def _ask(self, provider: str, batch: Batch, settings: Settings) -> Ask:
        async def ask(system: str, messages: Sequence[Message]) -> Reply:
            return await self.processor.ask(
                Asked(
                    provider=provider, system=system, messages=tuple(messages),
                    max_tokens=int(settings["CLAUDE_MEM_OBSERVER_MAX_OUTPUT_TOKENS"]),
                    seconds=float(settings["CLAUDE_MEM_LLM_TIMEOUT_MS"]) / 1000,
                    session=batch.session_db_id,
                )
            )  # fmt: skip

        return ask

    def _failed(self, error: ProviderError, settings: Settings) -> None:
        seconds = error.retry_after_s or HOLD_S.get(error.failure, LONG_S)
        log.warning("provider %s: %s: %s", error.provider, error.failure, error)
        self._hold = Hold(error, self.now() + seconds, settings)

    def _mode(self, settings: Settings) -> Mode:
        override = settings["CLAUDE_MEM_MODES_DIR"]
        modes = self._modes(Path(str(override)) if override else None)
        return modes.in_force(str(settings["CLAUDE_MEM_MODE"]))

    async def aclose(self) -> None:
        """Let the processor go."""
        await self.processor.aclose()


def _limits(settings: Settings) -> Limits:
    given = settings["CLAUDE_MEM_OBSERVER_CONTEXT_WINDOW"]
    window = max(LEAST_WINDOW, int(given)) if given else WINDOW
    return Limits.of(window, int(settings["CLAUDE_MEM_OBSERVER_MAX_CONVERSATION_CHARS"]))
