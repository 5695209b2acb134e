"""What hosts that exit early did not report is made up from their transcripts, or said."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.ends import LooseEnds
from claude_mem_core.pipeline.services import Services, open_services
from claude_mem_core.settings import pausing, writing
from claude_mem_core.store import verify
from claude_mem_core.types import Delivery, Event, EventKind, Trust
from claude_mem_core.types.retelling import FROM

HOSTS = Path(__file__).parent.parent / "hosts"
KIMI = "session_d77daf10-9a82-41c9-8dbb-a6d7edd7ebe3"
SENT = 1_796_127_141_913  # when the prompt of the recorded session was sent


@attrs.define
class Play:
    """A worker's parts, and hooks that come or don't."""

    services: Services
    home: Path
    count: int = 0

    async def hook(self, host: str, event: str, **fields: Any) -> None:
        self.count += 1
        payload = {"cwd": "/home/dev/shop", "hook_event_name": event, **fields}
        raw = json.dumps(payload).encode()
        await self.services.deliverer.handle(
            Delivery(host=host, event=event, stdin=raw, key=f"{self.count:020d}-1",
                     at_ms=now_ms(), size=len(raw))
        )  # fmt: skip

    async def sweep(self, gone_ms: int = 10**9) -> int:
        """Look at once at what would be quiet later."""
        parts = self.services
        loose = LooseEnds(
            store=parts.store, recorder=parts.recorder, registry=parts.registry,
            loop=parts.loop, quiet_ms=-1000, gone_ms=gone_ms,
        )  # fmt: skip
        return await loose.sweep()

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return await self.services.store.aread(lambda conn: list(conn.execute(sql)))

    async def kinds(self) -> list[str]:
        return [row[0] for row in await self.rows("SELECT kind FROM events ORDER BY id")]

    async def answers(self) -> list[str]:
        found = await self.rows(
            "SELECT json_extract(payload, '$.answer') FROM events WHERE kind = 'turn_ended'"
        )
        return [row[0] for row in found]


Scenario = Callable[[Play], Coroutine[Any, Any, None]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario], None]:
    for name in ("CLAUDE_CONFIG_DIR", "KIMI_CODE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "data").mkdir(mode=0o700)

    def run(scenario: Scenario) -> None:
        async def main() -> None:
            async with open_services(Paths(tmp_path / "data")) as services:
                await scenario(Play(services, tmp_path))
                assert not services.store.read(verify.verify).off

        anyio.run(main)

    return run


def kimi(home: Path, lines: int | None = None) -> None:
    """The recorded session of Kimi Code, as if it were going on now; its first lines."""
    root = home / ".kimi-code" / "sessions"
    shutil.copytree(HOSTS / "kimi" / "tests" / "transcripts", root)
    (wire,) = root.rglob("wire.jsonl")
    later = now_ms() - SENT
    text = re.sub(r'"time":(\d{13})', lambda m: f'"time":{int(m[1]) + later}', wire.read_text())
    wire.write_text("\n".join(text.splitlines()[:lines]) + "\n")


async def prompt_of_kimi(it: Play) -> None:
    asked = [{"type": "text", "text": "E2E-QUESTION what is in a.py"}]
    await it.hook("kimi", "UserPromptSubmit", session_id=KIMI, prompt=asked)


def test_lost_tool_uses_and_the_end_are_made_up(play: Any) -> None:
    async def scenario(it: Play) -> None:
        kimi(it.home)
        await prompt_of_kimi(it)
        await it.hook("kimi", "PostToolUse", session_id=KIMI, tool_name="Bash",
                      tool_input={"command": "cat a.py"}, tool_call_id="call_fake000001",
                      tool_output="alpha = 1\n")  # fmt: skip
        assert await it.sweep() == 2
        assert await it.kinds() == ["prompt_sent", "tool_used", "tool_used", "turn_ended"]
        assert await it.answers() == ["E2E-DONE"]
        assert await it.rows("SELECT DISTINCT prompt_number FROM events") == [(1,)]
        assert await it.sweep() == 0
        await it.services.loop.settle(20)
        assert await it.rows("SELECT count(*) FROM session_summaries") == [(1,)]

    play(scenario)


def test_a_tool_use_that_was_lost_before_the_end(play: Any) -> None:
    async def scenario(it: Play) -> None:
        kimi(it.home)
        await prompt_of_kimi(it)
        await it.hook("kimi", "Stop", session_id=KIMI, stop_hook_active=False)
        assert await it.sweep() == 2
        kinds = await it.kinds()
        assert sorted(kinds) == ["prompt_sent", "tool_used", "tool_used", "turn_ended"]
        assert await it.sweep() == 0

    play(scenario)


@pytest.mark.parametrize("session", ["", KIMI])
def test_what_was_said_in_a_pause_is_not_made_up_when_it_is_over(play: Any, session: str) -> None:
    async def scenario(it: Play) -> None:
        kimi(it.home)
        await prompt_of_kimi(it)
        paths, now = it.services.paths, now_ms()
        begun = pausing.spans((), now - 60_000, pausing.OPEN_END, session)
        other = pausing.spans(begun, now - 50_000, pausing.OPEN_END, "of another session")
        over = pausing.spans(other, now + 600_000, None, session)
        writing.put(paths, {pausing.SPANS: ",".join(over)})
        assert pausing.is_paused(it.services.settings.current()) is False
        await it.sweep()
        rows = await it.rows("SELECT DISTINCT reason, payload FROM events WHERE id > 1")
        assert rows == [("incognito" if session else "paused", None)]
        assert await it.rows("SELECT count(*) FROM tool_uses") == [(0,)]
        await it.hook("kimi", "PostToolUse", session_id=KIMI, tool_name="Bash",
                      tool_input={"command": "pwd"}, tool_call_id="later", tool_output="/")  # fmt: skip
        assert await it.rows("SELECT count(*) FROM tool_uses") == [(1,)]

    play(scenario)


def test_a_turn_that_is_on_has_no_end_yet(play: Any) -> None:
    async def scenario(it: Play) -> None:
        kimi(it.home, 10)  # the call is written, its result is not
        await prompt_of_kimi(it)
        assert await it.sweep() == 0
        assert await it.kinds() == ["prompt_sent"]

    play(scenario)


def claude(home: Path, *blocks: Any, ago_ms: int = 0) -> Path:
    """A transcript of Claude Code: a prompt, and what the agent said."""
    when = datetime.fromtimestamp((now_ms() - ago_ms) / 1000, UTC).isoformat()
    common = {"sessionId": "s-1", "cwd": "/home/dev/shop", "isSidechain": False,
              "timestamp": when, "promptId": "p-1"}  # fmt: skip
    messages = [("user", "sum the cart"), *(("assistant", [block]) for block in blocks)]
    path = home / ".claude" / "projects" / "-home-dev-shop" / "s-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(
        json.dumps({**common, "type": role, "message": {"role": role, "content": content}}) + "\n"
        for role, content in messages
    ))  # fmt: skip
    return path


SAID = {"type": "text", "text": "The cart sums its prices now."}


async def prompt_of_claude(it: Play, path: Path | str) -> None:
    await it.hook("claude-code", "UserPromptSubmit", session_id="s-1", prompt="sum the cart",
                  prompt_id="p-1", transcript_path=str(path))  # fmt: skip


def test_a_stop_that_died_with_its_host(play: Any) -> None:
    async def scenario(it: Play) -> None:
        await prompt_of_claude(it, claude(it.home, SAID))
        assert await it.sweep() == 1
        assert await it.answers() == [SAID["text"]]
        await it.services.loop.settle(20)
        assert await it.rows("SELECT count(*) FROM session_summaries") == [(1,)]

    play(scenario)


def test_a_stop_that_came_is_enough(play: Any) -> None:
    async def scenario(it: Play) -> None:
        path = claude(it.home, SAID)
        await prompt_of_claude(it, path)
        await it.hook("claude-code", "Stop", session_id="s-1", stop_hook_active=False,
                      last_assistant_message="done", transcript_path=str(path))  # fmt: skip
        assert await it.sweep(gone_ms=-10_000) == 0
        assert await it.answers() == ["done"]

    play(scenario)


@pytest.mark.parametrize("why", ["no transcript", "another turn", "outside", "damaged"])
def test_what_can_not_be_made_up_is_said(play: Any, why: str) -> None:
    async def scenario(it: Play) -> None:
        path: Path | str = ""
        if why == "another turn":
            path = claude(it.home, SAID, ago_ms=3_600_000)
        elif why == "outside":
            path = claude(it.home, SAID).rename(it.home / "s-1.jsonl")
        elif why == "damaged":
            path = claude(it.home, SAID)
            path.write_bytes(b"\xff\0{\n" * 9)
        await prompt_of_claude(it, path)
        assert await it.sweep() == 0
        assert await it.kinds() == ["prompt_sent"], "it may still come"
        await it.sweep(gone_ms=-10_000)
        await it.sweep(gone_ms=-10_000)
        rows = await it.rows("SELECT kind, state, reason, payload FROM events WHERE id > 1")
        assert rows == [("notice", "skipped", "end_missing", None)]

    play(scenario)


def test_the_end_of_a_session_says_that_nothing_more_comes(play: Any) -> None:
    async def scenario(it: Play) -> None:
        await prompt_of_claude(it, "")
        await it.hook("claude-code", "SessionEnd", session_id="s-1", reason="other")
        await it.sweep()
        reasons = await it.rows("SELECT reason FROM events WHERE kind = 'notice'")
        assert reasons == [("end_missing",)]

    play(scenario)


def test_what_was_read_from_a_transcript_is_not_read_again(play: Any) -> None:
    """An imported session is foreign, and stays so."""

    async def scenario(it: Play) -> None:
        claude(it.home, SAID)
        sent = Event(kind=EventKind.PROMPT_SENT, host="claude-code", session_id="s-1",
                     prompt="sum the cart", prompt_id="p-1", at_ms=now_ms(), host_event=FROM)  # fmt: skip
        await it.services.recorder.accept_all([sent], Trust.FOREIGN, aside=True)
        assert await it.sweep(gone_ms=-10_000) == 0
        assert await it.kinds() == ["prompt_sent"]

    play(scenario)
