"""Claude by API key, or through a gateway that speaks Anthropic's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claude_mem_core.errors import Failure
from claude_mem_core.providing import outgoing
from claude_mem_core.providing.replied import failures, usable
from claude_mem_core.types import Message, Reply, Usage, Values
from claude_mem_provider_claude import KEY, NAME, ORIGIN, THINKING, TOKEN
from claude_mem_provider_claude.choice import base_url, model

STREAM_S = 300.0
LEAST_THOUGHT = 1024
CACHED = {"cache_control": {"type": "ephemeral"}}
MACHINE = [
    f"X-Stainless-{name}"
    for name in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version")
]

# Endpoints that refuse the field `thinking`, for the life of the process.
_unthinking: set[tuple[str, str]] = set()


class ApiModel:
    """Sends one conversation and returns one reply."""

    def __init__(self, settings: Values) -> None:
        self._settings = settings
        self._url = base_url(settings)
        self._model = model(settings)
        self._secret = str(settings.get(TOKEN) or settings.get(KEY) or "")
        self._client: Any = None

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        text = f"The model is {self._model!r}: mem config set model MODEL"
        async with failures(NAME, {Failure.MODEL: text}, STREAM_S):
            answer = await self._answer(system, messages, max_tokens)
            return usable(self._read(answer), NAME)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _answer(self, system: str, messages: Sequence[Message], cap: int) -> Any:
        """Ask; once more without `thinking` where the field is refused."""
        from anthropic import BadRequestError

        place = (self._url, self._model)
        try:
            return await self._ask(system, messages, cap)
        except BadRequestError as error:
            if "thinking" not in str(error.body).lower() or place in _unthinking:
                raise
            _unthinking.add(place)
        return await self._ask(system, messages, cap)

    async def _ask(self, system: str, messages: Sequence[Message], cap: int) -> Any:
        thought = self._thinking()
        blocks: list[dict[str, Any]] = [{"type": "text", "text": m.text} for m in messages]
        said = [
            {"role": message.role, "content": [block]}
            for message, block in zip(messages, blocks, strict=True)
        ]
        before: list[dict[str, Any]] = [{"type": "text", "text": system}] if system else []
        if self._url == ORIGIN:
            # Instructions stay the same, the conversation only grows: both are cached.
            for block in (*before[-1:], *blocks[-1:]):
                block.update(CACHED)
        from anthropic import Omit

        async with self._opened().messages.stream(
            model=self._model,
            max_tokens=cap + int((thought or {}).get("budget_tokens", 0)),
            messages=said,
            **({"system": before} if before else {}),
            **({"thinking": thought} if thought else {}),
            extra_headers=dict.fromkeys(self._unsaid(), Omit()),
        ) as stream:
            return await stream.get_final_message()

    def _thinking(self) -> dict[str, Any] | None:
        word, _, number = str(self._settings.get(THINKING) or "disabled").partition(":")
        if word == "omit" or (self._url, self._model) in _unthinking:
            return None
        if word != "enabled":
            return {"type": "disabled"}
        budget = max(int(number), LEAST_THOUGHT) if number.isascii() and number.isdigit() else 0
        return {"type": "enabled", "budget_tokens": budget or LEAST_THOUGHT}

    def _unsaid(self) -> list[str]:
        """Headers of the SDK that are left out: what machine this is, and a key of none."""
        return [*MACHINE, *([] if self._secret else ["Authorization"])]

    def _opened(self) -> Any:
        if self._client is None:
            from anthropic import AsyncAnthropic

            http = outgoing.client(self._url, self._settings, key=self._secret, stream=True)
            # Named outright, so that the SDK looks for no other login on this machine.
            self._client = AsyncAnthropic(
                auth_token=self._secret or "none",
                base_url=self._url,
                max_retries=0,
                http_client=http,
                default_headers=self._headers(),
            )
        return self._client

    def _headers(self) -> dict[str, str] | None:
        """Older gateways look for a key in this header; Anthropic's own does not."""
        key = str(self._settings.get(KEY) or "")
        return {"x-api-key": key} if key and self._url != ORIGIN else None

    def _read(self, answer: Any) -> Reply:
        texts = (getattr(block, "text", None) for block in answer.content or ())
        return Reply(
            text="".join(text for text in texts if text),
            usage=usage_of(answer.usage),
            stop=answer.stop_reason or "",
            model=str(answer.model or self._model),
        )


def usage_of(raw: Any) -> Usage:
    """Tokens by Anthropic's own count: what came from and went to the cache is input too."""

    def count(name: str) -> int:
        value = raw.get(name) if isinstance(raw, dict) else getattr(raw, name, None)
        return value if type(value) is int else 0

    cached = count("cache_read_input_tokens")
    return Usage(
        input_tokens=count("input_tokens") + count("cache_creation_input_tokens") + cached,
        output_tokens=count("output_tokens"),
        cached_tokens=cached,
    )
