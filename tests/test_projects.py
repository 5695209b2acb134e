"""Identity of a project: what `.git` may claim, names, markers, environments, exclusion."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.projects import Place, excluded, narrowed, place_of
from claude_mem_core.projects.globs import matches_any
from claude_mem_core.projects.remotes import remote_name


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def repository(path: Path, config: str = "") -> Path:
    """A repository as far as its identity goes."""
    git = path if path.suffix == ".git" else path / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(config)
    return path


def worktree(repo: Path, path: Path, *, back: Path | str | None = None) -> Path:
    """A worktree of `repo`, with the pointer back that git writes or another one."""
    own = repo / ".git" / "worktrees" / path.name
    own.mkdir(parents=True)
    path.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{back or path / '.git'}\n")
    (path / ".git").write_text(f"gitdir: {own}\n")
    return path


def where(path: Path, home: Path | None = None, **settings: Any) -> Place:
    named = {f"CLAUDE_MEM_{key}": value for key, value in settings.items()}
    return place_of(str(path), named, str(home or "/nowhere/home"))


# What a checkout may claim ------------------------------------------------------------


def test_a_worktree_shares_its_repositorys_key(base: Path) -> None:
    repo = repository(base / "app")
    side = where(worktree(repo, base / "side"))
    assert (side.key, side.label, side.worktree_label) == (where(repo).key, "app", "app/side")


def test_relative_pointers_are_followed(base: Path) -> None:
    repo = repository(base / "app")
    side = worktree(repo, base / "side", back="../../../../side/.git")
    (side / ".git").write_text("gitdir: ../app/.git/worktrees/side\n")
    assert where(side).key == where(repo).key


def test_a_worktree_of_the_repositorys_own_name_needs_no_second_one(base: Path) -> None:
    repo = repository(base / "app")
    assert where(worktree(repo, base / "trees" / "app")).worktree_label is None


def test_a_checkout_that_claims_anothers_repository_stays_a_place_of_its_own(
    base: Path,
) -> None:
    victim = repository(
        base / "payroll", '[remote "origin"]\n\turl = https://x.test/a/payroll\n'
    )
    worktree(victim, base / "real")
    claims = {
        "the git directory": f"gitdir: {victim}/.git",
        "a worktree of another place": f"gitdir: {victim}/.git/worktrees/real",
        "a folder that is none": f"gitdir: {base}",
        "nothing": "gitdir: ",
        "itself": "gitdir: .git",
    }
    for number, claim in enumerate(claims.values()):
        evil = base / f"evil{number}"
        evil.mkdir()
        (evil / ".git").write_text(claim + "\n")
    linked = base / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(victim / ".git")
    planted = repository(base / "planted")
    (planted / ".git" / "commondir").write_text(f"{victim}/.git\n")
    evils = [where(path) for path in base.iterdir() if path.name not in {"payroll", "real"}]
    keys = {place.key for place in evils}
    assert len(keys) == len(evils) == len(claims) + 2
    assert where(victim).key not in keys
    assert {place.remote for place in evils} == {None}


def test_a_forged_worktree_directory_does_not_join_the_repository(base: Path) -> None:
    """The checkout brings a git directory of its own that names the victim's as common."""
    victim = repository(base / "payroll")
    evil = base / "evil"
    own = evil / "hidden" / "worktrees" / "evil"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("x")
    (own / "commondir").write_text(f"{victim}/.git\n")
    (own / "gitdir").write_text(f"{evil}/.git\n")
    (evil / ".git").write_text(f"gitdir: {own}\n")
    assert where(evil).key != where(victim).key


@pytest.mark.parametrize("odd", ["fifo", "huge", "loop", "binary", "empty", "not a repository"])
def test_an_odd_dot_git_is_passed_over_without_hanging(base: Path, odd: str) -> None:
    folder = base / "folder"
    folder.mkdir()
    dot = folder / ".git"
    {
        "fifo": lambda: os.mkfifo(dot),
        "huge": lambda: dot.write_text("gitdir: " + "x" * 100_000),
        "loop": lambda: dot.symlink_to(dot),
        "binary": lambda: dot.write_bytes(bytes(range(256))),
        "empty": lambda: dot.write_text(""),
        "not a repository": dot.mkdir,
    }[odd]()
    found: list[Place] = []
    asked = threading.Thread(target=lambda: found.append(where(folder)), daemon=True)
    asked.start()
    asked.join(5)
    assert found
    assert (found[0].kind, found[0].label) == ("folder", "folder")


@pytest.mark.parametrize("odd", ["fifo", "huge", "link", "folder"])
def test_an_odd_config_costs_the_remote_alone(base: Path, odd: str) -> None:
    repo = repository(base / "app")
    config = repo / ".git" / "config"
    config.unlink()
    text = '[remote "origin"]\nurl = https://x.test/a/b\n'
    (base / "elsewhere").write_text(text)
    {
        "fifo": lambda: os.mkfifo(config),
        "huge": lambda: config.write_text(text + "#" * 300_000),
        "link": lambda: config.symlink_to(base / "elsewhere"),
        "folder": config.mkdir,
    }[odd]()
    assert (where(repo).kind, where(repo).remote) == ("git", None)


