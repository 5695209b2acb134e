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


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("租户的缓存键为什么会缺少编号", 1), ("为什么队列的端口错配以后没有人消费任务", 3),
        ("支付回调失败以后应该重试几次？", 10), ("一覧のソートが遅い原因は何ですか", 4),
        ("ทำไมต้องย้ายคิวงานไปที่ฐานข้อมูลอื่น", 6), ("เซิร์ฟเวอร์ชำระเงินทำไมเวลาหมด", 7),
        ("로그인 세션이 왜 만료되나요", 8),
    ],
)  # fmt: skip
def test_o16_a_question_that_nothing_holds_as_it_stands(
    unspaced: Filled, question: str, wanted: int
) -> None:
    hits = unspaced.index.search(Query(text=question)).hits
    assert (hits[0].id, hits[0].complete) == (wanted, False)
    assert unspaced.index.search(Query(text=question, match_all=True)).hits == ()


def test_o16_a_name_is_found_as_it_stands_or_not_at_all(unspaced: Filled) -> None:
    for name in ("缓存键错", "端口租户", "ソート原因", "ย้ายปัญหา"):
        assert unspaced.index.search(Query(text=name)).hits == (), name


@pytest.mark.parametrize("case", queries(O16), ids=lambda case: ascii(case["q"])[:40])
def test_o16_search_cjk_thai(unspaced: Filled, case: dict[str, Any]) -> None:
    check(unspaced, case)
