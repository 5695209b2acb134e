"""From a delivery to the next session's context, inside one process, all parts real."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.services import Services, open_services
from claude_mem_core.store import queue, verify
from claude_mem_core.types import Delivery

Scenario = Callable[[Services, "Host"], Coroutine[Any, Any, None]]


@attrs.define
class Host:
    """Plays Claude Code against the services."""

    services: Services
    cwd: str
    session: str = "s-1"
    count: int = 0
    env: dict[str, str] = attrs.field(factory=dict)

    async def send(self, event: str, **fields: Any) -> dict[str, Any]:
        self.count += 1
        payload = {
            "session_id": self.session, "cwd": self.cwd, "hook_event_name": event,
            "transcript_path": "", **fields,
        }  # fmt: skip
        delivery = Delivery(
            host="claude-code", event=event, stdin=json.dumps(payload).encode(),
            key=f"{self.count:020d}-1", at_ms=1_796_000_000_000 + 1000 * self.count,
        )  # fmt: skip
        delivery = attrs.evolve(delivery, size=len(delivery.stdin), env=self.env)
        output = await self.services.deliverer.handle(delivery)
        assert output.exit == 0
        return json.loads(output.stdout)  # type: ignore[no-any-return]

    async def prompt(self, text: str) -> None:
        await self.send("UserPromptSubmit", prompt=text, prompt_id=f"p{self.count}")

    async def bash(self, command: str, stdout: str = "", **fields: Any) -> None:
        await self.send(
            "PostToolUse", tool_name="Bash", tool_use_id=f"toolu_{self.count}",
            tool_input={"command": command}, tool_response={"stdout": stdout, "stderr": ""},
            **fields,
        )  # fmt: skip

    async def edit(self, path: str, old: str, new: str) -> None:
        await self.send(
            "PostToolUse", tool_name="Edit", tool_use_id=f"toolu_{self.count}",
            tool_input={"file_path": path, "old_string": old, "new_string": new},
            tool_response={"filePath": path, "oldString": old, "newString": new},
        )  # fmt: skip

    async def stop(self, answer: str) -> None:
        await self.send("Stop", stop_hook_active=False, last_assistant_message=answer)

    async def context(self, session: str = "s-2", source: str = "startup") -> str:
        await self.services.loop.settle(20)  # a busy machine may need more than a session waits
        self.session = session
        answer = await self.send("SessionStart", source=source)
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Scenario], None]:
    project = tmp_path / "shop"
    project.mkdir()
    (tmp_path / "data").mkdir(mode=0o700)

    def run(scenario: Scenario) -> None:
        async def main() -> None:
            async with open_services(Paths(tmp_path / "data")) as services:
                await scenario(services, Host(services, str(project)))
                found = services.store.read(verify.verify)
                assert not found.off

        anyio.run(main)

    return run


async def count(services: Services, sql: str) -> int:
    return int(await services.store.aread(lambda c: c.execute(sql).fetchone()[0]))


def test_the_next_session_begins_with_what_happened(play):
    async def scenario(services: Services, host: Host) -> None:
        await host.prompt("make the cart total right")
        await host.edit(f"{host.cwd}/cart.py", "total = 0", "total = sum(prices)")
        await host.bash("pytest -q", "12 passed in 0.10s")
        await host.stop("The cart total now sums the prices in cart.py; 12 tests pass.")
        text = await host.context()
        assert "cart" in text
        assert "claude-mem-context" in text
        assert text == await host.context("s-3")

    play(scenario)


def test_a_private_prompt_takes_its_turn_along(play):
    async def scenario(services: Services, host: Host) -> None:
        await host.prompt("<private>the merger with Quuxcorp</private>")
        await host.bash("grep -r Quuxcorp .", "plan.md: Quuxcorp")
        await host.stop("Quuxcorp stands in plan.md")
        assert await count(services, "SELECT count(*) FROM user_prompts") == 0
        assert await count(services, "SELECT count(*) FROM events WHERE state = 'pending'") == 0
        assert "Quuxcorp" not in await host.context()
        kept = await services.store.aread(
            lambda c: [str(row) for row in c.execute("SELECT payload, cwd FROM events")]
        )
        assert "Quuxcorp" not in " ".join(kept)

    play(scenario)


def test_only_the_turn_of_the_private_prompt_is_left_out(play):
    async def scenario(services: Services, host: Host) -> None:
        await host.prompt("make the cart total right")
        await host.edit(f"{host.cwd}/cart.py", "total = 0", "total = sum(prices)")
        await host.stop("The cart total now sums the prices.")
        await host.prompt("<private>the merger with Quuxcorp</private>")
        await host.edit(f"{host.cwd}/merger.py", "a = 0", "a = 'Quuxcorp'")
        await host.stop("Quuxcorp stands there now.")
        await host.prompt("now make the tax right")
        await host.edit(f"{host.cwd}/tax.py", "tax = 1.9", "tax = 1.19")
        await host.stop("The tax is 1.19 now.")
        await services.loop.settle(5)
        made = await services.store.aread(
            lambda c: list(
                c.execute("SELECT prompt_number, files_modified FROM observations ORDER BY id")
            )
        )
        # Prompts that are stored are counted, and the private one is not.
        assert [number for number, _ in made] == [1, 2], "each under its own prompt"
        assert "cart.py" in made[0][1]
        assert "tax.py" in made[1][1]
        assert "Quuxcorp" not in await host.context()

    play(scenario)


def test_a_part_of_a_turn_gives_way_to_the_whole(play):
    async def scenario(services: Services, host: Host) -> None:
        await host.prompt("make the cart total right")
        await host.edit(f"{host.cwd}/cart.py", "total = 0", "total = sum(prices)")
        services.loop.wake(force=True)
        await services.loop.settle(5)
        before = await count(services, "SELECT count(*) FROM observations")
        await host.bash("pytest -q", "12 passed in 0.10s")
        await host.stop("The cart total now sums the prices; 12 tests pass.")
        await services.loop.settle(5)
        valid = "SELECT count(*) FROM observations WHERE superseded_by IS NULL"
        assert before == 1
        assert await count(services, valid) == 1
        shown = await host.context()
        assert "12 passed" in shown or "12 tests" in shown

    play(scenario)


def test_an_excluded_place_is_neither_kept_nor_shown(play, tmp_path):
    (tmp_path / "data").mkdir(exist_ok=True)
    settings = tmp_path / "data" / "settings.json"
    settings.write_text(json.dumps({"CLAUDE_MEM_EXCLUDED_PROJECTS": f"{tmp_path}/shop"}))

    async def scenario(services: Services, host: Host) -> None:
        await host.prompt("a word nobody shall keep: zanzibar")
        await host.stop("zanzibar")
        assert await host.context() == ""
        reasons = await services.store.aread(
            lambda c: {row[0] for row in c.execute("SELECT reason FROM events")}
        )
        assert reasons == {"project_excluded"}

    play(scenario)


def test_a_broken_redactor_stops_recording(play, install_fake_plugin):
    install_fake_plugin("redactor.broken", "import nowhere_to_be_found")

    async def scenario(services: Services, host: Host) -> None:
        await host.prompt("not to be kept: zanzibar")
        answer = await host.send("SessionStart", source="startup")
        assert "recording is stopped" in answer["systemMessage"]
        context = answer["hookSpecificOutput"]["additionalContext"]
        assert "recording is stopped" in context, "hosts without a line for people need it there"
        services.settings.update({"CLAUDE_MEM_CONTEXT_SHOW_TERMINAL_OUTPUT": "false"})
        host.session = "s-3"
        assert "systemMessage" not in await host.send("SessionStart", source="startup")
        states = await services.store.aread(
            lambda c: {tuple(row) for row in c.execute("SELECT state, reason FROM events")}
        )
        assert states == {("skipped", "recording_stopped")}

    play(scenario)


def test_a_failing_observer_leaves_dead_letters_not_losses(play, monkeypatch):
    async def scenario(services: Services, host: Host) -> None:
        class Broken:
            async def observe(self, batch: object) -> None:
                raise RuntimeError("no")

            async def aclose(self) -> None:
                pass

        services.loop._observers["builtin"] = Broken()
        await host.prompt("try")
        await host.bash("make", "ok")
        await host.stop("done")
        await services.loop.settle(5)
        status = await services.store.aread(queue.status)
        assert status.pending + status.failed == 2
        assert await count(services, "SELECT count(*) FROM observations") == 0

    play(scenario)


def test_a_resumed_session_gets_only_what_is_new(play):
    async def scenario(services: Services, host: Host) -> None:
        await host.context("s-1")
        await host.prompt("first thing about walnuts")
        await host.edit(f"{host.cwd}/walnut.py", "a = 1", "a = 2")
        await host.stop("Walnuts done.")
        first = await host.context("s-1", "resume")
        assert "walnut.py" not in first, "its own turn is before it"
        assert "Last asked here (P1): first thing about walnuts" in first
        assert "Nothing new was stored" in first
        await host.context("s-2")
        host.session = "s-2"
        await host.prompt("second thing about pistachios")
        await host.edit(f"{host.cwd}/pistachio.py", "b = 1", "b = 2")
        await host.stop("Pistachios done.")
        second = await host.context("s-1", "resume")
        assert "istachio" in second
        assert "walnut.py" not in second

    play(scenario)


def test_only_names_of_events_that_a_host_has_are_logged(play, caplog):
    async def scenario(services: Services, host: Host) -> None:
        for event in ("Stop", "Zanzibar", "zanzibar said this"):
            delivery = Delivery(host="claude-code", event=event, stdin=b"[", key=f"k-{event}")
            await services.deliverer.handle(delivery)

    play(scenario)
    said = [r.getMessage() for r in caplog.records if "not understood" in r.getMessage()]
    assert [text.partition(" not ")[0] for text in said] == [
        "claude-code Stop", "claude-code an unknown event", "claude-code an unknown event",
    ]  # fmt: skip
    assert "anzibar" not in caplog.text


def test_advisor_calls_are_kept_only_when_wanted(play, tmp_path, monkeypatch):
    config = tmp_path / "claude"
    folder = config / "projects" / "x"
    folder.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    ask = {"type": "server_tool_use", "id": "adv1", "name": "advisor", "input": {}}
    said = {"type": "advisor_result", "text": "Use a lock. <private>zanzibar</private>"}
    got = {"type": "advisor_tool_result", "tool_use_id": "adv1", "content": said}
    usage = {"iterations": [{"type": "advisor_message", "model": "wise-1"}]}
    lines = [
        {"type": "user", "message": {"role": "user", "content": "how?"}},
        {"type": "assistant", "message": {"content": [ask, got], "usage": usage}},
    ]
    path = folder / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")

    async def turn(host: Host) -> None:
        await host.prompt("how do I guard the counter?")
        await host.send(
            "Stop", stop_hook_active=False, last_assistant_message="A lock.",
            transcript_path=str(path),
        )  # fmt: skip

    async def calls(services: Services) -> list[tuple[Any, ...]]:
        sql = "SELECT model, prompt, advice FROM advisor_calls"
        return await services.store.aread(lambda c: [tuple(r) for r in c.execute(sql)])

    async def scenario(services: Services, host: Host) -> None:
        await turn(host)
        await anyio.sleep(0.2)
        assert await calls(services) == []
        services.settings.set("CLAUDE_MEM_CAPTURE_ADVISOR_CALLS", "true")
        await turn(host)
        with anyio.fail_after(5):
            while not await calls(services):
                await anyio.sleep(0.02)
        ((model, prompt, advice),) = await calls(services)
        assert (model, prompt, advice.strip()) == (
            "wise-1", "how do I guard the counter?", "Use a lock.",
        )  # fmt: skip

    play(scenario)


def test_no_summary_where_the_host_says_so(play):
    async def scenario(services: Services, host: Host) -> None:
        host.env = {"CLAUDE_MEM_DISABLE_SUMMARY": "1"}
        await host.prompt("make the cart total right")
        await host.edit(f"{host.cwd}/cart.py", "total = 0", "total = sum(prices)")
        await host.stop("The cart total now sums the prices.")
        await services.loop.settle(5)
        assert await count(services, "SELECT count(*) FROM observations") == 1
        assert await count(services, "SELECT count(*) FROM session_summaries") == 0

    play(scenario)