def test_a_bare_repository_and_the_inside_of_a_dot_git(base: Path) -> None:
    bare = repository(base / "lib.git")
    assert (where(bare).kind, where(bare).label) == ("git", "lib")
    repo = repository(base / "app")
    assert where(repo / ".git" / "objects") == where(repo)
    hidden = repository(repo / "docs" / "x.git")
    assert where(hidden).key == where(repo).key


def test_worktrees_of_a_hidden_bare_repository_bear_the_folders_name(base: Path) -> None:
    repository(base / "app" / "x.git")
    (base / "app" / "x.git").rename(base / "app" / ".bare")
    own = base / "app" / ".bare" / "worktrees" / "main"
    own.mkdir(parents=True)
    main = base / "app" / "main"
    main.mkdir()
    (own / "commondir").write_text("../..")
    (own / "gitdir").write_text(f"{main}/.git")
    (main / ".git").write_text(f"gitdir: {own}")
    assert (where(main).label, where(main).worktree_label) == ("app", "app/main")


def test_a_repository_in_home_does_not_take_in_what_lies_below(base: Path) -> None:
    repository(base / "home")
    work = base / "home" / "work"
    work.mkdir()
    assert where(base / "home", base / "home").kind == "general"
    assert where(work, base / "home").kind == "folder"


def test_a_checkout_around_home_is_still_a_project(base: Path) -> None:
    repo = repository(base / "app")
    (repo / ".home").mkdir()
    assert where(repo, repo / ".home").kind == "git"
    assert where(base, repo / ".home").kind == "general"


def test_nothing_is_run(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    monkeypatch.setattr(os, "system", refuse)
    assert where(worktree(repository(base / "app"), base / "side")).kind == "git"


# Names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/org/repo.git", "github.com/org/repo"),
        ("https://user:token@GitHub.com/org/repo", "github.com/org/repo"),
        ("git@github.com:org/repo.git", "github.com/org/repo"),
        ("ssh://git@host.test:2222/group/sub/repo/", "host.test/group/sub/repo"),
        ("git://host.test/a/b", "host.test/a/b"),
        ("/srv/git/repo.git", None),
        ("../repo", None),
        ("file:///srv/repo", None),
        ("C:\\repos\\app", None),
        ("C:/repos/app", None),
        ("ext::sh -c touch% x", None),
        ("https://host.test/only", None),
        ("https://host.test/a/../b", None),
        ("https://host.test/a/\x1b[2J", None),
        ("x" * 3000, None),
        ("", None),
    ],
)
def test_remotes_lose_credentials_and_local_ones_count_for_nothing(
    url: str, name: str | None
) -> None:
    assert remote_name(url) == name


def test_the_origin_is_read_as_git_reads_it(base: Path) -> None:
    config = (
        '[core]\n\turl = https://x.test/no/no\n[remote "other"]\n\turl = https://x.test/no/o\n'
        '[ReMote "origin"] url = "https://x.test/my/re" ; said\n\tfetch = +refs\n'
        "[include]\n\tpath = /etc/passwd\n"
    )
    assert where(repository(base / "app", config)).remote == "x.test/my/re"


def test_by_git_remote_clones_are_one_project_and_keep_their_old_memory(base: Path) -> None:
    config = '[remote "origin"]\n\turl = git@x.test:org/app.git\n'
    one = repository(base / "one", config)
    two = worktree(repository(base / "two", config), base / "side")
    local = repository(base / "local", '[remote "origin"]\n\turl = /srv/app\n')
    places = [where(path, PROJECT_NAME_SOURCE="git-remote") for path in (one, two, local)]
    assert places[0].key == places[1].key != where(one).key
    assert [place.label for place in places] == ["org/app", "org/app", "local"]
    assert places[0].parent_key == where(one).key
    assert where(one).key != where(base / "two").key


# Markers and environments ------------------------------------------------------------------


def test_a_marker_suggests_and_groups_once_confirmed(base: Path) -> None:
    deep = base / "notes" / "2026" / "may"
    deep.mkdir(parents=True)
    plain = where(deep)
    (base / "notes" / ".claude-mem.json").write_text('{"name": "My\\nNotes"}')
    marked = where(deep)
    assert (marked.key, marked.label, marked.alias) == (plain.key, "may", "My Notes")
    root = str(base / "notes")
    assert marked.marked == root
    named = place_of(str(deep), {}, "", confirmed={root})
    assert (named.kind, named.label, named.parent_key) == ("named", "My Notes", plain.key)
    assert place_of(root, {}, "", confirmed={root}).key == named.key


