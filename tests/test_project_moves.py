"""A project is a place: a moved one is followed, a clone of the same remote is offered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.store.look import look
from tests.worker_home import Home, home, until

pytestmark = pytest.mark.slow  # each runs a worker, hooks and commands

REMOTE = "https://example.test/team/shop.git"
MEMORY = "The cart rounds each line to whole cents"


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.test"]
    subprocess.run(
        ["git", *identity, *args], cwd=folder, check=True, capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


def repository(folder: Path, text: str, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "a.txt").write_text(text)
    git(folder, "add", "a.txt")
    git(folder, "commit", "-q", "-m", text)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


@pytest.fixture
def made() -> Iterator[Home]:
    with home() as found:
        found.install()
        yield found


@pytest.fixture
def work(made: Home) -> Path:
    """A folder for repositories; none of the temporary directories' own level."""
    folder = made.paths.data.parent / "work"
    folder.mkdir()
    return folder


def start(made: Home, cwd: Path, session: str) -> tuple[str, str]:
    """What a session there is given: context and notice."""
    payload = {"session_id": session, "cwd": str(cwd), "transcript_path": "",
               "hook_event_name": "SessionStart", "source": "startup"}  # fmt: skip
    done = made.hook("SessionStart", payload)
    found: dict[str, Any] = json.loads(done.stdout or b"{}")
    given = found.get("hookSpecificOutput", {}).get("additionalContext", "")
    return given, found.get("systemMessage", "")


def remember(made: Home, cwd: Path) -> None:
    """A session there, and a memory of its project."""
    start(made, cwd, f"s-{cwd.name}")
    name = next(k for k, row in rows(made).items() if row["place"] == str(cwd))
    body = {"text": MEMORY, "title": MEMORY, "project": name}
    WorkerClient(made.paths).post("/api/memory/save", body)


def noted(made: Home) -> int:
    sql = "SELECT count(*) FROM project_places WHERE first_commit IS NOT NULL"
    return int(look(made.paths.database, lambda conn: conn.execute(sql).fetchone()[0]))


def rows(made: Home) -> dict[str, dict[str, Any]]:
    found = WorkerClient(made.paths).get("/api/admin/projects")["projects"]
    return {row["label"]: row for row in found}


def test_a_moved_repository_keeps_its_memories(made: Home, work: Path) -> None:
    old = repository(work / "shop", "one")
    remember(made, old)
    until(lambda: noted(made) == 1)
    new = work / "elsewhere" / "store"
    new.parent.mkdir()
    shutil.move(old, new)
    given, notice = start(made, new, "s-2")
    assert MEMORY in given
    assert str(old) in notice
    assert rows(made)["shop"]["place"] == str(new)
    assert len(rows(made)) == 1


def test_another_repository_in_the_place_of_a_gone_one_gets_nothing(
    made: Home, work: Path
) -> None:
    old = repository(work / "shop", "one")
    remember(made, old)
    until(lambda: noted(made) == 1)
    shutil.rmtree(old)
    other = repository(work / "other", "two")
    given, notice = start(made, other, "s-2")
    assert MEMORY not in given
    assert str(old) not in notice
    assert rows(made)["shop"]["gone"]


def test_a_copy_beside_the_old_place_is_a_project_of_its_own(made: Home, work: Path) -> None:
    old = repository(work / "shop", "one")
    remember(made, old)
    until(lambda: noted(made) == 1)
    copy = work / "copy" / "shop"
    shutil.copytree(old, copy)
    assert MEMORY not in start(made, copy, "s-2")[0]
    assert set(rows(made)) == {"shop", "shop~2"}


def test_a_clone_of_the_same_remote_is_offered_once_and_linked(made: Home, work: Path) -> None:
    first = repository(work / "shop", "one", REMOTE)
    remember(made, first)
    clone = repository(work / "clones" / "shop", "one", REMOTE)
    given, notice = start(made, clone, "s-2")
    assert MEMORY not in given
    command = "mem project link 'shop~2' shop"
    assert command in notice
    assert command not in start(made, clone, "s-3")[1]
    assert command in made.mem("status").stdout
    assert command not in made.mem("status").stdout
    assert command in made.mem("project", "list").stdout
    done = made.mem("project", "link", "shop~2", "shop")
    assert (done.returncode, done.stderr) == (0, "")
    assert MEMORY in start(made, clone, "s-4")[0]
    assert command not in made.mem("project", "list").stdout


def test_a_link_is_taken_back(made: Home, work: Path) -> None:
    first = repository(work / "shop", "one", REMOTE)
    remember(made, first)
    clone = repository(work / "clones" / "shop", "one", REMOTE)
    start(made, clone, "s-2")
    made.mem("project", "link", "shop~2", "shop")
    again = made.mem("project", "link", "shop", "shop~2")
    assert (again.returncode, again.stdout) == (1, "")
    assert "one project already" in again.stderr
    assert made.mem("project", "unlink", "shop~2").returncode == 0
    assert MEMORY not in start(made, clone, "s-5")[0]
    assert made.mem("project", "unlink", "shop~2").returncode == 1


def test_a_folder_outside_git_is_linked_by_hand(made: Home, work: Path) -> None:
    old, new = work / "notes", work / "papers"
    old.mkdir()
    remember(made, old)
    old.rename(new)
    assert MEMORY not in start(made, new, "s-2")[0]
    done = made.mem("project", "link", "notes", env={"PWD": str(new)})
    assert done.returncode == 0, done.stderr
    assert MEMORY in start(made, new, "s-3")[0]


def test_linking_names_what_is_near(made: Home, work: Path) -> None:
    remember(made, repository(work / "shop", "one"))
    done = made.mem("project", "link", "shop", "shpo")
    assert done.returncode == 1
    assert "near it: shop" in done.stderr


def test_a_submodule_moves_with_its_repository(made: Home, work: Path) -> None:
    part = repository(work / "part", "part")
    whole = repository(work / "whole", "whole")
    git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part), "lib")
    git(whole, "commit", "-q", "-m", "with lib")
    shutil.rmtree(part)
    remember(made, whole / "lib")
    until(lambda: noted(made) == 1)
    moved = work / "moved"
    whole.rename(moved)
    assert MEMORY in start(made, moved / "lib", "s-2")[0]
