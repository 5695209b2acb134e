"""Two sessions with the real GitHub Copilot CLI."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.testing.fake_models import Call, Request
from tests.e2e.agents import Agent, Copilot, Place
from tests.e2e.story import MARKS, Story, cart, injected

pytestmark = MARKS

CHECK = Call("bash", {"command": "python3 check.py", "description": "run"})


class TestCopilot(Story):
    agent = Copilot
    title = "GitHub Copilot CLI"
    kinds = Story.kinds | {"session_ended", "tool_failed"}
    tools = ("view", "bash", "edit", "bash")
    search = Call("claude-mem-search", {"query": "cart tax"})
    limits = "a failed command is told by its last line alone"

    @classmethod
    def reading(cls, place: Place) -> Sequence[Call]:
        return (Call("view", {"path": str(cart(place))}),)

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        file = str(cart(place))
        edit = {"path": file, "old_str": "1.9", "new_str": "1.19", "command": "str_replace"}
        return (Call("view", {"path": file}), CHECK, Call("edit", edit), CHECK)

    def test_a_files_history_comes_before_it_is_read(
        self, running: Agent, second: Request
    ) -> None:
        before, after = running.models.asked("SECOND-TASK")[:2]
        more = injected(after).removeprefix(injected(before))
        titles = [row["title"] for row in running.place.observations()]
        assert any(title in more for title in titles), more
