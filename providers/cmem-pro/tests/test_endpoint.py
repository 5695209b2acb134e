"""Staged and activated settings, the gateway's own words, and where keys may go."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from claude_mem_provider_cmem_pro import address, lacks, open_model
from claude_mem_provider_cmem_pro.endpoint import endpoint

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import origins
from claude_mem_core.testing import FakeModels, Talk, Turn
from claude_mem_core.types import Message, Reply

GATEWAY = "https://cmem.ai/api/inference/v1"
MINE = "cm_pro_0123456789abcdef"
STAGED = {
    "CLAUDE_MEM_PRO_MEMORY_KEY": MINE,
    "CLAUDE_MEM_PRO_MEMORY_BASE_URL": GATEWAY,
    "CLAUDE_MEM_PRO_MEMORY_MODEL": "cmem-observer",
}
ACTIVE = {
    "CLAUDE_MEM_OPENROUTER_API_KEY": MINE,
    "CLAUDE_MEM_OPENROUTER_BASE_URL": GATEWAY,
    "CLAUDE_MEM_OPENROUTER_MODEL": ("cmem-observer",),
    "CLAUDE_MEM_PRO_MEMORY_KEY": "",
    "CLAUDE_MEM_PRO_MEMORY_BASE_URL": "",
    "CLAUDE_MEM_PRO_MEMORY_MODEL": "",
}


def asked(settings: dict[str, Any]) -> Reply:
    async def ask() -> Reply:
        model = open_model(settings)
        try:
            return await model.reply("", [Message(role="user", text="hello")], max_tokens=64)
        finally:
            await model.aclose()

    return anyio.run(ask)


@pytest.mark.parametrize("settings", [STAGED, ACTIVE, {"CLAUDE_MEM_PRO_MEMORY_KEY": MINE}])
def test_staged_and_activated_mean_the_same(settings: dict[str, Any]) -> None:
    made = endpoint(settings)
    assert (made.base_url, made.model, made.key) == (GATEWAY, "cmem-observer", MINE)
    assert not made.stream
    assert lacks(settings) == ""


def test_own_openrouter_settings_are_left_alone() -> None:
    own = {
        "CLAUDE_MEM_OPENROUTER_API_KEY": "sk-or-v1-personal",
        "CLAUDE_MEM_OPENROUTER_MODEL": ("vendor/model",),
    }
    assert endpoint(own).key == ""
    assert endpoint(own).model == "cmem-observer"
    assert "mem auth set cmem-pro" in lacks(own)


def test_another_address_is_never_called() -> None:
    with FakeModels([]) as models:
        settings = {**STAGED, "CLAUDE_MEM_PRO_MEMORY_BASE_URL": f"{models.url}/v1"}
        assert "is not cmem.ai" in lacks(settings)
        with pytest.raises(ProviderError) as caught:
            asked(settings)
        assert models.requests == []
    assert caught.value.failure is Failure.KEY_REFUSED
    assert MINE not in str(caught.value)


def test_the_usual_address() -> None:
    assert address({}) == GATEWAY


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize(
    ("status", "code", "failure"),
    [
        (402, "payment_required", Failure.PAYMENT),
        (402, "monthly allowance is spent", Failure.QUOTA),
        (403, "inactive_subscription", Failure.PAYMENT),
        (401, "invalid_key", Failure.KEY_REFUSED),
    ],
)
def test_the_gateway_says_it_itself(
    monkeypatch: pytest.MonkeyPatch, nested: bool, status: int, code: str, failure: Failure
) -> None:
    monkeypatch.setattr(origins, "GATEWAY_HOST", "127.0.0.1")
    body = {
        "code": code,
        "message": "Your trial ended.",
        "action": "Choose a plan.",
        "url": "https://cmem.ai/plans",
        "request_id": "req_7",
    }
    error = refused(status, {"error": body} if nested else body)
    assert str(error).startswith("Your trial ended. [request req_7]")
    assert error.action == "Choose a plan."
    assert error.url == "https://cmem.ai/plans"
    assert error.failure is failure


@pytest.mark.parametrize("url", ["https://evil.example/", "http://cmem.ai/x", "javascript:x"])
def test_only_its_own_links_are_passed_on(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr(origins, "GATEWAY_HOST", "127.0.0.1")
    body = {"message": f"No. Key {MINE}", "url": url}
    error = refused(401, body)
    assert error.url == ""
    assert MINE not in str(error)


def refused(status: int, body: dict[str, Any]) -> ProviderError:
    talk = Talk(match=".", anywhere=True, turns=[Turn(status=status, raw=json.dumps(body))])
    with FakeModels([talk]) as models, pytest.raises(ProviderError) as caught:
        asked({**STAGED, "CLAUDE_MEM_PRO_MEMORY_BASE_URL": f"{models.url}/v1"})
    return caught.value
