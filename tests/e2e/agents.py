"""The real agent programs, each with a home, a project and a scripted model of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import apsw
import attrs

from claude_mem_core.paths import Paths
from claude_mem_core.testing.fake_models import FakeModels
from tests.e2e.terminal import LONG, Terminal
from tests.quick_mem import run_mem
from tools import hosts

SECONDS = 170  # for one run of an agent; 4 are usual, 40 of the slowest
SETTLE = 30.0
ATTEMPTS = 3
# Long enough for its history to be worth telling: small files are read without it.
NOTES = "# Prices are net, in euros; tax is added once, at the very end.\n" * 30
CART = f"{NOTES}\n\ndef total(prices):\n    return sum(prices) * 1.9\n"


@attrs.frozen
class Place:
    """A machine in small: home, project, data directory."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "work" / "shop"

    @property
    def paths(self) -> Paths:
        return Paths(self.home / ".claude-mem")

    @property
    def env(self) -> dict[str, str]:
        """A bare environment: nothing of the developer's reaches the programs."""
        path = os.pathsep.join((str(hosts.node_bin()), "/usr/local/bin", "/usr/bin", "/bin"))
        return {
            "PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb",
            "NO_COLOR": "1",
        }  # fmt: skip

    def make(self) -> Place:
        """Lay the project down: a small repository with one mistake in it."""
        self.home.mkdir(parents=True)
        self.project.mkdir(parents=True)
        (self.project / "cart.py").write_text(CART)
        test = "from cart import total\nassert total([100]) == 119, total([100])\nprint('passed')\n"
        (self.project / "check.py").write_text(test)
        git = ["git", "-c", "user.name=d", "-c", "user.email=d@localhost"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
            subprocess.run([*git, *command], cwd=self.project, env=self.env, check=True)
        return self

    def mem(self, *args: str) -> str:
        """Run `mem`; what it printed."""
        done = run_mem(*args, env=self.env, cwd=self.project)
        assert done.returncode == 0, f"mem {args}: {done.stdout}{done.stderr}"
        return done.stdout

    def wait(self, what: Callable[[], bool], why: str) -> None:
        """Wait until something is so."""
        end = time.monotonic() + SETTLE
        while not what():
            assert time.monotonic() < end, f"waited {SETTLE} s in vain: {why}\n{self.logs()}"
            time.sleep(0.1)

    def observed(self, least: int) -> list[dict[str, str]]:
        """The observations, once there are so many and no work is left."""

        def ready() -> bool:
            waiting = self.rows("SELECT count(*) FROM pending_messages")[0][0]
            return not waiting and len(self.observations()) >= least

        self.wait(ready, f"{least} observations")
        return self.observations()

    def observations(self) -> list[dict[str, str]]:
        """What is remembered, oldest first; nothing yet when there is no database."""
        if not self.paths.database.exists():
            return []
        rows = self.rows("SELECT title, narrative, facts FROM observations ORDER BY id")
        return [dict(zip(("title", "narrative", "facts"), row, strict=True)) for row in rows]

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database holds, read beside the worker."""
        conn = apsw.Connection(str(self.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
        conn.set_busy_timeout(10_000)
        try:
            return list(conn.execute(sql, values))  # type: ignore[arg-type]
        finally:
            conn.close()

    def logs(self) -> str:
        """The worker's log, for the text of a failure."""
        files = sorted(self.paths.logs.glob("*.log")) if self.paths.logs.is_dir() else []
        return "\n".join(file.read_text()[-3000:] for file in files)


@attrs.frozen
class Ran:
    """One run of an agent."""

    code: int
    out: str


class Agent:
    """An agent program: how it is set up and called."""

    host = ""

    def __init__(self, place: Place, models: FakeModels) -> None:
        self.place = place
        self.models = models
        self.program = str(hosts.ensure(self.host))

    def configure(self) -> None:
        """Write the program's own configuration, as its user would have it."""
        raise NotImplementedError

    @property
    def config(self) -> Path:
        """The file that `mem install` changes."""
        raise NotImplementedError

    @property
    def env(self) -> dict[str, str]:
        return self.place.env

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        raise NotImplementedError

    def approve(self, said: str) -> None:
        """Give what the program asks of its user before it runs hooks.

        `said` is what `mem install` printed.
        """

    def end(self) -> None:
        """End what the program has left running."""

    def is_setting(self, path: Path) -> bool:
        """Whether a file in the home is one of the program's settings."""
        return path == self.config

    def ours(self, files: Mapping[str, bytes]) -> list[str]:
        """The lines of its settings that name us."""
        lines = (line for content in files.values() for line in content.split(b"\n"))
        return [line.decode() for line in lines if b"claude-mem" in line]

    def same(self, path: str, before: bytes, now: bytes | None) -> bool:
        """Whether a file is as it was, but for what the program itself wrote meanwhile."""
        return before == now

    def run(self, prompt: str, *args: str) -> Ran:
        """Run the program once, without a terminal; it must end well."""
        done = subprocess.run(
            self.command(prompt, *args), cwd=self.place.project, env=self.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return Ran(done.returncode, done.stdout)


class ClaudeCode(Agent):
    """Claude Code, as `claude -p`."""

    host = "claude-code"

    @property
    def folder(self) -> Path:
        return self.place.home / ".claude"

    @property
    def config(self) -> Path:
        return self.folder / "settings.json"

    def configure(self) -> None:
        self.folder.mkdir(parents=True)
        self.config.write_text('{\n    "includeCoAuthoredBy": false\n}\n')
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
            "projects": {str(self.place.project): {"hasTrustDialogAccepted": True}},
        }
        (self.place.home / ".claude.json").write_text(json.dumps(known))

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "ANTHROPIC_BASE_URL": self.models.url,
            "ANTHROPIC_API_KEY": "dummy-key",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # lets root skip the questions
        }

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        mode = ("--permission-mode", "bypassPermissions", "--output-format", "json")
        return (self.program, "-p", prompt, *mode, *args)

    def session(self, prompt: str, *args: str) -> str:
        """Run a session and give back its id."""
        return str(json.loads(self.run(prompt, *args).out)["session_id"])

    def terminal(self) -> Terminal:
        """The program as a person starts it."""
        return Terminal([self.program], self.env, self.place.project)


