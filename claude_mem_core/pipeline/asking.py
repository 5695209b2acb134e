"""Who is asked for memories: the chosen provider, as long as it can be asked.

`builtin` or another observer plugin works in the worker. Everything else is the name of
a provider; it is asked through the processor, and what it can't do now waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from claude_mem_core.errors import ProviderError
from claude_mem_core.modelled.limits import Ask, Limits
from claude_mem_core.modelled.observer import ModelObserver, Rules
from claude_mem_core.modes import Mode, Modes
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.models import Models
from claude_mem_core.settings import Settings, SettingsSource
from claude_mem_core.types import Batch, Message, Observed, Reply, Room

WINDOW = 131_072  # tokens, of a model of which nothing is known
LEAST_WINDOW = 8_192


class Asking:
    """Has turns observed by the chosen provider, or by whoever takes its place."""

    def __init__(self, paths: Paths, settings: SettingsSource, models: Models) -> None:
        self._settings = settings
        self._models = models
        self._observer = ModelObserver()
        own = paths.data / "modes"
        self._modes: Callable[[Path | None], Modes] = lambda override: Modes(own, override)

    def forget_talks(self) -> None:
        """Begin every conversation anew."""
        self._observer = ModelObserver()

    async def obstacle(self, session: int = 0) -> ProviderError | None:
        """Why nobody may be asked now; None when somebody may."""
        return await self._models.dispatcher.obstacle(session)

    async def observe(self, batch: Batch, rules: Rules) -> Observed:
        """Have a model observe a turn.

        Raises:
            ProviderError: it can't be asked now; `obstacle` says why from here on.
        """
        settings = self._settings.current()
        ask = self._ask(batch, settings)
        return await self._observer.observe(
            batch,
            ask=ask,
            rules=rules,
            mode=self._mode(settings),
            limits=await self._limits(settings),
            other=self._other(batch, settings),
        )

    def _other(self, batch: Batch, settings: Settings) -> Ask | None:
        """Asks the fallback provider, if there is one."""
        first, *rest = self._models.dispatcher.order() or [""]
        return self._ask(batch, settings, avoid=(first,)) if rest else None

    def _ask(self, batch: Batch, settings: Settings, avoid: Sequence[str] = ()) -> Ask:
        async def ask(system: str, messages: Sequence[Message], tier: str = "", /) -> Reply:
            return await self._models.dispatcher.reply(
                system,
                messages,
                max_tokens=int(settings["CLAUDE_MEM_OBSERVER_MAX_OUTPUT_TOKENS"]),
                session=batch.session_db_id,
                project=batch.project_id,
                avoid=avoid,
                tier=tier,
            )

        return ask

    def _mode(self, settings: Settings) -> Mode:
        override = settings["CLAUDE_MEM_MODES_DIR"]
        modes = self._modes(Path(str(override)) if override else None)
        return modes.in_force(str(settings["CLAUDE_MEM_MODE"]))

    async def _limits(self, settings: Settings) -> Limits:
        """What the first provider takes at once, as far as it says so."""
        condense = settings["CLAUDE_MEM_FIELD_OPTIMIZE_ENABLED"]
        return Limits.of(
            await self._room(settings),
            int(settings["CLAUDE_MEM_OBSERVER_MAX_CONVERSATION_CHARS"]),
            bare=bool(settings["CLAUDE_MEM_OBSERVE_BARE_PROMPTS"]),
            condense_s=settings["CLAUDE_MEM_FIELD_OPTIMIZE_TIMEOUT_MS"] / 1000 if condense else 0,
        )

    async def _room(self, settings: Settings) -> Room:
        given = int(settings["CLAUDE_MEM_OBSERVER_CONTEXT_WINDOW"])
        names = self._models.dispatcher.order()
        try:
            room = (await self._models.dispatcher.candidate(names[0])).room if names else Room()
        except ProviderError:
            room = Room()
        return attrs.evolve(room, window=max(LEAST_WINDOW, given or room.window or WINDOW))
