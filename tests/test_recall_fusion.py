"""Words and meaning in one order, and what an answer says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.recall import fusion, question
from claude_mem_core.recall.search import SearchAnswer, search
from claude_mem_core.recall.substrings import apart
from claude_mem_core.settings import SettingsSource, writing
from claude_mem_core.types import DocKind, Found, Hit, Query
from tests.recall_store import DAY_MS, NOW_MS, Filled

OBSERVATION = DocKind.OBSERVATION


class Near:
    """A backend that says what it was told to say."""

    def __init__(self, likeness: Mapping[int, float], coverage: float = 1.0) -> None:
        self.likeness = likeness
        self.covers = coverage
        self.asked: list[Query] = []
        self.broken = False

    def search(self, query: Query) -> Found:
        self.asked.append(query)
        if self.broken:
            raise RuntimeError("no vectors today")
        ranked = sorted(self.likeness.items(), key=lambda pair: -pair[1])
        hits = (Hit(kind=OBSERVATION, id=i, score=s, complete=False) for i, s in ranked)
        return Found(hits=tuple(hits), method="near", coverage=self.covers)

    def feed(self, limit: int) -> int:
        return 0

    def coverage(self) -> float:
        return self.covers

    def scores(
        self, query: Query, records: Sequence[tuple[DocKind, int]]
    ) -> Mapping[tuple[DocKind, int], float]:
        return {key: self.likeness[key[1]] for key in records if key[1] in self.likeness}


@attrs.define
class Indexes:
    backends: dict[str, Any]
    exact: tuple[str, ...] = ("keyword",)


class Recall:
    """What a search needs, over a small store."""

    def __init__(self, folder: Path) -> None:
        self.filled = Filled(folder)
        self.store = self.filled.store
        self.settings = SettingsSource(Paths(folder))
        self.near = Near({})
        self.indexer = Indexes({"keyword": self.filled.index, "near": self.near})

    def ask(self, text: str, **more: Any) -> SearchAnswer:
        return search(self, Query(text=text, **more))

    def ids(self, text: str, **more: Any) -> list[int]:
        return [record.id for record in self.ask(text, **more).records]


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    made = Recall(tmp_path)
    yield made
    made.filled.close()


def rows(*titles: str, **more: Any) -> list[dict[str, Any]]:
    return [{"title": title, **more} for title in titles]


def test_all_words_first_then_by_words_and_meaning(recall: Recall) -> None:
    every, some, none, other = recall.filled.observe(
        rows("slow invoice report", "slow report", "billing takes long", "icons are blue")
    )
    recall.near.likeness = {none: 0.9, some: 0.8, other: 0.1, every: 0.2}
    answer = recall.ask("slow invoice report")
    assert [record.id for record in answer.records][:3] == [every, some, none]
    assert answer.partial == {str(some), str(none), str(other)}
    assert answer.methods == ("keyword", "near")


@pytest.mark.parametrize(
    "text",
    [
        "worker-service.ts", "C++", "foo_bar", "E0308 parser.rs:42", '"never again in march"',
        "login", "缓存键", "--flag", "",
    ],
)  # fmt: skip
def test_names_signs_and_single_words_are_answered_by_words(recall: Recall, text: str) -> None:
    assert not question.by_meaning(Query(text=text))
    recall.filled.observe(rows("nothing of it"))
    recall.ask(text)
    assert recall.near.asked == []


@pytest.mark.parametrize(
    "text",
    [
        "why are invoices slow", "login rejected", "what about the cache",
        "为什么缓存键缺少租户编号导致用户看到别人的数据",
    ],
)  # fmt: skip
def test_questions_are_asked_by_meaning(text: str) -> None:
    assert question.by_meaning(Query(text=text))


def test_strict_words_and_dates_are_left_to_words(recall: Recall) -> None:
    both = recall.filled.observe(rows("slow invoice report", "slow report"))
    recall.near.likeness = dict.fromkeys(both, 0.9)
    assert recall.ids("slow invoice report", match_all=True) == both[:1]
    assert recall.ids("slow invoice report", order="date_desc")[0] == both[0]
    assert recall.near.asked == []


def test_a_full_page_of_all_words_needs_no_meaning(recall: Recall) -> None:
    recall.filled.observe(rows(*["slow invoice"] * 8))
    assert recall.ask("slow invoice", limit=5).methods == ("keyword",)
    assert recall.near.asked == []


def test_neighbours_in_a_session_follow_a_good_match(recall: Recall) -> None:
    asked, said, far = recall.filled.observe(
        [
            {"title": "why does the ferry timetable break", "session": "a"},
            {"title": "the zone name was missing", "session": "a"},
            {"title": "the zone name is shown", "session": "b"},
        ]
    )
    found = recall.ids("how did the ferry timetable break in march")
    assert found == [asked, said]
    assert far not in found


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 20])
def test_replaced_memories_come_last_on_any_page(recall: Recall, limit: int) -> None:
    ids = recall.filled.observe(rows(*[f"billing is slow on day {n}" for n in range(5)]))
    recall.near.likeness = {number: 0.9 - n / 10 for n, number in enumerate(ids)}
    sql = "UPDATE observations SET superseded_by = ? WHERE id IN (?, ?)"
    recall.filled.execute(sql, ids[4], ids[0], ids[2])
    wanted = [ids[1], ids[3], ids[4], ids[0], ids[2]]
    question = "why do invoices take long"
    assert recall.ids(question, limit=limit) == wanted[:limit]
    assert recall.ids(question, limit=limit, offset=1) == wanted[1 : 1 + limit]


def test_several_projects_at_once(recall: Recall) -> None:
    shop, pay, _ = recall.filled.observe(
        [{"title": "zanzibar", "project": name} for name in ("shop", "pay", "far")]
    )
    assert set(recall.ids("zanzibar", projects=("shop", "pay"))) == {shop, pay}
    assert set(recall.ids("zanzibar", project="shop", projects=("pay",))) == {shop, pay}
    assert recall.ids("zanzibar", projects=("pay", "nowhere")) == [pay]
    assert recall.ids("zanzibar", projects=("nowhere",)) == []
    assert len(recall.ids("zanzibar")) == 3
    recall.ids("why is zanzibar so slow", projects=("shop", "pay"))
    assert len(recall.near.asked[-1].project_ids or ()) == 2


def test_what_each_index_covers_is_told(recall: Recall) -> None:
    ids = recall.filled.observe(rows(*[f"zanzibar {n}" for n in range(10)]))
    recall.near.covers = 0.5
    answer = recall.ask("zanzibar", limit=50)
    assert {record.id for record in answer.records} == set(ids)
    assert (answer.covered, answer.coverage) == ({"keyword": 1.0, "near": 0.5}, 0.5)


def test_a_backend_that_fails_is_named_and_the_words_answer(recall: Recall) -> None:
    wanted = recall.filled.observe(rows("slow invoice report"))[0]
    recall.filled.observe(rows("icons", session="other"))
    recall.near.broken = True
    answer = recall.ask("why is the invoice report slow")
    assert [record.id for record in answer.records] == [wanted]
    assert (answer.methods, answer.failed) == (("keyword",), {"near": "RuntimeError"})


def test_meaning_looks_back_some_days_unless_dates_are_named(
    recall: Recall, tmp_path: Path
) -> None:
    recall.filled.observe(rows("anything"))
    recall.ask("why are invoices slow")
    assert (recall.near.asked[-1].since_ms or 0) % DAY_MS == 0
    assert recall.near.asked[-1].since_ms
    recall.ask("why are invoices slow", until_ms=NOW_MS)
    assert recall.near.asked[-1].since_ms is None
    writing.put(Paths(tmp_path), {"CLAUDE_MEM_SEARCH_RECENCY_DAYS": "0"})
    recall.ask("why are invoices slow")
    assert recall.near.asked[-1].since_ms is None


def test_the_same_request_gives_the_same_answer(recall: Recall) -> None:
    ids = recall.filled.observe(rows(*[f"slow report {n}" for n in range(30)]))
    recall.near.likeness = {number: 0.5 for number in ids}
    first = recall.ask("why is the report slow today")
    assert all(recall.ask("why is the report slow today") == first for _ in range(3))


def test_pages_of_a_merged_order_hold_everything_once(recall: Recall) -> None:
    ids = recall.filled.observe(rows(*[f"slow report {n}" for n in range(23)]))
    recall.near.likeness = {number: number / 100 for number in ids}
    pages = [recall.ids("why slow reports", limit=5, offset=at) for at in range(0, 30, 5)]
    assert sorted(number for page in pages for number in page) == ids


def test_a_list_without_spread_counts_for_nothing() -> None:
    hits = [Hit(kind=OBSERVATION, id=number, score=1.0) for number in (1, 2)]
    near = {(OBSERVATION, 1): 0.2, (OBSERVATION, 2): 0.4}
    sums = fusion._sums(hits, [near])
    assert sums == {(OBSERVATION, 1): 0.0, (OBSERVATION, 2): 1.0}


@pytest.mark.parametrize("typed", ["authentcation", "authentication", "authetnication"])
def test_a_typing_error_finds_the_word(recall: Recall, typed: str) -> None:
    wanted = recall.filled.observe(rows("authentication of the mobile app", "colours"))[0]
    assert recall.ids(typed) == [wanted]
    assert recall.ids(f"{typed} app") == [wanted]
    assert recall.ids("zebrafish") == []


@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [("same", "same", 0), ("cache", "cahce", 1), ("cache", "cach", 1), ("abc", "xyzabc", 2)],
)
def test_errors_are_counted_up_to_a_bound(one: str, other: str, errors: int) -> None:
    assert min(2, apart(one, other, 1)) == errors
