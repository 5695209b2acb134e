"""What goes over the wire, how refusals read, and the pace of a project without billing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from claude_mem_provider_gemini import lacks, open_model, pace, room, small

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.testing import FakeModels, Talk, Turn
from claude_mem_core.types import Message, Reply

PRE = "CLAUDE_MEM_GEMINI_"
TALK = [
    Message(role="user", text="one"),
    Message(role="assistant", text="two"),
    Message(role="user", text="three"),
]


def asked(url: str, **given: Any) -> Reply:
    values = {"API_KEY": "AIza-test", "RATE_LIMITING_ENABLED": False, "BASE_URL": url, **given}
    settings = {PRE + name: value for name, value in values.items()}

    async def ask() -> Reply:
        model = open_model(settings)
        try:
            return await model.reply("Be brief.", TALK, max_tokens=64)
        finally:
            await model.aclose()

    return anyio.run(ask)


def script(*turns: Turn) -> FakeModels:
    return FakeModels([Talk(match=".", anywhere=True, turns=turns)])


def failed(body: Mapping[str, Any], status: int) -> ProviderError:
    turn = Turn(status=status, raw=json.dumps(body))
    with script(turn) as models, pytest.raises(ProviderError) as caught:
        asked(models.url)
    assert len(models.requests) == 1
    return caught.value


def test_what_is_sent() -> None:
    with script(Turn(text="hi")) as models:
        reply = asked(models.url, MODEL="gemini-3.5-flash")
    (request,) = models.requests
    assert request.path.endswith("/models/gemini-3.5-flash:generateContent")
    assert request.headers["x-goog-api-key"] == "AIza-test"
    assert [content["role"] for content in request.body["contents"]] == [
        "user",
        "model",
        "user",
    ]
    assert request.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert request.body["generationConfig"] == {"maxOutputTokens": 64}
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (100, 20, 40)
    assert (reply.text, reply.stop) == ("hi", "STOP")


def test_thoughts_are_left_out_and_counted() -> None:
    parts = [{"text": "Hm.", "thought": True}, {"text": "The "}, {"text": "answer."}]
    body = {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 30,
        },
    }  # fmt: skip
    with script(Turn(raw=json.dumps(body))) as models:
        reply = asked(models.url)
    assert reply.text == "The answer."
    assert reply.usage.output_tokens == 33


def test_a_cap_before_the_first_word_names_the_setting() -> None:
    with (
        script(Turn(stop="MAX_TOKENS")) as models,
        pytest.raises(ProviderError, match="CLAUDE_MEM_OBSERVER_MAX_OUTPUT_TOKENS"),
    ):
        asked(models.url)


def test_a_blocked_prompt_is_not_asked_again() -> None:
    error = failed({"promptFeedback": {"blockReason": "SAFETY"}}, 200)
    assert error.failure is Failure.BAD_REQUEST
    assert "SAFETY" in str(error)


def quota(period: str, delay: str = "") -> dict[str, Any]:
    violation = {"quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier"}
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    ]
    if delay:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        details.append({"@type": kind, "retryDelay": delay})
    text = "You exceeded your current quota, please check your plan and billing details."
    error = {"code": 429, "message": text, "status": "RESOURCE_EXHAUSTED", "details": details}
    return {"error": error}


def test_a_throttle_of_a_minute_names_its_wait() -> None:
    error = failed(quota("Minute", "17s"), 429)
    assert (error.failure, error.retry_after_s) == (Failure.RATE_LIMIT, 17)


def test_a_spent_day() -> None:
    assert failed(quota("Day"), 429).failure is Failure.QUOTA


@pytest.mark.parametrize(
    ("status", "word", "text", "failure"),
    [
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
         Failure.KEY_REFUSED),
        (403, "PERMISSION_DENIED", "Your API key was reported as leaked.", Failure.KEY_REFUSED),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.",
         Failure.REGION),
        (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens",
         Failure.TOO_LONG),
        (404, "NOT_FOUND", "models/gemini-2.0-flash is not found for API version v1beta",
         Failure.MODEL),
        (400, "INVALID_ARGUMENT", "Invalid JSON payload received.", Failure.BAD_REQUEST),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.",
         Failure.OVERLOAD),
        (500, "INTERNAL", "An internal error has occurred.", Failure.OUTAGE),
    ],
)  # fmt: skip
def test_refusals(status: int, word: str, text: str, failure: Failure) -> None:
    error = failed({"error": {"code": status, "message": text, "status": word}}, status)
    assert error.failure is failure


def test_a_missing_model_says_what_to_do() -> None:
    with (
        script(Turn(status=404, text="models/x is not found")) as models,
        pytest.raises(ProviderError, match=r"'gemini-x'.*mem config set gemini-model"),
    ):
        asked(models.url, MODEL="gemini-x")


def test_a_key_of_cmem_is_none() -> None:
    assert "mem auth set gemini" in lacks({f"{PRE}API_KEY": "cm_pro_0123456789"})
    assert "mem auth set gemini" in lacks({})
    assert lacks({f"{PRE}API_KEY": "AIza"}) == ""
    with script(Turn(text="hi")) as models:
        with pytest.raises(ProviderError) as caught:
            asked(models.url, API_KEY="cm_pro_0123456789")
        assert models.requests == []
    assert caught.value.failure is Failure.KEY_REFUSED


# The pace -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        ("gemini-flash-latest", 10), ("gemini-3.5-flash", 10), ("gemini-flash-lite-latest", 15),
        ("gemini-3.1-flash-lite", 15), ("gemini-3-flash-preview", 5), ("gemini-9-pro", 5),
        ("models/gemini-flash-latest", 10),
    ],
)  # fmt: skip
def test_requests_a_minute(model: str, rate: int) -> None:
    assert pace.per_minute(model) == rate


def test_turns_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_next", {})
    now, waits = [100.0], []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def turns() -> None:
        for key in ("a", "a", "a", "b"):
            await pace.wait_turn(key, "gemini-flash-latest", lambda: now[0], sleep)
        now[0] += 600
        await pace.wait_turn("a", "gemini-flash-latest", lambda: now[0], sleep)

    anyio.run(turns)
    assert waits == [6.0, 12.0]


@pytest.mark.parametrize(("given", "paced"), [
    ({}, True), ({"RATE_LIMITING_ENABLED": False}, False), ({"BILLING_ENABLED": True}, False),
])  # fmt: skip
def test_the_pace_can_be_turned_off(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], paced: bool
) -> None:
    turns = []

    async def wait_turn(key: str, model: str) -> None:
        turns.append(model)

    monkeypatch.setattr("claude_mem_provider_gemini.model.wait_turn", wait_turn)
    with script(Turn(text="hi")) as models:
        asked(models.url, **{"RATE_LIMITING_ENABLED": True, **given})
    assert turns == (["gemini-flash-latest"] if paced else [])


def test_only_googles_own_models_are_known() -> None:
    assert (room({}).window, small({})) == (1_048_576, "gemini-flash-lite-latest")
    elsewhere = {"CLAUDE_MEM_GEMINI_BASE_URL": "http://localhost:1"}
    assert (room(elsewhere).window, small(elsewhere)) == (0, "")