class KimiCode(Agent):
    """Kimi Code, as `kimi -p`."""

    host = "kimi"

    @property
    def config(self) -> Path:
        return self.place.home / ".kimi-code" / "config.toml"

    def configure(self) -> None:
        self.config.parent.mkdir(parents=True)
        self.config.write_text(
            f"""# my own words
default_model = "fake"
telemetry = false
[providers.fake]
type = "openai"
base_url = "{self.models.url}/v1"
api_key = "dummy-key"
[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 100000
"""
        )

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "KIMI_CODE_NO_AUTO_UPDATE": "1"}

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        return (self.program, "-p", prompt, *args)


class Codex(Agent):
    """Codex CLI, as `codex exec`."""

    host = "codex"

    @property
    def config(self) -> Path:
        return self.place.home / ".codex" / "hooks.json"

    @property
    def settings(self) -> Path:
        return self.place.home / ".codex" / "config.toml"

    def configure(self) -> None:
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(
            f"""# my own words
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.fake] # kept
name = "fake"
base_url = "{self.models.url}/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"

[analytics]
enabled = false

[projects."{self.place.project}"]
trust_level = "trusted"
"""
        )
        self.config.write_text('{\n    "hooks": {\n        "Stop": []\n    }\n}\n')

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "FAKE_API_KEY": "dummy-key"}

    def approve(self, said: str) -> None:
        """Trust the hooks as its user does: in its terminal, when it asks."""
        assert "8 of our 8 hooks are not trusted yet" in said
        assert "run `codex`" in said
        for attempt in range(ATTEMPTS):  # as a user would whose terminal hangs
            with suppress(AssertionError) if attempt < ATTEMPTS - 1 else nullcontext():
                self._trust()
            if b"trusted_hash" in self.settings.read_bytes():
                break
        found = json.loads(self.place.mem("install", "--ide", "codex", "--json"))
        states = [(row["state"], row["notes"]) for row in found["hosts"]]
        assert states == [("unchanged", [])], "all of ours is trusted"

    def _trust(self) -> None:
        with Terminal([self.program], self.env, self.place.project) as terminal:
            # Words apart: it places each by itself.
            asked = terminal.wait(lambda: b"trusting" in terminal.shown, LONG)
            assert asked, terminal.shown[-2000:]
            terminal.press("\r", lambda: b" trust all" in terminal.shown)
            terminal.press("t", lambda: b"trusted_hash" in self.settings.read_bytes())

    def end(self) -> None:
        """Its terminal starts two daemons that outlive it; their ids lie in its home."""
        for file in (self.settings.parent / "app-server-daemon").glob("*.pid"):
            with suppress(ProcessLookupError, FileNotFoundError, ValueError, KeyError):
                pid = int(json.loads(file.read_text())["pid"])
                if str(self.place.home).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGTERM)

    def is_setting(self, path: Path) -> bool:
        return path in {self.config, self.settings}

    def same(self, path: str, before: bytes, now: bytes | None) -> bool:
        """It notes in its config which of its own news it has shown."""
        if not path.endswith("config.toml") or now is None:
            return before == now
        old, new = tomllib.loads(before.decode()), tomllib.loads(now.decode())
        return (
            now.startswith(before.rstrip())
            and {**new, **old} == new
            and not (new.keys() - old.keys() - {"tui"})
        )

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        return (self.program, "exec", "--skip-git-repo-check", *args, prompt)


