"""What the core expects of every provider, and Codex's protocol as it was recorded.

The real program is driven in the end-to-end tests.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_mem_provider_codex import lacks, room

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.testing import ProviderContract
from claude_mem_core.types import Message

_spec = importlib.util.spec_from_file_location(
    "codex_stand_in", Path(__file__).parent / "stand_in.py"
)
assert _spec
assert _spec.loader
stand_in = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stand_in)


def event(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return event("item/completed", item={"type": kind, **fields})


def completed(error: Any = None, info: Any = None) -> dict[str, Any]:
    failed = {"message": error, "codexErrorInfo": info} if error else None
    status = "failed" if error else "completed"
    return event("turn/completed", turn={"id": "u1", "status": status, "error": failed})


TOTAL = {"inputTokens": 100, "cachedInputTokens": 40, "outputTokens": 20}
ANSWER = (
    event("item/started", item={"type": "userMessage"}),
    item("reasoning"),
    item("agentMessage", text="first words"),
    item("agentMessage", text="hi there"),
    event("thread/tokenUsage/updated", tokenUsage={"total": TOTAL, "last": TOTAL}),
    event(
        "account/rateLimits/updated",
        rateLimits={
            "primary": {"usedPercent": 97, "windowDurationMins": 300, "resetsAt": 1796109150},
            "secondary": {"usedPercent": 20, "windowDurationMins": 10080, "resetsAt": None},
        },
    ),
    completed(),
)


class TestProvider(ProviderContract):
    plugin = "provider.codex"
    said = "hi there"

    @pytest.fixture(autouse=True)
    def _stand_in(self, tmp_path: Path) -> None:
        self.codex = stand_in.StandIn(tmp_path).login().says(*ANSWER)

    def pointed(self, url: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.codex.settings
        return found


@pytest.fixture
def codex(tmp_path: Path) -> Any:
    return stand_in.StandIn(tmp_path).login()


def failed(codex: Any, **settings: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        codex.asked(**settings)
    return caught.value


def test_an_answer_with_its_usage_and_windows(codex: Any) -> None:
    reply = codex.says(*ANSWER).asked()
    assert (reply.text, reply.stop, reply.model) == ("hi there", "completed", "gpt-recorded")
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (100, 40, 20)
    five, seven = reply.windows
    assert (five.name, five.used, five.resets_at_ms) == ("five_hour", 0.97, 1796109150000)
    assert (seven.name, seven.used, seven.rejected) == ("seven_day", 0.2, False)


def test_what_it_is_asked(codex: Any) -> None:
    said = [
        Message(role=r, text=t) for r, t in (("user", "A"), ("assistant", "B"), ("user", "C"))
    ]
    codex.says(*ANSWER).asked(*said, CLAUDE_MEM_CODEX_MODEL="gpt-mine")
    calls = {call["method"]: call.get("params") for call in codex.told["calls"]}
    assert list(calls) == ["initialize", "initialized", "thread/start", "turn/start"]
    thread, turn = calls["thread/start"], calls["turn/start"]
    assert thread["baseInstructions"] == "Be brief."
    assert (thread["ephemeral"], thread["sandbox"], thread["approvalPolicy"]) == (
        True, "read-only", "never",
    )  # fmt: skip
    assert (thread["model"], turn["effort"], turn["threadId"]) == ("gpt-mine", "low", "t1")
    text = turn["input"][0]["text"]
    assert text.index("A") < text.index("B") < text.index("C")


def test_codex_chooses_where_nothing_is_set(codex: Any) -> None:
    codex.says(*ANSWER).asked(CLAUDE_MEM_CODEX_REASONING_EFFORT="")
    calls = {call["method"]: call.get("params") for call in codex.told["calls"]}
    assert "model" not in calls["thread/start"]
    assert "effort" not in calls["turn/start"]


def test_it_has_a_home_of_its_own_that_is_gone_afterwards(
    codex: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    monkeypatch.setenv("CODEX_HOME", "/planted")
    codex.says(*ANSWER).asked()
    told = codex.told
    home = Path(told["home"])
    assert home.parent == codex.data / "observer" / "codex"
    assert Path(told["cwd"]).parent.name == home.name
    assert list(home.parent.iterdir()) == []
    assert "planted" not in " ".join(told["env"].values())
    assert told["linked"], "the login is the user's own, not a copy"
    assert codex.auth.exists()
    for switched_off in ("hooks = false", "shell_tool = false", "plugins = false"):
        assert switched_off in told["config"]
    assert '[history]\npersistence = "none"' in told["config"]


@pytest.mark.parametrize(
    ("text", "info", "failure"),
    [
        ("out of room in the context window", "contextWindowExceeded", Failure.TOO_LONG),
        ("You’ve hit your usage limit. Try again at 7:12 AM.", "usageLimitExceeded",
         Failure.QUOTA),
        ("slow down", "rateLimitExceeded", Failure.RATE_LIMIT),
        ("exceeded retry limit, last status: 429 Too Many Requests",
         {"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, Failure.RATE_LIMIT),
        ("high demand", "serverOverloaded", Failure.OVERLOAD),
        ("temporary errors", "internalServerError", Failure.OUTAGE),
        ("no such model", "modelNotFound", Failure.MODEL),
        ("unexpected status 404 Not Found: The model `x` does not exist",
         {"httpConnectionFailed": {"httpStatusCode": 404}}, Failure.MODEL),
        ("The 'gpt-x' model is not supported when using Codex with a ChatGPT account.", "other",
         Failure.MODEL),
        ("Unsupported value: 'ultra' for reasoning.effort", "badRequest", Failure.MODEL),
        ("unauthorized", "unauthorized", Failure.KEY_REFUSED),
        ("Your refresh token has expired; log in again", "other", Failure.KEY_REFUSED),
        ("stream disconnected before completion", "other", Failure.OUTAGE),
        ("stream disconnected before completion",
         {"responseStreamDisconnected": {"httpStatusCode": None}}, Failure.OUTAGE),
        ("error sending request for url (https://auth.openai.com/oauth/token)", "other",
         Failure.OUTAGE),
        ("messages are wrong", "badRequest", Failure.BAD_REQUEST),
        ("not allowed", "cyberPolicy", Failure.BAD_REQUEST),
        ("something new", "other", Failure.UNUSABLE),
    ],
)  # fmt: skip
def test_failures(codex: Any, text: str, info: Any, failure: Failure) -> None:
    error = failed(codex.says(completed(text, info)))
    assert error.failure is failure
    if failure is Failure.MODEL:
        assert "mem config set codex-model" in str(error)


def test_a_spent_window_says_until_when(codex: Any) -> None:
    ends = int(time.time()) + 3600
    limits = {"primary": {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": ends}}
    codex.says(
        event("account/rateLimits/updated", rateLimits=limits),
        completed("You’ve hit your usage limit.", "usageLimitExceeded"),
    )
    error = failed(codex)
    assert error.failure is Failure.QUOTA
    assert 3000 < (error.retry_after_s or 0) <= 3600


@pytest.mark.parametrize("kind", ["commandExecution", "fileChange", "mcpToolCall", "webSearch"])
def test_doing_something_ends_it(codex: Any, kind: str) -> None:
    codex.says(event("item/started", item={"type": kind}), *ANSWER)
    error = failed(codex)
    assert error.failure is Failure.UNUSABLE
    assert kind in str(error)


def test_nothing_is_allowed(codex: Any) -> None:
    ask = {"id": 77, "method": "item/commandExecution/requestApproval", "params": {}}
    codex.says(ask, *ANSWER).asked()
    answers = [call for call in codex.told["calls"] if call.get("id") == 77]
    assert len(answers) <= 1  # it may be over before it reads the answer
    assert all("error" in answer for answer in answers)


def test_an_empty_answer(codex: Any) -> None:
    assert failed(codex.says(completed())).failure is Failure.UNUSABLE


def test_too_slow_is_ended(codex: Any) -> None:
    codex.says("wait")
    assert failed(codex, CLAUDE_MEM_LLM_TIMEOUT_MS=2_000).failure is Failure.TIMEOUT


def test_an_end_without_an_answer(codex: Any) -> None:
    assert failed(codex.says("end")).failure is Failure.OUTAGE


def test_a_refused_call(codex: Any) -> None:
    error = failed(codex.says(*ANSWER, refused="thread/start"))
    assert error.failure is Failure.BAD_REQUEST
    assert "thread/start" in str(error)


def test_no_program(codex: Any) -> None:
    assert failed(codex).failure is Failure.OUTAGE
    assert "mem config set codex-path" in lacks(codex.settings)


# The login ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"OPENAI_API_KEY": "sk-1"}, "by API key"),
        ({"auth_mode": "apikey"}, "by API key"),
        ({"tokens": None}, "none with ChatGPT"),
        ({"tokens": {}}, "none with ChatGPT"),
    ],
)
def test_only_a_login_with_chatgpt(codex: Any, changed: dict[str, Any], word: str) -> None:
    codex.says(*ANSWER).login(**changed)
    assert word in lacks(codex.settings)
    error = failed(codex)
    assert error.failure is Failure.KEY_REFUSED
    assert "login" in str(error)


@pytest.mark.parametrize("text", [None, "", "[]", "{", "null"])
def test_no_login_in_a_file(codex: Any, text: str | None) -> None:
    codex.says(*ANSWER)
    codex.auth.unlink()
    if text is not None:
        codex.auth.write_text(text)
    assert "cli_auth_credentials_store=file login" in lacks(codex.settings)
    assert failed(codex).failure is Failure.KEY_REFUSED


@pytest.mark.parametrize("mode", [None, "chatgpt"])
def test_a_login_that_does(codex: Any, mode: str | None) -> None:
    codex.says().login(auth_mode=mode)
    assert lacks(codex.settings) == ""


def test_the_config_is_toml_that_codex_reads() -> None:
    import tomllib

    from claude_mem_provider_codex.login import CONFIG

    config = tomllib.loads(CONFIG)
    assert config["sandbox_mode"] == "read-only"
    assert not any(config["features"].values())


def test_several_at_once_wait_for_each_other(codex: Any) -> None:
    from claude_mem_provider_codex.model import CodexModel

    codex.says(*ANSWER)
    model = CodexModel({**codex.settings, "CLAUDE_MEM_CODEX_MAX_CONCURRENT_AGENTS": 1})
    replies: list[str] = []

    async def one() -> None:
        said = [Message(role="user", text="hello")]
        replies.append((await model.reply("", said, max_tokens=8)).text)

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)

    anyio.run(all_of_them)
    assert replies == ["hi there"] * 3
    assert json.loads((codex.folder / "note").read_text())["calls"]


def test_a_batch_is_as_large_as_the_user_allows() -> None:
    key = "CLAUDE_MEM_CODEX_OBSERVATION_BATCH_"
    found = room({f"{key}SIZE": 8, f"{key}MAX_CHARS": 32_000})
    assert (found.uses, found.chars) == (8, 32_000)
