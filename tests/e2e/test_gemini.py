"""Two sessions with the real Gemini CLI."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call
from tests.e2e.agents import Gemini, Place
from tests.e2e.story import MARKS, Story, cart

pytestmark = MARKS

CHECK = Call("run_shell_command", {"command": "python3 check.py"})


class TestGemini(Story):
    agent = Gemini
    title = "Gemini CLI"
    kinds = Story.kinds | {"session_ended", "tool_failed"}
    tools = ("read_file", "run_shell_command", "replace", "run_shell_command")
    search = Call("mcp_claude-mem_search", {"query": "cart tax"})
    limits = "a failed command is told by its text alone"

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        file = str(cart(place))
        edit = {
            "file_path": file,
            "old_string": "1.9",
            "new_string": "1.19",
            "instruction": "x",
        }
        return (Call("read_file", {"file_path": file}), CHECK, Call("replace", edit), CHECK)
