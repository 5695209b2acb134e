"""The way to a model: which provider, which key, when not at all, and what it costs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from claude_mem_core import secrets
from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.budget import OverBudget
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import Reply, Usage, Window
from tests.providing_kit import Scene, fails, says

pytestmark = pytest.mark.anyio
KEY, SECOND, THIRD = "key-one-0123456789", "key-two-0123456789", "key-three-012345678"
MINUTE, HOUR = 60.0, 3600.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def scene(install_fake_plugin: FakeSite, tmp_path: Path) -> Iterator[Scene]:
    made = Scene.make(install_fake_plugin, tmp_path)
    secrets.write(made.paths, "CLAUDE_MEM_ALPHA_API_KEY", KEY, "file")
    secrets.write(made.paths, "CLAUDE_MEM_BETA_API_KEY", "beta-" + KEY, "file")
    made.open(provider="alpha")
    yield made
    made.dispatcher.close()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short waits inside a request take no time; the long ones are the scene's clock."""

    async def passed(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr("claude_mem_core.providing.attempts.anyio.sleep", passed)


# Who is asked ----------------------------------------------------------------------------


async def test_the_chosen_provider_answers_with_its_own_key_only(scene: Scene) -> None:
    reply = await scene.ask()
    assert reply.provider == "alpha"
    assert scene.calls[0].values == {"CLAUDE_MEM_ALPHA_API_KEY": KEY}


async def test_rules_do_all_until_a_provider_is_chosen(scene: Scene) -> None:
    scene.set(provider="builtin")
    assert (await scene.failure()).failure is Failure.OUTAGE
    assert scene.asked == []
    assert not await scene.dispatcher.ready()


async def test_a_name_that_another_program_wrote_calls_nobody(scene: Scene) -> None:
    (scene.paths.data / "settings.set").unlink()
    await scene.failure()
    assert scene.asked == []


async def test_a_change_of_the_provider_counts_at_once(scene: Scene) -> None:
    await scene.ask()
    scene.set(provider="beta")
    await scene.ask()
    assert scene.asked == ["alpha", "beta"]


async def test_a_provider_without_a_key_is_not_asked(scene: Scene) -> None:
    secrets.delete(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY")
    error = await scene.failure()
    assert "mem auth set alpha" in str(error)
    assert scene.asked == []
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", KEY, "file")
    assert (await scene.ask()).provider == "alpha"


async def test_an_unknown_provider_names_its_package(scene: Scene) -> None:
    scene.set(provider="gamma")
    assert "pip install claude-mem-provider-gamma" in str(await scene.failure())


# Failures -----------------------------------------------------------------------------------

HELD = {
    Failure.KEY_REFUSED: None,
    Failure.MODEL: None,
    Failure.QUOTA: 30 * MINUTE,
    Failure.PAYMENT: 30 * MINUTE,
    Failure.REGION: 30 * MINUTE,
    Failure.RATE_LIMIT: MINUTE,
    Failure.OVERLOAD: 1.8 * MINUTE,
    Failure.OUTAGE: 1.8 * MINUTE,
    Failure.TIMEOUT: 3.6 * MINUTE,
}
RETRIED = {Failure.OVERLOAD, Failure.OUTAGE}


@pytest.mark.parametrize("failure", HELD)
async def test_a_failing_provider_is_left_alone_and_tried_again(
    scene: Scene, failure: Failure
) -> None:
    scene.script["alpha"] = [fails(failure)] * 3
    assert (await scene.failure()).failure is failure
    tries = len(scene.calls)
    assert tries == (3 if failure in RETRIED else 1)
    scene.script["alpha"] = []
    for _ in range(5):
        assert (await scene.failure()).failure is failure
    assert len(scene.calls) == tries, "it was held"
    seconds = HELD[failure]
    if seconds is None:
        scene.later(24 * HOUR)
        await scene.failure()
        assert len(scene.calls) == tries, "only the user can mend it"
        scene.set(alpha_model="another")
    else:
        scene.later(seconds)
    assert (await scene.ask()).provider == "alpha"
    assert scene.dispatcher.patience.holds.all() == {}


async def test_a_corrected_key_works_at_once(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.KEY_REFUSED)]
    await scene.failure()
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", SECOND, "file")
    await scene.ask()
    assert scene.calls[-1].key == SECOND


async def test_a_test_call_ends_a_hold(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.PAYMENT), fails(Failure.PAYMENT)]
    await scene.failure()
    with pytest.raises(ProviderError):
        await scene.dispatcher.test("alpha")
    assert not await scene.dispatcher.ready()
    await scene.dispatcher.test("alpha")
    assert await scene.dispatcher.ready()


