"""Two sessions with the real Claude Code: the second begins with the first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.testing.fake_models import Call, FakeModels, Request, Talk, Turn
from tests.e2e import proven
from tests.e2e.agents import ClaudeCode, Place

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

FENCED = re.compile("<claude-mem-context.*?</claude-mem-context>", re.DOTALL)
ANSWER = "The cart now charges 19 % tax: 1.9 was a slip for 1.19 in cart.py."


def talks(project: Path) -> list[Talk]:
    """What the model does; the most particular prompt first, for sessions go on."""
    cart, check = (
        str(project / "cart.py"),
        {"command": "python3 check.py", "description": "run"},
    )
    edit = {"file_path": cart, "old_string": "1.9", "new_string": "1.19"}
    review = {"description": "review", "prompt": "SUBTASK-REVIEW look at check.py",
              "subagent_type": "general-purpose", "run_in_background": False}  # fmt: skip
    again = {"file_path": str(project / "check.py")}
    return [
        Talk(match="SUBTASK-REVIEW", turns=[
            Turn(calls=[Call("Read", again)]), Turn(text="SUB-REPORT: check.py tests one price."),
        ]),
        Talk(match="FORKED-TASK", turns=[Turn(text="Forked answer.")]),
        Talk(match="RESUMED-TASK", turns=[Turn(text="Resumed answer.")]),
        Talk(match="SECOND-TASK", turns=[
            Turn(calls=[Call("Read", {"file_path": cart})]), Turn(text="It is known."),
        ]),
        Talk(match="FIRST-TASK", turns=[
            Turn(text="I look at it.", calls=[Call("Read", {"file_path": cart})]),
            Turn(calls=[Call("Bash", check)]),
            Turn(calls=[Call("Edit", edit)]),
            Turn(calls=[Call("Bash", check)]),
            Turn(calls=[Call("Agent", review)]),
            Turn(text=ANSWER),
        ]),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaudeCode]:
    place = Place(tmp_path_factory.mktemp("cc")).make()
    with FakeModels(talks(place.project)) as models:
        agent = ClaudeCode(place, models)
        agent.configure()
        yield agent
        place.mem("stop")


@pytest.fixture(scope="module")
def before(claude: ClaudeCode) -> bytes:
    """The settings before `mem install`, which this runs."""
    before = claude.config.read_bytes()
    said = claude.place.mem("install", "--ide", "claude-code", "--yes")
    assert "Claude Code: installed" in said
    return before


@pytest.fixture(scope="module")
def first(claude: ClaudeCode, before: bytes) -> str:
    """The id of the first session, once it is observed."""
    session = claude.session("FIRST-TASK the cart charges 90 % tax, mend it")
    claude.place.observed(1)
    return session


@pytest.fixture(scope="module")
def second(claude: ClaudeCode, first: str) -> str:
    """The id of the second session."""
    return claude.session("SECOND-TASK what do you know?")


def injected(request: Request) -> str:
    """The text that our hooks brought into a request."""
    texts = [text for message in request.body["messages"] for text in _texts(message)]
    return "\n".join(block for text in texts for block in FENCED.findall(text))


def _texts(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content if part.get("type") == "text"]


def kinds(claude: ClaudeCode, session: str) -> list[str]:
    sql = "SELECT kind FROM events WHERE session = ? ORDER BY id"
    return [str(row[0]) for row in claude.place.rows(sql, session)]


def test_all_of_the_first_session_is_kept(claude: ClaudeCode, first: str) -> None:
    seen = kinds(claude, first)
    assert seen[:2] == ["session_started", "prompt_sent"]
    assert {"tool_used", "tool_failed", "subagent_ended", "turn_ended", "session_ended"} <= set(
        seen
    )
    rows = claude.place.rows(
        "SELECT tool_name, agent_type FROM tool_uses JOIN sdk_sessions s"
        " ON s.id = session_db_id WHERE s.content_session_id = ? ORDER BY tool_uses.id",
        first,
    )
    assert [row[0] for row in rows if not row[1]] == ["Read", "Bash", "Edit", "Bash", "Agent"]
    assert [row[0] for row in rows if row[1]] == ["Read"]
    assert json.loads(claude.place.mem("verify", "--json"))["off"] == []


def test_what_was_observed_is_about_the_work(claude: ClaudeCode, first: str) -> None:
    text = json.dumps(claude.place.observed(1))
    assert "cart.py" in text
    assert "1.19" in text


def test_the_second_session_begins_with_the_first(claude: ClaudeCode, second: str) -> None:
    request = claude.models.asked("SECOND-TASK")[0]
    text = injected(request)
    assert text, "no context of ours in the request"
    titles = [row["title"] for row in claude.place.observations()]
    assert any(title in text for title in titles), f"none of {titles} in {text}"
    assert "FIRST-TASK" not in request.said, "a new session, not the old one continued"


def test_a_files_history_comes_before_it_is_read(claude: ClaudeCode, second: str) -> None:
    before, after = claude.models.asked("SECOND-TASK")[:2]
    more = injected(after).removeprefix(injected(before))
    assert "PreToolUse:Read hook additional context" in after.text
    assert "cart.py" in more
    titles = [row["title"] for row in claude.place.observations()]
    assert any(title in more for title in titles), more


def test_the_page_of_hosts_claims_only_what_was_seen(claude: ClaudeCode, second: str) -> None:
    before, after = claude.models.asked("SECOND-TASK")[:2]
    titles = [row["title"] for row in claude.place.observations()]
    more = injected(after).removeprefix(injected(before))
    proven.hold(
        claude, "two sessions", "hooks need 2.1.139 or newer",
        context=any(title in injected(before) for title in titles),
        history=any(title in more for title in titles),
    )  # fmt: skip


def test_the_first_session_had_nothing_to_remember(claude: ClaudeCode, first: str) -> None:
    request = claude.models.asked("FIRST-TASK")[0]
    titles = [row["title"] for row in claude.place.observations()]
    assert not any(title in request.text for title in titles)


def test_resume_goes_on_with_the_same_session(claude: ClaudeCode, first: str) -> None:
    session = claude.session("RESUMED-TASK go on", "--resume", first)
    assert session == first
    assert injected(claude.models.asked("RESUMED-TASK")[-1])
    sql = "SELECT prompt_number, prompt_text FROM user_prompts p JOIN sdk_sessions s"
    sql += " ON s.id = p.session_db_id WHERE s.content_session_id = ? ORDER BY p.id"
    prompts = claude.place.rows(sql, first)
    assert [row[0] for row in prompts] == [1, 2]
    assert prompts[1][1] == "RESUMED-TASK go on"


def test_fork_is_a_session_of_its_own(claude: ClaudeCode, first: str) -> None:
    args = ("--resume", first, "--fork-session")
    session = claude.session("FORKED-TASK another way", *args)
    assert session != first
    assert "session_started" in kinds(claude, session)
    assert injected(claude.models.asked("FORKED-TASK")[-1])


def test_compaction_is_noted_and_is_no_subagent(claude: ClaudeCode, first: str) -> None:
    subagents = kinds(claude, first).count("subagent_ended")
    prompts = kinds(claude, first).count("prompt_sent")
    claude.run("/compact keep the names", "--resume", first)
    claude.place.wait(lambda: "compacted" in kinds(claude, first), "the end of the compaction")
    seen = kinds(claude, first)
    assert "compacting" in seen
    proven.hold(claude, "a compaction")
    assert seen.count("subagent_ended") == subagents
    assert seen.count("prompt_sent") == prompts, "the summary is no prompt"


def test_clear_begins_a_new_session_with_the_memory(claude: ClaudeCode, first: str) -> None:
    def starts() -> list[tuple[str, str]]:
        sql = "SELECT session, payload FROM events WHERE kind = 'session_started' ORDER BY id"
        rows = claude.place.rows(sql)
        return [(str(row[0]), str(json.loads(row[1] or "{}").get("source"))) for row in rows]

    def ended() -> bool:
        return "session_ended" in kinds(claude, starts()[-1][0])

    count = len(starts())
    with claude.terminal() as terminal:
        assert terminal.wait(lambda: len(starts()) > count, 60), terminal.shown[-2000:]
        terminal.enter("/clear", lambda: len(starts()) > count + 1)
        terminal.enter("/exit", ended)
    (old, _), (new, source) = starts()[-2:]
    assert source == "clear"
    assert new != old


def test_nothing_is_left_undone(claude: ClaudeCode, first: str) -> None:
    claude.place.observed(1)
    assert json.loads(claude.place.mem("verify", "--json"))["off"] == []
    assert '"Traceback' not in claude.place.logs()


def test_uninstall_restores_the_settings(
    claude: ClaudeCode, before: bytes, first: str, request: pytest.FixtureRequest
) -> None:
    claude.place.mem("uninstall", "--ide", "claude-code", "--yes")
    assert claude.config.read_bytes() == before
    count = len(claude.place.rows("SELECT id FROM events"))
    claude.run("SECOND-TASK once more")
    assert len(claude.place.rows("SELECT id FROM events")) == count, "no hook runs any more"
