"""Keyword search: what is found, in which order, within which filters."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.recall import find, scoring, words
from claude_mem_core.recall.counts import Counts
from claude_mem_core.types import DocKind, Found, Query
from tests.recall_store import DAY_MS, NOW_MS, Filled

OBSERVATIONS = (DocKind.OBSERVATION,)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    yield made
    made.close()


def ask(filled: Filled, text: str, **rest: Any) -> Found:
    return filled.index.search(Query(text=text, **rest))


def ids(filled: Filled, text: str, **rest: Any) -> list[int]:
    return [hit.id for hit in ask(filled, text, **rest).hits]


def complete(filled: Filled, text: str, **rest: Any) -> list[int]:
    return [hit.id for hit in ask(filled, text, **rest).hits if hit.complete]


def test_every_word_in_any_order_and_field(filled: Filled) -> None:
    both, _ = filled.observe(
        [
            {
                "title": "Security review",
                "narrative": "The call is gone",
                "facts": ["deprecated"],
            },
            {"title": "Security review of the shop"},
        ]
    )
    assert complete(filled, "DEPRECATED security") == [both]
    assert ids(filled, "deprecated security")[0] == both


def test_partial_hits_come_after_and_are_marked(filled: Filled) -> None:
    whole, part = filled.observe(
        [
            {"title": "Queue retries failed jobs"},
            {"title": "Queue of invoices"},
        ]
    )
    found = ask(filled, "queue retries of jobs")
    assert [(hit.id, hit.complete) for hit in found.hits] == [(part, False), (whole, False)][
        ::-1
    ]
    assert [(hit.id, hit.complete) for hit in ask(filled, "queue retries").hits] == [
        (whole, True),
        (part, False),
    ]
    assert ids(filled, "queue retries", match_all=True) == [whole]


def test_parts_of_words_in_part(filled: Filled) -> None:
    (made,) = filled.observe([{"title": "redeployment of carts"}])
    found = ask(filled, "deploy nowhere")
    assert [(hit.id, hit.complete) for hit in found.hits] == [(made, False)]


def test_operators_are_words(filled: Filled) -> None:
    plain, both = filled.observe(
        [
            {"title": "security notes"},
            {"title": "security not deprecated"},
        ]
    )
    assert complete(filled, "security NOT deprecated") == [both]
    assert complete(filled, "title:security") == []
    assert set(ids(filled, '"security notes" OR -(x')) >= {plain}


def test_punctuation_makes_adjacent_parts(filled: Filled) -> None:
    name, apart = filled.observe(
        [
            {"title": "Edited worker-service.ts today"},
            {"title": "The service of a worker in ts"},
        ]
    )
    assert complete(filled, "worker-service.ts") == [name]
    assert ids(filled, "worker-service.ts") == [name, apart]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Uses getUserName everywhere", "user name"),
        ("Uses HTTPServer", "server"),
        ("Edited src/auth/session_store.py", "session_store.py"),
        ("Edited src/auth/session_store.py", "auth/session_store"),
        ("Error E0308: mismatched types", "E0308"),
        ("Commit 3f2a9c1d77 broke it", "3f2a9c1"),
        ("The migration failed", "migrat"),
        ("The migration failed", "grati fail"),
        ("worker-service is slow", "worker-serv"),
        ("Größe geändert", "grosse GEANDERT"),
        ("Обновление миграции", "миграц"),
        ("Tests were running", "test run"),
        ("wrote to the café", "cafe\u0301"),
        ("第3章 of the book", "第3章"),
        ("缓存键key missing", "键key"),
        ("自动部署docker镜像", "部署docker"),
        ("किताब पढ़ी", "किताब"),
        ("Fixed 🎯 targets", "🎯"),
        ("𞤀𞤁𞤂 in Adlam", "𞤀𞤁𞤂"),
    ],
)
def test_found_by(filled: Filled, text: str, query: str) -> None:
    filled.observe([{"title": "Something else entirely"}])
    (wanted,) = filled.observe([{"title": "Title", "narrative": text}])
    if query == "grosse GEANDERT":  # sharp s is a letter of its own
        query = "größe GEANDERT"
    assert complete(filled, query)[:1] == [wanted]


def test_a_sign_at_an_end_counts(filled: Filled) -> None:
    c_rows = [{"title": f"Port C bindings {n}"} for n in range(60)]
    first, *rest = filled.observe([{"title": "C++ bindings"}, *c_rows])
    assert ids(filled, "C++")[0] == first
    assert set(ids(filled, "C++", limit=100)) == {first, *rest}
    flag, _ = filled.observe([{"title": "use --dry-run"}, {"title": "a dry run"}])
    assert ids(filled, "--dry-run")[0] == flag


def test_exactly_as_typed_comes_first(filled: Filled) -> None:
    dots, _ = filled.observe(
        [
            {"title": "see a.b.c", "narrative": "long text about many other things here"},
            {"title": "a-b-c"},
        ]
    )
    assert ids(filled, "a.b.c")[0] == dots


def test_parts_of_words_only_when_words_leave_room(filled: Filled) -> None:
    inside, whole = filled.observe([{"title": "redeployment"}, {"title": "deployment"}])
    assert ids(filled, "deployment", limit=1) == [whole]
    assert ids(filled, "deployment") == [whole, inside]


def test_a_prompt_holds_the_query_as_one_piece(filled: Filled) -> None:
    piece = filled.prompt("please do the database migration now")
    apart = filled.prompt("migration of the database")
    found = ask(filled, "database migration", kinds=(DocKind.PROMPT,))
    assert [(hit.id, hit.complete) for hit in found.hits] == [(piece, True), (apart, False)]
    assert ids(filled, "database migration", kinds=(DocKind.PROMPT,), match_all=True) == [piece]


def test_all_kinds_are_searched(filled: Filled) -> None:
    (observation,) = filled.observe([{"title": "zanzibar found"}])
    summary = filled.summarize(request="go to zanzibar", learned="it is far")
    prompt = filled.prompt("where is zanzibar")
    kinds = {(hit.kind, hit.id) for hit in ask(filled, "zanzibar").hits}
    assert kinds == {
        (DocKind.OBSERVATION, observation),
        (DocKind.SUMMARY, summary),
        (DocKind.PROMPT, prompt),
    }
    assert ids(filled, "far", kinds=(DocKind.SUMMARY,)) == [summary]


def test_filters(filled: Filled) -> None:
    rows: list[dict[str, Any]] = [
        {"title": "zanzibar", "type": "bugfix", "project": "a", "concepts": ["gotcha"]},
        {"title": "zanzibar", "type": "feature", "project": "a", "host": "kimi"},
        {
            "title": "zanzibar",
            "type": "security_alert",
            "project": "b",
            "files_modified": ["src/pay/cart.py"],
        },
    ]
    first, second, third = filled.observe(rows)
    assert set(ids(filled, "zanzibar")) == {first, second, third}
    assert set(ids(filled, "zanzibar", project="a")) == {first, second}
    assert ids(filled, "zanzibar", project="nowhere") == []
    assert ids(filled, "zanzibar", types=("bugfix",)) == [first]
    assert set(ids(filled, "zanzibar", types=("bugfix", "security_alert"))) == {first, third}
    assert ids(filled, "zanzibar", concepts=("gotcha",)) == [first]
    assert ids(filled, "zanzibar", host="kimi") == [second]
    assert ids(filled, "zanzibar", files=("cart.py",)) == [third]
    assert ids(filled, "zanzibar", files=("src/pay/cart.py", "other")) == [third]
    assert ids(filled, "", types=("feature",)) == [second]
    number = filled.value("SELECT id FROM projects WHERE label = 'b'")
    assert ids(filled, "zanzibar", project=str(number)) == [third]


def test_a_filter_is_never_a_word(filled: Filled) -> None:
    filled.observe([{"title": "one", "type": "bugfix", "project": "p"}])
    for text in ("bugfix", "tbugfix", "\ue000tbugfix", "p1", "d20260701"):
        assert complete(filled, text) == []


def test_dates(filled: Filled) -> None:
    rows = [{"title": "zanzibar", "created_ms": NOW_MS - n * DAY_MS} for n in range(400)]
    made = filled.observe([{**row, "narrative": str(n)} for n, row in enumerate(rows)])
    found = ids(filled, "zanzibar", limit=500, since_ms=NOW_MS - 10 * DAY_MS)
    assert set(found) == set(made[:11])
    found = ids(filled, "zanzibar", limit=500, until_ms=NOW_MS - 390 * DAY_MS)
    assert set(found) == set(made[390:])
    inner = {"since_ms": NOW_MS - 200 * DAY_MS - 5, "until_ms": NOW_MS - 100 * DAY_MS}
    assert set(ids(filled, "zanzibar", limit=500, **inner)) == set(made[100:201])
    assert set(ids(filled, "", limit=500, **inner)) == set(made[100:201])
    assert ids(filled, "zanzibar", since_ms=NOW_MS + 1) == []
    assert ids(filled, "zanzibar", since_ms=NOW_MS, until_ms=0) == []


def test_order_by_date(filled: Filled) -> None:
    days = [3, 1, 4, 0, 5]
    made = filled.observe(
        [{"title": f"zanzibar {n}", "created_ms": NOW_MS - n * DAY_MS} for n in days]
    )
    newest_first = [made[days.index(n)] for n in sorted(days)]
    assert ids(filled, "zanzibar", order="date_desc") == newest_first
    assert ids(filled, "zanzibar", order="date_asc") == newest_first[::-1]
    assert ids(filled, "", order="date_asc", limit=2) == newest_first[::-1][:2]
    assert ids(filled, "", limit=2) == newest_first[:2]
    assert ids(filled, "zanzibar other", order="date_desc") == newest_first


def test_superseded_rank_behind(filled: Filled) -> None:
    old, new = filled.observe(
        [
            {"title": "zanzibar zanzibar", "narrative": "zanzibar"},
            {"title": "Another", "narrative": "one long text that holds zanzibar once"},
        ]
    )
    assert ids(filled, "zanzibar") == [old, new]
    filled.execute("UPDATE observations SET superseded_by = ? WHERE id = ?", new, old)
    assert ids(filled, "zanzibar") == [new, old]


def test_rows_of_subagents_are_found(filled: Filled) -> None:
    (made,) = filled.observe([{"title": "zanzibar", "agent_id": "a", "agent_type": "b"}])
    assert ids(filled, "zanzibar") == [made]


@pytest.mark.parametrize("text", ["zanzibar", "zanzibar common", ""])
@pytest.mark.parametrize("order", ["relevance", "date_desc", "date_asc"])
def test_pages_hold_everything_once(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, text: str, order: str
) -> None:
    made = filled.observe([{"title": f"zanzibar common {n}"} for n in range(25)])
    monkeypatch.setattr(find, "WINDOW", 10)
    seen: list[int] = []
    while True:
        found = ask(filled, text, order=order, limit=7, offset=len(seen), kinds=OBSERVATIONS)
        seen += [hit.id for hit in found.hits]
        if not found.more:
            break
    assert sorted(seen) == made


def test_pages_agree_with_one_large_page(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.observe([
        {"title": f"zanzibar {n}", "narrative": "word " * (n * 37 % 50)} for n in range(60)
    ])  # fmt: skip
    monkeypatch.setattr(scoring, "BEST", 20)
    monkeypatch.setattr(find, "_CHECKED", 0)
    whole = ids(filled, "zanzibar", limit=60)
    pages = [ids(filled, "zanzibar", limit=7, offset=start) for start in range(0, 60, 7)]
    assert [i for page in pages for i in page] == whole


def test_a_frequent_word_ranks_its_newest_hits(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = {"title": "zanzibar zanzibar zanzibar"}
    made = filled.observe([best, *({"title": f"on zanzibar {n}"} for n in range(20))])
    assert ids(filled, "zanzibar")[0] == made[0]
    monkeypatch.setattr(find, "WINDOW", 10)
    assert made[0] not in ids(filled, "zanzibar", limit=10)


def test_counts_above_the_bound_are_estimated(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    from claude_mem_core.recall import counts

    filled.observe([{"title": f"zanzibar {n}"} for n in range(100)])
    monkeypatch.setattr(counts, "COUNTED", 10)
    number = filled.store.read(lambda conn: counts.Counts().of(conn, '"zanzibar"'))
    assert 80 <= number <= 100
    assert filled.store.read(counts.records) == 100


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    made = Filled(tmp_path_factory.mktemp("shared"))
    made.observe(
        [
            {
                "title": f"Row {n} of foo-bar",
                "narrative": "near AND overlapped C++ 缓存键 แก้ปัญหา",
                "files_modified": ["src/a b/c.py"],
                "facts": ["100% of x"],
            }
            for n in range(30)
        ]
    )
    made.prompt("a prompt about foo-bar")
    made.summarize(request="a summary of foo-bar")
    yield made
    made.close()


ANY = st.text(st.characters(exclude_categories=()), max_size=60)
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            '"',
            "'",
            "*",
            "(",
            ")",
            ":",
            "^",
            "-",
            "+",
            "\\",
            "\0",
            "%",
            "_",
            "{",
            "}",
            "AND",
            "OR",
            "NOT",
            "NEAR",
            "NEAR(",
            "foo",
            "bar",
            "foo-bar",
            "title",
            ", 3",
            " ",
            "键",
            "缓存",
            "แก้",
            "\ue000",
            "\ud800",
            "\u0301",
            "C++",
            "rowid",
            "memory_index",
            "a" * 300,
            "😀",
            "\n",
        ]
    ),
    max_size=12,
).map("".join)


def no_query_makes_an_error(
    shared: Filled, text: str, match_all: bool, order: str, files: list[str],
    concepts: list[str],
) -> None:  # fmt: skip
    query = Query(
        text=text, match_all=match_all, order=order, files=tuple(files),
        concepts=tuple(concepts), limit=5,
    )  # fmt: skip
    found = shared.index.search(query)
    assert found.coverage == 1.0
    assert found == shared.index.search(query)


ANY_QUERY = given(
    text=ANY | FRAGMENTS,
    match_all=st.booleans(),
    order=st.sampled_from(["relevance", "date_desc", "date_asc"]),
    files=st.lists(ANY, max_size=2),
    concepts=st.lists(ANY, max_size=2),
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@ANY_QUERY
def test_no_query_makes_an_error(shared: Filled, **query: Any) -> None:
    no_query_makes_an_error(shared, **query)


QUERIES = int(os.environ.get("CLAUDE_MEM_TEST_QUERIES", "20000"))  # 5,000 take a second
PIECES = (
    *"\"'*^-+(){}:.,;%_\\/|&~!?@#$<>[]=` \n\t\0\ud800\ue000\ue001\ue002\u0301\u200b\u202e",
    "NEAR(", "NEAR", "AND", "OR", "NOT", "title:", "rowid", "memory_index", "foo", "bar",
    "foo-bar", "C++", "--flag", ".env", "E0308", "camelCase", "键", "缓存键", "แก้", "에러",
    "é", "İ", "ß", "ﬁ", "😀", "1e999", "0", ", 3", "a" * 40, "the", "of",
)  # fmt: skip


def typed(count: int, seed: int) -> Iterator[Query]:
    """Queries made of what means something somewhere, the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        text = "".join(chance.choices(PIECES, k=chance.randrange(1, 9)))
        yield Query(text=text, match_all=chance.random() < 0.3, limit=5)


