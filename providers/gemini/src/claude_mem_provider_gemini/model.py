"""One model of Gemini."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import outgoing
from claude_mem_core.providing.replied import Advice, failures, usable
from claude_mem_core.types import Message, Reply, Usage, Values
from claude_mem_provider_gemini import BILLED, DEFAULT_MODEL, KEY, MODEL, NAME, PACED, address
from claude_mem_provider_gemini.pace import wait_turn

ADVICE: Advice = {
    Failure.REGION: "Every key gets this answer; choose another: mem config set provider NAME",
}
GRACE_S = 5.0  # the HTTP client's own time-out comes first: it knows what was silent


class GeminiModel:
    """Sends one conversation and returns one reply."""

    def __init__(self, settings: Values) -> None:
        self._settings = settings
        self._name = str(settings.get(MODEL) or DEFAULT_MODEL)
        self._key = str(settings.get(KEY) or "")
        self._paced = bool(settings.get(PACED, True)) and not settings.get(BILLED)
        self._opened: tuple[Any, Any] | None = None

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        if self._paced:
            await wait_turn(self._key, self._name)
        seconds = self._deadline_ms / 1000 + GRACE_S
        more = f"The model is {self._name!r}: mem config set gemini-model MODEL"
        async with failures(NAME, {**ADVICE, Failure.MODEL: more}, seconds):
            answer = await self._ask(system, messages, max_tokens)
            return usable(self._read(answer), NAME)

    async def aclose(self) -> None:
        """Close the connections."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[0].aio.aclose()
            await opened[1].aclose()

    @property
    def _deadline_ms(self) -> int:
        return int(self._settings.get(outgoing.TIMEOUT, 180_000))

    async def _ask(self, system: str, messages: Sequence[Message], cap: int) -> Any:
        from google.genai import types

        contents = [
            types.Content(
                role="model" if message.role == "assistant" else "user",
                parts=[types.Part(text=message.text)],
            )
            for message in messages
        ]
        config = types.GenerateContentConfig(
            system_instruction=system or None,
            max_output_tokens=cap,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        models = self._client().aio.models
        return await models.generate_content(model=self._name, contents=contents, config=config)

    def _client(self) -> Any:
        if self._opened is None:
            from google import genai
            from google.genai import types

            url = address(self._settings)
            http = outgoing.client(url, self._settings, key=self._key)
            # Without `retry_options` the SDK asks once only; the core asks again.
            options = types.HttpOptions(
                base_url=url, timeout=self._deadline_ms, httpx_async_client=http
            )
            client = genai.Client(api_key=self._key, vertexai=False, http_options=options)
            self._opened = (client, http)
        return self._opened[0]

    def _read(self, answer: Any) -> Reply:
        """The reply in an answer; a prompt that was blocked is refused for good."""
        candidate = next(iter(answer.candidates or ()), None)
        blocked = getattr(answer.prompt_feedback, "block_reason", None)
        if candidate is None and blocked:
            text = f"the prompt was blocked: {_word(blocked)}"
            raise ProviderError(Failure.BAD_REQUEST, text, provider=NAME)
        parts = getattr(getattr(candidate, "content", None), "parts", None) or ()
        return Reply(
            text="".join(part.text for part in parts if part.text and not part.thought),
            usage=_usage(answer.usage_metadata),
            stop=_word(getattr(candidate, "finish_reason", None)),
            model=answer.model_version or self._name,
        )


def _word(value: Any) -> str:
    return str(getattr(value, "value", value) or "")


def _usage(raw: Any) -> Usage:
    def count(name: str) -> int:
        return getattr(raw, name, None) or 0

    return Usage(
        input_tokens=count("prompt_token_count"),
        output_tokens=count("candidates_token_count") + count("thoughts_token_count"),
        cached_tokens=count("cached_content_token_count"),
    )
