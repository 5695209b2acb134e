"""Case O18: home, root, temp, deleted, missing and Windows-style directories (place_of)."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from claude_mem_core.projects import Place, place_of

CASE = Path(__file__).parent / "cases" / "O18-odd-working-directories"
LINES = [json.loads(line) for line in (CASE / "cwds.jsonl").read_text().splitlines()]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Place]:
    """Each line in order, in a temp directory and a home of its own."""
    home, temp = tmp_path / "ann", tmp_path / "temp"
    home.mkdir()
    temp.mkdir()
    monkeypatch.setenv("TMPDIR", str(temp))
    monkeypatch.chdir(temp)
    found = {}
    for line in LINES:
        cwd = line["payload"]["cwd"]
        cwd = cwd.replace("{{HOME}}", str(home)).replace("{{TMP}}", str(temp))
        if line["make"]:
            os.makedirs(cwd, exist_ok=True)
        if line["name"] == "deleted":
            os.rmdir(cwd)
        before = sorted(tmp_path.rglob("*"))
        began = time.monotonic()
        found[line["name"]] = place_of(cwd, {}, str(home))
        assert time.monotonic() - began < 2
        assert sorted(tmp_path.rglob("*")) == before
    return found


def test_every_line_is_the_project_it_should_be(places: dict[str, Place]) -> None:
    own = {}
    for line in LINES:
        name, wanted = line["name"], line["project"]
        place = places[name]
        if wanted == "none":
            assert place.kind == "general", name
        elif wanted == "own":
            assert place.kind == "folder", name
            own[name] = place.key
        elif wanted.startswith("same-as:"):
            assert place.key == places[wanted.removeprefix("same-as:")].key, name
    assert len(set(own.values())) == len(own)


def test_keys_and_labels_are_names_and_not_places(places: dict[str, Place]) -> None:
    for name, place in places.items():
        for text in (place.key, place.label):
            assert not set(text) & set("/\\\n:"), name
            assert 1 < len(text) <= 80, name
        assert place.label != "ann", name


def test_a_deleted_folder_of_a_repository_still_belongs_to_it(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git" / "objects").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    whole = place_of(str(tmp_path / "repo"), {}, "")
    assert place_of(str(tmp_path / "repo" / "gone" / "deep"), {}, "") == whole


@pytest.mark.parametrize(
    "cwd",
    [
        "C:\\Users\\Ann Other",
        "c:/users/ann other/",
        "C:\\Users",
        "E:",
        "\\\\server\\share",
        "/c/Users/Ann Other",
        "/mnt/c/Users/Ann Other",
        "/mnt/c",
        "/home/somebody-else-entirely",
        "~",
        "~/",
        "..",
        "C:relative",
        "\n",
        "\0",
        "file:///",
        "file:///C:/",
    ],
)
def test_homes_and_roots_by_any_spelling_are_no_project(cwd: str) -> None:
    assert place_of(cwd, {}, "/home/ann").kind == "general"


@pytest.mark.parametrize(
    "cwd", ["\ud800x", "/a\0b", "/" + "x" * 300, "/x" * 5000, "//double/slash", "/\udcff"]
)
def test_nonsense_never_raises(cwd: str) -> None:
    place = place_of(cwd, {}, "/home/ann")
    place.label.encode("utf-8")
    assert place.kind in {"general", "folder"}


def test_a_file_address_and_dots_are_the_directory_they_name() -> None:
    plain = place_of("C:\\src\\app", {}, "")
    assert place_of("file:///C:/src/app", {}, "").key == plain.key
    assert place_of("c:\\src\\other\\..\\.\\APP\\", {}, "").key == plain.key
    assert place_of("file:///srv/my%20app", {}, "").label == "my app"