def test_a_thousand_queries_make_no_error(shared: Filled) -> None:
    for query in typed(1_000, 1):
        assert shared.index.search(query).coverage == 1.0, ascii(query.text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_queries_make_no_error(tmp_path: Path, seed: int) -> None:
    """On an empty index, where every expression is read all the same.

    Past the backend, which would answer an error with nothing, and on one connection.
    """
    filled = Filled(tmp_path)
    counts = Counts()

    def ask_all(conn: apsw.Connection) -> int:
        queries = list(typed(QUERIES // 4, seed + 2))
        for query in queries:
            try:
                find.find(conn, attrs.evolve(query, kinds=OBSERVATIONS), counts, 1.0)
            except Exception as error:
                error.add_note(ascii(query.text))
                raise
        return len(queries)

    assert filled.store.read(ask_all) == QUERIES // 4
    filled.close()


def test_a_query_of_thousands_of_words(shared: Filled) -> None:
    assert ask(shared, " ".join(f"word{n}" for n in range(20_000))).hits == ()
    assert ask(shared, "foo bar " * 5_000).hits
    assert ask(shared, "x" * 1_000_000).coverage == 1.0


LETTERS = st.characters(categories=["Lu", "Ll", "Lo", "Nd"], max_codepoint=0xFFFF)
TOKEN = st.text(LETTERS, min_size=1, max_size=12)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), tokens=st.lists(TOKEN, min_size=1, max_size=8))
def test_any_text_is_found_by_any_of_its_words(
    shared: Filled, data: st.DataObject, tokens: list[str]
) -> None:
    signs = data.draw(st.lists(st.sampled_from(" -_./:;()'\"\n\t|@"), min_size=8, max_size=8))
    text = "".join(token + sign for token, sign in zip(tokens, signs, strict=False))
    (made,) = shared.observe([{"title": "t", "narrative": text}])
    for token in tokens:
        if not words.normal(token).strip():
            continue
        found = ids(shared, token, kinds=OBSERVATIONS, limit=200, order="date_desc")
        assert made in found, ascii((token, text))
    shared.execute("DELETE FROM observations WHERE id = ?", made)
    assert scoring.WINDOW > 200
