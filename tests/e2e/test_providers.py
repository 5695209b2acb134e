"""The two providers that run a program of the user's, with the real programs."""

from __future__ import annotations

import base64
import json
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn
from claude_mem_core.testing.plugin import entries_named
from claude_mem_core.types import Message, Provider, Reply
from tools import hosts

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

RESETS = "4000000000"


@attrs.define
class Program:
    """A real program behind a script of ours that shows it the scripted server."""

    provider: str
    folder: Path
    settings: Mapping[str, Any]

    def asked(
        self, models: FakeModels, text: str = "hello", system: str = "Be brief."
    ) -> Reply:
        """The provider's reply."""
        (self.folder / "url").write_text(models.url)
        registry = Registry(entries_named(f"provider.{self.provider}"))
        record = registry.record("mem_providers", Provider, self.provider)
        assert record.lacks
        assert record.lacks(self.settings) == ""
        model = record.open(self.settings)
        said = [Message(role="user", text=text)]
        return anyio.run(lambda: model.reply(system, said, max_tokens=512))

    def failed(self, turn: Turn) -> ProviderError:
        """What comes of a request that the server answers with `turn`."""
        with script(*[turn] * 9) as models, pytest.raises(ProviderError) as caught:
            self.asked(models)
        return caught.value


def script(*turns: Turn) -> FakeModels:
    return FakeModels([Talk(match=".", anywhere=True, turns=turns)])


def wrapped(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o700)
    return path


# Claude Code --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("claude")
    program, url = shlex.quote(str(hosts.ensure("claude-code"))), shlex.quote(f"{folder}/url")
    profile = folder / "profile"
    profile.mkdir()
    hook = {
        "hooks": [{"type": "command", "command": f"touch {shlex.quote(f'{folder}/hooked')}"}]
    }
    events = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    (profile / "settings.json").write_text(
        json.dumps({"hooks": {event: [hook] for event in events}})
    )
    (profile / "CLAUDE.md").write_text("INSTRUCTIONS-OF-THE-USER")
    path = wrapped(
        folder / "claude",
        f"#!/bin/sh\nANTHROPIC_BASE_URL=$(cat {url}) CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test"
        f' exec {program} "$@"\n',
    )
    return Program(
        "claude",
        folder,
        {
            "CLAUDE_MEM_CLAUDE_PATH": str(path),
            "CLAUDE_MEM_CLAUDE_CONFIG_DIR": str(profile),
            "CLAUDE_MEM_DATA_DIR": str(folder / "data"),
            "CLAUDE_MEM_LLM_TIMEOUT_MS": 100_000,
        },
    )


def test_claude_code_answers_with_nothing_of_the_user(claude: Program) -> None:
    secret = claude.folder / "secret.txt"
    secret.write_text("CONTENTS-OF-A-FILE")
    usage = {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-5h-utilization": "0.97",
        "anthropic-ratelimit-unified-5h-status": "allowed_warning",
        "anthropic-ratelimit-unified-5h-reset": RESETS,
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-reset": RESETS,
    }
    with script(Turn(text="<observation>seen</observation>", headers=usage)) as models:
        reply = claude.asked(models, f"look at @{secret} please", "SYSTEM-WORDS")
    (request,) = models.requests
    assert reply.text == "<observation>seen</observation>"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)
    assert [(w.name, w.used) for w in reply.windows if w.name == "five_hour"] == [
        ("five_hour", 0.97)
    ]
    assert request.tools == ()
    assert "SYSTEM-WORDS" in request.text
    assert f"@{secret}" in request.text
    for unwanted in ("CONTENTS-OF-A-FILE", "INSTRUCTIONS-OF-THE-USER"):
        assert unwanted not in request.text
    assert request.body["max_tokens"] == 512
    assert request.body["thinking"] == {"type": "disabled"}
    assert not (claude.folder / "hooked").exists(), "no hook of the user's ran"
    assert not list((claude.folder / "profile").rglob("*.jsonl")), "no transcript is kept"


@pytest.mark.parametrize(
    ("turn", "failure"),
    [
        (Turn(status=401, text="invalid bearer token"), Failure.KEY_REFUSED),
        (Turn(status=529, text="Overloaded"), Failure.OVERLOAD),
        (Turn(status=500, text="boom"), Failure.OUTAGE),
        (Turn(status=404, text="model: gone"), Failure.MODEL),
        (Turn(status=400, text="prompt is too long: 250000 tokens > 200000 maximum"),
         Failure.TOO_LONG),
        (Turn(status=429, text="slow down"), Failure.RATE_LIMIT),
        (Turn(text=""), Failure.UNUSABLE),
        (Turn(status=429, text="limit", headers={
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-5h-status": "rejected",
            "anthropic-ratelimit-unified-5h-utilization": "1.0",
            "anthropic-ratelimit-unified-5h-reset": RESETS,
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-reset": RESETS,
        }), Failure.QUOTA),
    ],
    ids=lambda value: value.value if isinstance(value, Failure) else "",
)  # fmt: skip
def test_claude_code_fails(claude: Program, turn: Turn, failure: Failure) -> None:
    error = claude.failed(turn)
    assert error.failure is failure, str(error)
    if failure is Failure.QUOTA:
        assert (error.retry_after_s or 0) > 1e9


