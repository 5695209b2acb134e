"""What the settings mean, and what goes over the wire."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from claude_mem_provider_openrouter import address, lacks, mem_settings, open_model
from claude_mem_provider_openrouter.endpoint import endpoint, models

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import chat, origins
from claude_mem_core.testing import FakeModels, Talk, Turn
from claude_mem_core.types import Message, Reply

PRE = "CLAUDE_MEM_OPENROUTER_"
DEFAULTS = {setting.key: setting.default for setting in mem_settings()}


def said(**given: Any) -> dict[str, Any]:
    return {**DEFAULTS, **{PRE + name: value for name, value in given.items()}}


def asked(settings: dict[str, Any]) -> Reply:
    async def ask() -> Reply:
        model = open_model(settings)
        try:
            hello = [Message(role="user", text="hello")]
            return await model.reply("Be brief.", hello, max_tokens=64)
        finally:
            await model.aclose()

    return anyio.run(ask)


def script(*turns: Turn) -> FakeModels:
    return FakeModels([Talk(match=".", anywhere=True, turns=turns)])


@pytest.fixture(autouse=True)
def _nothing_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_refused", {})


@pytest.fixture
def _here_is_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted server passes for openrouter.ai."""
    monkeypatch.setattr("claude_mem_provider_openrouter.endpoint._is_home", lambda url: True)


@pytest.fixture
def _here_is_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "GATEWAY_HOST", "127.0.0.1")


def test_headers_name_who_asks() -> None:
    with script(Turn(text="hi")) as server:
        asked(said(BASE_URL=f"{server.url}/api/v1", API_KEY="sk-or-1", APP_NAME="mine\r\nx: y"))
    (request,) = server.requests
    assert request.path == "/api/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-or-1"
    assert request.headers["http-referer"] == "https://github.com/thedotmack/claude-mem"
    assert request.headers["x-title"] == "minex: y"
    assert request.body["temperature"] == 0.3
    assert request.body["max_tokens"] == 64


def test_elsewhere_only_what_chat_completions_know() -> None:
    settings = said(MODEL=("a/one", "b/two"), REASONING_EFFORT="low", API_KEY="k")
    with script(Turn(text="hi")) as server:
        asked({**settings, f"{PRE}BASE_URL": server.url})
    body = server.requests[0].body
    assert body["model"] == "a/one"
    assert not {"models", "usage", "reasoning"} & set(body)


@pytest.mark.usefixtures("_here_is_home")
def test_at_home_models_reasoning_and_price() -> None:
    settings = said(
        MODEL=("a/one", "b/two"),
        REASONING_EFFORT="none",
        API_KEY="k",
        EXTRA_BODY={"reasoning": {"enabled": False}, "top_p": 0.5},
    )
    with script(Turn(text="hi")) as server:
        asked({**settings, f"{PRE}BASE_URL": server.url})
    body = server.requests[0].body
    assert body["models"] == ["a/one", "b/two"]
    assert body["usage"] == {"include": True}
    assert body["reasoning"] == {"effort": "none"}
    assert body["top_p"] == 0.5


def test_the_price_is_taken_over() -> None:
    usage = (
        '{"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "cost": 0.25,'
        ' "prompt_tokens_details": {"cached_tokens": 4}}'
    )
    chunk = (
        '{"model": "b/two", "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]'
    )
    raw = f'data: {chunk}, "usage": {usage}}}\n\ndata: [DONE]\n\n'
    with script(Turn(raw=raw, headers={"Content-Type": "text/event-stream"})) as server:
        reply = asked(said(BASE_URL=server.url, API_KEY="k"))
    used = reply.usage
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == (9, 3, 4)
    assert (used.cost_usd, reply.model) == (0.25, "b/two")


@pytest.mark.parametrize("text", ["", "https://openrouter.ai/api/v1", "https://openrouter.ai"])
def test_home(text: str) -> None:
    assert "usage" in endpoint(said(BASE_URL=text, API_KEY="k")).fields


@pytest.mark.parametrize("url", ["https://openrouter.ai.example/v1", "https://xopenrouter.ai/"])
def test_not_home(url: str) -> None:
    assert "usage" not in endpoint(said(BASE_URL=url, API_KEY="k")).fields


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("a/one", "b/two"), ["a/one", "b/two"]),
        (("a/one b/two",), ["a/one", "b/two"]),
        ("a/one, b/two", ["a/one", "b/two"]),
        ((), ["cohere/north-mini-code:free"]),
        ("a/one", ["a/one"]),
    ],
)
def test_several_models(given: Any, found: list[str]) -> None:
    assert models(said(MODEL=given)) == found


def test_what_is_asked_is_not_replaced(caplog: pytest.LogCaptureFixture) -> None:
    extra = {
        name: "stolen"
        for name in (
            "model",
            "models",
            "messages",
            "stream",
            "max_tokens",
            "max_completion_tokens",
        )
    }
    made = endpoint(said(BASE_URL="https://x.example", EXTRA_BODY={**extra, "top_k": 3}))
    assert made.fields == {"top_k": 3}
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 6


@pytest.mark.parametrize(
    ("temperature", "extra", "sent"),
    [(-1.0, {}, 0.3), (0.7, {"temperature": 1}, 0.7), (-1.0, {"temperature": 1}, 1.0),
     (-1.0, {"temperature": "hot"}, 0.3), (0.0, {}, 0.0), (-0.5, {}, 0.3)],
)  # fmt: skip
def test_temperature(temperature: float, extra: dict[str, Any], sent: float) -> None:
    made = endpoint(said(TEMPERATURE=temperature, EXTRA_BODY=extra))
    assert made.temperature == sent
    assert "temperature" not in made.fields


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (404, "This model has been deprecated"),
        (400, "xiaomi/x is not a valid model ID"),
        (404, "No endpoints found for x/y"),
    ],
)
def test_a_retired_model_says_what_to_do(status: int, text: str) -> None:
    settings = said(MODEL=("x/y",), API_KEY="k")
    with (
        script(Turn(status=status, text=text)) as server,
        pytest.raises(ProviderError, match=r"'x/y'.*mem config set openrouter-model") as caught,
    ):
        asked({**settings, f"{PRE}BASE_URL": server.url})
    assert caught.value.failure is Failure.MODEL


def test_free_models_of_the_day() -> None:
    text = "Rate limit exceeded: free-models-per-day. Add 10 credits"
    with script(Turn(status=429, text=text)) as server, pytest.raises(ProviderError) as caught:
        asked(said(BASE_URL=server.url, API_KEY="k"))
    assert caught.value.failure in {Failure.QUOTA, Failure.PAYMENT}


@pytest.mark.usefixtures("_here_is_the_gateway")
def test_the_gateway_gets_nothing_of_openrouters() -> None:
    settings = said(
        MODEL=("cmem-observer",),
        API_KEY="cm_pro_0123456789",
        EXTRA_BODY={"top_p": 1},
        REASONING_EFFORT="low",
    )
    with script(Turn(text="hi")) as server:
        asked({**settings, f"{PRE}BASE_URL": server.url})
    (request,) = server.requests
    assert set(request.body) == {"model", "messages", "temperature", "max_tokens"}
    assert not {"http-referer", "x-title"} & set(request.headers)


def test_what_is_missing() -> None:
    assert "mem auth set openrouter" in lacks(said())
    assert "is no address" in lacks(said(BASE_URL="ftp://x", API_KEY="k"))
    assert lacks(said(API_KEY="k")) == ""
    assert lacks(said(BASE_URL="http://localhost:1234/v1")) == ""
    assert address(said()) == "https://openrouter.ai/api/v1"
