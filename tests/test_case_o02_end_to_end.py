"""Case O02: unpaired surrogates and control characters, through the worker.

The hook's own part is `test_case_o02_lone_surrogates.py`. What providers are sent comes
with the providers, the export file with `mem export`; here each answer of the worker is
held against the same rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from claude_mem_core.cli.client import WorkerClient
from tests.case_home import Played, played
from tests.hook_home import CASES

FOLDER = CASES / "O02-lone-surrogates"
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LONE = re.compile("[\ud800-\udfff]")
ANSWERS = (
    "/api/prompts", "/api/observations", "/api/summaries", "/api/search?query=pewterlark",
    "/api/search?query=pewterlark&format=full", "/api/timeline?query=pewterlark",
    "/api/projects", "/api/stats", "/api/pending-queue",
)  # fmt: skip


@pytest.fixture(scope="module")
def home() -> Iterator[Played]:
    with played() as made:
        yield made


def events(home: Played) -> list[dict[str, Any]]:
    """The five; four tool uses share one id, and none of them may be lost by that."""
    files = sorted(FOLDER.glob("[0-9]*.json"))
    return [home.filled(json.loads(path.read_text("utf-8"))) for path in files]


def strings(value: Any) -> Iterator[str]:
    """Every text of a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def is_clean(home: Played) -> None:
    """Every answer is strict UTF-8 JSON without half characters."""
    client = WorkerClient(home.paths)
    for target in ANSWERS:
        path, _, asked = target.partition("?")
        params = dict(pair.split("=") for pair in asked.split("&") if pair)
        raw = client.request("GET", path, params).body
        value = json.loads(raw.decode("utf-8", "strict"))
        assert not [text for text in strings(value) if LONE.search(text) or "\0" in text]
    assert home.json("search", "pewterlark")


def test_o02_all_five_are_stored_and_what_comes_back_is_clean(home: Played) -> None:
    for event in events(home):
        home.hook(event)
    home.settle()
    assert home.rows("SELECT count(*) FROM events") == [(5,)]
    (prompt,) = home.prompts()
    assert prompt == "why does \ufffd appear \ufffd here pewterlark"
    outputs = [
        json.loads(row[0])["stdout"] for row in home.rows("SELECT tool_response FROM tool_uses")
    ]
    assert outputs[0] == "cut in the middle \ufffd"
    assert outputs[1] == "\ufffd starts in the middle pewterlark"
    assert outputs[2] == "bad order \ufffd\ufffd end"
    assert outputs[3].startswith("nul  bell")
    assert home.search("pewterlark")["prompts"]
    is_clean(home)
    home.is_sound()


def test_o02_the_next_session_and_the_terminal_get_no_control_character(home: Played) -> None:
    home.hook(
        home.payload(
            "UserPromptSubmit", "next", prompt="\x1b[31mred\x1b[0m \x07 pewterlark \x9b2J"
        )
    )
    output = {"stdout": "pewterlark \x1b]8;;http://x\x07link\x1b]8;;\x07 1 failed \x00 \udc80"}
    used = {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest \x1b[2J"},
        "tool_response": output,
    }
    home.hook(home.payload("PostToolUse", "next", tool_use_id="toolu_n", **used))
    home.hook(
        home.payload(
            "Stop", "next", last_assistant_message="Done \ud83d \x1b[1mpewterlark\x1b[0m"
        )
    )
    home.settle()
    ran = home.hook(home.payload("SessionStart", "third", source="startup"))
    assert "pewterlark" in home.told(ran)
    assert not RAW.search(ran.out.decode("utf-8"))
    assert not RAW.search(home.told(ran))
    assert not LONE.search(home.told(ran))
    for words in (
        ["search", "pewterlark"],
        ["timeline", "--query", "pewterlark"],
        ["context"],
        ["stats"],
    ):
        assert not RAW.search(home.mem(*words).stdout), words


ODD = {
    "in a key": {"tool_input": {"\ud83d": 1, "nul\0key": "pewterlark"}},
    "in the tool's name": {"tool_name": "Ba\udc80sh pewterlark"},
    "in the tool use's id": {"tool_use_id": "toolu_\ud800\0x"},
    "in the session": {"session_id": "s\ud800-\0odd"},
    "in the directory": {"cwd": "/srv/\udcffpewter\0lark"},
    "in the transcript's path": {"transcript_path": "/srv/\ud83d.jsonl"},
    "in a sub-agent": {"agent_id": "a\ud83d", "agent_type": "x\0y"},
    "as the whole text": {"tool_response": "\ud83d\udc00\udfff"},
    "a proper pair": {"tool_response": {"stdout": "\U0001f600 pewterlark"}},
    "a list": {"tool_response": ["\ud83d", ["\0"], {"a": ["\x1b"]}]},
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_o02_wherever_they_stand_the_event_is_kept(home: Played, name: str) -> None:
    (before,) = home.rows("SELECT count(*) FROM events WHERE state <> 'skipped'")
    payload = home.payload(
        "PostToolUse", f"odd-{name}", tool_name="Bash", tool_input={"command": "ls -la"},
        tool_response={"stdout": "x"}, tool_use_id=f"toolu_{name}",
    )  # fmt: skip
    home.hook({**payload, **ODD[name]})
    (after,) = home.rows("SELECT count(*) FROM events WHERE state <> 'skipped'")
    assert after[0] == before[0] + 1
    home.settle()
    is_clean(home)
    home.is_sound()


def test_o02_an_id_that_is_not_unique_loses_nothing_and_doubles_nothing(home: Played) -> None:
    for _ in range(2):
        for output in ("one", "two", "one"):
            used = {"tool_input": {"command": "date"}, "tool_response": {"stdout": output}}
            home.hook(
                home.payload("PostToolUse", "ids", tool_name="Bash", tool_use_id="t", **used)
            )
    sql = "SELECT tool_response FROM tool_uses WHERE content_session_id = 'ids' ORDER BY id"
    assert [json.loads(row[0])["stdout"] for row in home.rows(sql)] == ["one", "two"]
    assert home.rows("SELECT count(*) FROM events WHERE session = 'ids'") == [(2,)]