# Codex --------------------------------------------------------------------------------


def token() -> str:
    account = {"chatgpt_plan_type": "plus", "chatgpt_user_id": "u", "chatgpt_account_id": "a"}
    claims = {"email": "u@example", "exp": int(time.time()) + 999_999,
              "https://api.openai.com/auth": account}  # fmt: skip
    parts = ({"alg": "none"}, claims, {"sig": 1})
    coded = (base64.urlsafe_b64encode(json.dumps(part).encode()) for part in parts)
    return ".".join(part.decode().rstrip("=") for part in coded)


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("codex")
    program, url = shlex.quote(str(hosts.ensure("codex"))), shlex.quote(f"{folder}/url")
    node = shlex.quote(str(hosts.node_bin()))
    server = (
        '{name="fake",base_url="$URL/v1",wire_api="responses",requires_openai_auth=true,'
        "request_max_retries=0,stream_max_retries=0,supports_websockets=false}"
    )
    given = f"model_providers.fake={server}".replace('"', '\\"')
    path = wrapped(
        folder / "codex",
        f"#!/bin/sh\nPATH={node}:$PATH URL=$(cat {url})\n"
        f'exec {program} "$@" -c model_provider=fake -c "{given}"'
        ' -c "chatgpt_base_url=\\"$URL/backend-api/\\""\n',
    )
    home = folder / "home"
    home.mkdir()
    tokens = {"id_token": token(), "access_token": token(), "refresh_token": "rt"}
    login = {"auth_mode": "chatgpt", "OPENAI_API_KEY": None,
             "tokens": {**tokens, "account_id": "a"},
             "last_refresh": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}  # fmt: skip
    (home / "auth.json").write_text(json.dumps(login))
    (home / "AGENTS.md").write_text("INSTRUCTIONS-OF-THE-USER")
    return Program(
        "codex",
        folder,
        {
            "CLAUDE_MEM_CODEX_PATH": str(path),
            "CLAUDE_MEM_CODEX_HOME": str(home),
            "CLAUDE_MEM_CODEX_REASONING_EFFORT": "low",
            "CLAUDE_MEM_DATA_DIR": str(folder / "data"),
            "CLAUDE_MEM_LLM_TIMEOUT_MS": 100_000,
        },
    )


@pytest.fixture
def codex_limits() -> dict[str, str]:
    return {
        "x-codex-primary-used-percent": "97.0",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": RESETS,
    }


def test_codex_answers_with_nothing_of_the_user(
    codex: Program, codex_limits: dict[str, str]
) -> None:
    secret = codex.folder / "secret.txt"
    secret.write_text("CONTENTS-OF-A-FILE")
    with script(Turn(text="<observation>seen</observation>", headers=codex_limits)) as models:
        reply = codex.asked(models, f"look at @{secret} please", "SYSTEM-WORDS")
    (request,) = models.requests
    assert reply.text == "<observation>seen</observation>"
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (100, 40, 20)
    assert [(w.name, w.used) for w in reply.windows] == [("five_hour", 0.97)]
    assert "SYSTEM-WORDS" in request.text
    assert f"@{secret}" in request.text
    for unwanted in ("CONTENTS-OF-A-FILE", "INSTRUCTIONS-OF-THE-USER"):
        assert unwanted not in request.text
    assert list((codex.folder / "data" / "observer" / "codex").iterdir()) == []
    assert sorted(path.name for path in (codex.folder / "home").iterdir()) == [
        "AGENTS.md", "auth.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("turn", "failure"),
    [
        (Turn(status=429, text="slow down"), Failure.RATE_LIMIT),
        (Turn(status=500, text="boom"), Failure.OUTAGE),
        (Turn(status=404, text="The model `x` does not exist"), Failure.MODEL),
        (Turn(status=400, raw=json.dumps({"error": {
            "message": "Your input exceeds the context window of this model.",
            "code": "context_length_exceeded", "type": "invalid_request_error",
        }})), Failure.TOO_LONG),
        (Turn(status=400, raw=json.dumps({
            "detail": "The 'x' model is not supported when using Codex with a ChatGPT account.",
        })), Failure.MODEL),
        (Turn(text="hi", cut=True), Failure.OUTAGE),
        (Turn(status=429, raw=json.dumps({"error": {
            "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "plan_type": "plus", "resets_at": int(RESETS),
        }}), headers={
            "x-codex-primary-used-percent": "100.0", "x-codex-primary-window-minutes": "300",
            "x-codex-primary-reset-at": RESETS,
        }), Failure.QUOTA),
    ],
    ids=lambda value: value.value if isinstance(value, Failure) else "",
)  # fmt: skip
def test_codex_fails(codex: Program, turn: Turn, failure: Failure) -> None:
    error = codex.failed(turn)
    assert error.failure is failure, str(error)
    if failure is Failure.QUOTA:
        assert (error.retry_after_s or 0) > 1e9
