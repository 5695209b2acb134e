"""Two sessions with the real Codex CLI, its hooks trusted by its user."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call
from tests.e2e.agents import Codex, Place
from tests.e2e.story import MARKS, Story

pytestmark = MARKS

CHECK = Call("exec_command", {"cmd": "python3 check.py"})


class TestCodex(Story):
    agent = Codex
    title = "Codex CLI"
    kinds = Story.kinds | {"session_ended"}
    tools = ("Bash", "Bash", "Bash", "Bash")
    failures = 0  # it says nothing of exit codes
    search = Call("search", {"query": "cart tax"}, namespace="mcp__claude_mem")
    limits = (
        "runs no hook that its user has not trusted;"
        " a failed command comes without its exit code"
    )

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        mend = Call("exec_command", {"cmd": "sed -i s/1.9/1.19/ cart.py"})
        return (Call("exec_command", {"cmd": "tail -3 cart.py"}), CHECK, mend, CHECK)
