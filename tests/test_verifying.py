"""Memories whose file or symbol changed or vanished are marked, until somebody confirms them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from claude_mem_core.errors import NotFound
from claude_mem_core.pipeline import symbols
from claude_mem_core.pipeline.verifying import Verifier, inside
from claude_mem_core.recall import listing
from claude_mem_core.recall.context_lines import explained
from claude_mem_core.recall.why import why
from claude_mem_core.store import correct, memories
from claude_mem_core.testing.worker import data_dir, start
from claude_mem_core.types import DocKind
from tests.cli_run import mem
from tests.recall_store import Filled
from tests.test_context import build
from tests.worker_home import until

DAY_MS = 86_400_000
CODE = '''import os

def load_rows(path):
    """Rows of a file."""
    return [line for line in open(path)]


def other(x):
    return x
'''


@attrs.define
class Scene:
    """A project on the disk, a store, and somebody who looks after its memories."""

    filled: Filled
    root: Path
    verifier: Verifier
    now: int = 0

    def remember(self, title: str, *files: str, at: int | None = None, **more: Any) -> int:
        made = self.now if at is None else at
        row = {"title": title, "files_modified": files, "created_ms": made, **more}
        (number,) = self.filled.observe([row])
        sql = "UPDATE sdk_sessions SET root = ?"
        self.filled.execute(sql, str(self.root))
        return number

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def marks(self) -> dict[int, str]:
        """What is marked after one look."""
        self.verifier.check()
        sql = "SELECT memory_id, reason FROM verify_marks"
        return dict(self.filled.store.read(lambda conn: list(conn.execute(sql))))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    root = tmp_path.resolve() / "shop"
    root.mkdir()
    filled = Filled(tmp_path)
    now = int(time.time() * 1000)
    yield Scene(filled, root, Verifier(filled.store, lambda: now), now)
    filled.close()


def test_a_file_that_changes_or_goes_marks_its_memory_and_heals_it(scene: Scene) -> None:
    scene.write("a.md", "one")
    scene.write("b.md", "one")
    a, b = scene.remember("About a", "a.md"), scene.remember("About b", "b.md")
    assert scene.marks() == {}
    scene.write("a.md", "two!")
    (scene.root / "b.md").unlink()
    assert scene.marks() == {a: "a.md changed since", b: "b.md is gone"}
    scene.write("a.md", "one")
    assert scene.marks() == {b: "b.md is gone"}


def test_a_symbol_that_is_named_counts_not_the_rest_of_the_file(scene: Scene) -> None:
    scene.write("src/io.py", CODE)
    number = scene.remember("load_rows returns lists", "src/io.py")
    assert scene.marks() == {}
    scene.write("src/io.py", "# new head\n" + CODE.replace("return x", "return 2 * x"))
    assert scene.marks() == {}
    scene.write("src/io.py", CODE.replace("[line for", "(line for"))
    assert scene.marks() == {number: "load_rows in src/io.py changed since"}
    scene.write("src/io.py", CODE.replace("load_rows", "read_rows"))
    assert scene.marks() == {number: "load_rows is no longer in src/io.py"}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("export function total(a) {\n  return a\n}\n", "total"),
        ("class Cart:\n    def add(self):\n        pass\n", "Cart"),
        ("func (s *Store) Find(id int) {\n\treturn\n}\n", "Find"),
    ],
)
def test_symbols_of_several_languages(source: str, name: str) -> None:
    names = symbols.named(f"{name} does it", source)
    assert names == (name,)
    same = symbols.digest(f"// before\n{source}\nlet after = 1\n", names)
    assert same == symbols.digest(source, names)
    assert (
        symbols.digest(
            source.replace("a", "b").replace("pass", "x").replace("return", "r"), names
        )
        != same
    )
    assert symbols.digest("", names) == ""


def test_what_was_confirmed_is_marked_again_only_after_another_change(scene: Scene) -> None:
    scene.write("a.md", "one")
    number = scene.remember("About a", "a.md")
    scene.marks()
    scene.write("a.md", "second")
    assert number in scene.marks()
    scene.verifier.confirm(number)
    assert scene.marks() == {}
    scene.write("a.md", "the third")
    assert number in scene.marks()
    with pytest.raises(NotFound):
        scene.verifier.confirm(99)


def test_a_project_that_is_away_and_files_outside_tell_nothing(
    scene: Scene, tmp_path: Path
) -> None:
    scene.write("a.md", "one")
    (tmp_path / "secret.txt").write_text("x")
    (scene.root / "link.md").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(scene.root / "pipe")
    scene.remember("About all", "a.md", "../secret.txt", "link.md", "pipe", "/etc/passwd")
    assert scene.marks() == {}
    (tmp_path / "secret.txt").unlink()
    scene.root.rename(tmp_path / "elsewhere")
    assert scene.marks() == {}
    assert inside(str(tmp_path), "../x") is None
    assert inside("relative", "x") is None
    assert inside(str(tmp_path), "\\\\server\\share") is None


def git(folder: Path, *args: str, at: int = 0) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.test"]
    when = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"} if at else {}
    subprocess.run(
        ["git", *identity, *args], cwd=folder, check=True, capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **when},
    )  # fmt: skip


def test_an_old_memory_is_held_against_what_git_had_then(scene: Scene) -> None:
    ago = scene.now - 30 * DAY_MS
    git(scene.root, "init", "-q")
    for name, text, at in (("a.md", "one", 40), ("b.md", "one", 40), ("a.md", "two", 10)):
        scene.write(name, text)
        git(scene.root, "add", ".")
        git(scene.root, "commit", "-q", "-m", "x", at=(scene.now - at * DAY_MS) // 1000)
    before = {p: p.read_bytes() for p in scene.root.rglob("*") if p.is_file()}
    a, b = scene.remember("About a", "a.md", at=ago), scene.remember("About b", "b.md", at=ago)
    young = scene.remember("Young", "a.md", at=scene.now - 5 * DAY_MS)
    # Made an hour before the commit that took its work in.
    own = scene.remember("Own work", "a.md", at=scene.now - 10 * DAY_MS - 3_600_000)
    assert scene.marks() == {a: "a.md changed since"}
    scene.write("a.md", "three")
    assert set(scene.marks()) == {a, young, own}
    scene.write("a.md", "two")
    scene.verifier.confirm(a)
    assert scene.marks() == {}
    (scene.root / "b.md").unlink()
    assert scene.marks() == {b: "b.md is gone"}
    scene.write("b.md", "one")
    assert {p: p.read_bytes() for p in scene.root.rglob("*") if p.is_file()} == before


def test_what_is_superseded_or_wrong_needs_no_verifying(scene: Scene) -> None:
    scene.write("a.md", "one")
    number = scene.remember("About a", "a.md")
    scene.marks()
    scene.filled.execute("UPDATE observations SET superseded_by = 0")
    scene.write("a.md", "other")
    assert scene.marks() == {}
    assert number


def test_it_is_shown_wherever_the_memory_is(scene: Scene) -> None:
    scene.write("a.md", "one")
    number = scene.remember("Port is 8080", "a.md")
    assert "[verify]" not in build(scene.filled).text
    scene.marks()
    scene.write("a.md", "other")
    scene.marks()
    made = build(scene.filled)
    assert "[verify] Port is 8080" in made.text
    why_each = {line: reason for line, reason in explained(made) if "[verify]: " in line}
    assert list(why_each.values()) == [
        "a row below speaks of a file that changed: `mem confirm ID` when it still holds"
    ]
    record = scene.filled.store.read(lambda conn: memories.observation(conn, number))
    assert listing.title_of(record) == "Port is 8080 (verify: a.md changed since)"
    key = (DocKind.OBSERVATION, number)
    assert (
        scene.filled.store.read(lambda conn: why(conn, key))["verify"] == "a.md changed since"
    )
    scene.filled.store.write(lambda conn: correct.delete(conn, *key, 1)).result(30)
    assert scene.filled.value("SELECT count(*) FROM watched") == 0
    assert scene.filled.value("SELECT count(*) FROM verify_marks") == 0


@pytest.mark.slow
def test_the_worker_looks_by_itself_and_a_person_confirms() -> None:
    with data_dir() as paths:
        filled = Filled(paths.data)
        now = int(time.time() * 1000)
        scene = Scene(
            filled, paths.data.parent / "shop", Verifier(filled.store, lambda: now), now
        )
        scene.write("conf.ini", "port = 8080")
        number = str(scene.remember("The pelican port is 8080", "conf.ini"))
        scene.marks()
        filled.close()
        scene.write("conf.ini", "port = 9090, says the boss")
        live = start(paths)
        try:
            until(lambda: "conf.ini changed" in mem(paths.data, "why", number).out)
            marked = "(verify: conf.ini changed since)"
            until(lambda: marked in mem(paths.data, "search", "pelican").out)
            row = live.ask("GET", "/api/observations").json["items"][0]
            assert row["verify"] == "conf.ini changed since"
            said = mem(paths.data, "confirm", f"#{number}").out
            assert said == f"#{number} holds as things are now\n"
            found = mem(paths.data, "search", "pelican").out
            assert "pelican port" in found
            assert "verify" not in found
            assert mem(paths.data, "confirm", "99").code == 1
        finally:
            live.stop()
