"""Case O19: settings files people really have (what the settings themselves answer)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_mem_core.errors import SettingsError
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.settings import Settings, SettingsSource

FILES = Path(__file__).parent / "cases" / "O19-settings-file-odd" / "files"
NOBODY = 65534
NAMES = {
    "worker_port": "CLAUDE_MEM_WORKER_PORT",
    "log_level": "CLAUDE_MEM_LOG_LEVEL",
    "context_items": "CLAUDE_MEM_CONTEXT_OBSERVATIONS",
    "excluded_projects": "CLAUDE_MEM_EXCLUDED_PROJECTS",
}
PORT, LEVEL, ITEMS, EXCLUDED = NAMES.values()
GOOD = {PORT: 39123, LEVEL: "DEBUG", ITEMS: 20, EXCLUDED: ("~/clients/*",)}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(secure_dir(tmp_path / "data"))


def laid(paths: Paths, name: str) -> bytes:
    """The file of the case under our own names, as the settings file."""
    data = (FILES / name).read_bytes()
    for theirs, ours in NAMES.items():
        for encoding in ("utf-8", "utf-16-le"):
            data = data.replace(theirs.encode(encoding), ours.encode(encoding))
    paths.settings.write_bytes(data)
    return data


def values(settings: Settings, wanted: dict[str, object]) -> dict[str, object]:
    return {key: settings[key] for key in wanted}


# file, what is read of it, warnings, whether a change is written
READ = [
    ("01-good.json", GOOD, 0, True),
    ("02-bom.json", GOOD, 0, True),
    ("03-utf16.json", GOOD, 0, True),
    ("04-crlf.json", GOOD, 0, True),
    ("05-comments.json", GOOD, 1, True),
    ("06-trailing-comma.json", GOOD, 1, True),
    ("07-single-quotes.json", GOOD, 1, False),
    ("08-wrong-types.json", {PORT: 39123, LEVEL: "INFO", ITEMS: 50}, 2, True),
    ("09-bad-values.json", {LEVEL: "INFO", ITEMS: 50, EXCLUDED: ("[", "**/(")}, 3, True),
    ("10-falsy.json", {PORT: 39123, LEVEL: "INFO", ITEMS: 50, EXCLUDED: ()}, 1, True),
    ("11-empty.json", {LEVEL: "INFO", ITEMS: 50, EXCLUDED: ()}, 1, True),
    ("12-array.json", {LEVEL: "INFO", ITEMS: 50}, 1, False),
    ("13-truncated.json", {PORT: 39123, LEVEL: "DEBUG", ITEMS: 50}, 1, False),
    ("14-duplicate-keys.json", {PORT: 39123}, 1, True),
    ("15-nested-under-env.json", {PORT: 39123}, 0, True),
    ("16-nul-bytes.json", GOOD, 1, False),
    ("17-not-utf8.json", {**GOOD, EXCLUDED: ("~/kunden-müller/*",)}, 1, False),
]


def test_every_file_of_the_case_is_here() -> None:
    assert [row[0] for row in READ] == sorted(path.name for path in FILES.iterdir())


@pytest.mark.parametrize(("name", "wanted", "warnings", "_"), READ)
def test_known_good_values_are_used_with_one_warning_for_each_problem(
    paths: Paths, name: str, wanted: dict[str, object], warnings: int, _: bool
) -> None:
    laid(paths, name)
    settings = SettingsSource(paths, environ={}).current()
    assert values(settings, wanted) == wanted
    assert len(settings.warnings) == warnings, settings.warnings


@pytest.mark.parametrize(("name", "wanted", "_", "written"), READ)
def test_a_change_is_written_beside_all_else_or_refused_with_the_place(
    paths: Paths, name: str, wanted: dict[str, object], _: int, written: bool
) -> None:
    before = laid(paths, name)
    source = SettingsSource(paths, environ={})
    unknown = source.current().unknown
    if not written:
        with pytest.raises(
            SettingsError, match=r"settings\.json(:\d+:\d+|, line \d+, column \d+)"
        ):
            source.set("context-session-count", "7")
        assert paths.settings.read_bytes() == before
        return
    source.set("context-session-count", "7")
    settings = source.current()
    assert settings["CLAUDE_MEM_CONTEXT_SESSION_COUNT"] == 7
    assert values(settings, wanted) == wanted
    assert settings.unknown == unknown


def test_a_wrong_type_names_key_type_and_what_is_allowed(paths: Paths) -> None:
    laid(paths, "08-wrong-types.json")
    told = " ".join(SettingsSource(paths, environ={}).current().warnings)
    assert f"{LEVEL} in {paths.settings} is a number (7); allowed: DEBUG, INFO" in told
    assert f"{ITEMS} in {paths.settings} is text (twenty); allowed: a whole number" in told


@pytest.mark.parametrize(
    ("name", "place"),
    [("13-truncated.json", ":4:"), ("16-nul-bytes.json", ":8:1"), ("17-not-utf8.json", ":5:")],
)
def test_a_broken_file_is_told_by_line_and_column(paths: Paths, name: str, place: str) -> None:
    laid(paths, name)
    settings = SettingsSource(paths, environ={}).current()
    assert settings.broken is not None
    assert f"{paths.settings}{place}" in settings.broken
    assert "\0" not in settings.broken


@contextmanager
def ordinary_user() -> Iterator[Path]:
    """A folder of a user who may not read everything: root becomes another one meanwhile."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder, root = Path(name), os.geteuid() == 0
        SettingsSource(Paths(secure_dir(folder / "warm")), environ={}).current()
        if root:
            os.chown(folder, NOBODY, NOBODY)
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
                os.setegid(0)


