"""Pages, statistics, projects: what is shown of what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.projects import Place
from claude_mem_core.store import pages, projects, stats
from claude_mem_core.types import DocKind
from tests.store_home import NOW, Home, opened

HOSTS = ("claude-code", "kimi")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """120 observations of 3 projects and 2 hosts, often two in the same millisecond."""
    with opened(tmp_path_factory.mktemp("pages") / "memory.db") as home:
        home.write(fill)
        yield home


def fill(conn: apsw.Connection) -> None:
    for number in (1, 2, 3):
        place = Place(key=f"k{number}", label=f"p{number}", kind="folder")
        projects.resolve(conn, place, NOW)
        for host in HOSTS:
            conn.execute(
                """INSERT INTO sdk_sessions (content_session_id, memory_session_id, project,
                     project_id, platform_source, started_at, started_at_epoch)
                   VALUES (?1, ?1, ?2, ?3, ?4, '', ?5)""",
                (f"{host}-{number}", f"p{number}", number, host, NOW + number),
            )
    for n in range(120):
        number, host = n % 3 + 1, HOSTS[n % 5 == 0]
        conn.execute(
            """INSERT INTO observations (memory_session_id, project, type, title, created_at,
                 created_at_epoch, project_id, platform_source)
               VALUES (?, ?, 'change', ?, '', ?, ?, ?)""",
            (f"{host}-{number}", f"p{number}", f"t{n}", NOW + n // 2, number, host),
        )


def expected(home: Home, ids: list[int] | None, host: str | None) -> list[int]:
    """Every matching id in the order of the pages, by the plainest SQL."""
    rows = home.rows("""SELECT id, project_id, platform_source FROM observations
      ORDER BY created_at_epoch DESC, id DESC""")
    return [i for i, p, h in rows if (ids is None or p in ids) and host in (None, h)]


def page(home: Home, ids: Any, host: Any, limit: int, **more: Any) -> pages.Page:
    return home.store.read(
        lambda conn: pages.page(conn, DocKind.OBSERVATION, ids, host, limit, **more)
    )


filters = {
    "ids": st.sampled_from([None, [], [2], [1, 3], [1, 2, 3], [9]]),
    "host": st.sampled_from([None, "kimi", "claude-code", "nobody"]),
    "limit": st.integers(1, 50),
}
same = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(offset=st.integers(0, 130), **filters)
@same
def test_pages_by_offset(
    filled: Home, ids: list[int] | None, host: str | None, limit: int, offset: int
) -> None:
    everything = expected(filled, ids, host)
    found = page(filled, ids, host, limit, offset=offset)
    assert [o.id for o in found.records] == everything[offset : offset + limit]
    assert found.more == (len(everything) > offset + limit)
    assert found.total == len(expected(filled, ids, None))


@given(**filters)
@same
def test_pages_by_key_show_everything_once(
    filled: Home, ids: list[int] | None, host: str | None, limit: int
) -> None:
    seen: list[int] = []
    before = None
    while True:
        found = page(filled, ids, host, limit, before=before)
        seen += [o.id for o in found.records]
        if not found.more:
            break
        before = (found.records[-1].created_ms, found.records[-1].id)
    assert seen == expected(filled, ids, host)


def test_pages_use_an_index_at_any_depth(filled: Home) -> None:
    for ids, host in ((None, None), ([1], None), ([1], "kimi")):
        wanted = pages.Wanted("observations", ids, host, 20, None, 50)
        sql, values = pages._select(wanted, "DESC", 20, 50)
        plan = str(filled.rows(f"EXPLAIN QUERY PLAN {sql}", *values))
        assert "USING COVERING INDEX" in plan, plan
        assert "TEMP B-TREE" not in plan, plan


def test_statistics(filled: Home) -> None:
    found = filled.store.read(stats.stats)
    assert found["byProject"] == {"p1": 40, "p2": 40, "p3": 40}
    assert (found["total"], found["firstObservationAt"]) == (120, NOW)
    assert (found["active_sessions"], found["database"]["sessions"]) == (6, 6)
    assert found["database"]["observations"] == 120


def test_projects_by_host(filled: Home) -> None:
    found = filled.store.read(stats.projects)
    assert found == {host: ["p3", "p2", "p1"] for host in HOSTS}


# Projects -----------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as home:
        yield home


def resolve(home: Home, key: str, label: str = "service", **more: Any) -> projects.ProjectRef:
    place = Place(key=key, label=label, kind=more.pop("kind", "git"), **more)
    return home.write(lambda conn: projects.resolve(conn, place, home.now))


def find(home: Home, name: str | int) -> list[int]:
    return sorted(home.store.read(lambda conn: projects.find(conn, name)))


def test_two_places_of_one_name_are_two_projects(home: Home) -> None:
    one, two, three = (resolve(home, key) for key in ("a", "b", "c"))
    assert [p.label for p in (one, two, three)] == ["service", "service~2", "service~3"]
    assert resolve(home, "b") == two
    assert find(home, "service~2") == find(home, two.id) == find(home, str(two.id)) == [two.id]
    assert find(home, "nobody") == []


def test_a_worktree_shares_the_project_under_its_own_label(home: Home) -> None:
    main = resolve(home, "a", root="/r")
    tree = resolve(home, "a", root="/w", worktree_label="service/fix")
    other = resolve(home, "a", root="/w2", worktree_label="service/fix")
    assert (tree.id, tree.label, tree.root) == (main.id, "service/fix", "/w")
    assert other.label == "service/fix~2"
    assert resolve(home, "a", root="/w", worktree_label="service/fix") == tree
    assert find(home, "service/fix") == [main.id]


def test_a_submodule_reads_its_parent(home: Home) -> None:
    early = resolve(home, "sub1", "app/lib", parent_key="app")
    app = resolve(home, "app", "app")
    late = resolve(home, "sub2", "app/other", parent_key="app")
    assert find(home, "app/lib") == [early.id]
    resolve(home, "sub1", "app/lib", parent_key="app")
    assert find(home, "app/lib") == sorted([early.id, app.id])
    assert find(home, "app/other") == sorted([late.id, app.id])
    assert find(home, "app") == [app.id]


def test_a_merged_project_is_read_as_the_other_and_written_where_it_is(home: Home) -> None:
    old, new = resolve(home, "old", "old"), resolve(home, "new", "new")
    home.write(lambda conn: conn.execute(
        "UPDATE projects SET merged_into = ? WHERE id = ?", (new.id, old.id)))  # fmt: skip
    assert find(home, "new") == find(home, "old") == sorted([old.id, new.id])
    assert resolve(home, "old", "old").id == old.id


def test_merges_in_a_circle_end(home: Home) -> None:
    one, two = resolve(home, "a", "a"), resolve(home, "b", "b")
    for a, b in ((one.id, two.id), (two.id, one.id)):
        home.write(lambda conn, a=a, b=b: conn.execute(
            "UPDATE projects SET merged_into = ? WHERE id = ?", (a, b)))  # fmt: skip
    assert find(home, "a") == sorted([one.id, two.id])
    assert resolve(home, "a", "a").id in {one.id, two.id}


def test_the_general_bucket_keeps_its_name(home: Home) -> None:
    named = resolve(home, "/x/general", "general", kind="folder")
    general = resolve(home, "general", "general", kind="general")
    assert (named.label, general.label) == ("general~2", "general")


def test_a_label_that_looks_like_a_number(home: Home) -> None:
    first = resolve(home, "a", "a")
    number = resolve(home, "b", str(first.id))
    assert find(home, str(first.id)) == [number.id]
    assert find(home, first.id) == [first.id]


def test_what_is_known_of_a_place(home: Home) -> None:
    place = Place(key="a", label="a", kind="git", root="/w", worktree_label="a/w")
    known = home.store.read(lambda conn: projects.known(conn, place))
    assert known is None
    made = home.write(lambda conn: projects.resolve(conn, place, home.now))
    assert home.store.read(lambda conn: projects.known(conn, place)) == made
    assert home.store.read(projects.labels) == {made.id: "a"}
