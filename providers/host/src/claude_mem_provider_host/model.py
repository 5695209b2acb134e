"""The two ways to a logged-in agent: run it, or ask who listens for it on the loopback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import outgoing
from claude_mem_core.providing.chat import ChatModel, Endpoint
from claude_mem_core.providing.replied import Advice, failures, usable
from claude_mem_core.types import Message, Reply, Usage, Values
from claude_mem_provider_host import COMMAND, NAME, PORT, USUAL_PORT
from claude_mem_provider_host.agent import ask

# A loopback observer says nothing but XML; why it has nothing to say stands in the reason.
SKIPPED = re.compile(r'\A<skip_summary reason="(timeout|prose)"\s*/>\Z')
CHARS_A_TOKEN = 4
ADVICE: Advice = {
    Failure.OUTAGE: "Nobody answers there: mem host-observer --agent NAME, or"
    " mem config set host-observer-command NAME",
    Failure.KEY_REFUSED: "Log in to the agent program again",
}


def base_url(settings: Values) -> str:
    """The loopback address; no other machine is ever asked."""
    return f"http://127.0.0.1:{settings.get(PORT) or USUAL_PORT}/v1"


def loopback_model(settings: Values) -> LoopbackModel:
    """Whoever listens on the port."""
    import openai

    # The key is for the form's sake: a loopback observer has the agent's own login.
    endpoint = Endpoint(
        provider=NAME,
        base_url=base_url(settings),
        model="host",
        key="host-observer",
        stream=False,
        advice=ADVICE,
    )
    return LoopbackModel(ChatModel(openai, endpoint, settings))


class LoopbackModel:
    """Asks a loopback observer, and reads why it skips."""

    def __init__(self, chat: Any) -> None:
        self._chat = chat

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        reply: Reply = await self._chat.reply(system, messages, max_tokens=max_tokens)
        skipped = SKIPPED.match(reply.text)
        if skipped is None:
            return reply
        kind = Failure.TIMEOUT if skipped[1] == "timeout" else Failure.UNUSABLE
        raise ProviderError(kind, f"the agent gave no answer ({skipped[1]})", provider=NAME)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._chat.aclose()


class AgentModel:
    """Runs the agent program once for each request."""

    def __init__(self, settings: Values) -> None:
        self._settings = settings

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message; its cost is estimated, the program names none.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        command = str(self._settings.get(COMMAND))
        seconds = float(self._settings.get(outgoing.TIMEOUT, 180_000)) / 1000
        async with failures(NAME, {Failure.KEY_REFUSED: ADVICE[Failure.KEY_REFUSED]}, seconds):
            text = await ask(command, system, messages, self._settings)
            said = len(system) + sum(len(message.text) for message in messages)
            usage = Usage(
                input_tokens=said // CHARS_A_TOKEN, output_tokens=len(text) // CHARS_A_TOKEN
            )
            return usable(Reply(text=text, usage=usage, stop="end"), NAME)

    async def aclose(self) -> None:
        """Nothing stays open between two requests."""
