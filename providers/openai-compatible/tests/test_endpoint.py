"""What the settings mean, and what goes over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from claude_mem_provider_openai_compatible import PRESET_NAMES, address, lacks, open_model
from claude_mem_provider_openai_compatible.endpoint import endpoint, needs_key
from claude_mem_provider_openai_compatible.presets import PRESETS

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import chat
from claude_mem_core.testing import FakeModels, Talk, Turn
from claude_mem_core.types import Message, Reply

PRE = "CLAUDE_MEM_OPENAI_COMPAT_"
HELLO = [Message(role="user", text="hello")]


def said(**given: str) -> dict[str, Any]:
    return {PRE + name: value for name, value in given.items()}


def asked(models: FakeModels, path: str = "/v1", times: int = 1, **given: str) -> list[Reply]:
    settings = said(BASE_URL=models.url + path, MODEL="small", **given)

    async def ask() -> list[Reply]:
        model = open_model(settings)
        try:
            return [await model.reply("Be brief.", HELLO, max_tokens=64) for _ in range(times)]
        finally:
            await model.aclose()

    return anyio.run(ask)


def script(*turns: Turn) -> FakeModels:
    return FakeModels([Talk(match=".", anywhere=True, turns=turns)])


@pytest.fixture(autouse=True)
def _nothing_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one endpoint refused is remembered for the process; not from test to test."""
    monkeypatch.setattr(chat, "_refused", {})


def test_the_body_is_plain() -> None:
    with script(Turn(text="hi")) as models:
        (reply,) = asked(models, API_KEY="some-key-1")
    (request,) = models.requests
    assert reply.text == "hi"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)
    assert reply.stop == "stop"
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer some-key-1"
    assert request.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hello"},
        ],
        "temperature": 0.3,
        "max_tokens": 64,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_no_key_no_header() -> None:
    with script(Turn(text="hi")) as models:
        asked(models)
    headers = models.requests[0].headers
    assert "authorization" not in headers
    assert not {"x-stainless-os", "x-stainless-arch", "x-stainless-runtime"} & set(headers)


@pytest.mark.parametrize("path", ["/v1/chat/completions?v=2#x", "/v1?v=2", "/v1/?v=2"])
def test_the_address_as_people_write_it(path: str) -> None:
    with script(Turn(text="hi")) as models:
        asked(models, path)
    assert models.requests[0].path == "/v1/chat/completions?v=2"


def test_max_completion_tokens_where_that_is_wanted() -> None:
    refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with script(Turn(status=400, text=refusal), Turn(text="one"), Turn(text="two")) as models:
        assert [reply.text for reply in asked(models, times=2)] == ["one", "two"]
    bodies = [request.body for request in models.requests]
    assert [body.get("max_tokens") for body in bodies] == [64, None, None]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 64, 64]


def test_an_endpoint_that_refuses_to_stream_is_asked_without() -> None:
    with script(
        Turn(status=400, text="stream_options is not supported"), Turn(text="1"), Turn(text="2")
    ) as models:
        asked(models)
        (reply,) = asked(models)  # another model object, the same endpoint
    assert reply.text == "2"
    assert reply.usage.input_tokens == 100
    assert [request.body.get("stream") for request in models.requests] == [True, None, None]


def test_both_refusals_one_after_the_other() -> None:
    with script(
        Turn(status=422, text="stream: extra fields not permitted"),
        Turn(status=400, text="max_tokens: use max_completion_tokens"),
        Turn(text="at last"),
    ) as models:
        assert asked(models)[0].text == "at last"


def test_thoughts_are_left_out() -> None:
    with script(Turn(text="<think>Hm, <observation>.</think>\n\nThe answer.")) as models:
        assert asked(models)[0].text == "The answer."


@pytest.mark.parametrize("text", ["", "<think>still thinking"])
def test_a_cap_before_the_first_word_names_the_setting(text: str) -> None:
    with (
        script(Turn(text=text, stop="length")) as models,
        pytest.raises(ProviderError, match="CLAUDE_MEM_OBSERVER_MAX_OUTPUT_TOKENS") as caught,
    ):
        asked(models)
    assert caught.value.failure is Failure.UNUSABLE


def test_an_answer_at_the_cap_is_kept_and_says_so() -> None:
    with script(Turn(text="<observation>half", stop="length")) as models:
        (reply,) = asked(models)
    assert (reply.text, reply.stop) == ("<observation>half", "length")


def test_a_404_names_both_settings() -> None:
    with (
        script(Turn(status=404, text="no such path")) as models,
        pytest.raises(ProviderError) as caught,
    ):
        asked(models)
    text = str(caught.value)
    assert f"{PRE}BASE_URL ({models.url}/v1)" in text
    assert "mem config set openai-compat-model MODEL" in text
    assert "'small'" in text


