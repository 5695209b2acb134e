"""Two sessions with the real OpenClaw and our plugin inside it."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call
from tests.e2e.agents import OpenClaw, Place
from tests.e2e.story import MARKS, Story, cart

pytestmark = MARKS

CHECK = Call("exec", {"command": "python3 check.py"})


class TestOpenClaw(Story):
    agent = OpenClaw
    title = "OpenClaw"
    kinds = frozenset({"prompt_sent", "tool_used", "tool_failed", "turn_ended"})
    tools = ("read", "exec", "edit", "exec")
    # Tools of servers are called through another one.
    search = Call("tool_call", {"id": "claude-mem__search", "args": {"query": "cart tax"}})
    limits = "a gateway that runs has to be restarted once"

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        file = str(cart(place))
        edit = {"path": file, "edits": [{"oldText": "1.9", "newText": "1.19"}]}
        return (Call("read", {"path": file}), CHECK, Call("edit", edit), CHECK)