def test_an_empty_marker_names_the_tree_after_its_root(base: Path) -> None:
    (base / "notes" / "a").mkdir(parents=True)
    (base / "notes" / ".claude-mem-project").touch()
    root = str(base / "notes")
    assert place_of(f"{root}/a", {}, "", confirmed={root}).label == "notes"


def test_markers_in_home_and_temp_are_ignored(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(base / "temp"))
    for name in ("home", "temp"):
        (base / name / "below").mkdir(parents=True)
        (base / name / ".claude-mem-project").touch()
        assert where(base / name / "below", base / "home").marked is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "null", "x" * 5000, '{"enabled": 0}', '{"name": 7}', '{"name": " "}'],
)
def test_an_odd_marker_counts_for_nothing(base: Path, text: str) -> None:
    (base / ".claude-mem.json").write_text(text)
    assert (narrowed(str(base)).enabled, narrowed(str(base)).alias) == (True, None)


def test_a_marker_is_not_followed_elsewhere(base: Path) -> None:
    (base / "off.json").write_text('{"enabled": false}')
    (base / "a").mkdir()
    (base / "a" / ".claude-mem.json").symlink_to(base / "off.json")
    (base / "b").mkdir()
    os.mkfifo(base / "b" / ".claude-mem.json")
    assert narrowed(str(base / "a")).enabled
    assert narrowed(str(base / "b")).enabled


def test_an_environment_wins_over_git_and_home(base: Path) -> None:
    repo = repository(base / "home" / "work" / "acme" / "app")
    groups = [None, {"name": 7}, {"name": "acme", "patterns": ["~/work/acme/**", 5]}]
    for path in (repo, repo.parent, base / "home" / "work" / "acme" / "notes"):
        place = where(path, base / "home", PROJECT_ENVIRONMENTS=groups)
        assert (place.kind, place.label) == ("environment", "acme")
    other = where(base / "home" / "work", base / "home", PROJECT_ENVIRONMENTS=groups)
    assert other.kind == "folder"


# Exclusion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("~/clients/*", "/h/clients/acme", True),
        ("~/clients/*", "/h/clients/acme/src/deep", True),
        ("~/clients/*", "/h/clients", False),
        ("~/clients/**", "/h/clients", True),
        ("~", "/h/anything", True),
        ("/tmp/*", "/tmp/x", True),
        ("/tmp/*", "/tmpx/x", False),
        ("/a/**/secret", "/a/b/c/secret/d", True),
        ("/a/**/secret", "/a/secret", True),
        ("/a/**/secret", "/a/b/secrets", False),
        ("secret-*", "/x/secret-client/app", True),
        ("secret", "/x/secret-client", False),
        ("[", "/x/[", True),
        ("**/(", "/x/(", True),
        ("/a/[bc]?", "/a/b1", True),
        ("", "/a", False),
        ("/caf\u00e9/*", "/cafe\u0301/x", True),
    ],
)
def test_globs(pattern: str, path: str, matches: bool) -> None:
    assert matches_any(path, [pattern], "/h") is matches


def test_a_hostile_glob_does_not_take_long() -> None:
    path = "/" + "/".join(["a" * 100] * 40)
    pattern = "/" + "/".join(["**", "*a*a*a*b"] * 30)
    assert matches_any(path, [pattern], "/h") is False


def test_exclusion_by_glob_reaches_every_spelling(base: Path) -> None:
    repo = repository(base / "clients" / "acme")
    (base / "way").symlink_to(base / "clients")
    cwd = str(base / "way" / "acme" / "src")
    place = place_of(cwd, {}, "")
    for pattern in (f"{base}/clients/*", f"{base}/way/*", "acme", f"{repo}"):
        assert excluded(place, cwd, {"CLAUDE_MEM_EXCLUDED_PROJECTS": (pattern,)}), pattern
    other = {"CLAUDE_MEM_EXCLUDED_PROJECTS": (f"{base}/other/*", "acm")}
    assert not excluded(place, cwd, other)
    assert not excluded(place, cwd, {})


def test_a_windows_folder_can_be_excluded() -> None:
    settings = {"CLAUDE_MEM_EXCLUDED_PROJECTS": ("C:\\Clients\\*",)}
    cwd = "C:\\Clients\\acme"
    assert excluded(place_of(cwd, {}, ""), cwd, settings)


def test_a_project_can_switch_memory_off_for_itself(base: Path) -> None:
    repo = repository(base / "app")
    cwd = str(repo / "src")
    assert not excluded(place_of(cwd, {}, ""), cwd, {})
    (repo / ".claude-mem.json").write_text('{"enabled": false}')
    assert excluded(place_of(cwd, {}, ""), cwd, {})
    (base / "notes" / "a").mkdir(parents=True)
    (base / "notes" / ".claude-mem.json").write_text('{"enabled": false}')
    inner = str(base / "notes" / "a")
    assert excluded(place_of(inner, {}, ""), inner, {})
