"""Records of transcripts: found without following links, read within bounds."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.transcripts import ends_of, find, lines_of, reader_of
from claude_mem_core.transcripts import reading as readings
from claude_mem_core.types import Event, EventKind, TranscriptFile, Transcripts


class Echo:
    """A reader that tells each record's number."""

    def __init__(self, file: TranscriptFile) -> None:
        self.file = file

    def read(self, record: Mapping[str, Any]) -> Sequence[Event]:
        kind = EventKind.PROMPT_SENT
        return [Event(kind=kind, host="echo", session_id="s", prompt=str(record["n"]))]

    def rest(self) -> Sequence[Event]:
        return []


def form(pattern: str, **more: Any) -> Transcripts:
    return Transcripts(pattern=pattern, open=Echo, **more)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.jsonl", ["a.jsonl"]),
        ("*/*.jsonl", ["x/b.jsonl"]),
        ("**/*.jsonl", ["a.jsonl", "x/b.jsonl", "x/y/c.jsonl"]),
        ("x/**/c.jsonl", ["x/y/c.jsonl"]),
        ("**/y/*.jsonl", ["x/y/c.jsonl"]),
        ("?.jsonl", ["a.jsonl"]),
        ("z/*.jsonl", []),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, found: list[str]) -> None:
    for name in ("a.jsonl", "x/b.jsonl", "x/y/c.jsonl", "x/y/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    (tmp_path / "linked").symlink_to(tmp_path / "x")
    seen = sorted("/".join(file.steps) for file in find(str(tmp_path), form(pattern)))
    assert seen == found
    assert list(find(str(tmp_path / "gone"), form(pattern))) == []


def test_whole_lines_only() -> None:
    file = io.BytesIO(b'{"n": 1}\n\n[2]\nx\n{"n": 3}\n{"n": 4')
    seen = [(line.record, line.end) for line in lines_of(file)]
    assert seen == [({"n": 1}, 9), (None, 10), (None, 14), (None, 16), ({"n": 3}, 25)]
    assert [line.record for line in lines_of(file, 16)] == [{"n": 3}]


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "LONGEST", 100)
    monkeypatch.setattr(readings, "PIECE", 16)
    long = json.dumps({"n": "x" * 1000}).encode()
    file = io.BytesIO(b'{"n": 1}\n' + long + b'\n{"n": 2}\n')
    seen = [(line.record, line.end) for line in lines_of(file)]
    assert seen == [({"n": 1}, 9), (None, 10 + len(long)), ({"n": 2}, 19 + len(long))]


def test_of_a_long_one_head_and_end_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "HEAD", 100)
    monkeypatch.setattr(readings, "TAIL", 200)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"n": {number:04d}}}\n'.replace("0", "1") for number in range(900)))
    (found,) = find(str(tmp_path), form("*.jsonl"))
    told = [event.prompt for event in ends_of(found)]
    assert len(told) < 40
    lines = path.read_text().splitlines()
    assert told[0] == str(json.loads(lines[0])["n"])
    assert told[-1] == str(json.loads(lines[-1])["n"])


def test_small_files_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "root" / "p" / "chats"
    place.mkdir(parents=True)
    (place / "a.jsonl").write_text("{}")
    (place.parent / ".where").write_text("/home/dev/shop")
    (tmp_path / "secret").write_text("secret")
    names = ("../.where", "../../../secret", "none")
    (found,) = find(str(tmp_path / "root"), form("*/chats/*.jsonl", beside=names))
    reader = reader_of(found)
    assert isinstance(reader, Echo)
    assert dict(reader.file.beside) == {
        "../.where": b"/home/dev/shop", "../../../secret": b"", "none": b"",
    }  # fmt: skip
