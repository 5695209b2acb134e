"""The real worker with vectors: saved, asked, half lost, switched off."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import apsw
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import LiveWorker, data_dir, start

QUESTION = "why is signing in refused"


@pytest.fixture
def paths() -> Iterator[Paths]:
    with data_dir() as made:
        made.data.mkdir(mode=0o700)
        made.settings.write_text(json.dumps({"CLAUDE_MEM_EMBEDDER": "quick"}), "utf-8")
        yield made


def ask(live: LiveWorker, text: str, **more: object) -> dict[str, object]:
    answer = live.ask("GET", f"/api/search?{urlencode({'query': text, **more})}")
    assert answer.status == 200, answer
    found: dict[str, object] = answer.json
    return found


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def remember(live: LiveWorker, text: str) -> None:
    answer = live.ask("POST", "/api/memory/save", {"text": text, "project": "shop"})
    assert answer.status == 200, answer


def texts(found: dict[str, object]) -> list[str]:
    rows = found["observations"]
    assert isinstance(rows, list)
    return [row["narrative"] for row in rows]


def test_a_question_is_answered_by_meaning_and_half_the_vectors_are_told(paths: Paths) -> None:
    live = start(paths)
    try:
        remember(live, "The login page rejects valid passwords")
        for number in range(9):
            remember(live, f"The zanzibar colour table has {number} yellow boxes")
        until(lambda: ask(live, "zanzibar")["coverage"] == 1.0)
        first = ask(live, QUESTION)
        assert first["methods"] == ["keyword", "vector"]
        assert texts(first)[0] == "The login page rejects valid passwords"
        assert ask(live, QUESTION) == first
        assert ask(live, QUESTION, match="all")["observations"] == []
    finally:
        live.stop()
    with_half(paths)
    live = start(paths, env={"CLAUDE_MEM_CHROMA_ENABLED": "true"})
    try:
        found = ask(live, "zanzibar", limit=50)
        assert len(texts(found)) == 9
        until(lambda: ask(live, "zanzibar")["coverage"] == 1.0)
    finally:
        live.stop()


def with_half(paths: Paths) -> None:
    conn = apsw.Connection(str(paths.database))
    conn.execute("DELETE FROM memory_vectors_1 WHERE id % 2").fetchall()
    assert next(conn.execute("SELECT count(*) FROM memory_vectors_1"))[0] == 5
    conn.close()


def test_switched_off_words_answer_alone(paths: Paths) -> None:
    paths.settings.write_text(json.dumps({"CLAUDE_MEM_CHROMA_ENABLED": "false"}), "utf-8")
    live = start(paths)
    try:
        remember(live, "The login page rejects valid passwords")
        until(lambda: ask(live, "why is the login refused")["coverage"] == 1.0)
        found = ask(live, "why is the login refused")
        assert (found["methods"], found["covered"]) == (["keyword"], {"keyword": 1.0})
    finally:
        live.stop()
