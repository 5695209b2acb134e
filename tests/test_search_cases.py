"""Cases O15 and O16: what people type, and scripts without spaces (keyword part)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.types import DocKind, Query
from tests.recall_store import CASES, Filled, read_jsonl

O15 = CASES / "O15-keyword-query-syntax"
O16 = CASES / "O16-search-cjk-thai"


def queries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "queries.json").read_text("utf-8"))
    return found


def loaded(folder: Path, tmp: Path) -> Filled:
    filled = Filled(tmp)
    rows = read_jsonl(folder / "corpus.jsonl")
    assert filled.observe(rows) == [row["id"] for row in rows]
    return filled


@pytest.fixture(scope="module")
def syntax(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    filled = loaded(O15, tmp_path_factory.mktemp("o15"))
    yield filled
    filled.close()


@pytest.fixture(scope="module")
def unspaced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    filled = loaded(O16, tmp_path_factory.mktemp("o16"))
    yield filled
    filled.close()


def check(filled: Filled, case: dict[str, Any]) -> None:
    began = time.monotonic()
    found = filled.index.search(Query(text=case["q"], limit=20))
    assert time.monotonic() - began < 1
    assert (found.method, found.coverage) == ("keyword", 1.0)
    ids = [hit.id for hit in found.hits if hit.kind is DocKind.OBSERVATION]
    assert set(case["hit"]) <= set(ids[:5])
    assert not set(case.get("miss", [])) & set(ids)
    if "first" in case:
        assert ids[0] == case["first"]


@pytest.mark.parametrize("case", queries(O15), ids=lambda case: ascii(case["q"])[:40])
def test_o15_keyword_query_syntax(syntax: Filled, case: dict[str, Any]) -> None:
    check(syntax, case)


@pytest.mark.parametrize("case", queries(O16), ids=lambda case: ascii(case["q"])[:40])
def test_o16_search_cjk_thai(unspaced: Filled, case: dict[str, Any]) -> None:
    check(unspaced, case)
