"""Two sessions with the real OpenCode and our plugin inside it."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call
from tests.e2e.agents import OpenCode, Place
from tests.e2e.story import MARKS, Story, cart

pytestmark = MARKS

CHECK = Call("bash", {"command": "python3 check.py", "description": "run"})


class TestOpenCode(Story):
    agent = OpenCode
    title = "OpenCode"
    kinds = Story.kinds | {"tool_failed"}
    tools = ("read", "bash", "edit", "bash")
    search = Call("claude-mem_search", {"query": "cart tax"})
    limits = "puts a prompt with spaces into quotes"

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        file = str(cart(place))
        edit = {"filePath": file, "oldString": "1.9", "newString": "1.19"}
        return (Call("read", {"filePath": file}), CHECK, Call("edit", edit), CHECK)

    @classmethod
    def sent(cls, prompt: str) -> str:
        """It puts quotes around a prompt with spaces, and a stroke before each inside."""
        quoted = prompt.replace('"', '\\"')
        return f'"{quoted}"'