@pytest.mark.parametrize("failure", [Failure.RATE_LIMIT, Failure.QUOTA, Failure.OVERLOAD])
async def test_nobody_asks_before_the_named_time(scene: Scene, failure: Failure) -> None:
    scene.script["alpha"] = [fails(failure, 14 * MINUTE)]
    await scene.failure()
    assert len(scene.calls) == 1
    scene.later(14 * MINUTE - 1)
    left = (await scene.failure()).retry_after_s
    assert left is not None
    assert len(scene.calls) == 1
    scene.later(max(left, 1) + 1)
    await scene.ask()


async def test_a_short_named_wait_is_waited_for(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.RATE_LIMIT, 3), fails(Failure.RATE_LIMIT, 3)]
    await scene.ask()
    assert len(scene.calls) == 3


async def test_what_is_wrong_with_the_conversation_holds_nobody(scene: Scene) -> None:
    for failure in (Failure.TOO_LONG, Failure.TOO_LONG, Failure.TOO_LONG, Failure.BAD_REQUEST):
        scene.script["alpha"] = [fails(failure)]
        assert (await scene.failure()).failure is failure
    assert await scene.dispatcher.ready()


async def test_refusals_of_everything_hold_after_three(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.BAD_REQUEST)] * 3
    for _ in range(3):
        await scene.failure()
    assert not await scene.dispatcher.ready()
    assert (await scene.failure()).failure is Failure.OUTAGE, "this one nobody looked at"


async def test_a_refusal_in_prose_is_one(scene: Scene) -> None:
    scene.script["alpha"] = [says("You've hit your usage limit · resets 3am (UTC)")]
    assert (await scene.failure()).failure is Failure.QUOTA
    assert not await scene.dispatcher.ready()


async def test_of_many_that_fail_together_one_counts(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.TIMEOUT)] * 4
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(scene.failure)
    hold = scene.dispatcher.patience.holds.get("alpha")
    assert hold is not None
    assert hold.streak == 1


async def test_one_request_tries_a_held_provider_and_the_others_wait(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.QUOTA)]
    await scene.failure()
    scene.later(HOUR)
    done: list[str] = []

    async def one() -> None:
        try:
            done.append((await scene.ask()).provider)
        except ProviderError as error:
            done.append(error.failure.value)

    digest = (await scene.dispatcher.candidate("alpha")).digest
    with scene.dispatcher.patience.entered("alpha", digest) as is_probe:
        assert is_probe
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)
    assert done == ["quota"] * 3
    await one()
    assert done[-1] == "alpha"


async def test_with_nobody_at_work_it_stops_after_three_tries(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.QUOTA)] * 10
    for _ in range(10):
        await scene.failure()
        scene.later(2 * HOUR, active=False)
    assert len(scene.calls) == 4, "the first failure and three tries"
    scene.later(1, active=True)
    await scene.failure()
    assert len(scene.calls) == 5


