"""Transcripts are opened only where they may lie, and read from their end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import attrs
import pytest

from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline.transcript import TAIL, final_answer
from claude_mem_core.transcripts import below, roots_of
from claude_mem_core.types import Event, EventKind, Host


class Lines:
    """An adapter that gives back the last line."""

    def parse(self, delivery: object) -> list[Event]:
        return []

    def reply(self, answer: object) -> object:
        return None

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        return lines[-1].decode() or None


HOST = Host(
    name="sample", summary="x", open=Lines, transcript_roots=("$SAMPLE_HOME/t", "~/.sample/t")
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SAMPLE_HOME", raising=False)
    root = tmp_path / ".sample" / "t"
    root.mkdir(parents=True)
    (root / "ok.jsonl").write_text("old\nanswer")
    (tmp_path / "secret.jsonl").write_text("secret")
    return root


def look(path: str, env: dict[str, str] | None = None) -> str | None:
    event = Event(kind=EventKind.TURN_ENDED, host="sample", session_id="s", transcript=path)
    return final_answer(HOST, Lines(), event, env or {})


def test_below_a_root(root: Path, tmp_path: Path) -> None:
    assert look(str(root / "ok.jsonl")) == "answer"
    assert look("ok.jsonl") == "answer", "a relative path is looked for below each root"
    assert look(str(root / "x" / ".." / "ok.jsonl")) == "answer"
    assert look(str(root / "missing.jsonl")) is None


def test_roots_by_the_environment(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "t"
    other.mkdir(parents=True)
    (other / "a.jsonl").write_text("elsewhere")
    env = {"SAMPLE_HOME": str(tmp_path / "other")}
    assert look(str(other / "a.jsonl")) is None
    assert look(str(other / "a.jsonl"), env) == "elsewhere"
    assert list(roots_of(HOST, {"SAMPLE_HOME": "relative"})) == [str(root)]


def test_a_root_may_be_a_link(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "house").symlink_to(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "house"))
    assert look(str(tmp_path / "house" / ".sample" / "t" / "ok.jsonl")) == "answer"
    assert look(str(root / "ok.jsonl")) == "answer"


def test_nothing_outside_is_opened(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = os.open

    def watched(path: object, *rest: object, **more: object) -> int:
        opened.append(str(path))
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", watched)
    secret = str(tmp_path / "secret.jsonl")
    paths = [
        secret, f"{root}/../../secret.jsonl", f"file://{secret}", "/dev/zero", "/dev/stdin",
        "/proc/self/environ", "/proc/self/mem", "\\\\127.0.0.1\\share\\x", "//127.0.0.1/share/x",
        "~/secret.jsonl", "$HOME/secret.jsonl", "", "\0", "a" * 5000, str(root), f"{root}x/y",
        "../../secret.jsonl", ".", "..", f"{root}/ok.jsonl\0",
    ]  # fmt: skip
    for path in paths:
        with suppress(OSError):
            assert look(path) is None
    names = {"secret.jsonl", "environ", "mem", "zero", "share"}
    assert not [path for path in opened if os.path.basename(path) in names]


@pytest.mark.parametrize("name", ["link.jsonl", "folder/secret.jsonl"])
def test_no_link_is_followed_below_the_root(root: Path, tmp_path: Path, name: str) -> None:
    (root / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (root / "folder").symlink_to(tmp_path)
    with suppress(OSError):
        assert look(str(root / name)) is None


def test_only_plain_files_and_no_waiting(root: Path) -> None:
    os.mkfifo(root / "fifo.jsonl")
    (root / "dir.jsonl").mkdir()
    start = time.monotonic()
    assert look(str(root / "fifo.jsonl")) is None
    assert look(str(root / "dir.jsonl")) is None
    assert time.monotonic() - start < 1


def test_only_the_end_is_read(root: Path) -> None:
    class First(Lines):
        def final_answer(self, lines: Sequence[bytes]) -> str | None:
            return f"{len(lines)} {lines[0].decode()[:5]}"

    path = root / "long.jsonl"
    path.write_text("".join(f"{number:07}\n" for number in range(TAIL // 4)))
    event = Event(kind=EventKind.TURN_ENDED, host="s", session_id="s", transcript=str(path))
    count, first = str(final_answer(HOST, First(), event, {})).split()
    assert int(count) == TAIL // 8
    assert first == "01310", "a line that is cut at its start is left out"


def test_a_reader_that_fails_costs_the_answer_only(root: Path) -> None:
    class Broken(Lines):
        def final_answer(self, lines: Sequence[bytes]) -> str | None:
            raise KeyError("x")

    event = Event(
        kind=EventKind.TURN_ENDED, host="s", session_id="s", transcript=str(root / "ok.jsonl")
    )
    with pytest.raises(InvalidInput, match="KeyError"):
        final_answer(HOST, Broken(), event, {})


def test_hosts_without_a_reader(root: Path) -> None:
    @attrs.define
    class Plain:
        def parse(self, delivery: object) -> list[Event]:
            return []

    event = Event(
        kind=EventKind.TURN_ENDED, host="s", session_id="s", transcript=str(root / "ok.jsonl")
    )
    assert final_answer(HOST, Plain(), event, {}) is None  # type: ignore[arg-type]


def test_by_name_alone() -> None:
    assert below("/r", "/r/a/b") == ["a", "b"]
    assert below("/r", "/rr/a") is None
    assert below("/r", "/r") is None
    assert json.dumps(below("/r", "a/../../x")) == "null"
