"""Which model does what, what `.env` names beside keys, and what the gateway's refusal leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core import secrets
from claude_mem_core.errors import Failure
from claude_mem_core.providing.gateway_notes import ACTION, AT, MESSAGE, URL
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import Room
from tests.providing_kit import Scene, fails, says

pytestmark = pytest.mark.anyio
KEY = "key-one-0123456789"
GATEWAY = "https://cmem.ai/api/inference/v1"
SMALL = (
    'small=lambda values: "tiny-1", room=lambda values: Room(window=9, uses=3),'
    ' in_file={"GAMMA_URL": "CLAUDE_MEM_GAMMA_BASE_URL"}'
)
NOTES = f"""
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Setting

    @hookimpl
    def mem_settings():
        for key in {(AT, MESSAGE, ACTION, URL)!r}:
            yield Setting(key=key, sources=("file",), scope="machine")
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def scene(install_fake_plugin: FakeSite, tmp_path: Path) -> Iterator[Scene]:
    made = Scene.make(install_fake_plugin, tmp_path)
    made.offer("gamma", "", more=SMALL)
    install_fake_plugin("provider.notes", NOTES)
    for name in ("ALPHA", "BETA", "GAMMA"):
        secrets.write(made.paths, f"CLAUDE_MEM_{name}_API_KEY", KEY, "file")
    made.open(provider="gamma")
    yield made
    made.dispatcher.close()


def models(scene: Scene) -> list[str]:
    """The models that were asked for by name; empty for the usual one."""
    return [call.values.get(f"CLAUDE_MEM_{call.provider.upper()}_MODEL", "") for call in scene.calls]  # fmt: skip


async def test_simple_work_goes_to_the_providers_small_model(scene: Scene) -> None:
    for tier in ("simple", "", "summary"):
        await scene.ask(tier=tier)
    assert models(scene) == ["tiny-1", "", ""]
    named = {(s.name, s.calls) for s in scene.dispatcher.ledger.sums("2026-01-01", "model")}
    assert named == {("tiny-1", 1), ("small-1", 2)}, "each is on the account by its name"


async def test_the_users_models_win_and_routing_can_be_off(scene: Scene) -> None:
    scene.set(tier_simple_model="cheap-1", tier_summary_model="big-1")
    for tier in ("simple", "", "summary"):
        await scene.ask(tier=tier)
    scene.set(tier_routing_enabled="false")
    for tier in ("simple", "summary"):
        await scene.ask(tier=tier)
    assert models(scene) == ["cheap-1", "", "big-1", "", ""]


async def test_a_provider_without_a_small_model_does_all_with_its_own(scene: Scene) -> None:
    scene.set(provider="alpha")
    await scene.ask(tier="simple")
    assert models(scene) == [""]


async def test_the_fallback_has_models_of_its_own(scene: Scene) -> None:
    scene.set(provider="alpha", quota_fallback_provider="gamma", tier_summary_model="big-1")
    scene.script["alpha"] = [fails(Failure.QUOTA)]
    assert (await scene.ask(tier="simple")).provider == "gamma"
    assert (await scene.ask(tier="summary")).provider == "gamma"
    scene.set(quota_fallback_model="chosen-1")
    await scene.ask(tier="simple")
    assert models(scene)[1:] == ["tiny-1", "", "chosen-1"]


async def test_a_small_model_that_is_not_to_be_had_holds_nobody(scene: Scene) -> None:
    scene.script["gamma"] = [fails(Failure.MODEL), says()]
    await scene.ask(tier="simple")
    await scene.ask(tier="simple")
    assert models(scene) == ["tiny-1", "", ""], "once, and not again with these settings"
    assert scene.dispatcher.patience.holds.all() == {}
    scene.set(tier_simple_model="other-1")
    await scene.ask(tier="simple")
    assert models(scene)[-1] == "other-1"