async def test_outages_are_waited_out_longer_and_longer(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.TIMEOUT)] * 10
    waits = []
    for _ in range(6):
        await scene.failure()
        hold = scene.dispatcher.patience.holds.get("alpha")
        assert hold is not None
        waits.append((hold.until_ms - scene.now) / 1000)
        scene.later(waits[-1] + 1)
    assert waits[0] < 4 * MINUTE < waits[2] < waits[5] < 40 * MINUTE
    scene.script["alpha"] = []
    await scene.ask()
    scene.script["alpha"] = [fails(Failure.TIMEOUT)]
    await scene.failure()
    hold = scene.dispatcher.patience.holds.get("alpha")
    assert hold is not None
    assert (hold.until_ms - scene.now) / 1000 < 4 * MINUTE, "one success forgets them"


async def test_holds_survive_a_restart(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.QUOTA, HOUR)]
    await scene.failure()
    scene.dispatcher.close()
    scene.open()
    assert (await scene.failure()).failure is Failure.QUOTA
    assert len(scene.calls) == 1
    scene.later(HOUR)
    await scene.ask()


# Another provider meanwhile -------------------------------------------------------------------


async def test_the_fallback_serves_until_the_first_is_back(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta", quota_fallback_model="big-2")
    scene.script["alpha"] = [fails(Failure.QUOTA)]
    assert (await scene.ask()).provider == "beta"
    assert scene.calls[-1].values["CLAUDE_MEM_BETA_MODEL"] == "big-2"
    assert (await scene.ask()).provider == "beta"
    assert scene.asked == ["alpha", "beta", "beta"]
    scene.later(31 * MINUTE)
    assert (await scene.ask()).provider == "alpha"
    assert "CLAUDE_MEM_ALPHA_MODEL" not in scene.calls[-1].values


async def test_both_held_is_told_with_the_first_ones_reason(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta")
    scene.script = {"alpha": [fails(Failure.PAYMENT)], "beta": [fails(Failure.REGION)]}
    assert (await scene.failure()).failure is Failure.PAYMENT
    assert not await scene.dispatcher.ready()
    assert (await scene.failure()).failure is Failure.PAYMENT
    assert scene.asked == ["alpha", "beta"]


async def test_a_refused_key_does_not_move_to_the_fallback(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta")
    scene.script["alpha"] = [fails(Failure.KEY_REFUSED)]
    assert (await scene.failure()).failure is Failure.KEY_REFUSED
    assert scene.asked == ["alpha"]


async def test_a_provider_can_be_left_out(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta")
    assert (await scene.ask(avoid={"alpha"})).provider == "beta"


async def test_no_answer_is_asked_for_once_more_and_then_of_the_fallback(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.UNUSABLE)]
    assert (await scene.ask()).provider == "alpha"
    assert scene.asked == ["alpha"] * 2
    scene.set(quota_fallback_provider="beta")
    scene.script["alpha"] = [fails(Failure.UNUSABLE)] * 2
    assert (await scene.ask()).provider == "beta"
    assert scene.asked == ["alpha"] * 4 + ["beta"]
    scene.script = {
        "alpha": [fails(Failure.UNUSABLE)] * 2,
        "beta": [fails(Failure.UNUSABLE)] * 2,
    }
    assert (await scene.failure()).failure is Failure.UNUSABLE


async def test_the_fallbacks_own_words_about_a_conversation_are_told(scene: Scene) -> None:
    scene.set(quota_fallback_provider="beta")
    scene.script = {"alpha": [fails(Failure.QUOTA)], "beta": [fails(Failure.TOO_LONG)]}
    assert (await scene.failure()).failure is Failure.TOO_LONG


async def test_answers_that_are_none_hold_for_a_while(scene: Scene) -> None:
    scene.dispatcher.unusable("alpha")
    assert not await scene.dispatcher.ready()
    scene.later(91)
    assert await scene.dispatcher.ready()


# Keys -------------------------------------------------------------------------------------------


def pool(scene: Scene, *keys: str) -> None:
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEYS", ",".join(keys), "file")


@pytest.mark.parametrize(
    "failure", [Failure.RATE_LIMIT, Failure.QUOTA, Failure.KEY_REFUSED, Failure.PAYMENT]
)
async def test_the_next_key_takes_over(scene: Scene, failure: Failure) -> None:
    pool(scene, SECOND, THIRD)
    scene.script["alpha"] = [fails(failure), fails(failure)]
    await scene.ask()
    await scene.ask()
    assert [call.key for call in scene.calls] == [KEY, SECOND, THIRD, THIRD]


@pytest.mark.parametrize("failure", [Failure.OUTAGE, Failure.REGION, Failure.MODEL])
async def test_what_no_other_key_mends_turns_no_key(scene: Scene, failure: Failure) -> None:
    pool(scene, SECOND)
    scene.script["alpha"] = [fails(failure)] * 3
    await scene.failure()
    assert {call.key for call in scene.calls} == {KEY}


async def test_cooldowns_survive_a_restart_and_end(scene: Scene) -> None:
    pool(scene, SECOND)
    scene.script["alpha"] = [fails(Failure.QUOTA)]
    await scene.ask()
    scene.dispatcher.close()
    scene.open()
    await scene.ask()
    scene.later(31 * MINUTE)
    await scene.ask()
    assert [call.key for call in scene.calls] == [KEY, SECOND, SECOND, KEY]


async def test_with_all_keys_cooling_the_last_failure_is_told(scene: Scene) -> None:
    pool(scene, SECOND)
    scene.script["alpha"] = [fails(Failure.RATE_LIMIT, 600), fails(Failure.RATE_LIMIT, 300)]
    assert (await scene.failure()).retry_after_s == 300
    assert not await scene.dispatcher.ready()
    scene.later(301)
    await scene.ask()
    assert [call.key for call in scene.calls] == [KEY, SECOND, SECOND]


async def test_no_key_can_be_read_from_what_is_kept(scene: Scene) -> None:
    pool(scene, SECOND)
    scene.script["alpha"] = [fails(Failure.QUOTA, None, f"the key {KEY} is spent")] * 2
    assert KEY not in str(await scene.failure())
    for path in scene.paths.data.iterdir():
        if path.is_file() and path.name != ".env":
            assert KEY.encode() not in path.read_bytes(), path.name
    kept = json.loads((scene.paths.data / "api-key-cooldown.json").read_text())
    assert len(kept["cooldowns"]) == 2


async def test_a_file_of_claude_mem_is_left_as_it_is(
    install_fake_plugin: FakeSite, tmp_path: Path
) -> None:
    other = Scene.make(install_fake_plugin, tmp_path / "shared")
    (other.paths.data / "claude-mem.db").write_bytes(b"theirs")
    (other.paths.data / "api-key-cooldown.json").write_text('{"gemini": {"a": 1}}')
    secrets.write(other.paths, "CLAUDE_MEM_ALPHA_API_KEY", KEY, "file")
    other.open(provider="alpha")
    await other.ask()
    assert (other.paths.data / "api-key-cooldown.json").read_text() == '{"gemini": {"a": 1}}'
    other.dispatcher.close()


async def test_the_same_key_has_another_mark_elsewhere(scene: Scene, tmp_path: Path) -> None:
    other = Scene.make(scene.site, tmp_path / "other")
    book = other.open().book
    assert book.fingerprint(KEY) != scene.dispatcher.book.fingerprint(KEY)


async def test_a_key_stays_with_the_origin_it_was_set_for(scene: Scene) -> None:
    await scene.ask()
    scene.set(alpha_base_url="https://elsewhere.example/v1")
    error = await scene.failure()
    assert "https://alpha.example" in str(error)
    assert len(scene.calls) == 1, "it was not sent there"
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", SECOND, "file")
    await scene.ask()
    scene.set(alpha_base_url="https://alpha.example/v2")
    await scene.failure()
    assert [call.key for call in scene.calls] == [KEY, SECOND]


async def test_keys_of_the_gateway_go_there_only_and_no_other_does(scene: Scene) -> None:
    pool(scene, "cm_pro_abcdef", SECOND)
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", "cm_pro_first", "file")
    await scene.ask()
    assert scene.calls[-1].key == SECOND
    scene.set(alpha_base_url="https://cmem.ai/api/inference/v1")
    await scene.ask()
    assert scene.calls[-1].key == "cm_pro_first"
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", KEY, "file")
    secrets.delete(scene.paths, "CLAUDE_MEM_ALPHA_API_KEYS")
    assert "mem auth set alpha" in str(await scene.failure())
    assert len(scene.calls) == 2


async def test_the_gateways_refused_key_falls_back_and_is_tried_after_15_minutes(
    scene: Scene,
) -> None:
    scene.set(alpha_base_url="https://cmem.ai/api/inference/v1", quota_fallback_provider="beta")
    secrets.write(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY", "cm_pro_first", "file")
    scene.script["alpha"] = [fails(Failure.KEY_REFUSED)]
    assert (await scene.ask()).provider == "beta"
    scene.later(16 * MINUTE)
    assert (await scene.ask()).provider == "alpha"


async def test_keys_of_the_shell_are_not_inherited(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets.delete(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY")
    for name in ("ALPHA_API_KEY", "CLAUDE_MEM_ALPHA_API_KEY", "ALPHA_API_KEYS"):
        monkeypatch.setenv(name, KEY)
    scene.open()
    await scene.failure()
    assert scene.asked == []


@pytest.mark.parametrize("name", ["CLAUDE_MEM_ALPHA_API_KEY", "ALPHA_API_KEY"])
async def test_the_file_of_claude_mem_is_read(scene: Scene, name: str) -> None:
    secrets.delete(scene.paths, "CLAUDE_MEM_ALPHA_API_KEY")
    secrets.write(scene.paths, name, SECOND, "file")
    await scene.ask()
    assert scene.calls[-1].key == SECOND


async def test_a_key_in_the_settings_file_counts_before_env(scene: Scene) -> None:
    scene.set(alpha_api_key=SECOND)
    await scene.ask()
    assert scene.calls[-1].key == SECOND


# The budget ---------------------------------------------------------------------------------------


async def test_five_calls_and_then_none(scene: Scene) -> None:
    scene.set(budget_daily_tokens="50000")
    scene.script["alpha"] = [says(tokens=10_000)] * 20
    for _ in range(5):
        await scene.ask(session=1)
    for session in (1, 2):
        error = await scene.failure(session=session)
        assert isinstance(error, OverBudget)
        assert "mem config set budget-daily-tokens" in str(error)
    assert len(scene.calls) == 5
    assert not await scene.dispatcher.ready()
    assert scene.dispatcher.patience.holds.all() == {}, "the provider is well"
    scene.later(24 * HOUR)
    await scene.ask()


@pytest.mark.parametrize(
    ("limit", "calls"),
    [("daily_calls", 3), ("session_calls", 3), ("session_tokens", 3)],
)
async def test_every_limit_counts(scene: Scene, limit: str, calls: int) -> None:
    scene.set(**{f"budget_{limit}": "300" if limit.endswith("tokens") else "3"})
    scene.script["alpha"] = [says(tokens=100)] * 20
    for _ in range(calls):
        await scene.ask(session=1)
    await scene.failure(session=1)
    assert len(scene.calls) == calls
    other = await scene.dispatcher.ready(session=2)
    assert other == limit.startswith("session")


async def test_zero_is_no_limit(scene: Scene) -> None:
    scene.set(budget_daily_tokens="0", budget_session_tokens="0")
    scene.script["alpha"] = [says(tokens=100_000_000)] * 3
    for _ in range(3):
        await scene.ask()


async def test_many_at_once_do_not_pass_the_limit_together(scene: Scene) -> None:
    scene.set(budget_daily_calls="4")
    done: list[bool] = []

    async def one(number: int) -> None:
        try:
            await scene.ask(session=number)
            done.append(True)
        except OverBudget:
            done.append(False)

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(one, number)
    assert sorted(done) == [False] * 8 + [True] * 4


async def test_a_call_that_never_came_back_is_counted(scene: Scene) -> None:
    def dies(call: object) -> ProviderError:
        raise KeyboardInterrupt

    scene.script["alpha"] = [dies]
    with pytest.raises(KeyboardInterrupt):
        await scene.ask(session=5)
    scene.dispatcher.close()
    scene.open()
    (row,) = scene.dispatcher.ledger.sums("2026-01-01", "session")
    assert (row.name, row.calls) == (5, 1)
    assert row.input_tokens > 0


async def test_a_refusal_costs_a_call_and_no_tokens(scene: Scene) -> None:
    scene.script["alpha"] = [fails(Failure.PAYMENT)]
    await scene.failure()
    (row,) = scene.dispatcher.ledger.sums("2026-01-01", "provider")
    assert (row.name, row.calls, row.failed, row.input_tokens) == ("alpha", 1, 1, 0)


async def test_the_account_by_day_session_project_provider_model(scene: Scene) -> None:
    scene.script["alpha"] = [says(tokens=100), says(tokens=200), says(tokens=50)]
    await scene.ask(session=1, project=7)
    await scene.ask(session=2, project=7)
    scene.later(24 * HOUR)
    await scene.ask(session=1, project=8)
    sums = scene.dispatcher.ledger.sums
    found = {by: {r.name: r.input_tokens for r in sums("2026-01-01", by)} for by in
             ("day", "session", "project", "provider", "model")}  # fmt: skip
    assert found["day"] == {"2026-09-22": 50, "2026-09-21": 300}
    assert found["session"] == {1: 150, 2: 200}
    assert found["project"] == {7: 300, 8: 50}
    assert found["provider"] == {"alpha": 350}
    assert found["model"] == {"small-1": 350}


async def test_each_call_is_logged_with_its_tokens_and_its_price(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    usage = Usage(input_tokens=700, output_tokens=30, cached_tokens=500, cost_usd=0.0042)
    scene.script["alpha"] = [Reply(text="<skip_summary/>", usage=usage, model="m-1")]
    with caplog.at_level(logging.INFO):
        await scene.ask()
    (line,) = [m for m in caplog.messages if "tokens" in m]
    assert line == (
        "provider alpha: model m-1, 700 tokens in (500 cached), 30 out, 0.0042 USD, 1 messages"
    )


async def test_without_an_account_nothing_is_sent(scene: Scene) -> None:
    (scene.paths.data / "usage.db").write_bytes(b"this is no database" * 100)
    error = await scene.failure()
    assert "usage.db" in str(error)
    assert scene.asked == []


# A subscription's windows ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "stops"),
    [
        (Window(name="five_hour", used=0.94, resets_at_ms=0), False),
        (Window(name="five_hour", used=0.95), True),
        (Window(name="seven_day", used=0.93), True),
        (Window(name="seven_day_opus", used=0.92), False),
        (Window(name="seven_day_sonnet", used=0.92), True),
        (Window(name="overage", used=0.95), True),
        (Window(name="five_hour", used=0.1, rejected=True), True),
        (Window(name="unheard_of", used=1.0), False),
        (Window(name="unheard_of", rejected=True), True),
    ],
)
async def test_the_rest_of_a_subscription_is_left(
    scene: Scene, window: Window, stops: bool
) -> None:
    scene.script["alpha"] = [says(windows=(window,))]
    assert (await scene.ask()).text
    assert await scene.dispatcher.ready() is not stops


async def test_near_its_reset_the_five_hours_stop_earlier(scene: Scene) -> None:
    soon, late = scene.now + 14 * 60_000, scene.now + 16 * 60_000
    scene.script["alpha"] = [
        says(windows=(Window(name="five_hour", used=0.86, resets_at_ms=late),)),
        says(windows=(Window(name="five_hour", used=0.86, resets_at_ms=soon),)),
    ]
    await scene.ask()
    assert await scene.dispatcher.ready()
    await scene.ask()
    assert not await scene.dispatcher.ready()
    scene.later(31 * MINUTE)
    assert await scene.dispatcher.ready()
