"""Export, backup and restore: everything can be taken along, and is the same there."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import InvalidInput
from claude_mem_core.sealed import MAGIC, PIECE, seal, unseal
from claude_mem_core.store.look import look
from tests.worker_home import Home, home, until

WORD = "correct horse battery"


def told(made: Home) -> None:
    """Two sessions of two projects, remembered."""
    for session, project, words in (("s-1", "shop", "cart rounds"), ("s-2", "mill", "wheel turns")):
        cwd = f"/srv/{project}"
        common = {"session_id": session, "cwd": cwd, "transcript_path": ""}
        made.hook("UserPromptSubmit", {**common, "prompt": f"see why the {words} badly"})
        made.hook("PostToolUse", {
            **common, "tool_name": "Edit", "tool_use_id": f"t-{session}",
            "tool_input": {"file_path": f"{cwd}/{project}.py", "old_string": "a = 1",
                           "new_string": f"def {project}_rate():\n    return 2"},
            "tool_response": {},
        })  # fmt: skip
        made.hook("Stop", {**common, "last_assistant_message": f"The {words} well now."})
    until(lambda: made.json("stats")["database"]["observations"] >= 2, 30)


@pytest.fixture(scope="module")
def made() -> Iterator[Home]:
    with home() as found:
        found.install()
        found.mem("start")
        told(found)
        yield found


def rows(made: Home) -> dict[str, list[Any]]:
    """What is remembered, without numbers that every store gives anew."""
    sql = {
        "observations": "title, subtitle, narrative, facts, type, project, created_at_epoch",
        "session_summaries": "request, learned, completed, project, created_at_epoch",
        "user_prompts": "prompt_text, prompt_number, project, created_at_epoch",
        "sdk_sessions": "content_session_id, project, platform_source, started_at_epoch",
    }
    return look(
        made.paths.database,
        lambda conn: {
            table: sorted(conn.execute(f"SELECT {names} FROM {table}").fetchall(), key=repr)
            for table, names in sql.items()
        },
    )


def done(made: Home, *args: str, code: int = 0) -> str:
    result = made.mem(*args)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_an_export_has_the_documented_form(made: Home, tmp_path: Path) -> None:
    target = tmp_path / "all.json"
    text = done(made, "export", "", str(target))
    assert "plain text" in text
    value = json.loads(target.read_text("utf-8"))
    for kind in ("observations", "sessions", "summaries", "prompts"):
        assert len(value[kind]) == value[f"total{kind.capitalize()}"] > 0
    assert value["query"] == ""
    assert value["exportedAt"].endswith("Z")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert str(made.paths.data) not in target.read_text("utf-8")


def test_export_wipe_import_gives_an_equal_store(made: Home, tmp_path: Path) -> None:
    target = tmp_path / "all.json"
    done(made, "export", "", str(target))
    with home() as other:
        done(other, "import", str(target))
        assert rows(other) == rows(made)
        again = done(other, "import", str(target))
        assert " 0 imported" in again
        assert rows(other) == rows(made)


@pytest.mark.parametrize(
    ("query", "extra", "project"),
    [("cart", [], "shop"), ("", ["--project", "mill"], "mill"), ("wheel turns", [], "mill")],
)
def test_an_export_holds_what_was_asked_for_and_its_sessions(
    made: Home, tmp_path: Path, query: str, extra: list[str], project: str
) -> None:
    target = tmp_path / "some.json"
    done(made, "export", query, str(target), *extra)
    value = json.loads(target.read_text("utf-8"))
    assert value["observations"] or value["summaries"]
    for kind in ("observations", "sessions", "summaries", "prompts"):
        assert {row["project"] for row in value[kind]} <= {project}
    assert len(value["sessions"]) == 1


def test_types_and_dates_choose(made: Home, tmp_path: Path) -> None:
    every = json.loads(made.mem("export", "", "-").stdout)
    kind = every["observations"][0]["type"]
    some = json.loads(made.mem("export", f"type:{kind}", "-").stdout)
    assert {row["type"] for row in some["observations"]} == {kind}
    assert json.loads(made.mem("export", "", "-", "--until", "2001-01-01").stdout)[
        "totalObservations"
    ] == 0


def test_a_changed_export_is_refused_unless_that_is_said(made: Home, tmp_path: Path) -> None:
    target = tmp_path / "all.json"
    done(made, "export", "", str(target))
    value = json.loads(target.read_text("utf-8"))
    value["observations"] = value["observations"][1:]
    target.write_text(json.dumps(value), "utf-8")
    with home() as other:
        assert "--edited" in done(other, "import", str(target), code=2)
        assert not other.paths.database.exists() or not rows(other)["observations"]
        done(other, "import", str(target), "--edited")


def test_a_sealed_export_opens_with_its_passphrase_only(made: Home, tmp_path: Path) -> None:
    word, wrong = tmp_path / "word", tmp_path / "wrong"
    word.write_text(WORD + "\n", "utf-8")
    wrong.write_text("another passphrase", "utf-8")
    target = tmp_path / "all.sealed"
    done(made, "export", "", str(target), "--encrypt", "--passphrase-file", str(word))
    assert b"cart" not in target.read_bytes()
    with home() as other:
        refused = done(other, "import", str(target), "--passphrase-file", str(wrong), code=2)
        assert "passphrase is wrong" in refused
        done(other, "import", str(target), "--passphrase-file", str(word))
        assert rows(other) == rows(made)


def test_a_file_that_is_there_stays(made: Home, tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.write_text("mine", "utf-8")
    for command in (["export", "", str(target)], ["backup", str(target)]):
        assert "--force" in done(made, *command, code=2)
        assert target.read_text("utf-8") == "mine"
        assert os.listdir(tmp_path) == ["mine"]


@pytest.mark.slow
@pytest.mark.parametrize("sealed", [False, True])
def test_a_backup_is_put_back_as_it_was(made: Home, tmp_path: Path, sealed: bool) -> None:
    word = tmp_path / "word"
    word.write_text(WORD, "utf-8")
    extra = ["--passphrase-file", str(word)] if sealed else []
    target = tmp_path / "backup"
    made.paths.settings.write_text(json.dumps({
        "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "20", "CLAUDE_MEM_GEMINI_API_KEY": "AIza-planted",
    }), "utf-8")  # fmt: skip
    done(made, "backup", str(target), *(["--encrypt"] if sealed else []), *extra)
    assert zipfile.is_zipfile(target) is not sealed
    assert list(made.paths.data.glob(".backup-*")) == []
    with home() as other:
        other.install()
        other.prompt("something that was here before")
        until(lambda: other.prompts() == ["something that was here before"])
        shown = done(other, "restore", str(target), "--dry-run", *extra)
        assert "observations" in shown
        text = done(other, "restore", str(target), "--yes", *extra)
        kept = next(other.paths.data.glob("memory.db.*.before-restore"))
        assert str(kept) in text
        assert rows(other) == rows(made)
        settings = json.loads(other.paths.settings.read_text("utf-8"))
        assert settings == {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "20"}
        other.mem("start")
        assert other.json("verify")["ok"]
        assert "cart" in done(other, "search", "cart")


def test_nobody_is_asked_without_a_terminal(made: Home, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    done(made, "backup", str(target))
    before = rows(made)
    assert "--yes" in done(made, "restore", str(target), code=2)
    assert "--passphrase-file" in done(made, "backup", str(tmp_path / "b"), "--encrypt", code=2)
    assert rows(made) == before


def damaged(target: Path) -> Iterator[bytes]:
    whole = target.read_bytes()
    yield b""
    yield whole[: len(whole) // 2]
    middle = len(whole) // 3
    yield whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :]
    yield b"PK\x03\x04 no backup"
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr("manifest.json", '{"format": "claude-mem-backup/1"}')
    yield other.getvalue()


@pytest.mark.slow
def test_a_damaged_backup_changes_nothing(made: Home, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    done(made, "backup", str(target))
    before = rows(made)
    for number, data in enumerate(damaged(target)):
        broken = tmp_path / f"broken-{number}"
        broken.write_bytes(data)
        text = done(made, "restore", str(broken), "--yes", code=2)
        assert str(broken) in text
        assert "Traceback" not in text
        assert rows(made) == before
    assert list(made.paths.data.glob(".restore-*")) == []


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_what_was_sealed_comes_out_again(size: int) -> None:
    plain = os.urandom(1024) * (size // 1024) + b"x" * (size % 1024)
    sealed, opened = io.BytesIO(), io.BytesIO()
    seal(io.BytesIO(plain), sealed, WORD)
    unseal(io.BytesIO(sealed.getvalue()), opened, WORD)
    assert opened.getvalue() == plain


def test_nothing_sealed_can_be_changed_cut_or_moved() -> None:
    sealed = io.BytesIO()
    seal(io.BytesIO(os.urandom(2 * PIECE + 5)), sealed, WORD)
    whole = sealed.getvalue()
    start = whole.index(b"\n", len(MAGIC)) + 1
    piece = PIECE + 16
    pieces = [whole[start + n * piece : start + (n + 1) * piece] for n in range(3)]
    head = whole[:start]
    forged = [
        whole[:-1], whole + b"x", head + pieces[0] + pieces[1], head + pieces[0],
        head + pieces[1] + pieces[0] + pieces[2], head, whole[:start].replace(b'"cost": 65536', b'"cost": 32768') + whole[start:],
        head[:20], b"", MAGIC + b"{}\n", MAGIC + b'{"cost": 3, "blocks": 8, "salt": ""}\n',
    ]  # fmt: skip
    for data in forged:
        with pytest.raises(InvalidInput):
            unseal(io.BytesIO(data), io.BytesIO(), WORD)
