"""The git wrapper runs nothing that a hostile repository names."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from claude_mem_core import git
from claude_mem_core.projects import place_of
from tests.worker_home import until

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

PLANTED = """[core]
\trepositoryformatversion = 1
\tfsmonitor = {fsmonitor}
\tpager = {pager}
\teditor = {editor}
\tsshCommand = {ssh}
\taskPass = {askpass}
\thooksPath = {hooks}
\talternateRefsCommand = {altrefs}
[diff]
\texternal = {extdiff}
[diff "d"]
\ttextconv = {textconv}
\tcommand = {diffcmd}
[filter "f"]
\tclean = {clean}
\tsmudge = {smudge}
\tprocess = {process}
\trequired = true
[gpg]
\tprogram = {gpg}
[log]
\tshowSignature = true
[alias]
\tlog = !{alias}
\trev-parse = !{alias}
[credential]
\thelper = !{credential}
[protocol "ext"]
\tallow = always
[remote "origin"]
\turl = "ext::{ext} %S"
\tpromisor = true
[uploadpack]
\tpackObjectsHook = {pack}
[extensions]
\tpartialClone = origin
"""


def run(repo: Path, *args: str) -> str:
    command = ["git", "-C", str(repo), "-c", "user.name=n", "-c", "user.email=e@x.test", *args]
    env = {"PATH": os.environ["PATH"], "HOME": str(repo), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    run(made, "init", "-q")
    for text in ("one", "two"):
        (made / "a.py").write_text(text)
        (made / ".gitattributes").write_text("*.py filter=f diff=d\n")
        run(made, "add", "-A")
        run(made, "commit", "-qm", text)
    return made


@pytest.fixture
def hostile(repo: Path, tmp_path: Path) -> Path:
    """A file that every program planted in `repo` would write to."""
    touched = tmp_path / "TOUCHED"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {touched}\ncat 2>/dev/null\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        (hooks / name).symlink_to(program)
    names = ["fsmonitor", "pager", "editor", "ssh", "askpass", "altrefs", "extdiff", "textconv", "diffcmd", "clean", "smudge", "process", "gpg", "alias", "credential", "ext", "pack"]  # fmt: skip
    words = {name: str(program) for name in names}
    blob = run(repo, "rev-parse", "HEAD~1:a.py")
    (repo / ".git" / "config").write_text(PLANTED.format(hooks=hooks, **words))
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repo / "a.py").write_text("three")
    return touched


def test_the_first_commit_is_found(repo: Path) -> None:
    assert git.first_commit(str(repo)) == run(repo, "rev-list", "--max-parents=0", "HEAD")


def test_a_hostile_repository_runs_nothing(
    repo: Path, hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(repo, "rev-list", "--max-parents=0", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(hostile.parent / "program"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(hostile.parent / "program"))
    assert git.first_commit(str(repo)) == first
    assert place_of(str(repo), {}, "").kind == "git"
    assert not hostile.exists()


def test_the_plant_works(repo: Path, hostile: Path) -> None:
    """Else the test above would prove nothing."""
    subprocess.run(["git", "-C", str(repo), "status"], capture_output=True, check=False)
    assert hostile.exists()


def test_a_planted_git_on_the_path_is_not_taken(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil").mkdir()
    for folder in (tmp_path / "evil", repo):
        (folder / "git").write_text("#!/bin/sh\necho evil\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PATH", f".::{tmp_path / 'evil'}:{os.environ['PATH']}")
    git.program.cache_clear()
    found = git.program()
    git.program.cache_clear()
    assert found is not None
    assert Path(found).parent in map(Path, git.FOLDERS)


@pytest.mark.parametrize("where", ["", "relative", "/nowhere", "/proc", "/a\0b"])
def test_no_repository_gives_no_facts(where: str) -> None:
    assert git.first_commit(where) is None


def test_a_repository_above_does_not_answer(repo: Path) -> None:
    (repo / "below").mkdir()
    assert git.first_commit(str(repo / "below")) is None


def test_a_hidden_bare_repository_does_not_answer(repo: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "innocent" / "docs"
    shutil.copytree(repo / ".git", hidden)
    assert git.first_commit(str(hidden)) is None


@pytest.mark.parametrize(
    ("does", "limit"),
    [("sleep 30 & sleep 30", "TIME_S"), ("exec cat /dev/zero", "OUTPUT_BYTES")],
)
def test_slow_and_endless_answers_are_ended(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, limit: str
) -> None:
    stand_in = tmp_path / "git"
    pid = tmp_path / "pid"
    stand_in.write_text(f"#!/bin/sh\necho $$ > {pid}\n{does}\n")
    stand_in.chmod(0o755)
    monkeypatch.setattr(git, "program", lambda: str(stand_in))
    monkeypatch.setattr(git, "TIME_S", 0.3 if limit == "TIME_S" else 10.0)
    began = time.monotonic()
    assert git.first_commit(str(repo)) is None
    assert time.monotonic() - began < 5
    until(lambda: not running_in(int(pid.read_text())))


def running_in(group: int) -> list[int]:
    found = []
    for process in psutil.process_iter(["status"]):
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == group and process.info["status"] != "zombie":
                found.append(process.pid)
    return found
