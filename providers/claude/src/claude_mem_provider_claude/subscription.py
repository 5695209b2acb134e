"""Claude by subscription, through the user's own Claude Code.

Each request is one run of `claude -p`: no tools, no settings, hooks, servers or commands of
the user, no transcript, in a folder of ours, and an environment in which no key of a
shell is left. What is asked goes in on stdin and by a file of ours: neither the process list
nor the program's own history shows it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from claude_mem_core.errors import Failure
from claude_mem_core.providing import outgoing, programs
from claude_mem_core.providing.replied import Advice, as_one, failures, usable
from claude_mem_core.types import Message, Reply, Values
from claude_mem_provider_claude import CONFIG_DIR, NAME, THINKING
from claude_mem_provider_claude.api import usage_of
from claude_mem_provider_claude.choice import model, program
from claude_mem_provider_claude.events import Told, failure_of, read, windows_of

# `@path` in what is asked would have Claude Code read that file and send it along.
SETTINGS = {
    "disableAllHooks": True,
    "permissions": {"deny": ["Read", "Edit", "Write", "Bash", "WebFetch", "WebSearch"]},
}
ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # the core asks again, or another
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
}
FLAGS = (
    "--print", "--output-format", "stream-json", "--verbose", "--tools", "",
    "--strict-mcp-config", "--setting-sources", "", "--no-session-persistence",
    "--disable-slash-commands",
)  # fmt: skip
ADVICE: Advice = {Failure.KEY_REFUSED: "Log in again: claude auth login"}


class SubscriptionModel:
    """Sends one conversation and returns one reply."""

    def __init__(self, settings: Values) -> None:
        self._settings = settings
        self._model = model(settings)

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message, with how far the plan's windows are used.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        seconds = float(self._settings.get(outgoing.TIMEOUT, 180_000)) / 1000
        more = f"The model is {self._model!r}: mem config set model MODEL"
        async with failures(NAME, {**ADVICE, Failure.MODEL: more}, seconds):
            folder = programs.own_folder(self._settings, NAME)
            env = self._environment(max_tokens)
            with instructions(folder, system) as file:
                ran = await programs.run(self._argv(file), as_one(messages), env, folder)
            return usable(self._read(read(ran)), NAME)

    async def aclose(self) -> None:
        """Nothing stays open between two requests."""

    def _argv(self, file: str) -> list[str]:
        return [
            program(self._settings) or "claude",
            *FLAGS,
            "--settings", json.dumps(SETTINGS),
            "--model", self._model,
            "--system-prompt-file", file,
        ]  # fmt: skip

    def _environment(self, cap: int) -> dict[str, str]:
        thinks = str(self._settings.get(THINKING) or "").startswith("enabled")
        more = {**ENVIRONMENT, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(cap)}
        if not thinks:
            more["MAX_THINKING_TOKENS"] = "0"
        profile = self._settings.get(CONFIG_DIR)
        if profile:
            more["CLAUDE_CONFIG_DIR"] = str(profile)
        return programs.bare_environment(self._settings, **more)

    def _read(self, told: Told) -> Reply:
        error = failure_of(told)
        if error is not None:
            raise error
        result: Mapping[str, Any] = told.result
        return Reply(
            text=str(result.get("result") or ""),
            usage=usage_of(result.get("usage") or {}),
            stop=str(result.get("stop_reason") or result.get("subtype") or ""),
            model=told.model or self._model,
            windows=windows_of(told.limits),
        )


@contextmanager
def instructions(folder: Path, text: str) -> Iterator[str]:
    """A file of ours with the instructions, there as long as the program runs."""
    handle, path = mkstemp(dir=folder, suffix=".txt")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text or "Answer as you are asked.")
        yield path
    finally:
        os.unlink(path)
