"""One model of {{title}}. Import the vendor's SDK here, never in the package itself."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.types import Message, Reply, Usage


class {{class}}Model:
    """Sends one conversation and returns one reply."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message."""
        text = messages[-1].text
        usage = Usage(input_tokens=len(text) // 4, output_tokens=len(text) // 4)
        return Reply(text=text, usage=usage, stop="end")

    async def aclose(self) -> None:
        """Close connections; there are none yet."""