async def test_the_usual_model_missing_is_a_failure_as_ever(scene: Scene) -> None:
    scene.script["gamma"] = [fails(Failure.MODEL), fails(Failure.MODEL)]
    assert (await scene.failure(tier="simple")).failure is Failure.MODEL
    assert set(scene.dispatcher.patience.holds.all()) == {"gamma"}


async def test_a_candidate_says_how_much_it_takes(scene: Scene) -> None:
    assert (await scene.dispatcher.candidate("gamma")).room == Room(window=9, uses=3)
    assert (await scene.dispatcher.candidate("alpha")).room == Room()


# Addresses in `.env` -----------------------------------------------------------------


async def test_an_address_in_the_file_of_keys_counts_where_none_is_set(scene: Scene) -> None:
    file = scene.paths.data / ".env"
    file.write_text(file.read_text() + "GAMMA_URL=https://ours.example/v1\n")
    assert (await scene.dispatcher.candidate("gamma")).address == "https://ours.example/v1"
    await scene.ask()
    assert scene.calls[-1].values["CLAUDE_MEM_GAMMA_BASE_URL"] == "https://ours.example/v1"
    assert scene.calls[-1].key == KEY
    file.write_text(file.read_text().replace("ours.example", "theirs.example"))
    error = await scene.failure()
    assert error.failure is Failure.KEY_REFUSED
    assert "https://ours.example" in str(error), "a key stays where it was meant to go"
    scene.set(gamma_base_url="https://ours.example/v2")
    assert (await scene.dispatcher.candidate("gamma")).address == "https://ours.example/v2"


# What cmem.ai's own set-up reads ----------------------------------------------------------


def noted(scene: Scene) -> dict[str, str]:
    found = json.loads(scene.paths.settings.read_text())
    return {key: found.get(key, "") for key in (AT, MESSAGE, ACTION, URL)}


@pytest.fixture
def gateway(scene: Scene) -> Scene:
    scene.set(provider="alpha", alpha_base_url=GATEWAY, quota_fallback_provider="beta")
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", "cm_pro_" + KEY, "file")
    return scene


async def test_a_gateway_that_stops_is_noted_and_its_next_answer_clears_it(
    gateway: Scene,
) -> None:
    more = {"action": "Renew the plan", "url": "https://cmem.ai/billing"}
    gateway.script["alpha"] = [fails(Failure.PAYMENT, text="the plan has ended", **more)]
    assert (await gateway.ask()).provider == "beta"
    first = noted(gateway)
    assert first[AT].startswith("2026-09-21T")
    assert first[MESSAGE].startswith("the plan has ended")
    assert (first[ACTION], first[URL]) == ("Renew the plan", "https://cmem.ai/billing")
    await gateway.ask()
    assert gateway.asked == ["alpha", "beta", "beta"], "the note does not end the hold"
    gateway.later(1_801)
    gateway.script["alpha"] = [fails(Failure.PAYMENT, text="the plan has ended", **more)]
    await gateway.ask()
    assert noted(gateway) == first, "it says since when"
    gateway.later(4_000)
    assert (await gateway.ask()).provider == "alpha"
    assert set(noted(gateway).values()) == {""}


async def test_only_the_gateway_and_only_what_stays_is_noted(gateway: Scene) -> None:
    gateway.script["alpha"] = [fails(Failure.OUTAGE)] * 3
    assert (await gateway.ask()).provider == "beta"
    assert noted(gateway)[AT] == ""
    gateway.set(provider="beta", quota_fallback_provider="off")
    gateway.script["beta"] = [fails(Failure.PAYMENT)]
    await gateway.failure()
    assert noted(gateway)[AT] == ""


async def test_a_strange_link_is_not_noted(gateway: Scene) -> None:
    gateway.script["alpha"] = [fails(Failure.QUOTA, url="https://cmem.ai.evil.example/pay")]
    await gateway.ask()
    assert noted(gateway)[AT]
    assert noted(gateway)[URL] == ""
