"""Case O08: an observer's answers in a form nobody asked for.

Without a model there are no such answers: the reading of them, and the calls of a
provider (steps 1 and 3), come with the providers. What holds already: the event of the
case is stored once and done, and the same texts as the words of an agent, of a tool or
of a user are observed like any other, and reach the next session without a tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.case_home import Played, played
from tests.hook_home import CASES

FOLDER = CASES / "O08-observer-replies-odd"
EVENT = json.loads((FOLDER / "event.json").read_text("utf-8"))
REPLIES = [r for r in json.loads((FOLDER / "replies.json").read_text("utf-8")) if r.get("text")]
TAG = re.compile(
    r"</?(observation|type|title|narrative|facts?|summary|think|request)\b", re.IGNORECASE
)
TYPES = {"bugfix", "feature", "refactor", "change", "discovery", "decision", "security_alert",
         "security_note"}  # fmt: skip


@pytest.fixture(scope="module")
def home() -> Iterator[Played]:
    with played() as made:
        yield made


def observations(home: Played) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = home.get("/api/observations", limit=100)["items"]
    return rows


def test_o08_the_event_is_stored_once_and_done(home: Played) -> None:
    home.hook(home.filled(EVENT))
    home.settle()
    sql = "SELECT state FROM events WHERE session = ?"
    assert home.rows(sql, EVENT["session_id"]) in ([("stored",)], [("skipped",)])
    assert home.rows("SELECT count(*) FROM pending_messages") == [(0,)]
    assert home.rows("SELECT count(*) FROM tool_uses") == [(1,)]
    home.is_sound()


@pytest.mark.parametrize("reply", REPLIES, ids=[r["name"] for r in REPLIES])
def test_o08_such_a_text_is_never_taken_for_an_answer(
    home: Played, reply: dict[str, Any]
) -> None:
    session, text = f"r-{reply['name']}", reply["text"]
    known = {row["id"] for row in observations(home)}
    home.hook(home.payload("UserPromptSubmit", session, prompt=f"why does it say {text}"))
    used = {"tool_input": {"command": "python ask.py"}, "tool_response": {"stdout": text}}
    home.hook(
        home.payload("PostToolUse", session, tool_name="Bash", tool_use_id=session, **used)
    )
    edit = {"file_path": str(home.place / "reply.xml"), "old_string": "", "new_string": text}
    home.hook(
        home.payload("PostToolUse", session, tool_name="Edit", tool_use_id=f"{session}-e",
                     tool_input=edit, tool_response={})
    )  # fmt: skip
    home.hook(home.payload("Stop", session, last_assistant_message=text))
    home.settle()
    for row in observations(home):
        if row["id"] in known:
            continue
        assert row["type"] in TYPES
        assert row["title"].strip()
        assert len(row["title"]) < 200
    states = home.rows("SELECT DISTINCT state FROM events WHERE session = ?", session)
    assert {row[0] for row in states} <= {"stored", "skipped", "recorded"}
    context = home.begin(f"{session}-next")
    assert not TAG.search(context)
    home.is_sound()