class Gemini(Agent):
    """Gemini CLI, as `gemini -p`."""

    host = "gemini"

    @property
    def config(self) -> Path:
        return self.place.home / ".gemini" / "settings.json"

    def configure(self) -> None:
        self.config.parent.mkdir(parents=True)
        self.config.write_text(
            """{
  // my own words
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
        )

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "GEMINI_API_KEY": "dummy-key",
            "GOOGLE_GEMINI_BASE_URL": self.models.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        mode = ("--approval-mode", "yolo", "-m", "gemini-2.5-flash")
        return (self.program, "-p", prompt, *mode, *args)


class Qwen(Agent):
    """Qwen Code, as `qwen -p`."""

    host = "qwen"

    @property
    def config(self) -> Path:
        return self.place.home / ".qwen" / "settings.json"

    def configure(self) -> None:
        self.config.parent.mkdir(parents=True)
        self.config.write_text(
            """{
  // my own words
  "security": {"auth": {"selectedType": "openai"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
        )

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "OPENAI_API_KEY": "dummy-key",
            "OPENAI_BASE_URL": f"{self.models.url}/v1",
            "OPENAI_MODEL": "fake-model",
        }

    def same(self, path: str, before: bytes, now: bytes | None) -> bool:
        """It notes the version of its settings in them."""
        return now is not None and re.sub(rb',\n  "\$version": \d+', b"", now) == before

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        return (self.program, "-p", prompt, "--approval-mode", "yolo", *args)


class Copilot(Agent):
    """GitHub Copilot CLI, as `copilot -p` with a provider of one's own."""

    host = "copilot"

    @property
    def config(self) -> Path:
        return self.place.home / ".copilot" / "hooks" / "claude-mem.json"

    def is_setting(self, path: Path) -> bool:
        return path == self.config or path.name == "mcp-config.json"

    def configure(self) -> None:
        pass

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "COPILOT_PROVIDER_BASE_URL": f"{self.models.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy-key",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        return (self.program, "-p", prompt, "--allow-all-tools", "--allow-all-paths", *args)


class OpenCode(Agent):
    """OpenCode, as `opencode run`."""

    host = "opencode"

    @property
    def folder(self) -> Path:
        return self.place.home / ".config" / "opencode"

    @property
    def config(self) -> Path:
        return self.folder / "opencode.json"

    def is_setting(self, path: Path) -> bool:
        return path.parent in {self.folder / "plugins", self.folder} and path.suffix in {
            ".js", ".json",
        } and path.name not in {"package.json", "package-lock.json"}  # fmt: skip

    def configure(self) -> None:
        model = {
            "name": "Fake",
            "limit": {"context": 100000, "output": 4000},
            "tool_call": True,
        }
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{self.models.url}/v1", "apiKey": "dummy-key"},
            "models": {"fake-model": model},
        }
        known = {
            "autoupdate": False,
            "share": "disabled",
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "permission": "allow",
            "provider": {"fake": provider},
        }
        self.folder.mkdir(parents=True)
        self.config.write_text(json.dumps(known, indent=2) + "\n")

    def same(self, path: str, before: bytes, now: bytes | None) -> bool:
        """It names the schema of its configuration in it."""
        found = json.loads(now or b"{}")
        found.pop("$schema", None)
        return found == json.loads(before)

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        return (self.program, "run", *args, prompt)


class Pi(Agent):
    """oh-my-pi, as `omp -p`."""

    host = "pi"

    @property
    def folder(self) -> Path:
        return self.place.home / ".omp" / "agent"

    @property
    def config(self) -> Path:
        return self.folder / "extensions" / "claude-mem.js"

    def is_setting(self, path: Path) -> bool:
        return path in {self.config, self.folder / "mcp.json", self.folder / "models.yml"}

    def configure(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "models.yml").write_text(
            f"""# my own words
providers:
  fake:
    baseUrl: {self.models.url}/v1
    apiKey: dummy-key
    api: openai-completions
    models:
      - id: fake-model
        name: Fake
        reasoning: false
        input: [text]
        contextWindow: 100000
        maxTokens: 4000
        cost: {{input: 0, output: 0, cacheRead: 0, cacheWrite: 0}}
"""
        )

    @property
    def env(self) -> dict[str, str]:
        """It is a script of bun's."""
        env = super().env
        return {**env, "PATH": f"{hosts.ensure('bun').parent}{os.pathsep}{env['PATH']}"}

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        mode = ("--model", "fake/fake-model", "--no-title", "--auto-approve")
        return (self.program, "-p", *mode, *args, prompt)


class OpenClaw(Agent):
    """OpenClaw, as `openclaw agent --local`."""

    host = "openclaw"

    @property
    def config(self) -> Path:
        return self.place.home / ".openclaw" / "openclaw.json"

    def configure(self) -> None:
        model = {
            "id": "fake-model", "name": "Fake", "reasoning": False, "input": ["text"],
            "contextWindow": 100000, "maxTokens": 4000,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        }  # fmt: skip
        provider = {
            "baseUrl": f"{self.models.url}/v1", "apiKey": "dummy-key",
            "api": "openai-completions", "models": [model],
        }  # fmt: skip
        defaults = {
            "workspace": str(self.place.project), "skipBootstrap": True,
            "model": {"primary": "fake/fake-model"},
        }  # fmt: skip
        auth = {"mode": "token", "token": "dummy-token"}
        known = {
            "agents": {"defaults": defaults},
            "models": {"mode": "replace", "providers": {"fake": provider}},
            "gateway": {"mode": "local", "bind": "loopback", "auth": auth},
            "tools": {"exec": {"host": "gateway", "security": "full", "ask": "off"}},
            "update": {"checkOnStart": False},
        }
        self.config.parent.mkdir(parents=True)
        self.config.write_text(json.dumps(known, indent=2) + "\n")

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "OPENCLAW_SKIP_CHANNELS": "1"}

    def command(self, prompt: str, *args: str) -> Sequence[str]:
        # A session of its own each time; without a key they all go on with one.
        key = f"agent:main:{prompt.split()[0].lower()}"
        mode = ("agent", "--local", "--agent", "main", "--session-key", key)
        return (self.program, *mode, *args, "--message", prompt)
