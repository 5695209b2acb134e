"""Codex, one run of its app server for each request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio

from claude_mem_core.errors import Failure
from claude_mem_core.providing import outgoing, programs
from claude_mem_core.providing.classify import unusable
from claude_mem_core.providing.replied import Advice, as_one, failures, usable
from claude_mem_core.types import Message, Reply, Values
from claude_mem_provider_codex import AT_ONCE, EFFORT, MODEL, NAME
from claude_mem_provider_codex.login import LOG_IN, auth_file, home, program
from claude_mem_provider_codex.server import AppServer
from claude_mem_provider_codex.turn import Turn

ADVICE: Advice = {
    Failure.KEY_REFUSED: f"To do: {LOG_IN}",
    Failure.MODEL: "To do: mem config set codex-model MODEL, or"
    " mem config set codex-reasoning-effort EFFORT",
}
ABOUT = {"name": "claude-mem", "title": "claude-mem", "version": "1"}


class CodexModel:
    """Sends one conversation and returns one reply."""

    def __init__(self, settings: Values) -> None:
        self._settings = settings
        self._slots = anyio.CapacityLimiter(int(settings.get(AT_ONCE) or 2))

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message, with how far the plan's windows are used.

        Codex has no cap on its output, so `max_tokens` is not passed on.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        seconds = float(self._settings.get(outgoing.TIMEOUT, 180_000)) / 1000
        async with self._slots, failures(NAME, ADVICE, seconds):
            folder = programs.own_folder(self._settings, NAME)
            with home(folder, auth_file(self._settings)) as own:
                return usable(await self._run(own, system, as_one(messages)), NAME)

    async def aclose(self) -> None:
        """Nothing stays open between two requests."""

    async def _run(self, own: Path, system: str, asked: str) -> Reply:
        work = own / "work"
        work.mkdir()
        argv = [program(self._settings) or "codex", "app-server"]
        env = programs.bare_environment(self._settings, CODEX_HOME=str(own))
        process = await programs.started(argv, env, work, last_words=False)
        try:
            return await self._ask(AppServer(process), work, system, asked)
        finally:
            await programs.ended(process)

    async def _ask(self, server: AppServer, work: Path, system: str, asked: str) -> Reply:
        await server.call("initialize", {"clientInfo": ABOUT})
        await server.tell("initialized")
        model, effort = self._settings.get(MODEL), self._settings.get(EFFORT)
        opened = await server.call("thread/start", {
            "ephemeral": True,
            "cwd": str(work),
            "baseInstructions": system,
            "sandbox": "read-only",
            "approvalPolicy": "never",
            **({"model": model} if model else {}),
        })  # fmt: skip
        turn = Turn(model=str(opened.get("model") or model or ""))
        await server.call("turn/start", {
            "threadId": (opened.get("thread") or {}).get("id"),
            "input": [{"type": "text", "text": asked}],
            **({"effort": effort} if effort else {}),
        })  # fmt: skip
        async for event in server.events():
            reply = turn.take(event)
            if reply is not None:
                return reply
        raise unusable("Codex did not end its turn", NAME)
