"""One conversation in the Chat Completions form, for every package that speaks it.

    import openai
    endpoint = Endpoint(provider="mine", base_url="https://host/v1", model="m", key=key)
    model = ChatModel(openai, endpoint, settings)

The SDK is handed in: the core names no vendor. What an endpoint refuses (streaming, the
field `max_tokens`) is remembered for the life of the process, so it is asked once only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import outgoing
from claude_mem_core.providing.classify import from_exception, unusable
from claude_mem_core.providing.replied import Advice, failures, usable
from claude_mem_core.types import Message, Reply, Usage, Values

PATH = "/chat/completions"
STREAM_S = 300.0  # a streamed request ends then, however lively it is
GRACE_S = 5.0  # the HTTP client's own time-out comes first: it knows what was silent
NO_STREAM, NO_MAX_TOKENS = "stream", "max_tokens"
REFUSING = {400, 415, 422}
MACHINE = [
    f"X-Stainless-{name}"
    for name in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version")
]

_refused: dict[tuple[str, str], set[str]] = {}


@attrs.frozen(kw_only=True)
class Endpoint:
    """Where and how to ask.

    Attributes:
        provider: name in errors.
        base_url: as the user wrote it, with or without `/chat/completions`.
        model: sent as it is.
        key: empty where none is needed; then no such header is sent.
        headers: beside those of the SDK.
        fields: of the body, beside model, messages, temperature and the output cap.
        temperature: of sampling.
        stream: whether to ask for the answer in pieces.
        advice: what to do about a kind of failure, added to its text.
        told: adds what the service itself says in the body of a refusal.
    """

    provider: str
    base_url: str
    model: str
    key: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    fields: Mapping[str, Any] = attrs.field(factory=dict)
    temperature: float = 0.3
    stream: bool = True
    advice: Advice = attrs.field(factory=dict)
    told: Callable[[ProviderError, Any], ProviderError] | None = None

    @property
    def root(self) -> str:
        """The base URL as the SDK wants it: without path of the call, query and slash."""
        parts = urlsplit(self.base_url.strip())
        path = parts.path.rstrip("/").removesuffix(PATH).rstrip("/")
        return f"{parts.scheme}://{parts.netloc}{path}"

    @property
    def query(self) -> dict[str, str]:
        """What the base URL asks to be sent along with every call."""
        return dict(parse_qsl(urlsplit(self.base_url.strip()).query))


class ChatModel:
    """Sends one conversation and returns one reply.

    Args:
        sdk: the module `openai`.
        endpoint: where and how.
        settings: for the time-outs, proxy and certificates.
    """

    def __init__(self, sdk: Any, endpoint: Endpoint, settings: Values) -> None:
        self._sdk = sdk
        self._endpoint = endpoint
        self._settings = settings
        self._clients: dict[bool, Any] = {}
        self._refused = _refused.setdefault((endpoint.root, endpoint.model), set())

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        """The reply to the last message.

        Raises:
            ProviderError: there is none; nothing else is raised.
        """
        said = [{"role": "system", "content": system}] if system else []
        said += [{"role": message.role, "content": message.text} for message in messages]
        endpoint = self._endpoint
        async with failures(endpoint.provider, endpoint.advice):
            return usable(await self._answer(said, max_tokens), endpoint.provider)

    async def aclose(self) -> None:
        """Close the connections."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _answer(self, said: list[dict[str, str]], cap: int) -> Reply:
        """Ask, and ask once more for each thing that the endpoint turns out to refuse."""
        while True:
            try:
                return await self._ask(said, cap)
            except self._sdk.APIStatusError as error:
                refused = self._refusal(error)
                if not refused:
                    raise self._told(error) from None
                self._refused.add(refused)

    def _told(self, error: Any) -> Exception:
        """The refusal, with what the service says itself where the endpoint reads that."""
        endpoint = self._endpoint
        if endpoint.told is None:
            return error  # type: ignore[no-any-return]
        return endpoint.told(from_exception(error, endpoint.provider), error.body)

    def _refusal(self, error: Any) -> str:
        """What of the request's form a refusal is about, unless that is left out already."""
        words = f"{error.message} {error.body}".lower()
        if error.status_code not in REFUSING:
            return ""
        if "max_tokens" in words and "max_completion_tokens" in words:
            return "" if NO_MAX_TOKENS in self._refused else NO_MAX_TOKENS
        if "stream" in words and self._streams:
            return NO_STREAM
        return ""

    @property
    def _streams(self) -> bool:
        return self._endpoint.stream and NO_STREAM not in self._refused

    async def _ask(self, said: list[dict[str, str]], cap: int) -> Reply:
        endpoint = self._endpoint
        field = "max_completion_tokens" if NO_MAX_TOKENS in self._refused else "max_tokens"
        request: dict[str, Any] = {
            "model": endpoint.model,
            "messages": said,
            "temperature": endpoint.temperature,
            field: cap,
            "extra_body": dict(endpoint.fields) or None,
            "extra_headers": dict.fromkeys(self._unsaid(), self._sdk.Omit()),
        }
        if self._streams:
            with anyio.fail_after(STREAM_S):
                return await self._streamed(request)
        return await self._whole(request)

    def _unsaid(self) -> list[str]:
        """Headers of the SDK that are left out: what machine this is, and a key of none."""
        return [*MACHINE, *([] if self._endpoint.key else ["Authorization"])]

    def _client(self, stream: bool) -> Any:
        if stream not in self._clients:
            self._clients[stream] = self._opened(stream)
        return self._clients[stream]

    def _opened(self, stream: bool) -> Any:
        endpoint = self._endpoint
        http = outgoing.client(
            endpoint.base_url, self._settings, key=endpoint.key, stream=stream
        )
        return self._sdk.AsyncOpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.root,
            default_query=endpoint.query or None,
            default_headers=dict(endpoint.headers) or None,
            max_retries=0,
            http_client=http,
        )

    # In one piece ---------------------------------------------------------------------

    async def _whole(self, request: dict[str, Any]) -> Reply:
        seconds = float(self._settings.get(outgoing.TIMEOUT, 180_000)) / 1000 + GRACE_S
        with anyio.fail_after(seconds):
            answer = await self._client(False).chat.completions.create(**request)
        choices = getattr(answer, "choices", None)
        if not choices:
            raise unusable(
                "it is no chat completion; check the base URL", self._endpoint.provider
            )
        choice = choices[0]
        text = getattr(choice.message, "content", None) or ""
        return Reply(
            text=text,
            usage=usage_of(answer.usage),
            stop=choice.finish_reason or "",
            model=str(getattr(answer, "model", None) or self._endpoint.model),
        )

    # In pieces ------------------------------------------------------------------------

    async def _streamed(self, request: dict[str, Any]) -> Reply:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        pieces = Pieces(model=self._endpoint.model)
        answer = await self._client(True).chat.completions.create(**request, **options)
        async with answer:
            async for chunk in answer:
                pieces.take(chunk)
        return pieces.reply()


