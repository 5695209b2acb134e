"""Two sessions with the real Claude Code and our plugin, from a marketplace on this disk."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call, Request
from tests.e2e.agents import Agent, ClaudeCode, Place
from tests.e2e.story import MARKS, Story, cart

pytestmark = MARKS

SEARCH = "mcp__plugin_mem_claude-mem__search"
CHECK = Call("Bash", {"command": "python3 check.py", "description": "run"})


class Plugged(ClaudeCode):
    """Claude Code that has been told of our marketplace by its own commands as well."""

    def approve(self, said: str) -> None:
        market = self.place.paths.data / "hosts" / "claude-code-plugin"
        for folder in (market, market / "mem"):
            assert "Validation passed" in self.plugin("validate", str(folder))
        self.plugin("marketplace", "add", str(market))
        self.plugin("install", "mem@mem-core")
        rows = json.loads(self.plugin("list", "--json"))
        found = next(row for row in rows if row["id"] == "mem@mem-core")
        assert found["enabled"] is True
        assert found["readFromFolder"] == str(market / "mem")
        assert "claude-mem" in found["mcpServers"]

    def plugin(self, *words: str) -> str:
        """What `claude plugin` says."""
        done = subprocess.run(
            [self.program, "plugin", *words], env=self.env, cwd=self.place.project,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def same(self, path: str, before: bytes, now: bytes | None) -> bool:
        """Its commands write the settings anew, indented as it likes."""
        return now is not None and json.loads(now) == json.loads(before)


class TestClaudePlugin(Story):
    agent = Plugged
    title = "Claude Code"
    options = ("--plugin",)
    kinds = frozenset(
        {"session_started", "prompt_sent", "tool_used", "tool_failed", "turn_ended"}
    )
    tools = ("Read", "Bash", "Edit", "Bash")
    limits = None
    search = Call(SEARCH, {"query": "cart tax"})

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        file = str(cart(place))
        edit = {"file_path": file, "old_string": "1.9", "new_string": "1.19"}
        return (Call("Read", {"file_path": file}), CHECK, Call("Edit", edit), CHECK)

    @classmethod
    def reading(cls, place: Place) -> Sequence[Call]:
        """Tools of servers are not in the model's list until it asks for them."""
        return (Call("ToolSearch", {"query": f"select:{SEARCH}"}),)

    def test_the_skill_reaches_the_model(self, running: Agent, second: Request) -> None:
        assert "- mem:mem-search: Find what earlier sessions did" in second.text