def test_an_error_inside_a_stream() -> None:
    event = 'data: {"error": {"message": "Provider returned error", "code": 502}}\n\n'
    stream = {"Content-Type": "text/event-stream"}
    with (
        script(Turn(raw=event, headers=stream)) as models,
        pytest.raises(ProviderError) as caught,
    ):
        asked(models)
    assert caught.value.failure is Failure.OUTAGE


def test_keep_alives_are_no_answer_and_no_fault() -> None:
    chunk = '{"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}'
    raw = f": PROCESSING\n\n: PROCESSING\n\ndata: {chunk}\n\ndata: [DONE]\n\n"
    with script(Turn(raw=raw, headers={"Content-Type": "text/event-stream"})) as models:
        (reply,) = asked(models)
    assert reply.text == "hi"
    assert reply.usage.input_tokens == 0


@pytest.mark.parametrize(
    ("key", "word"), [("cm_pro_0123456789", "cmem.ai"), ("sk-or-0123456789", "cm_pro_")]
)
def test_a_key_goes_where_it_belongs(key: str, word: str) -> None:
    with script(Turn(text="hi")) as models:
        url = f"{models.url}/v1" if word == "cmem.ai" else "https://cmem.ai/api/inference/v1"
        settings = said(BASE_URL=url, MODEL="m", API_KEY=key)
        with pytest.raises(ProviderError, match=word) as caught:
            anyio.run(lambda: open_model(settings).reply("", HELLO, max_tokens=8))
        assert models.requests == []
    assert caught.value.failure is Failure.KEY_REFUSED
    assert key not in str(caught.value)


def test_plain_http_to_a_stranger_is_refused() -> None:
    settings = said(BASE_URL="http://models.example/v1", MODEL="m", API_KEY="k")
    with pytest.raises(ProviderError, match="https"):
        anyio.run(lambda: open_model(settings).reply("", HELLO, max_tokens=8))


# Presets and what is missing ----------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "custom"])
def test_presets(name: str) -> None:
    preset = PRESETS[name]
    settings = said(PRESET=name)
    assert address(settings) == preset.base_url
    assert preset.base_url.startswith("https://" if preset.keyed else "http://localhost:")
    own = said(PRESET=name, BASE_URL="https://own.example/v1", MODEL="own")
    assert (address(own), endpoint(own).model) == ("https://own.example/v1", "own")


def test_the_presets_that_the_documentation_lists() -> None:
    assert list(PRESETS) == list(PRESET_NAMES) == [
        "nvidia-nim", "orcarouter", "api-route", "opper", "atlascloud", "deepseek",
        "opencode-go", "opencode-zen", "groq", "together", "minimax", "minimax-cn", "iflytek",
        "ollama", "lmstudio", "vllm", "llamacpp", "custom",
    ]  # fmt: skip
    without = [name for name, preset in PRESETS.items() if not preset.model]
    local = ["ollama", "lmstudio", "vllm", "llamacpp"]
    assert without == ["api-route", "opencode-zen", *local, "custom"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "openai-compat-base-url"),
        ({"PRESET": "no-such"}, "openai-compat-base-url"),
        ({"BASE_URL": "models.example/v1", "MODEL": "m"}, "is no address"),
        ({"PRESET": "ollama"}, "openai-compat-model"),
        ({"PRESET": "opencode-zen", "API_KEY": "k"}, "openai-compat-model"),
        ({"PRESET": "groq"}, "mem auth set openai-compatible"),
        ({"BASE_URL": "https://models.example/v1", "MODEL": "m"}, "mem auth set"),
        ({"PRESET": "ollama", "BASE_URL": "https://far.example/v1", "MODEL": "m"}, "mem auth"),
    ],
)
def test_what_is_missing(given: Mapping[str, str], word: str) -> None:
    assert word in lacks(said(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"PRESET": "ollama", "MODEL": "m"},
        {"PRESET": "groq", "API_KEY": "k"},
        {"PRESET": "groq", "BASE_URL": "http://192.168.1.7:8000/v1"},
        {"BASE_URL": "https://models.example/v1", "MODEL": "m", "API_KEY": "none"},
    ],
)
def test_nothing_is_missing(given: Mapping[str, str]) -> None:
    assert lacks(said(**given)) == ""


@pytest.mark.parametrize(
    ("host", "needed"),
    [
        ("localhost:1", False), ("127.0.0.1", False), ("[::1]:5", False), ("box.local", False),
        ("10.1.2.3", False), ("192.168.0.9", False), ("172.16.0.1", False),
        ("172.31.9.9", False), ("172.32.0.1", True), ("11.0.0.1", True), ("a.example", True),
        ("localhost.example", True), ("10.example", True),
    ],
)  # fmt: skip
def test_where_a_key_is_needed(host: str, needed: bool) -> None:
    assert needs_key(said(BASE_URL=f"http://{host}/v1")) is needed


def test_a_token_plan_key_is_told_its_address() -> None:
    advice = endpoint(said(PRESET="iflytek", API_KEY="k")).advice
    assert "maas-token-api" in advice[Failure.KEY_REFUSED]
