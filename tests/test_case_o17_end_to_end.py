"""Case O17: one project, many working directories, through hook, worker and search.

Which place a directory is, by itself, is `test_case_o17_identity.py`. What the export
and the viewer show of it comes with these.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.client import WorkerClient
from tests.case_home import Played, played
from tests.test_case_o17_identity import CASE, GROUPS

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="the layout is built by git"),
    pytest.mark.slow,
]

# The submodule is a project of its own that reads its superproject's memory along.
READS_ALONG = {"submodule": "plain"}
TABLES = ("user_prompts", "tool_uses", "observations", "session_summaries", "sdk_sessions")


def laid_out(base: Path) -> dict[str, str]:
    command = ["sh", str(CASE / "setup.sh"), str(base)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return dict(line.split("\t") for line in done.stdout.splitlines())


def visit(home: Played, name: str, cwd: str) -> None:
    """One session in a directory: a prompt, a failing command, an answer."""
    at = {"session_id": name, "cwd": cwd}
    home.hook({**home.payload("UserPromptSubmit", prompt=f"note from {name}"), **at})
    used = {
        "tool_input": {"command": f"make note-{name}"},
        "tool_response": {"stdout": "1 failed"},
    }
    home.hook({**home.payload("PostToolUse", tool_name="Bash", tool_use_id=name, **used), **at})
    home.hook(
        {**home.payload("Stop", last_assistant_message=f"The note of {name} is kept."), **at}
    )


def project_of(home: Played, name: str) -> tuple[int, str]:
    """Partition and label of a session; every table says the same."""
    (found,) = home.rows(
        "SELECT project_id, project FROM sdk_sessions WHERE content_session_id = ?", name
    )
    for table in TABLES:
        key = (
            "content_session_id"
            if table in {"user_prompts", "tool_uses"}
            else "memory_session_id"
        )
        session = name if key == "content_session_id" else f"claude-code:{name}"
        sql = f"SELECT DISTINCT project_id, project FROM {table} WHERE {key} = ?"
        assert home.rows(sql, session) in ([found], []), (table, name)
    return found


def seen(home: Played, name: str, names: Iterable[str], **where: Any) -> set[str]:
    """Whose notes a search finds."""
    found = home.search("note", **where)
    texts = [row["prompt"] for row in found["prompts"]]
    return {other for other in names if f"note from {other}" in texts}


@pytest.fixture(scope="module")
def home() -> Iterator[Played]:
    with played() as made:
        yield made


@pytest.fixture(scope="module")
def places(home: Played) -> dict[str, str]:
    places = laid_out(home.home / "layout")
    for name, cwd in places.items():
        visit(home, name, cwd)
    home.settle()
    return places


def group_of(name: str) -> set[str]:
    (group,) = [set(group) for group in GROUPS if name in group]
    return group


def test_o17_a_group_is_one_project_on_every_path(home: Played, places: dict[str, str]) -> None:
    found = {name: project_of(home, name) for name in places}
    keys = [{found[name][0] for name in group} for group in GROUPS]
    assert [len(group) for group in keys] == [1] * len(GROUPS)
    assert len(set.union(*keys)) == len(GROUPS)
    assert {found["twin-a"][1], found["twin-b"][1]} == {"service", "service~2"}
    assert found["linked"] == found["plain"]
    assert set(home.get("/api/projects")["projects"]) >= {"plain", "service", "service~2"}
    home.is_sound()


def test_o17_search_sees_the_group_and_no_other(home: Played, places: dict[str, str]) -> None:
    for name in places:
        wanted = group_of(name)
        if name in READS_ALONG:
            wanted |= group_of(READS_ALONG[name])
        number, label = project_of(home, name)
        for given in (label, str(number)):
            assert seen(home, name, places, project=given) == wanted, (name, given)


def test_o17_the_next_session_sees_the_group_and_no_other(
    home: Played, places: dict[str, str]
) -> None:
    for name, cwd in places.items():
        text = home.begin(f"next-{name}", cwd)
        asked = WorkerClient(home.paths).request("GET", "/api/context/inject", {"cwd": cwd})
        fetched = asked.body.decode()
        for given in (text, fetched):
            shown = {o for o in places if f"note from {o}" in given or f"note-{o} " in given}
            wanted = group_of(name) | group_of(READS_ALONG.get(name, name))
            assert shown, name
            assert shown <= wanted, name


def test_o17_a_removed_worktree_leaves_its_notes(home: Played, places: dict[str, str]) -> None:
    main = places["plain"]
    remove = ["git", "-C", main, "worktree", "remove", "--force", places["worktree"]]
    subprocess.run(remove, check=True, capture_output=True, timeout=60)
    label = project_of(home, "plain")[1]
    assert "worktree" in seen(home, "plain", places, project=label)
    assert project_of(home, "worktree")[1] == "plain/plain-wt"
    assert "worktree" in seen(home, "plain", places, project="plain/plain-wt")
    assert home.begin("after-removal", main)


# Layouts that are like these ----------------------------------------------------------


def git(*args: str, cwd: Path) -> None:
    names = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    names += ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *names, *args], cwd=cwd, check=True, capture_output=True, timeout=60)


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    git("init", "-q", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=path)
    return path


def others(base: Path) -> list[dict[str, Path]]:
    """Groups of directories; each group is one project."""
    base = base.resolve()
    main = repository(base / "outer")
    nested = repository(main / "inner" / "nested")
    bare = base / "served.git"
    git("clone", "-q", "--bare", str(main), str(bare), cwd=base)
    git("worktree", "add", "-q", str(base / "desk"), "-b", "desk", cwd=bare)
    git("worktree", "add", "-q", str(base / "bench"), "-b", "bench", cwd=bare)
    apart = base / "apart"
    apart.mkdir()
    git("init", "-q", "--separate-git-dir", str(base / "elsewhere"), cwd=apart)
    library = repository(base / "library")
    git("submodule", "--quiet", "add", str(library), "vendor/library", cwd=main)
    module = main / "vendor" / "library"
    git("worktree", "add", "-q", str(base / "module-desk"), "-b", "side", cwd=module)
    deep = main
    while len(str(deep)) < 1_500:
        deep /= "d" * 120
    deep.mkdir(parents=True)
    return [
        {"outer": main, "deep": deep, "gone": main / "never" / "was"},
        {"nested": nested, "in-nested": nested / "src"},
        {"desk": base / "desk", "bench": base / "bench"},
        {"module": module, "module-desk": base / "module-desk"},
        {"apart": apart, "in-apart": apart / "src"},
        {"library": library},
    ]


def test_o17_layouts_of_the_same_kinds() -> None:
    with played() as home:
        groups = others(home.home / "more")
        names = [name for group in groups for name in group]
        for group in groups:
            for name, path in group.items():
                visit(home, name, str(path))
        home.settle()
        found = {name: project_of(home, name)[0] for name in names}
        assert [len({found[name] for name in group}) for group in groups] == [1] * len(groups)
        assert len(set(found.values())) == len(groups), found
        for group in groups:
            name = next(iter(group))
            along = set(groups[0]) if name == "module" else set()
            sees = seen(home, name, names, project=str(found[name]))
            assert sees == set(group) | along, name
        home.is_sound()
