"""Projects in the user's order: names, merging, splitting, adopting, folding, and undo."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.projects import Place
from claude_mem_core.projects.worktrees import worktrees
from claude_mem_core.store import erase, folding, memories, projects, regroup, stats
from claude_mem_core.store.projects import ProjectRef
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.types import Trust
from tests.cli_run import mem
from tests.store_home import Home, opened
from tests.test_corrections import turn

TABLES = ("observations", "sdk_sessions", "memory_files", "evidence", "pins")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as made:
        yield made


def place(key: str, **more: Any) -> Place:
    return Place(**{"key": key, "label": key, "kind": "git", **more})


def save(home: Home, where: Place, words: str) -> int:
    def write(conn: Any) -> int:
        project = projects.resolve(conn, where, home.now)
        return memories.save_manual(conn, words, words, project, Trust.USER, home.now).id

    return home.write(write)


def resolve(home: Home, where: Place) -> ProjectRef:
    return home.write(lambda conn: projects.resolve(conn, where, home.now))


def read(home: Home, name: str) -> set[str]:
    """The titles that a filter by this name finds."""
    sql = "SELECT title FROM observations WHERE project_id IN (SELECT value FROM json_each(?))"
    ids = home.store.read(lambda conn: projects.find(conn, name))
    return {row[0] for row in home.rows(sql, json.dumps(ids))}


def rows(home: Home) -> dict[str, Any]:
    return {table: home.rows(f"SELECT * FROM {table} ORDER BY 1") for table in TABLES}


def do(home: Home, action: Any, *values: Any) -> regroup.Change:
    return home.write(lambda conn: action(conn, *values, home.now))


def number(home: Home, name: str) -> int:
    found = home.store.read(lambda conn: projects.number_of(conn, name))
    assert found is not None
    return found


def shown(home: Home, number: int) -> str:
    return home.store.read(lambda conn: memories.observation(conn, number)).project


# Names -------------------------------------------------------------------------------------


def test_a_renamed_project_is_found_by_both_names_and_no_row_changes(home: Home) -> None:
    first = save(home, place("shop"), "one")
    before = rows(home)
    do(home, regroup.rename, "shop", "storefront")
    assert rows(home) == before
    assert shown(home, first) == "storefront"
    later = save(home, place("shop"), "two")
    assert (shown(home, later), read(home, "shop")) == ("storefront", {"one", "two"})
    assert read(home, "storefront") == {"one", "two"}
    listed = home.store.read(stats.projects)
    assert listed == {"manual": ["storefront"]}
    assert resolve(home, place("other", label="shop")).label == "shop~2", (
        "the old name is taken"
    )


def test_names_follow_through_several_renames_and_back(home: Home) -> None:
    first = save(home, place("a"), "one")
    for old, new in (("a", "b"), ("a", "c"), ("c", "a")):
        do(home, regroup.rename, old, new)
    assert shown(home, first) == "a"
    assert [read(home, name) for name in "abc"] == [{"one"}] * 3
    assert home.rows("SELECT said FROM project_names WHERE said = shown") == []


def test_a_rename_is_taken_back_with_what_was_kept_since(home: Home) -> None:
    first = save(home, place("shop"), "one")
    done = do(home, regroup.rename, "shop", "storefront")
    later = save(home, place("shop"), "two")
    do(home, regroup.undo, done.number)
    assert (shown(home, first), shown(home, later)) == ("shop", "shop")
    assert resolve(home, place("shop")).label == "shop"
    with pytest.raises(NotFound, match="taken back already"):
        do(home, regroup.undo, done.number)


def test_a_worktree_is_renamed_alone(home: Home) -> None:
    tree = place("shop", root="/w", worktree_label="shop/fix")
    main = save(home, place("shop"), "main")
    home.place, home.session = tree, "in-the-worktree"
    own = turn(home)
    do(home, regroup.rename, "shop/fix", "shop/hotfix")
    assert (shown(home, main), shown(home, own)) == ("shop", "shop/hotfix")
    assert resolve(home, tree).label == "shop/hotfix"


@pytest.mark.parametrize(
    "taken", ["pay", "pay/fix", "general", "12", "", " ", "a\nb\x07", "x" * 81]
)
def test_a_name_is_free_and_readable(home: Home, taken: str) -> None:
    save(home, place("shop"), "one")
    save(home, place("pay"), "two")
    resolve(home, place("pay", root="/w", worktree_label="pay/fix"))
    for action in (regroup.rename, regroup.alias):
        with pytest.raises(InvalidInput):
            do(home, action, "shop", taken)
    assert read(home, "shop") == {"one"}


def test_an_alias_comes_and_goes(home: Home) -> None:
    save(home, place("shop"), "one")
    done = do(home, regroup.alias, "shop", "web")
    assert read(home, "web") == {"one"}
    do(home, regroup.undo, done.number)
    assert read(home, "web") == set()
    do(home, regroup.alias, "shop", "web")
    gone = do(home, regroup.unalias, "web")
    assert read(home, "web") == set()
    do(home, regroup.undo, gone.number)
    assert read(home, "web") == {"one"}
    with pytest.raises(NotFound, match="no alias"):
        do(home, regroup.unalias, "shop")


# Merging, splitting --------------------------------------------------------------------------


def test_merged_then_split_every_row_is_where_it_was(home: Home) -> None:
    for key, words in (("a", "a1"), ("b", "b1"), ("c", "c1")):
        save(home, place(key), words)
    ids = {key: number(home, key) for key in "abc"}
    before = rows(home)
    do(home, regroup.merge, [ids["a"]], ids["b"])
    assert rows(home) == before
    assert read(home, "a") == read(home, "b") == {"a1", "b1"}
    save(home, place("a"), "a2")
    do(home, regroup.merge, [ids["b"]], ids["c"])
    assert read(home, "a") == read(home, "c") == {"a1", "a2", "b1", "c1"}, "brought along"
    do(home, regroup.split, ids["c"])
    do(home, regroup.split, ids["a"])
    assert [read(home, key) for key in "abc"] == [{"a1", "a2"}, {"b1"}, {"c1"}]


def test_a_merge_is_refused_twice_and_taken_back_once(home: Home) -> None:
    a, b, c = (resolve(home, place(key)).id for key in "abc")
    one = do(home, regroup.merge, [a], b)
    with pytest.raises(InvalidInput, match="one project already"):
        do(home, regroup.merge, [b], a)
    two = do(home, regroup.split, a)
    with pytest.raises(InvalidInput, match="changed after that"):
        do(home, regroup.undo, one.number)
    do(home, regroup.merge, [b], c)
    do(home, regroup.undo, two.number)
    assert read_ids(home, "a") == {a, b, c}
    with pytest.raises(InvalidInput, match="not linked"):
        do(home, regroup.split, resolve(home, place("d")).id)
    assert [row["action"] for row in home.store.read(lambda conn: regroup.changes(conn, 9))] == [
        "merge", "split", "merge",
    ]  # fmt: skip


def read_ids(home: Home, name: str) -> set[int]:
    return set(home.store.read(lambda conn: projects.find(conn, name)))


def test_a_forgotten_project_leaves_no_name_behind(home: Home) -> None:
    save(home, place("shop"), "one")
    ids = [resolve(home, place(key)).id for key in ("pay", "old")]
    do(home, regroup.rename, "old", "older")
    do(home, regroup.merge, [ids[0]], ids[1])
    do(home, regroup.split, ids[0])
    assert home.write(lambda conn: erase.drop_projects(conn, ids)) == 2
    assert home.rows("SELECT * FROM project_changes") == []
    assert home.rows("SELECT * FROM project_names") == []


def test_other_names_go_with_the_text_that_is_forgotten(home: Home) -> None:
    first = save(home, place("shop"), "one")
    do(home, regroup.undo, do(home, regroup.rename, "shop", "acme-deal").number)
    do(home, regroup.alias, "shop", "the acme-deal")
    do(home, regroup.alias, "shop", "till")
    do(home, regroup.rename, "shop", "store")
    for text in ("acme-deal", "shop"):
        chosen = erase.Chosen(texts=(text,))
        while home.write(lambda c, what=chosen: erase.some(c, what, home.now)):
            pass
    said = "SELECT said FROM project_changes UNION ALL SELECT label FROM project_labels"
    assert home.rows(f"{said} WHERE place = ''") == [("till",), ("till",)]
    assert home.rows("SELECT said, shown FROM project_names") == [("shop", "store")]
    assert (shown(home, first), read(home, "till")) == ("store", {"one"})


@pytest.mark.parametrize("back", [regroup.split, regroup.undo])
def test_no_change_leads_to_a_project_that_is_forgotten(home: Home, back: Any) -> None:
    for name in "ab":
        save(home, place(name), name)
    one, two = number(home, "a"), number(home, "b")
    renamed = do(home, regroup.rename, "a", "c")
    merged = do(home, regroup.merge, [one], two)
    do(home, back, one if back is regroup.split else merged.number)
    home.write(lambda c: erase.some(c, erase.Chosen(projects=[two]), home.now))
    while home.write(lambda c: erase.some(c, erase.Chosen(projects=[two]), home.now)):
        pass
    assert home.rows("SELECT 1 FROM projects WHERE id = ?", two) == []
    assert do(home, regroup.undo, None).number == renamed.number
    assert read(home, "a") == {"a"}



# Worktrees and submodules --------------------------------------------------------------------


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.test"]
    subprocess.run(
        ["git", *identity, *args], cwd=folder, check=True, capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work").resolve() / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "worktree", "add", "-q", "-b", "fix", "../fix")
    git(folder, "worktree", "add", "-q", "-b", "gone", "../gone")
    shutil.rmtree(folder.parent / "gone")
    return folder


def test_worktrees_are_those_that_agree(repository: Path, tmp_path: Path) -> None:
    assert worktrees(str(repository / ".git")) == {str(repository.parent / "fix"): "fix"}
    liar = tmp_path / "liar" / ".git" / "worktrees" / "x"
    liar.mkdir(parents=True)
    (liar / "gitdir").write_text(f"{repository}/.git\n")
    assert worktrees(str(tmp_path / "liar" / ".git")) == {}
    assert worktrees(str(tmp_path)) == {}


def seen_at(home: Home, project: int, root: str) -> None:
    sql = """INSERT INTO sdk_sessions (content_session_id, project, project_id, started_at,
      started_at_epoch, root) VALUES (?1, 'x', ?2, '', 1, ?1)"""
    home.write(lambda conn: conn.execute(sql, (root, project)).fetchall())


def test_what_worktrees_have_apart_is_adopted(home: Home) -> None:
    shop = resolve(home, place("shop")).id
    apart = resolve(home, place("apart")).id
    seen_at(home, apart, "/src/fix")
    named = resolve(home, place("name:shop/fix", label="shop/fix", kind="named")).id
    old = resolve(home, place("name:shop/old", label="shop/old", kind="named")).id
    resolve(home, place("name:pay/fix", label="pay/fix", kind="named"))
    resolve(home, place("x", label="shop/looks-alike", kind="folder"))

    def found(roots: set[str], *, named: bool) -> set[int]:
        return home.store.read(
            lambda conn: {one.id for one in folding.adoptable(conn, shop, roots, named=named)}
        )

    assert found({"/src/fix"}, named=True) == {apart, named, old}
    assert found({"/src/fix"}, named=False) == {apart, named}
    assert found(set(), named=False) == set()


def test_a_submodule_that_is_gone_is_folded_and_unfolded_when_it_is_back(
    home: Home, tmp_path: Path
) -> None:
    whole, part = tmp_path / "whole", tmp_path / "whole" / "lib"
    for folder in (whole, part):
        folder.mkdir()
        (folder / ".git").mkdir()
    save(home, place("git-1", label="whole"), "of whole")
    save(home, place("sub-1", label="whole/lib", parent_key="git-1"), "of lib")
    for name, folder in (("whole", whole), ("whole/lib", part)):
        seen_at(home, number(home, name), str(folder))
    assert home.write(lambda conn: folding.fold(conn, 1)) == []
    shutil.rmtree(part)
    assert home.write(lambda conn: folding.fold(conn, 2)) == ["whole/lib into whole"]
    assert read(home, "whole") == {"of whole", "of lib"}
    part.mkdir()
    (part / ".git").mkdir()
    assert home.write(lambda conn: folding.unfold(conn, 3)) == 1
    assert read(home, "whole") == {"of whole"}
    shutil.rmtree(part)
    (fold,) = home.write(lambda conn: folding.fold(conn, 4))
    assert fold, "gone again, folded again"
    do(home, regroup.undo, None)
    assert home.write(lambda conn: folding.fold(conn, 5)) == [], "the user took it back"
    shutil.rmtree(whole)
    home.write(lambda conn: conn.execute("DELETE FROM project_changes").fetchall())
    assert home.write(lambda conn: folding.fold(conn, 6)) == [], "the disk may be away"


# By command ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with data_dir() as paths:
        worker = start(paths)
        try:
            yield worker
        finally:
            worker.stop()


@pytest.mark.slow
def test_by_command_and_back(live: LiveWorker, repository: Path) -> None:
    data = live.paths.data

    def run(*args: str) -> str:
        done = mem(data, "project", *args)
        assert done.code == 0, done.err
        return done.out

    def kept(name: str) -> set[str]:
        found = live.ask("GET", f"/api/observations?project={name}").json["items"]
        return {row["title"] for row in found}

    for name in ("shop", "shop/fix", "pay"):
        body = {"text": f"of {name}", "cwd": str(repository)}
        body = body if name == "shop" else {"text": f"of {name}", "project": name}
        assert live.ask("POST", "/api/memory/save", body).json["success"]
    assert "would adopt: shop/fix" in run("adopt", "shop", "--dry-run")
    assert kept("shop") == {"of shop"}
    assert "take it back: mem project undo" in run("adopt", "shop")
    assert kept("shop") == {"of shop", "of shop/fix"}
    assert mem(data, "project", "adopt", "shop").code == 1, "nothing is left"
    run("undo")
    assert kept("shop") == {"of shop"}
    run("merge", "pay", "shop/fix", "shop")
    assert kept("pay") == {"of shop", "of shop/fix", "of pay"}
    run("split", "shop")
    assert kept("shop") == {"of shop"}
    run("rename", "pay", "wages")
    run("alias", "wages", "salary")
    assert kept("salary") == kept("wages") == kept("pay") == {"of pay"}
    assert "also: pay, salary" in run("list")
    run("alias", "--remove", "salary")
    assert json.loads(run("changes", "--json"))["changes"][0]["action"] == "unalias"
    assert "rename: pay to wages" in run("changes")
    assert mem(data, "project", "rename", "wages", "shop").code == 1
    assert mem(data, "project", "merge", "one").code == 2
