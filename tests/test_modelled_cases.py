"""Cases O08, O04 and O02 with a model: odd replies, huge and odd text, through the processor."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hook_home import CASES
from tests.model_home import ModelHome, model_home, observation

O08 = CASES / "O08-observer-replies-odd"
REPLIES: list[dict[str, Any]] = json.loads((O08 / "replies.json").read_text("utf-8"))
EVENT: dict[str, Any] = json.loads((O08 / "event.json").read_text("utf-8"))
GOOD = observation("Good answer at last", "bugfix", facts="<fact>timer reset on success</fact>")
TAG = re.compile(r"</?[a-z_]+>")
MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def home() -> Iterator[ModelHome]:
    with model_home() as made:
        yield made


@pytest.mark.parametrize("reply", REPLIES, ids=[reply["name"] for reply in REPLIES])
def test_o08_odd_replies(home: ModelHome, reply: dict[str, Any]) -> None:
    session, wanted = f"o08-{REPLIES.index(reply)}", reply["expect"]
    home.replies(reply.get("text", ""), GOOD)
    before, kept = len(home.asked), len(home.observed())
    home.hook({**home.filled(EVENT), "session_id": session, "tool_use_id": session})
    home.settle()
    calls, made = len(home.asked) - before, home.observed()[kept:]
    states = home.rows("SELECT state FROM events WHERE session = ?", session)
    assert states == [("stored",)], "the event is done"
    for row in made:
        assert not TAG.search(" ".join(map(str, row.values()))), row
    titles = [row["title"] for row in made]
    if wanted["class"] == "store":
        assert calls == 1
        for title, whole in zip(titles, wanted["titles"], strict=True):
            assert title.startswith(whole[:-1]) if whole.endswith("*") else title == whole
            assert len(title) < 200
        for row, kind in zip(made, wanted["types"], strict=True):
            assert _is_of(row, kind), row
    elif wanted["class"] == "skip":
        assert (calls, titles) == (1, [])
    else:
        assert calls == 2, "asked once more"
        assert titles == ["Good answer at last"]


def _is_of(row: dict[str, Any], kind: str) -> bool:
    """A neutral type has the word that was said beside it, unless none was."""
    if not kind.startswith("*"):
        return bool(row["type"] == kind)
    said = json.loads(row["metadata"] or "{}").get("type_given", "")
    return row["type"] == ("bugfix" if "bugfix" in said else "discovery")


def test_o08_without_restart_or_accident(home: ModelHome) -> None:
    home.is_sound()
    starts = home.logs().count("processor started")
    assert starts <= 1, "no reply ends the processor"


def test_unusable_twice_goes_to_rules(home: ModelHome) -> None:
    home.replies("I'm ready to observe.", "Please send the next tool call.", GOOD)
    before, kept = len(home.asked), len(home.observed())
    home.turn("twice", "why does the retry test fail? look into it and tell me the cause")
    home.settle()
    assert len(home.asked) - before == 2
    made = home.observed()[kept:]
    assert {row["model"] for row in made} == {"builtin"}
    assert all("meanwhile" not in (row["metadata"] or "") for row in made), "that is final"
    sql = "SELECT DISTINCT state FROM events WHERE session = 'twice' AND kind <> 'prompt_sent'"
    assert home.rows(sql) == [("stored",)]
    home.is_sound()


def test_o04_huge_output(home: ModelHome, tmp_path: Path) -> None:
    gen = CASES / "O04-huge-tool-output" / "gen.py"
    subprocess.run([sys.executable, gen, tmp_path], check=True)
    home.replies(observation("Large output seen"))
    before = len(home.models.requests)
    for number in (1, 2, 3, 4):
        text = (tmp_path / f"{number}.json").read_text("utf-8")
        home.hook(home.filled(json.loads(text)))
    home.settle()
    bodies = [request.text for request in home.models.requests[before:]]
    assert bodies
    assert all(len(body.encode()) < MOST_BYTES for body in bodies)
    said = "\n".join(body["messages"][-1]["content"] for body in home.asked[before:])
    assert not re.search(r"[A-Za-z0-9+/]{1000}", said)
    assert "<omitted base64=" in said
    for mark in ("HEAD-MARK-2", "TAIL-MARK-2", "HEAD-MARK-3", "TAIL-MARK-3", "<elided chars="):
        assert mark in said, mark
    assert home.worker is not None
    home.is_sound()


def test_o02_lone_surrogates(home: ModelHome) -> None:
    home.replies(
        observation("Log tail read pewterlark", narrative="Half an emoji \ud83d there.")
    )
    before = len(home.models.requests)
    folder = CASES / "O02-lone-surrogates"
    for name in sorted(path.name for path in folder.glob("[1-5]-*.json")):
        text = (folder / name).read_text("utf-8")
        home.hook(home.filled(json.loads(text)))
    stop = home.payload(
        "Stop", json.loads(text)["session_id"], last_assistant_message="ok " * 300
    )
    home.hook(stop)
    home.settle()
    said = ""
    for request in home.models.requests[before:]:
        said += "".join(message["content"] for message in request.body["messages"])
    said.encode("utf-8")
    assert "pewterlark" in said
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", said)
    assert any(row["title"] == "Log tail read pewterlark" for row in home.observed())
    home.is_sound()
