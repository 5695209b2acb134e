"""Tools that plugins bring (`mem_tools`): listed beside ours, each on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import anyio

from claude_mem_core.errors import InvalidInput
from claude_mem_core.mcp import bounds
from claude_mem_core.mcp.asker import Asker
from claude_mem_core.mcp.changing import BY_NAME as CHANGING
from claude_mem_core.mcp.tools import BY_NAME, listed
from claude_mem_core.plugins.calls import Outcome, call_async
from claude_mem_core.types import Tool

SECONDS = 60.0
EMPTY = {"type": "object", "properties": {}}


class Plugged:
    """The tools of plugins that this client may use. A name of ours is ours."""

    def __init__(self, asker: Asker) -> None:
        records = asker.call.services.registry.records("mem_tools", Tool)
        ours = {*BY_NAME, *CHANGING}
        self._tools = {tool.name: tool for tool in records if tool.name not in ours}
        self._asker = asker

    def listed(self) -> Iterator[dict[str, Any]]:
        """Those that it may use; writing ones only where the user allowed it."""
        for tool in self._tools.values():
            if tool.read_only or self._asker.may_write:
                title = tool.name.replace("-", " ").capitalize()
                schema = tool.schema or EMPTY
                yield listed(tool.name, title, tool.summary, schema, tool.read_only)

    def has(self, name: str) -> bool:
        """Whether a plugin offers it, allowed or not."""
        return name in self._tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run it; whatever it raises, and a minute of silence, costs this answer alone."""
        return await call_async(name, partial(self._run, self._tools[name], arguments))

    async def _run(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        asker = self._asker
        if not (tool.read_only or asker.may_write):
            raise InvalidInput(
                f"{tool.name} changes something, which the user has to allow:"
                f" `mem mcp allow {asker.client} --write`"
            )
        try:
            with anyio.fail_after(SECONDS):
                said = await tool.call(arguments)
        except TimeoutError as error:
            raise InvalidInput(f"{tool.name} gave no answer within {SECONDS:g} s") from error
        return bounds.cut(said, bounds.ANSWER_CHARS)
