"""How things stand, in the words people see: status, doctor, a session's start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core import secrets
from claude_mem_core.cli import model_text
from claude_mem_core.errors import Failure
from claude_mem_core.providing.report import Standing, as_json, spent_line, standing
from claude_mem_core.testing.fake_site import FakeSite
from tests.providing_kit import Scene, fails, says

pytestmark = pytest.mark.anyio
KEY = "key-one-0123456789"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def scene(install_fake_plugin: FakeSite, tmp_path: Path) -> Iterator[Scene]:
    made = Scene.make(install_fake_plugin, tmp_path)
    for name in ("ALPHA", "BETA"):
        secrets.write(made.paths, f"CLAUDE_MEM_{name}_API_KEY", KEY, "file")
    made.open(provider="alpha")
    yield made
    made.dispatcher.close()


async def stands(scene: Scene) -> Standing:
    return await standing(scene.dispatcher, scene.settings.current(), scene.now)


async def shown(scene: Scene) -> dict[str, Any]:
    return await as_json(scene.dispatcher, scene.settings.current(), scene.now)


async def test_all_is_well(scene: Scene) -> None:
    scene.script["alpha"] = [says(tokens=1_234)]
    await scene.ask()
    found = await stands(scene)
    assert (found.state, found.serving, found.notice) == ("ok", "alpha", "")
    assert (found.model, found.keys, found.keys_in) == ("small-1", 1, ".env")
    line = model_text.line(await shown(scene))
    assert line == "models    alpha (small-1): ok; today 1,234 of 1,000,000 tokens in 1 calls"


async def test_without_a_model_rules_do_it(scene: Scene) -> None:
    scene.set(provider="builtin")
    found = await shown(scene)
    assert (found["state"], found["notice"]) == ("builtin", "")
    assert "rules make the memories" in model_text.line(found)
    assert list(model_text.trouble(found)) == []


async def test_a_name_nobody_confirmed(scene: Scene) -> None:
    (scene.paths.data / "settings.set").unlink()
    found = await stands(scene)
    assert (found.state, found.serving) == ("unconfirmed", "builtin")
    assert found.notice.endswith("to use it: mem config set provider alpha")


async def test_a_package_that_is_not_there(scene: Scene) -> None:
    scene.set(provider="gamma")
    found = await stands(scene)
    assert found.state == "incomplete"
    assert "pip install claude-mem-provider-gamma" in found.cure


async def test_half_a_provider(scene: Scene) -> None:
    secrets.delete(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY")
    found = await stands(scene)
    assert (found.state, found.cure) == ("incomplete", "mem auth set alpha")
    assert found.notice == (
        "memory: alpha: API key not configured; rules make the memories meanwhile;"
        " run: mem auth set alpha"
    )


async def test_the_fallback_serves_for_half_a_provider(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta")
    secrets.delete(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY")
    assert (await scene.ask()).provider == "beta"
    found = await stands(scene)
    assert (found.state, found.serving) == ("incomplete", "beta")
    assert "beta makes the memories meanwhile; run: mem auth set alpha" in found.notice


TOLD = {
    Failure.KEY_REFUSED: ("alpha refused the key or login", "mem auth set alpha"),
    Failure.MODEL: (
        "alpha does not have the model small-1",
        "mem config set alpha-model MODEL",
    ),
    Failure.QUOTA: ("the allowance at alpha is spent", "mem auth test alpha"),
    Failure.PAYMENT: ("the account at alpha has no credit", "mem auth test alpha"),
    Failure.REGION: ("alpha is not offered where you are", "mem config set provider NAME"),
}


@pytest.mark.parametrize("failure", TOLD)
async def test_what_is_wrong_and_what_to_run(scene: Scene, failure: Failure) -> None:
    scene.script["alpha"] = [fails(failure, text="no, see http://evil.example")]
    await scene.failure()
    found = await stands(scene)
    cause, cure = TOLD[failure]
    assert found.state == "held"
    assert found.notice.startswith(f"memory: {cause}; rules make the memories meanwhile")
    assert found.notice.endswith(cure)
    assert "evil.example" not in found.notice, "a service's words are for logs"
    assert "\n" not in found.notice
    later = await stands(scene)
    assert later.notice == found.notice, "the same words, so that they are said once"
    ((text, told_cure),) = model_text.trouble(await shown(scene))
    assert "rules make the memories meanwhile" in text
    assert told_cure == found.cure


@pytest.mark.parametrize("failure", [Failure.OUTAGE, Failure.OVERLOAD, Failure.TIMEOUT])
async def test_what_passes_by_itself_is_not_worth_a_line_at_first(
    scene: Scene, failure: Failure
) -> None:
    scene.script["alpha"] = [fails(failure)] * 30
    await scene.failure()
    assert (await stands(scene)).notice == ""
    for _ in range(4):
        scene.later(6 * 60)
        await scene.failure()
    assert "alpha" in (await stands(scene)).notice


async def test_who_serves_meanwhile_is_named(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta")
    scene.script["alpha"] = [fails(Failure.QUOTA)]
    await scene.ask()
    found = await stands(scene)
    assert (found.state, found.serving) == ("held", "beta")
    assert "beta makes the memories meanwhile" in found.notice
    scene.script["beta"] = [fails(Failure.QUOTA)]
    await scene.failure()
    assert (await stands(scene)).serving == "builtin"


async def test_the_gateways_own_words_are_shown_with_its_own_links_only(scene: Scene) -> None:
    for url, visible in (
        ("https://cmem.ai/billing", True),
        ("http://cmem.ai/billing", False),
        ("https://cmem.ai.evil.example", False),
    ):
        scene.dispatcher.patience.reset("alpha")
        scene.script["alpha"] = [
            fails(Failure.PAYMENT, text="Your trial is over.", action="Renew it", url=url)
        ]
        await scene.failure()
        notice = (await stands(scene)).notice
        assert "Your trial is over." in notice
        assert "Renew it" in notice
        assert (url in notice) is visible


async def test_a_spent_budget(scene: Scene) -> None:
    scene.set(budget_daily_calls="1")
    await scene.ask()
    found = await stands(scene)
    assert (found.state, found.serving) == ("over-budget", "builtin")
    assert found.cure == "mem config set budget-daily-calls NUMBER"
    assert "today's budget of 1 requests" in found.notice
    limits = {b["setting"]: b["used"] for b in (await shown(scene))["budget"]}
    assert limits["CLAUDE_MEM_BUDGET_DAILY_CALLS"] == 1


async def test_nothing_secret_is_in_it(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.KEY_REFUSED, text=f"wrong key {KEY}")]
    await scene.failure()
    assert KEY not in str(await shown(scene))


async def test_a_session_start_says_what_today_took(scene: Scene) -> None:
    async def line() -> str:
        return await spent_line(scene.dispatcher, scene.settings.current(), scene.now)

    assert await line() == ""
    scene.script["alpha"] = [says(tokens=1_200)]
    await scene.ask()
    assert await line() == (
        "memory: today's models took 1,200 of 1,000,000 tokens in 1 request (`mem usage`)"
    )
    scene.set(budget_daily_tokens="0")
    await scene.ask()
    assert "took 1,300 tokens in 2 requests" in await line()
    scene.later(86_400)
    assert await line() == "", "it is another day"
