"""Two sessions with the real Kimi Code: the second begins with the first."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.testing.fake_models import Call, FakeModels, Request, Talk, Turn
from tests.e2e import proven
from tests.e2e.agents import KimiCode, Place

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

FENCED = re.compile("<claude-mem-context.*?</claude-mem-context>", re.DOTALL)
# A short report makes the host ask the sub-agent for a longer one.
REPORT = (
    "SUB-REPORT: the script check.py tests one price only. It imports total from cart, asks"
    " for the sum of one article at one hundred, and compares it with one hundred and"
    " nineteen; empty carts, several articles and negative prices are left out, and the"
    " message of the assertion shows the wrong sum alone."
)
# It does not wait for hooks of tool uses: what ends last needs time to be reported.
SLOW = 2.0


def talks(project: Path) -> list[Talk]:
    cart, check = str(project / "cart.py"), {"command": "python3 check.py"}
    edit = {"path": cart, "old_string": "1.9", "new_string": "1.19"}
    review = {
        "description": "review",
        "prompt": "SUBTASK-REVIEW look",
        "subagent_type": "coder",
    }
    return [
        Talk(match="SUBTASK-REVIEW", turns=[Turn(text=REPORT)]),
        Talk(match="SECOND-TASK", turns=[Turn(text="It is known.")]),
        Talk(match="FIRST-TASK", turns=[
            Turn(text="I look at it.", calls=[Call("Read", {"path": cart})]),
            Turn(calls=[Call("Bash", check)]),
            Turn(calls=[Call("Edit", edit)]),
            Turn(calls=[Call("Bash", check)]),
            Turn(calls=[Call("Agent", review)]),
            Turn(text="KIMI-ANSWER: the cart charges 19 % now.", delay=SLOW),
        ]),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def kimi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KimiCode]:
    place = Place(tmp_path_factory.mktemp("kc")).make()
    with FakeModels(talks(place.project)) as models:
        agent = KimiCode(place, models)
        agent.configure()
        yield agent
        place.mem("stop")


@pytest.fixture(scope="module")
def before(kimi: KimiCode) -> bytes:
    """The config before `mem install`, which this runs."""
    before = kimi.config.read_bytes()
    assert "Kimi Code: installed" in kimi.place.mem("install", "--ide", "kimi", "--yes")
    return before


@pytest.fixture(scope="module")
def first(kimi: KimiCode, before: bytes) -> str:
    """The id of the first session, once it is observed."""
    kimi.run("FIRST-TASK the cart charges 90 % tax, mend it")
    ends = "SELECT id FROM events WHERE kind = 'turn_ended' AND state = 'stored'"
    kimi.place.wait(lambda: len(kimi.place.rows(ends)) == 2, "the ends of both agents")
    kimi.place.observed(1)
    ((session,),) = kimi.place.rows("SELECT content_session_id FROM sdk_sessions")
    return str(session)


def injected(request: Request) -> str:
    """The text that our hook brought into a request; the host makes it a user's message."""
    return "\n".join(FENCED.findall(request.said))


def test_all_of_the_first_session_is_kept(kimi: KimiCode, first: str) -> None:
    rows = kimi.place.rows("SELECT kind FROM events WHERE session = ? ORDER BY id", first)
    seen = [str(row[0]) for row in rows]
    assert {"session_started", "prompt_sent", "tool_used", "tool_failed", "turn_ended"} <= set(
        seen
    )
    prompts = kimi.place.rows("SELECT prompt_text FROM user_prompts")
    assert prompts == [("FIRST-TASK the cart charges 90 % tax, mend it",)]
    tools = [row[0] for row in kimi.place.rows("SELECT tool_name FROM tool_uses")]
    assert sorted(tools) == ["Agent", "Bash", "Bash", "Edit", "Read"]
    assert json.loads(kimi.place.mem("verify", "--json"))["off"] == []


def test_the_answer_is_taken_from_its_journal(kimi: KimiCode, first: str) -> None:
    def answers() -> list[str]:
        rows = kimi.place.rows("SELECT payload FROM events WHERE kind = 'turn_ended'")
        return [str(json.loads(row[0] or "{}").get("answer") or "") for row in rows]

    kimi.place.wait(
        lambda: "KIMI-ANSWER: the cart charges 19 % now." in answers(), "the final answer"
    )


@pytest.fixture(scope="module")
def second(kimi: KimiCode, first: str) -> Request:
    """The first request of the second session."""
    kimi.run("SECOND-TASK what do you know?")
    return kimi.models.asked("SECOND-TASK")[0]


def test_the_second_session_begins_with_the_first(kimi: KimiCode, second: Request) -> None:
    text = injected(second)
    assert text, "no context of ours in the request"
    titles = [row["title"] for row in kimi.place.observations()]
    assert any(title in text for title in titles), f"none of {titles} in {text}"
    rows = kimi.place.rows("SELECT prompt_text FROM user_prompts ORDER BY id")
    assert rows[-1] == ("SECOND-TASK what do you know?",), "our own words are no prompt"


def test_the_page_of_hosts_claims_only_what_was_seen(kimi: KimiCode, second: Request) -> None:
    titles = [row["title"] for row in kimi.place.observations()]
    limits = (
        "`kimi -p` may end before its last tool use is reported, and sends no end of the session"
    )
    found = any(title in injected(second) for title in titles)
    proven.hold(kimi, "two sessions", limits, context=found, history=False)


def newest(kimi: KimiCode) -> str:
    rows = kimi.place.rows("SELECT content_session_id FROM sdk_sessions ORDER BY id DESC")
    return str(rows[0][0])


def test_a_resumed_session_is_not_told_twice(kimi: KimiCode, second: Request) -> None:
    session = newest(kimi)
    kimi.run("SECOND-TASK and more", "-r", session)
    assert newest(kimi) == session, "the same session"
    text = injected(kimi.models.asked("SECOND-TASK and more")[-1])
    told = re.findall(r"^\*{0,2}(\d+) ", text, re.MULTILINE)
    assert told
    assert len(set(told)) == len(told), text


def test_later_prompts_get_nothing(kimi: KimiCode, second: Request) -> None:
    hooks = tomllib.loads(kimi.config.read_text())["hooks"]
    (command,) = [h["command"] for h in hooks if h["event"] == "UserPromptSubmit"]
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": newest(kimi),
              "cwd": str(kimi.place.project), "prompt": [{"type": "text", "text": "go on"}]}  # fmt: skip
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(prompt), env=kimi.env, text=True,
        capture_output=True, timeout=20, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("", "")


def test_uninstall_restores_the_config(kimi: KimiCode, before: bytes, first: str) -> None:
    assert tomllib.loads(kimi.config.read_text())["hooks"]
    kimi.place.mem("uninstall", "--ide", "kimi", "--yes")
    assert kimi.config.read_bytes() == before
