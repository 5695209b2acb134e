"""The worker's way to models, made when it is first needed: without one it stays small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.settings import SettingsSource
from claude_mem_core.types import Message, Reply

if TYPE_CHECKING:
    from claude_mem_core.processor.client import Processor
    from claude_mem_core.providing.dispatch import Dispatcher

PATIENCE_S = 0.5
FILES = ("usage.db", "provider-holds.json")


class Models:
    """Holds the dispatcher and the processor that it sends through."""

    def __init__(self, paths: Paths, settings: SettingsSource, registry: Registry) -> None:
        self._paths = paths
        self._settings = settings
        self._registry = registry
        self._dispatcher: Dispatcher | None = None
        self._processor: Processor | None = None
        self._active = 0

    def active(self) -> None:
        """Somebody is at work here: an event came in."""
        self._active = now_ms()

    @property
    def is_used(self) -> bool:
        """Whether a provider was ever chosen or asked here."""
        settings = self._settings.current()
        if self._dispatcher is not None or settings["CLAUDE_MEM_PROVIDER"] != "builtin":
            return True
        return any((self._paths.data / name).exists() for name in FILES)

    @property
    def dispatcher(self) -> Dispatcher:
        """The one way to ask."""
        if self._dispatcher is None:
            from claude_mem_core.providing.dispatch import Dispatcher

            self._dispatcher = Dispatcher(
                paths=self._paths, settings=self._settings, registry=self._registry,
                send=self._send, active_ms=lambda: self._active, clock=now_ms,
            )  # fmt: skip
        return self._dispatcher

    @property
    def processor(self) -> Processor:
        """The second process; it starts with the first request."""
        if self._processor is None:
            from claude_mem_core.processor.client import Processor

            self._processor = Processor(self._paths)
        return self._processor

    async def _send(
        self, provider: str, system: str, messages: Sequence[Message], *, max_tokens: int,
        seconds: float, session: int, values: Mapping[str, str],
    ) -> Reply:  # fmt: skip
        from claude_mem_core.processor.wire import Asked

        return await self.processor.ask(
            Asked(
                provider=provider, system=system, messages=tuple(messages),
                max_tokens=max_tokens, seconds=seconds, session=session, values=values,
            )
        )  # fmt: skip

    async def state(self) -> dict[str, Any] | None:
        """How things stand with models; None when none was ever chosen here."""
        if not self.is_used:
            return None
        from claude_mem_core.providing.report import as_json

        return await as_json(self.dispatcher, self._settings.current(), now_ms())

    async def brief(self) -> dict[str, str]:
        """Who makes the memories, in three words; a keyring that hangs holds up nobody."""
        if not self.is_used:
            return {"name": "builtin", "serving": "builtin", "state": "builtin"}
        from claude_mem_core.providing.report import standing

        with anyio.move_on_after(PATIENCE_S):
            found = await standing(self.dispatcher, self._settings.current(), now_ms())
            return {"name": found.provider, "serving": found.serving, "state": found.state}
        return {"name": str(self._settings.current()["CLAUDE_MEM_PROVIDER"]), "serving": "", "state": "unknown"}

    async def notice(self) -> str:
        """The line for a session's start; empty when nothing is wrong."""
        if not self.is_used:
            return ""
        from claude_mem_core.providing.report import standing

        found = await standing(self.dispatcher, self._settings.current(), now_ms())
        return found.notice

    async def spent(self) -> str:
        """What models cost today in one line; empty when none was asked."""
        if not self.is_used:
            return ""
        from claude_mem_core.providing.report import spent_line

        return await spent_line(self.dispatcher, self._settings.current(), now_ms())

    async def aclose(self) -> None:
        """Let the processor go and close the account."""
        if self._processor is not None:
            await self._processor.aclose()
        if self._dispatcher is not None:
            self._dispatcher.close()
