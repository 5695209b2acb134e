"""The daily log: harmless, without keys, bounded."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.worker import logs

KEY = "sk-ant-" + "api03-" + "q" * 40


@pytest.fixture
def log(tmp_path: Path) -> Iterator[logging.Logger]:
    handler = logs.DailyLog(tmp_path / "logs")
    logger = logging.getLogger(f"claude_mem_core.test_{tmp_path.name}")
    logger.propagate = False
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield logger
    logger.removeHandler(handler)
    handler.close()


def entries(tmp_path: Path) -> list[dict[str, str]]:
    text = logs.log_file(tmp_path / "logs").read_text("ascii")
    return [json.loads(line) for line in text.splitlines()]


def test_entries_are_ascii_json_lines(log: logging.Logger, tmp_path: Path) -> None:
    log.info("one\ntwo \x1b[31m 日本 %s", "\u202e")
    (entry,) = entries(tmp_path)
    assert entry["text"] == "one\ntwo \x1b[31m 日本 \u202e"
    assert entry["level"] == "INFO"
    raw = logs.log_file(tmp_path / "logs").read_bytes()
    assert raw.isascii()
    assert b"\x1b" not in raw


def test_keys_and_private_text_stay_out(log: logging.Logger, tmp_path: Path) -> None:
    log.warning("using %s and <private>hush</private>", KEY)
    raw = logs.log_file(tmp_path / "logs").read_text()
    assert KEY not in raw
    assert "hush" not in raw


def test_tracebacks_come_without_what_was_said(log: logging.Logger, tmp_path: Path) -> None:
    try:
        int(f"the secret is {KEY}")
    except ValueError:
        log.exception("it failed")
    (entry,) = entries(tmp_path)
    assert entry["error"].endswith("ValueError")
    assert "test_worker_logs.py" in entry["error"]
    assert "secret" not in json.dumps(entry)


def test_long_messages_are_cut(log: logging.Logger, tmp_path: Path) -> None:
    log.info("x" * 100_000)
    (entry,) = entries(tmp_path)
    assert len(entry["text"]) == logs.LONGEST


def test_a_full_file_makes_room(
    log: logging.Logger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MOST_BYTES", 2000)
    for number in range(60):
        log.info("entry %s %s", number, "x" * 50)
    files = sorted((tmp_path / "logs").iterdir())
    assert len(files) == 2
    assert all(f.stat().st_size < 3000 for f in files)


def test_old_logs_go(log: logging.Logger, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    old, young = folder / "worker-2020-01-01.log", folder / "worker-2020-01-02.log"
    for path, days in ((old, 20), (young, 3)):
        path.write_text("{}")
        at = time.time() - days * 86_400
        os.utime(path, (at, at))
    log.info("new day")
    assert not old.exists()
    assert young.exists()


def test_a_log_that_can_not_be_written_is_no_fault(log: logging.Logger, tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    log.error("nobody hears this")


def test_links_are_not_followed(log: logging.Logger, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("keep")
    logs.log_file(folder).symlink_to(victim)
    log.info("x")
    assert victim.read_text() == "keep"


@pytest.mark.parametrize(
    ("level", "debug", "wanted"),
    [("INFO", "", logging.INFO), ("WARN", "", logging.WARNING), ("SILENT", "", 60),
     ("ERROR", "claude-mem:*", logging.DEBUG), ("odd", "", logging.INFO)],
)  # fmt: skip
def test_levels(level: str, debug: str, wanted: int) -> None:
    ours = logging.getLogger("claude_mem_core")
    before, root = ours.level, logging.getLogger().level
    try:
        logs.set_level(level, {"DEBUG": debug})
        assert ours.level == wanted
    finally:
        ours.setLevel(before)
        logging.getLogger().setLevel(root)


def test_the_tail_is_the_end(log: logging.Logger, tmp_path: Path) -> None:
    for number in range(25):
        log.info("%s", number)
    lines, total = logs.tail(tmp_path / "logs", 3)
    assert total == 25
    assert [json.loads(line)["text"] for line in lines] == ["22", "23", "24"]
    assert logs.tail(tmp_path / "logs", 0) == ([], 25)
    assert logs.tail(tmp_path / "none", 5) == ([], 0)
