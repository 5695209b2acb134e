"""Two sessions with the real oh-my-pi and our extension inside it."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call
from tests.e2e.agents import Pi, Place
from tests.e2e.story import MARKS, Story, cart

pytestmark = MARKS

CHECK = Call("bash", {"command": "python3 check.py"})


class TestPi(Story):
    agent = Pi
    title = "oh-my-pi"
    kinds = Story.kinds | {"session_ended", "tool_failed"}
    tools = ("read", "bash", "bash", "bash")
    search = Call("mcp__claude_mem_search", {"query": "cart tax"})

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        mend = Call("bash", {"command": "sed -i s/1.9/1.19/ cart.py"})
        return (Call("read", {"path": str(cart(place))}), CHECK, mend, CHECK)