def test_a_file_that_may_not_be_read_is_told_and_left() -> None:
    with ordinary_user() as folder:
        paths = Paths(secure_dir(folder / "data"))
        paths.settings.touch(0o000)
        with pytest.raises(PermissionError):
            paths.settings.read_bytes()
        is_told_and_left(paths)


@pytest.mark.parametrize("kind", ["folder", "fifo", "dangling link", "huge", "deep"])
def test_what_can_not_be_opened_is_told_and_left(paths: Paths, kind: str) -> None:
    file = paths.settings
    {
        "folder": file.mkdir,
        "fifo": lambda: os.mkfifo(file),
        "dangling link": lambda: file.symlink_to(paths.data / "nowhere"),
        "huge": lambda: file.write_text("{" + " " * 2_000_000 + "}"),
        "deep": lambda: file.write_text('{"a":' * 5000),
    }[kind]()
    is_told_and_left(paths)


def is_told_and_left(paths: Paths) -> None:
    """The file is named, nothing is written, the file is as it was."""
    file = paths.settings
    before = file.lstat()
    source = SettingsSource(paths, environ={})
    settings = source.current()
    assert str(file) in (settings.broken or "")
    assert len(settings.warnings) == 1
    with pytest.raises(SettingsError):
        source.set("mode", "chess")
    after = file.lstat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_number_cut_in_the_middle_is_not_taken_for_another(paths: Paths) -> None:
    paths.settings.write_text('{"CLAUDE_MEM_MODE": "chess", "CLAUDE_MEM_WORKER_PORT": 391')
    settings = SettingsSource(paths, environ={}).current()
    assert settings["CLAUDE_MEM_MODE"] == "chess"
    assert settings.origin(PORT) == "default"


def test_what_a_comment_says_is_not_salvaged(paths: Paths) -> None:
    paths.settings.write_text(
        '{\n// "CLAUDE_MEM_MODE": "chess",\n/* "CLAUDE_MEM_MODE": "x", */\n'
    )
    settings = SettingsSource(paths, environ={}).current()
    assert settings["CLAUDE_MEM_MODE"] == "code"


# Writers at once, and killed ones -----------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
source = SettingsSource(Paths(Path(sys.argv[1])), environ={})
print("ready", flush=True)
sys.stdin.readline()
for value in range(1, 21):
    source.set(sys.argv[2], str(value))
"""

KEYS = ("CLAUDE_MEM_CONTEXT_OBSERVATIONS", "CLAUDE_MEM_CONTEXT_SESSION_COUNT")


def whole(paths: Paths) -> dict[str, str]:
    """The file as strict JSON; it must be that at any moment."""
    value = json.loads(paths.settings.read_bytes())
    assert isinstance(value, dict)
    return value


@pytest.mark.slow
def test_two_keys_set_from_20_processes_at_once(paths: Paths) -> None:
    paths.settings.write_text('{"someone": "else"}')
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(paths.data), KEYS[number % 2]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(20)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    reads = 0
    while any(writer.poll() is None for writer in writers):
        assert whole(paths)["someone"] == "else"
        reads += 1
    for writer in writers:
        with writer:
            assert writer.wait() == 0
    assert reads > 20
    assert whole(paths) == {"someone": "else", **dict.fromkeys(KEYS, "20")}
    assert not list(paths.data.glob("*.tmp"))


KILLED = """
import os, sys
from pathlib import Path
from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
source = SettingsSource(Paths(Path(sys.argv[1])), environ={})
source.set("mode", "m0")
while sys.stdin.readline():
    child = os.fork()
    if child == 0:
        for value in range(1000):
            source.set("mode", "m" + "x" * value)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_leaves_a_whole_file_and_a_free_lock(
    paths: Paths,
) -> None:
    paths.settings.write_text('{"someone": "else"}')
    chance = random.Random(19)
    command = [sys.executable, "-c", KILLED, str(paths.data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for _ in range(50):
            parent.stdin.write(b"\n")
            parent.stdin.flush()
            child = int(parent.stdout.readline())
            # The random moment is what is tested.
            time.sleep(chance.uniform(0.001, 0.03))
            os.kill(child, signal.SIGKILL)
            left = whole(paths)
            assert left["someone"] == "else"
            assert left["CLAUDE_MEM_MODE"].startswith("m")
        parent.stdin.close()
    SettingsSource(paths, environ={}).set("log-level", "WARN")
    assert whole(paths)["CLAUDE_MEM_LOG_LEVEL"] == "WARN"
