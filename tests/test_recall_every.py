"""Every record that holds the words: not a page of them, not the newest ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from claude_mem_core.errors import StoreError
from claude_mem_core.recall.every import every
from claude_mem_core.recall.scoring import WINDOW
from claude_mem_core.types import DocKind, Query
from tests.recall_store import Filled, _observation, _prompt, _summary

MANY = WINDOW + 300


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """More of each kind than a search ranks, half of them with a second word."""
    made = Filled(tmp_path_factory.mktemp("every"))

    def write(conn: apsw.Connection) -> None:
        for n in range(MANY):
            text = f"the retry {'of a timeout' if n % 2 else 'alone'} -> {n}"
            _observation(conn, {"title": text})
            _summary(conn, {"request": text})
            _prompt(conn, {"text": text})

    made.store.write(write).result(60)
    made.feed()
    made.execute("UPDATE observations SET superseded_by = 1 WHERE id % 3 = 0")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "count"), [("retry", MANY), ("timeout retry", MANY // 2), ("retr", MANY), ("->", MANY)]
)
def test_all_of_each_kind(filled: Filled, text: str, count: int) -> None:
    found = filled.store.read(lambda conn: every(conn, Query(text=text)))
    assert {kind: len(ids) for kind, ids in found.items()} == {
        # A prompt has to hold several words as one piece of text.
        DocKind.OBSERVATION: count, DocKind.SUMMARY: count,
        DocKind.PROMPT: 0 if text == "timeout retry" else count,
    }  # fmt: skip
    assert all(len(set(ids)) == len(ids) for ids in found.values())


def test_what_is_not_indexed_yet_is_no_silent_gap(tmp_path: Path) -> None:
    made = Filled(tmp_path)
    made.store.write(lambda conn: _observation(conn, {"title": "retry"})).result(60)
    with pytest.raises(StoreError, match="`mem start`"):
        made.store.read(lambda conn: every(conn, Query(text="retry")))
    made.close()
