"""A killed import leaves a copy that was not cleaned; it must not stay."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.files.workfolder import sweep_folders, work_folder
from claude_mem_core.testing.worker import data_dir, start

OLD = Path(__file__).parent / "data" / "claude-mem-13.25.3.db"
READ = """
import sys, time
from pathlib import Path
from claude_mem_core.store.imports.source import opened
with opened(Path(sys.argv[1]), Path(sys.argv[2])):
    print("open", flush=True)
    time.sleep(60)
"""


def import_below(folder: Path) -> subprocess.Popen[bytes]:
    """A process in the middle of an import."""
    argv = [sys.executable, "-c", READ, str(OLD), str(folder)]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"open\n"
    return child


def left_in(folder: Path) -> list[Path]:
    return list(folder.glob(".import-*"))


def age(folder: Path) -> None:
    for left in left_in(folder):
        os.utime(left, (0, 0))


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    made = import_below(tmp_path)
    yield made
    made.kill()
    made.wait(10)
    assert made.stdout is not None
    made.stdout.close()


def test_a_living_import_keeps_its_folder(tmp_path: Path, child: subprocess.Popen[bytes]) -> None:
    age(tmp_path)
    assert sweep_folders(tmp_path) == 0
    assert len(left_in(tmp_path)) == 1


def test_what_a_killed_import_left_goes_with_the_next_one(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    child.kill()
    child.wait(10)
    assert [path.name for path in left_in(tmp_path)[0].glob("copy.db")] == ["copy.db"]
    assert sweep_folders(tmp_path) == 0  # just made: its owner may not have locked it yet
    age(tmp_path)
    with work_folder(tmp_path) as own:
        assert left_in(tmp_path) == [own]
    assert left_in(tmp_path) == []


def test_what_a_killed_import_left_goes_with_the_next_worker() -> None:
    with data_dir() as paths:
        paths.data.mkdir(mode=0o700, exist_ok=True)
        child = import_below(paths.data)
        child.kill()
        child.communicate(timeout=10)
        age(paths.data)
        assert len(left_in(paths.data)) == 1
        worker = start(paths)
        worker.stop()
        assert left_in(paths.data) == []


def test_a_link_of_that_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / ".import-x").symlink_to(tmp_path / "mine")
    os.utime(tmp_path / ".import-x", (0, 0), follow_symlinks=False)
    assert sweep_folders(tmp_path) == 0
    assert (tmp_path / "mine").is_dir()
