"""By API key and gateway: what goes over the wire."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from claude_mem_provider_claude import address, api, choice, lacks, open_model, room, small

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.testing import FakeModels, Talk, Turn
from claude_mem_core.types import Message, Reply

KEY, TOKEN = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"
BASE_URL = "CLAUDE_MEM_CLAUDE_BASE_URL"
METHOD = "CLAUDE_MEM_CLAUDE_AUTH_METHOD"
THINKING = "CLAUDE_MEM_OBSERVER_THINKING"
MODEL = "CLAUDE_MEM_MODEL"
TALK = [
    Message(role="user", text="one"),
    Message(role="assistant", text="two"),
    Message(role="user", text="three"),
]


def asked(settings: dict[str, Any], times: int = 1) -> list[Reply]:
    async def ask() -> list[Reply]:
        model = open_model(settings)
        try:
            return [await model.reply("Be brief.", TALK, max_tokens=64) for _ in range(times)]
        finally:
            await model.aclose()

    return anyio.run(ask)


def script(*turns: Turn) -> FakeModels:
    return FakeModels([Talk(match=".", anywhere=True, turns=turns)])


@pytest.fixture(autouse=True)
def _all_think(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_unthinking", set())


def test_a_gateway_gets_names_as_they_are_and_no_cache_marks() -> None:
    with script(Turn(text="hi")) as server:
        (reply,) = asked({BASE_URL: f"{server.url}/v1/", KEY: "gw-key", MODEL: "glm-5"})
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == "Bearer gw-key"
    assert request.headers["x-api-key"] == "gw-key"
    assert not {"x-stainless-os", "x-stainless-arch"} & set(request.headers)
    assert request.body["model"] == "glm-5"
    assert request.body["system"] == [{"type": "text", "text": "Be brief."}]
    assert [message["role"] for message in request.body["messages"]] == [
        "user", "assistant", "user",
    ]  # fmt: skip
    assert "cache_control" not in request.text
    assert request.body["thinking"] == {"type": "disabled"}
    assert request.body["max_tokens"] == 64
    assert (reply.text, reply.stop, reply.usage.input_tokens) == ("hi", "end_turn", 100)


def test_a_token_goes_alone() -> None:
    with script(Turn(text="hi")) as server:
        asked({BASE_URL: server.url, TOKEN: "gw-token"})
    headers = server.requests[0].headers
    assert headers["authorization"] == "Bearer gw-token"
    assert "x-api-key" not in headers


def test_a_gateway_without_a_key_gets_none() -> None:
    with script(Turn(text="hi")) as server:
        asked({BASE_URL: server.url})
    assert not {"authorization", "x-api-key"} & set(server.requests[0].headers)


def test_anthropics_own_address_caches_instructions_and_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with script(Turn(text="hi")) as server:
        for module in (api, choice):
            monkeypatch.setattr(module, "ORIGIN", server.url)
        asked({KEY: "sk-ant-x", MODEL: "sonnet"})
    (request,) = server.requests
    mark = {"type": "ephemeral"}
    assert request.headers["authorization"] == "Bearer sk-ant-x"
    assert request.body["model"] == "claude-sonnet-5"
    assert request.body["system"][0]["cache_control"] == mark
    marks = [message["content"][0].get("cache_control") for message in request.body["messages"]]
    assert marks == [None, None, mark]


def test_what_came_from_the_cache_is_input_too() -> None:
    raw = {
        "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 80,
        "output_tokens": 7,
    }  # fmt: skip
    usage = api.usage_of(raw)
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (95, 80, 7)


@pytest.mark.parametrize(
    ("word", "sent", "cap"),
    [
        ("disabled", {"type": "disabled"}, 64),
        ("omit", None, 64),
        ("enabled", {"type": "enabled", "budget_tokens": 1024}, 1088),
        ("enabled:2000", {"type": "enabled", "budget_tokens": 2000}, 2064),
        ("enabled:5", {"type": "enabled", "budget_tokens": 1024}, 1088),
        ("enabled:many", {"type": "enabled", "budget_tokens": 1024}, 1088),
        ("nonsense", {"type": "disabled"}, 64),
    ],
)
def test_thinking(word: str, sent: dict[str, Any] | None, cap: int) -> None:
    with script(Turn(text="hi")) as server:
        asked({BASE_URL: server.url, THINKING: word})
    body = server.requests[0].body
    assert (body.get("thinking"), body["max_tokens"]) == (sent, cap)


def test_a_gateway_that_refuses_thinking_is_asked_without() -> None:
    refusal = Turn(status=400, text="error 1210: thinking.type disabled is not allowed")
    with script(refusal, Turn(text="one"), Turn(text="two")) as server:
        replies = asked({BASE_URL: server.url}, times=2)
    assert [reply.text for reply in replies] == ["one", "two"]
    assert [request.body.get("thinking") for request in server.requests] == [
        {"type": "disabled"}, None, None,
    ]  # fmt: skip


def test_it_is_asked_without_once_only() -> None:
    refusal = Turn(status=400, text="thinking is not allowed")
    with script(*[refusal] * 9) as server, pytest.raises(ProviderError) as caught:
        asked({BASE_URL: server.url})
    assert caught.value.failure is Failure.BAD_REQUEST
    assert len(server.requests) == 2


def test_a_missing_model_says_what_to_do() -> None:
    with (
        script(Turn(status=404, text="model: gone-1")) as server,
        pytest.raises(ProviderError, match=r"'gone-1'.*mem config set model MODEL"),
    ):
        asked({BASE_URL: server.url, MODEL: "gone-1"})


# Which way ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "way", "place"),
    [
        ({}, "subscription", ""),
        ({METHOD: "subscription", KEY: "k"}, "api-key", "https://api.anthropic.com"),
        ({TOKEN: "t"}, "api-key", "https://api.anthropic.com"),
        ({METHOD: "api-key"}, "api-key", "https://api.anthropic.com"),
        ({METHOD: "gateway"}, "gateway", ""),
        ({BASE_URL: "http://localhost:4000/v1"}, "gateway", "http://localhost:4000"),
        ({METHOD: "api-key", KEY: "k", BASE_URL: "https://g.example/"}, "gateway",
         "https://g.example"),
    ],
)  # fmt: skip
def test_the_way(settings: dict[str, Any], way: str, place: str) -> None:
    assert choice.method(settings) == way
    assert address(settings) == place


def test_a_gateway_never_falls_back_to_anthropic() -> None:
    assert address({METHOD: "gateway"}) == ""
    assert "mem config set claude-base-url" in lacks({METHOD: "gateway"})
    with pytest.raises(ProviderError):
        asked({METHOD: "gateway", KEY: "k"})


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("haiku", "claude-haiku-4-5-20251001"), ("opus", "claude-opus-4-8"),
        ("Sonnet", "claude-sonnet-5"), ("claude-next-9", "claude-next-9"),
        ("$TIER:fast", "claude-haiku-4-5-20251001"), ("$TIER:smart", "claude-sonnet-5"),
        ("gpt-4", "claude-haiku-4-5-20251001"), ("", "claude-haiku-4-5-20251001"),
    ],
)  # fmt: skip
def test_names_of_models(name: str, found: str) -> None:
    assert choice.model({MODEL: name}) == found


def test_how_much_a_model_takes_and_which_one_is_small() -> None:
    assert room({}).window == 200_000
    assert room({MODEL: "claude-sonnet-5[1m]", METHOD: "api-key", KEY: "k"}).window == 1_000_000
    assert room({"CLAUDE_MEM_CLAUDE_OBSERVATION_BATCH_SIZE": 4}).uses == 4
    assert small({MODEL: "opus"}) == "claude-haiku-4-5-20251001"
    assert small({"CLAUDE_MEM_TIER_FAST_MODEL": "sonnet"}) == "claude-sonnet-5"
    gateway = {BASE_URL: "https://g.example", MODEL: "glm-5"}
    assert (room(gateway).window, small(gateway)) == (0, ""), "nobody knows a gateway's models"


def test_what_is_missing() -> None:
    assert "mem auth set claude" in lacks({METHOD: "api-key"})
    assert lacks({METHOD: "api-key", TOKEN: "t"}) == ""
    assert lacks({BASE_URL: "http://localhost:4000"}) == ""
    gone = lacks({"CLAUDE_MEM_CLAUDE_PATH": "/nowhere/claude"})
    assert "mem config set claude-path" in gone