@attrs.define
class Pieces:
    """What has come of a streamed answer. `reasoning_content` is left lying."""

    model: str
    text: list[str] = attrs.field(factory=list)
    stop: str = ""
    usage: Any = None

    def take(self, chunk: Any) -> None:
        """One piece; services leave out whatever they have nothing to say on."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        self.model = getattr(chunk, "model", None) or self.model
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            self.text.append(getattr(choice.delta, "content", None) or "")
            self.stop = choice.finish_reason or self.stop

    def reply(self) -> Reply:
        """Everything that came."""
        usage = usage_of(self.usage)
        text = "".join(self.text)
        return Reply(text=text, usage=usage, stop=self.stop, model=str(self.model))


def usage_of(raw: Any) -> Usage:
    """Tokens by the service's own count, and its price where it names one."""
    details = getattr(raw, "prompt_tokens_details", None)
    return Usage(
        input_tokens=_count(getattr(raw, "prompt_tokens", 0)),
        output_tokens=_count(getattr(raw, "completion_tokens", 0)),
        cached_tokens=_count(getattr(details, "cached_tokens", 0)),
        cost_usd=_price(getattr(raw, "cost", 0.0)),
    )


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _price(value: Any) -> float:
    return float(value) if type(value) in (int, float) and value > 0 else 0.0


def model_advice(setting: str, model: str, *more: str) -> Advice:
    """What to do when a model is not to be had: names the model and the settings."""
    name = setting.removeprefix("CLAUDE_MEM_").lower().replace("_", "-")
    also = f" Check {' and '.join(more)} too." if more else ""
    text = f"The model is {model!r}: choose another with `mem config set {name} MODEL`.{also}"
    return {Failure.MODEL: text}
