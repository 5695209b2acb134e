"""Hosts that can't be run here, played from their documented payloads: what is remembered."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.deliver import together
from claude_mem_core.pipeline.services import Services, open_services
from claude_mem_core.store import verify
from claude_mem_core.types import Answer, Delivery

ANSWER = "The cart total now sums the prices in cart.py; 12 tests pass."

COUNT = itertools.count(1)


@attrs.define
class Played:
    """A host in a session; `base` is what all of its payloads have."""

    services: Services
    host: str
    base: dict[str, Any]
    env: dict[str, str] = attrs.field(factory=dict)

    async def send(self, event: str, **fields: Any) -> str:
        count = next(COUNT)
        body = json.dumps({**self.base, **fields}).encode()
        delivery = Delivery(
            host=self.host, event=event, stdin=body, size=len(body), env=self.env,
            key=f"{count:020d}-1", at_ms=1_796_000_000_000 + 1000 * count,
        )  # fmt: skip
        output = await self.services.deliverer.handle(delivery)
        assert (output.exit, output.stderr) == (0, "")
        return output.stdout

    async def found(self, sql: str) -> list[Any]:
        await self.services.loop.settle(20)
        return await self.services.store.aread(
            lambda conn: [row[0] for row in conn.execute(sql)]
        )


Scenario = Callable[[Services, Path], Coroutine[Any, Any, None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Scenario], None]:
    for folder in ("shop", "shop-ui"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data").mkdir(mode=0o700)

    def run(scenario: Scenario) -> None:
        async def main() -> None:
            async with open_services(Paths(tmp_path / "data")) as services:
                await scenario(services, tmp_path)
                assert not services.store.read(verify.verify).off

        anyio.run(main)

    return run


def cursor(services: Services, conversation: str, *roots: Path) -> Played:
    base = {
        "conversation_id": conversation, "cursor_version": "2.4.21", "model": "x",
        "workspace_roots": [str(root) for root in roots],
    }  # fmt: skip
    return Played(services, "cursor", base)


async def cursor_turn(host: Played, file: Path, word: str) -> None:
    host.base["generation_id"] = word
    assert json.loads(await host.send("beforeSubmitPrompt", prompt=f"mend the {word}")) == {
        "continue": True
    }
    edit = {"old_string": "total = 0", "new_string": "total = sum(prices)"}
    await host.send("afterFileEdit", file_path=str(file), edits=[edit])
    await host.send("afterShellExecution", command="pytest -q", output="12 passed in 0.10s")
    await host.send("afterAgentResponse", text=f"{word}: {ANSWER}")
    await host.send("stop", status="completed", loop_count=0)


def test_cursor_remembers_and_sums_up(play: Callable[[Scenario], None]) -> None:
    async def scenario(services: Services, home: Path) -> None:
        host = cursor(services, "c-1", home / "shop")
        first = json.loads(await host.send("sessionStart"))["additional_context"]
        assert "cart" not in first
        await cursor_turn(host, home / "shop" / "cart.py", "cart")
        await host.send("sessionEnd", reason="completed")
        summaries = await host.found("SELECT completed FROM session_summaries")
        assert any("cart" in str(text) for text in summaries)
        said = json.loads(await cursor(services, "c-2", home / "shop").send("sessionStart"))
        assert "cart" in said["additional_context"]
        assert "claude-mem-context" in said["additional_context"]

    play(scenario)


def test_cursor_gives_each_folder_of_a_workspace_its_memory(
    play: Callable[[Scenario], None], tmp_path: Path
) -> None:
    async def scenario(services: Services, home: Path) -> None:
        shop, ui = home / "shop", home / "shop-ui"
        for number, root, word in (("c-1", shop, "cart"), ("c-2", ui, "button")):
            host = cursor(services, number, root)
            await host.send("sessionStart")
            await cursor_turn(host, root / "x.py", word)
            await host.found("SELECT 1")
        both = cursor(services, "c-3", shop, ui)
        context = json.loads(await both.send("sessionStart"))["additional_context"]
        assert "cart" in context
        assert "button" in context
        given = await both.found("SELECT ids FROM context_given ORDER BY session_db_id DESC")
        assert len(json.loads(given[0])) >= 2, "`mem why` knows of both"
        (project,) = await both.found(
            "SELECT project FROM sdk_sessions WHERE content_session_id = 'c-3'"
        )
        assert project == "shop", "the session belongs to the first folder"

    play(scenario)


def test_the_rules_of_each_folder_hold_for_what_happens_in_it(
    play: Callable[[Scenario], None], tmp_path: Path
) -> None:
    (tmp_path / "data" / "settings.json").write_text(
        json.dumps({"CLAUDE_MEM_EXCLUDED_PROJECTS": f"{tmp_path}/shop-ui"})
    )

    async def scenario(services: Services, home: Path) -> None:
        host = cursor(services, "c-1", home / "shop", home / "shop-ui")
        host.base["generation_id"] = "g"
        await host.send("beforeSubmitPrompt", prompt="mend both")
        edit = [{"old_string": "a", "new_string": "Quuxcorp"}]
        await host.send("afterFileEdit", file_path=str(home / "shop-ui" / "a.ts"), edits=edit)
        kept = await host.found("SELECT reason FROM events WHERE kind = 'file_edited'")
        assert kept == ["project_excluded"]
        assert "Quuxcorp" not in str(await host.found("SELECT payload FROM events"))

    play(scenario)


def test_windsurf_remembers(play: Callable[[Scenario], None]) -> None:
    async def scenario(services: Services, home: Path) -> None:
        base = {"trajectory_id": "t-1", "execution_id": "e-1"}
        env = {"CLAUDE_PROJECT_DIR": str(home / "shop")}
        host = Played(services, "windsurf", base, env)
        file = str(home / "shop" / "cart.py")
        edit = {"old_string": "total = 0", "new_string": "total = sum(prices)"}
        spoken = f"### Planner Response\n\nI look.\n\n### Planner Response\n\n{ANSWER}"
        for event, info in (
            ("pre_user_prompt", {"user_prompt": "make the cart total right"}),
            ("post_write_code", {"file_path": file, "edits": [edit]}),
            ("post_run_command", {"command_line": "pytest -q", "cwd": str(home / "shop")}),
            ("post_cascade_response", {"response": spoken}),
        ):
            assert await host.send(event, agent_action_name=event, tool_info=info) == ""
        assert any("cart" in str(t) for t in await host.found("SELECT title FROM observations"))
        assert await host.found("SELECT DISTINCT project FROM observations") == ["shop"]
        summaries = await host.found("SELECT completed FROM session_summaries")
        assert any("cart" in str(text) for text in summaries)

    play(scenario)


def test_antigravity_is_remembered_with_prompts_from_its_transcript(
    play: Callable[[Scenario], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    log = tmp_path / ".gemini" / "brain" / "transcript.jsonl"
    log.parent.mkdir(parents=True)
    log.touch()

    def write(kind: str, content: str, number: int) -> None:
        step = {"step_index": number, "type": kind, "content": content}
        with log.open("a") as file:
            file.write(json.dumps(step) + "\n")

    async def scenario(services: Services, home: Path) -> None:
        base = {
            "conversationId": "a-1", "workspacePaths": [str(home / "shop")],
            "transcriptPath": str(log),
        }  # fmt: skip
        host = Played(services, "antigravity", base)
        first = await host.send("PreInvocation", invocationNum=0, initialNumSteps=0)
        assert "injectSteps" in json.loads(first)
        assert await host.found("SELECT 1 FROM user_prompts") == [], "nothing was told yet"
        write("USER_INPUT", "make the cart total right", 0)
        edit = {"TargetFile": str(home / "shop" / "cart.py"), "CodeContent": "sum(prices)"}
        call = {"name": "write_to_file", "args": edit}
        for _ in range(2):
            assert json.loads(await host.send("PreToolUse", toolCall=call, stepIdx=1)) == {
                "decision": "allow"
            }
        assert json.loads(await host.send("PostToolUse", stepIdx=1, error="")) == {}
        again = await host.send("PreInvocation", invocationNum=1, initialNumSteps=2)
        assert json.loads(again) == {}
        write("PLANNER_RESPONSE", ANSWER, 2)
        await host.send("Stop", terminationReason="model_stop", fullyIdle=True)
        write("USER_INPUT", "and the tax", 3)
        await host.send("PreInvocation", invocationNum=2, initialNumSteps=3)
        told = "SELECT prompt_text FROM user_prompts ORDER BY id"
        assert await host.found(told) == ["make the cart total right", "and the tax"]
        used = await host.found("SELECT prompt_number FROM events WHERE kind = 'tool_used'")
        assert used == [1]
        summaries = await host.found("SELECT completed FROM session_summaries")
        assert any("cart" in str(text) for text in summaries)

    play(scenario)


@pytest.mark.parametrize(
    ("contexts", "limit", "said"),
    [
        (["one", "two"], 0, "one\ntwo"),
        (["one", "two"], 7, "one\ntwo"),
        (["one", "two", "x"], 6, "one\nx"),
        (["", "two"], 9, "two"),
        ([], 9, ""),
    ],
)
def test_contexts_are_put_together_as_far_as_they_fit(
    contexts: list[str], limit: int, said: str
) -> None:
    answers = [Answer(host_event="x"), *(Answer(context=text) for text in contexts)]
    assert together(answers, limit).context == said
