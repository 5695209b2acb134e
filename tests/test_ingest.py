"""`mem ingest`: a host's own notes become memories, once, from where they may lie only."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import attrs
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.store import Store, verify
from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.worker.ask import Raw
from tests.cli_run import Ran, mem

NOTE = """---
name: cart-totals
description: "How totals are made"
metadata:
  node_type: memory
  type: project
  originSessionId: 74e59070-0000-4000-8000-000000000000
---

Totals are kept in cents; tax is added at the very end.
"""


@attrs.frozen
class Machine:
    """A home with two projects, each with notes of Claude Code."""

    home: Path

    @property
    def paths(self) -> Paths:
        return Paths(self.home / ".claude-mem")

    def notes(self, project: str) -> Path:
        """The folder of a project's notes."""
        name = str(self.home / "work" / project).replace("/", "-").replace("_", "-")
        return self.home / ".claude" / "projects" / name / "memory"

    def write(self, project: str, name: str, text: str) -> Path:
        """A note, and a transcript that says where the project is."""
        folder = self.notes(project)
        folder.mkdir(parents=True, exist_ok=True)
        (self.home / "work" / project).mkdir(parents=True, exist_ok=True)
        line = json.dumps({"cwd": str(self.home / "work" / project), "sessionId": "s"})
        (folder.parent / "s.jsonl").write_text('{"type": "summary"}\n' + line + "\n")
        (folder / name).write_text(text)
        return folder / name

    def mem(self, *args: str) -> Ran:
        return mem(self.paths.data, *args, plugins=True)

    def ingest(self, *args: str) -> dict[str, Any]:
        """What `mem ingest --json` says."""
        done = self.mem("ingest", *args, "--json")
        assert done.code in {0, 1}, done.err
        found: dict[str, Any] = json.loads(done.out)
        return found

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        conn = apsw.Connection(str(self.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(conn.execute(sql))
        finally:
            conn.close()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    made = Machine(tmp_path)
    made.write("shop", "cart.md", NOTE)
    made.write("shop", "MEMORY.md", "- [cart](cart.md)\n")
    made.write("my_till", "plain.md", "The till opens with a key.\n")
    monkeypatch.chdir(tmp_path / "work" / "shop")
    yield made
    if made.paths.database.exists():
        store = Store.open(made.paths.database)
        assert not store.read(verify.verify).off
        store.close()


def test_the_notes_of_this_project(machine: Machine) -> None:
    dry = machine.ingest("--dry-run")
    assert (dry["found"], dry["files"], dry["folders"]) == (1, 2, 1)
    assert not machine.paths.database.exists()
    done = machine.ingest()
    assert (done["stored"], done["known"]) == (1, 0)
    assert [reason for _, reason in done["skipped"]] == ["an index"]
    sql = "SELECT title, subtitle, narrative, project, trust, platform_source FROM observations"
    assert machine.rows(sql) == [(
        "cart totals", "How totals are made",
        "Totals are kept in cents; tax is added at the very end.", "shop", "foreign",
        "claude-code",
    )]  # fmt: skip
    (metadata,) = machine.rows("SELECT metadata FROM observations")[0]
    assert json.loads(metadata)["note"] == "project"


def test_all_of_them_once_and_what_changed(machine: Machine) -> None:
    assert machine.ingest("--all")["stored"] == 2
    again = machine.ingest("--all")
    assert (again["stored"], again["known"]) == (0, 2)
    os.utime(machine.notes("shop") / "cart.md", (1, 1))
    assert machine.ingest("--all")["stored"] == 0, "touched is not changed"
    machine.write("shop", "cart.md", NOTE.replace("cents", "tenths of cents"))
    machine.write("shop", "other.md", NOTE.replace("cents", "pennies"))
    done = machine.ingest("--all")
    assert (done["stored"], done["known"]) == (2, 1)
    assert machine.rows("SELECT count(*) FROM observations") == [(4,)], "earlier ones stay"
    found = machine.rows("SELECT project, title FROM observations WHERE project <> 'shop'")
    assert found == [("my_till", "plain")]


def test_a_project_is_a_place(machine: Machine) -> None:
    machine.ingest()
    (key,) = machine.rows("SELECT p.kind FROM projects p JOIN observations o ON o.project_id = p.id")[0]
    assert key == "folder", "the next session there is given it"


def test_a_named_folder_must_be_where_notes_are(machine: Machine) -> None:
    assert machine.ingest("--source", str(machine.notes("my_till")))["stored"] == 1
    outside = machine.home / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    (machine.home / ".claude" / "projects" / "link").symlink_to(outside)
    for place in (outside, machine.home / ".claude" / "projects" / "link", "/etc",
                  machine.home / ".claude" / "projects" / "gone" / "memory"):  # fmt: skip
        done = machine.mem("ingest", "--source", str(place))
        assert done.code == 2, place
        assert "where a host keeps its notes" in done.err or "is not there" in done.err


def test_links_large_and_empty_ones_are_left_out(machine: Machine) -> None:
    secret = machine.home / "secret.md"
    secret.write_text("the secret")
    (machine.notes("shop") / "link.md").symlink_to(secret)
    machine.write("shop", "large.md", "x" * 70_000)
    machine.write("shop", "empty.md", "---\nname: x\n---\n\n")
    done = machine.ingest()
    assert done["stored"] == 1
    reasons = {Path(path).name: reason for path, reason in done["skipped"]}
    assert reasons == {
        "MEMORY.md": "an index", "large.md": "larger than 64 KB", "empty.md": "empty",
        "link.md": "a link",
    }  # fmt: skip
    assert "the secret" not in str(machine.rows("SELECT narrative FROM observations"))


def test_private_text_and_where_memory_is_off(machine: Machine) -> None:
    token = "ghp_" + "a1B2" * 9
    machine.write("shop", "deploy.md", f"Deploys use {token} and <private>hush</private> always.")
    machine.ingest()
    kept = str(machine.rows("SELECT narrative FROM observations"))
    assert "Deploys use" in kept
    assert token not in kept
    assert "hush" not in kept
    (machine.home / "work" / "my_till" / ".claude-mem.json").write_text('{"enabled": false}')
    done = machine.ingest("--all")
    reasons = {Path(path).name: reason for path, reason in done["skipped"]}
    assert reasons["plain.md"] == "project_excluded"
    assert machine.rows("SELECT count(*) FROM observations WHERE project = 'my_till'") == [(0,)]


def test_without_a_directory(machine: Machine) -> None:
    for file in machine.notes("my_till").parent.glob("*.jsonl"):
        file.unlink()
    assert machine.ingest("--all", "--require-cwd")["stored"] == 1
    assert machine.ingest("--all")["stored"] == 1


def test_what_people_read(machine: Machine) -> None:
    said = machine.mem("memory", "ingest", "--all", "--dry-run").out
    assert "MEMORY INGEST (dry run): 2 to store, 1 skipped, 0 failed, of 3 files across 2 dirs" in said
    said = machine.mem("ingest", "--all").out
    line = "MEMORY INGEST: 2 stored, 0 already-imported, 1 skipped, 0 failed, of 3 files across 2 dirs"
    assert line in said
    assert machine.mem("ingest", "--all", "--source", "x").code == 2


# Over the worker --------------------------------------------------------------


def post(live: LiveWorker, **body: Any) -> Raw:
    return live.ask("POST", "/api/memory/ingest", body)


@pytest.mark.slow
def test_the_worker_takes_them_in_too(machine: Machine) -> None:
    secret = machine.home / "secret.md"
    secret.write_text("the secret")
    (machine.notes("shop") / "link.md").symlink_to(secret)
    with running(env={"HOME": str(machine.home)}) as live:
        one = post(live, source=str(machine.notes("my_till")))
        assert (one.status, one.json["stored"], one.json["dirs"]) == (200, 1, 1)
        every = post(live, all=True, requireCwd=True).json
        assert (every["stored"], every["alreadyImported"], every["files"]) == (1, 1, 4)
        left = {Path(row["file"]).name: row["reason"] for row in every["skipped"]}
        assert left == {"MEMORY.md": "an index", "link.md": "a link"}
        found = live.ask("GET", "/api/observations").json["items"]
        assert {row["title"] for row in found} == {"cart totals", "plain"}
        assert {row["trust"] for row in found} == {"foreign"}
        asked = [{}, {"all": False}, {"all": True, "source": "x"}, {"source": ""}]
        asked += [{"source": place} for place in ("/etc", "/etc\0", "\udc80", str(machine.home))]
        asked.append({"source": str(machine.home / ".claude" / "projects" / "gone")})
        for body in asked:
            refused = post(live, **body)
            assert refused.status == 400, body
            assert refused.json["error"]
        assert post(live, all=True).json["stored"] == 0
