"""Two sessions with the real Qwen Code."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call
from tests.e2e.agents import Place, Qwen
from tests.e2e.story import MARKS, Story, cart

pytestmark = MARKS

# It loses the output of a command that ends at once.
CHECK = Call(
    "run_shell_command",
    {
        "command": "sh -c 'python3 check.py; code=$?; sleep 1; exit $code'",
        "is_background": False,
    },
)


class TestQwen(Story):
    agent = Qwen
    title = "Qwen Code"
    kinds = Story.kinds | {"tool_failed"}
    tools = ("read_file", "run_shell_command", "edit", "run_shell_command")
    search = Call("mcp__claude-mem__search", {"query": "cart tax"})
    limits = "`qwen -p` sends no end of the session"

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        file = str(cart(place))
        edit = {"file_path": file, "old_string": "1.9", "new_string": "1.19"}
        return (Call("read_file", {"file_path": file}), CHECK, Call("edit", edit), CHECK)
