"""Files of ours: modes, links, strangers, whole writes, locks."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from claude_mem_core.errors import HostConfigError, InvalidInput, StoreError
from claude_mem_core.files import (
    locked,
    open_append,
    open_regular,
    opened_inside,
    read_private,
    secure_dir,
    sweep_temps,
    write_private,
)

NOBODY = 65534
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return secure_dir(tmp_path / "home")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(params=[0o000, 0o002, 0o022, 0o077])
def umask(request: pytest.FixtureRequest):
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_everything_made_is_the_users_alone_under_any_umask(home: Path, umask: None) -> None:
    data = secure_dir(home / "a" / "data")
    write_private(data / "token", b"x")
    open_append(data / "log").close()
    with locked(data / "lock"):
        pass
    made = [home / "a", data, *data.iterdir()]
    assert len(made) == 5
    assert [p for p in made if mode(p) & 0o077] == []


def test_a_loose_directory_of_ours_is_tightened(home: Path) -> None:
    loose = home / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    secure_dir(loose)
    assert mode(loose) == 0o700


def test_an_own_link_to_an_own_directory_works(home: Path) -> None:
    (home / "elsewhere").mkdir(0o700)
    (home / "data").symlink_to(home / "elsewhere")
    assert secure_dir(home / "data") == (home / "elsewhere").resolve()
    write_private(home / "data" / "f", b"1")
    assert read_private(home / "elsewhere" / "f", 10) == b"1"


def test_a_parent_that_all_may_write_is_refused(home: Path) -> None:
    parent = home / "open it"
    parent.mkdir()
    parent.chmod(0o777)
    with pytest.raises(StoreError, match=r"chmod go-w '.*/open it'"):
        secure_dir(parent / "d")
    assert not (parent / "d").exists()


def test_a_sticky_parent_is_fine(home: Path) -> None:
    parent = home / "tmp"
    parent.mkdir()
    parent.chmod(0o1777)
    assert mode(secure_dir(parent / "d")) == 0o700


@root_only
def test_a_strangers_directory_is_refused_also_behind_a_link(home: Path) -> None:
    foreign = home / "foreign"
    foreign.mkdir()
    os.chown(foreign, NOBODY, NOBODY)
    (home / "data").symlink_to(foreign)
    for path in (foreign, home / "data", foreign / "below"):
        with pytest.raises(
            StoreError, match=r"foreign belongs to .*65534.*CLAUDE_MEM_DATA_DIR"
        ):
            secure_dir(path)
    with pytest.raises(StoreError, match="belongs to"):
        write_private(foreign / "f", b"secret")
    assert list(foreign.iterdir()) == []


@root_only
def test_a_strangers_file_in_a_loose_directory_is_named(home: Path) -> None:
    loose = home / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    (loose / "planted").write_text("x")
    os.chown(loose / "planted", NOBODY, NOBODY)
    with pytest.raises(StoreError, match="planted belongs to"):
        secure_dir(loose)


def test_a_file_in_the_way_is_named(home: Path) -> None:
    (home / "data").write_text("")
    with pytest.raises(StoreError, match=r"data can't be used: .*ls -ld"):
        secure_dir(home / "data")


def test_a_link_at_our_name_is_replaced_and_not_followed(home: Path) -> None:
    victim = home / "victim"
    victim.write_text("keep")
    (home / "port").symlink_to(victim)
    write_private(home / "port", b"1")
    assert victim.read_text() == "keep"
    assert not (home / "port").is_symlink()
    assert read_private(home / "port", 9) == b"1"


@pytest.mark.parametrize("kind", ["link", "hard link", "fifo", "folder", "loose", "dangling"])
def test_what_could_be_planted_is_not_read_or_appended_to(home: Path, kind: str) -> None:
    victim = home / "victim"
    victim.write_text("keep")
    odd = home / "odd"
    {
        "link": lambda: odd.symlink_to(victim),
        "dangling": lambda: odd.symlink_to(home / "new"),
        "hard link": lambda: odd.hardlink_to(victim),
        "fifo": lambda: os.mkfifo(odd),
        "folder": odd.mkdir,
        "loose": lambda: (odd.touch(), odd.chmod(0o666)),
    }[kind]()
    with pytest.raises(StoreError, match="odd"):
        read_private(odd, 100)
    with pytest.raises(StoreError, match="odd"):
        open_append(odd)
    assert victim.read_text() == "keep"
    assert not (home / "new").exists()


def test_a_missing_file_stays_missing(home: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_private(home / "nothing", 1)
    with pytest.raises(StoreError, match=r"mkdir -p -m 700"):
        write_private(home / "no" / "folder", b"")


def test_a_too_large_file_is_not_read(home: Path) -> None:
    write_private(home / "f", b"12345")
    assert read_private(home / "f", 5) == b"12345"
    with pytest.raises(StoreError, match="larger than 4 bytes"):
        read_private(home / "f", 4)
    with pytest.raises(InvalidInput, match="too large"):
        open_regular(home / "f", 4)


@pytest.mark.parametrize(
    "path", ["/dev/zero", "/dev/null", "/proc/self/fd", "x\0y", "/nowhere/x"]
)
def test_only_regular_files_are_opened(path: str) -> None:
    with pytest.raises(InvalidInput):
        open_regular(path, 100)


def test_a_fifo_and_a_link_do_not_hang_or_lead_away(home: Path) -> None:
    os.mkfifo(home / "fifo")
    (home / "real").write_text("text")
    (home / "link").symlink_to(home / "real")
    for name in ("fifo", "link"):
        with pytest.raises(InvalidInput, match=name):
            open_regular(home / name, 100)
    with open_regular(home / "link", 100, follow=True) as file:
        assert file.read() == b"text"


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_private(home / "f", b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device. Make room: df -h"):
        write_private(home / "f", b"new")
    assert [(p.name, p.read_bytes()) for p in home.iterdir()] == [("f", b"old")]


def test_readers_never_see_half_a_write(home: Path) -> None:
    path = home / "f"
    texts = {letter * 50_000 for letter in (b"a", b"b")}
    write_private(path, b"a" * 50_000)
    done = threading.Event()

    def write() -> None:
        for _ in range(30):
            for text in texts:
                write_private(path, text)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(read_private(path, 50_000))
    writer.join()
    assert seen <= texts


def test_what_a_killed_writer_left_is_swept(home: Path) -> None:
    left, fresh, other = home / ".f.abc.tmp", home / ".f.def.tmp", home / ".g.abc.tmp"
    for path in (left, fresh, other):
        path.touch()
    os.utime(left, (1, 1))
    os.utime(other, (1, 1))
    sweep_temps(home / "f")
    assert sorted(p.name for p in home.iterdir()) == [".f.def.tmp", ".g.abc.tmp"]


def test_the_lock_keeps_another_process_out_and_dies_with_its_holder(home: Path) -> None:
    hold = (
        "import sys\nfrom pathlib import Path\nfrom claude_mem_core.files import locked\n"
        "with locked(Path(sys.argv[1])):\n print('held', flush=True)\n sys.stdin.read()\n"
    )
    lock = home / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(StoreError, match=r"another process holds .*fuser -v"),
            locked(lock, 0.05),
        ):
            pass
        holder.kill()
        holder.wait()
        with locked(lock, 5):
            pass


def test_project_files_are_reached_without_links(tmp_path: Path) -> None:
    root, outside = tmp_path / "repo", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    with opened_inside(root, root / ".claude" / "deep", make=True) as handle:
        assert handle is not None
        assert os.fstat(handle).st_ino == (root / ".claude" / "deep").stat().st_ino
    (root / "led").symlink_to(outside)
    (root / "file").touch()
    for name, told in (("led", str(outside)), ("file", "Not a directory")):
        with (
            pytest.raises(HostConfigError, match=told),
            opened_inside(root, root / name / "x", make=True),
        ):
            pass
    with pytest.raises(FileNotFoundError), opened_inside(root, root / "none"):
        pass
    assert list(outside.iterdir()) == []
