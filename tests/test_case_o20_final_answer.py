"""O20: the final answer, through the real hook and worker, from untidy transcripts.

All steps of the case. Every delivery has a session of its own, so that one worker serves.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.live import Live, eventually

pytestmark = pytest.mark.slow

CASE = Path(__file__).parent / "cases" / "O20-transcript-final-answer"
CASES: list[dict[str, Any]] = json.loads((CASE / "cases.json").read_text(encoding="utf-8"))
NEVER = ("OLD ANSWER", "SIDE CHAIN", "private thoughts", "API Error", "local-command")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    live = Live(tmp_path_factory.mktemp("o20") / "home")
    live.start()
    (live.home / ".claude" / "projects" / "p").mkdir(parents=True)
    (live.home / "app").mkdir()
    yield live
    live.mem("stop")


def answers(live: Live, session: str) -> list[str | None]:
    sql = "SELECT payload FROM events WHERE kind = 'turn_ended' AND session = ?"
    return [json.loads(row[0] or "{}").get("answer") for row in live.rows(sql, session)]


def stop(live: Live, number: int, transcript: Path) -> dict[str, Any]:
    fields = dict(CASES[number]["stop"])
    fields |= {"transcript_path": str(transcript), "cwd": str(live.home / "app")}
    return {**fields, "session_id": f"5e0f7c1a-0000-4000-8000-0000000{number:05}"}


def name(number: int) -> str:
    return f"{number}-{CASES[number]['file']}"


@pytest.mark.parametrize("number", range(len(CASES)), ids=name)
def test_o20(live: Live, number: int) -> None:
    case = CASES[number]
    copy = live.home / ".claude" / "projects" / "p" / f"{number}.jsonl"
    source = CASE / "transcripts" / case["file"]
    if source.exists():
        copy.write_bytes(source.read_bytes())
    payload = stop(live, number, copy)
    start = time.monotonic()
    live.hook("Stop", payload)
    assert time.monotonic() - start < 2
    if case["file"] == "late.jsonl":
        time.sleep(0.4)  # the case says so: the host writes its last line that late
        with copy.open("ab") as file:
            file.write((CASE / "transcripts" / "late-rest.jsonl").read_bytes())
    session = payload["session_id"]

    def as_expected() -> bool:
        found = answers(live, session)
        return len(found) == 1 and (found[0] or None) == case["answer"]

    if case["answer"] is None:
        time.sleep(2)  # longer than anybody looks for a late answer
        assert as_expected(), answers(live, session)
    else:
        assert eventually(as_expected, 5), answers(live, session)
    live.hook("Stop", payload)
    time.sleep(0.2)
    assert as_expected(), "the same once more changes nothing"
    assert not any(word in str(answers(live, session)) for word in NEVER)


def test_no_traceback_and_no_content_in_the_log(live: Live) -> None:
    log = live.logs()
    assert "Traceback" not in log
    assert "NEW ANSWER" not in log
