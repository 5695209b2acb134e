"""Writing into other programs' files: links, modes, races, copies."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from claude_mem_core.cli.install.apply import apply
from claude_mem_core.editing import earlier
from claude_mem_core.errors import HostConfigError
from claude_mem_core.paths import Paths
from claude_mem_core.types import FileChange


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data")


def change(path: Path, before: bytes | None, after: bytes | None, **more: str) -> FileChange:
    return FileChange(path=str(path), before=before, after=after, **more)  # type: ignore[arg-type]


def test_mode_and_copy(tmp_path: Path, paths: Paths) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"old")
    file.chmod(0o640)
    done = apply(change(file, b"old", b"new"), paths)
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert done.backup
    copy = paths.backups / done.backup
    assert copy.read_bytes() == b"old"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert earlier(str(paths.data), str(file)) == [b"old"]


@pytest.mark.root
def test_the_owner_stays(tmp_path: Path, paths: Paths) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    file = tmp_path / "settings.json"
    file.write_bytes(b"old")
    os.chown(file, 65534, 65534)
    apply(change(file, b"old", b"new"), paths)
    assert (file.stat().st_uid, file.stat().st_gid) == (65534, 65534)


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path, paths: Paths) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"other")
    for before, after in ((b"old", b"new"), (None, b"new"), (b"old", None)):
        with pytest.raises(HostConfigError, match="changed by somebody else"):
            apply(change(file, before, after), paths)
    assert file.read_bytes() == b"other"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_write_in_the_last_moment_is_seen(
    tmp_path: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"old")
    sync = os.fsync

    def late(handle: int) -> None:
        sync(handle)
        if not paths.backups.exists() or any(paths.backups.glob("*-settings.json")):
            file.write_bytes(b"late")

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(HostConfigError, match="changed by somebody else"):
        apply(change(file, b"old", b"new"), paths)
    assert file.read_bytes() == b"late"


def test_a_link_of_the_users_is_followed_and_stays(tmp_path: Path, paths: Paths) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "settings"
    real.write_bytes(b"old")
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/settings")
    apply(change(link, b"old", b"new"), paths)
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def _led_astray(tmp_path: Path) -> dict[str, Path]:
    """Places of the user's own scope that must not be written."""
    target = tmp_path / "target"
    target.write_bytes(b"keep")
    middle = tmp_path / "middle"
    middle.symlink_to(target)
    links = {
        name: tmp_path / name for name in ("twice", "dangling", "folder", "loop", "device")
    }
    links["twice"].symlink_to(middle)
    links["dangling"].symlink_to(tmp_path / "nothing-here")
    links["folder"].symlink_to(tmp_path)
    links["loop"].symlink_to(links["loop"])
    links["device"].symlink_to("/dev/null")
    return links


@pytest.mark.parametrize("name", ["twice", "dangling", "folder", "loop", "device"])
def test_links_that_lead_elsewhere_are_refused(tmp_path: Path, paths: Paths, name: str) -> None:
    link = _led_astray(tmp_path)[name]
    with pytest.raises(HostConfigError, match="link"):
        apply(change(link, None, b"new"), paths)
    assert (tmp_path / "target").read_bytes() == b"keep"
    assert not (tmp_path / "nothing-here").exists()


def test_in_a_project_no_link_is_followed(tmp_path: Path, paths: Paths) -> None:
    repo, outside = tmp_path / "repo", tmp_path / "outside"
    repo.mkdir()
    outside.mkdir()
    (repo / "a").symlink_to(outside)
    (repo / "b").mkdir()
    (outside / "rc").write_bytes(b"keep")
    (repo / "b" / "settings.json").symlink_to(outside / "rc")
    for folder in ("a", "b"):
        file = repo / folder / "settings.json"
        with pytest.raises(HostConfigError, match="link"):
            apply(change(file, None, b"new", inside=str(repo)), paths)
    with pytest.raises((HostConfigError, ValueError)):
        apply(change(outside / "x", None, b"new", inside=str(repo)), paths)
    assert [p.name for p in outside.iterdir()] == ["rc"]
    assert (outside / "rc").read_bytes() == b"keep"


def test_a_pipe_does_not_hang(tmp_path: Path, paths: Paths) -> None:
    pipe = tmp_path / "settings.json"
    os.mkfifo(pipe)
    with pytest.raises(HostConfigError, match="no plain file"):
        apply(change(pipe, b"", b"new"), paths)


def test_the_record_survives_damage(tmp_path: Path, paths: Paths) -> None:
    file = tmp_path / "settings.json"
    apply(change(file, None, b"1"), paths)
    (paths.backups / "index.json").write_text("{ half")
    assert earlier(str(paths.data), str(file)) == []
    apply(change(file, b"1", b"2"), paths)
    assert earlier(str(paths.data), str(file)) == [b"1"]


def test_files_of_ours_are_neither_copied_nor_recorded(paths: Paths) -> None:
    file = paths.data / "hosts" / "x.json"
    apply(change(file, None, b"1"), paths)
    apply(change(file, b"1", None), paths)
    assert not file.parent.exists()
    assert not paths.backups.exists()
