"""PATH-1: paths in a payload are data: nothing outside the host's folders is read or run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.live import Live, eventually

pytestmark = pytest.mark.slow

MARKER = "readme-marker-quillfin"
EVENTS = ("Stop", "SessionEnd", "SubagentStop", "PreCompact")
CWDS = (
    "/", "/root", "/proc/self", "/nonexistent", "../..", "\\\\h\\s", "C:\\x", "\0", "a" * 5000,
    "-rf", "--upload-pack=touch {pwned}", "$(touch {pwned})", "`touch {pwned}`", "/tmp\n/etc",
)  # fmt: skip


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    live = Live(tmp_path_factory.mktemp("path1") / "home")
    live.start()
    message = {"role": "assistant", "content": [{"type": "text", "text": MARKER}]}
    secret = live.home / "secret.jsonl"
    secret.write_text(json.dumps({"type": "assistant", "message": message}) + "\n")
    folder = live.home / ".claude" / "projects" / "x"
    folder.mkdir(parents=True)
    (folder / "link.jsonl").symlink_to(secret)
    os.mkfifo(folder / "fifo.jsonl")
    yield live
    live.mem("stop")


def transcripts(live: Live) -> list[str]:
    secret, folder = str(live.home / "secret.jsonl"), live.home / ".claude" / "projects" / "x"
    return [
        secret, f"{folder}/link.jsonl", f"{folder}/../../../secret.jsonl", f"file://{secret}",
        f"{folder}/fifo.jsonl", "/dev/zero", "/dev/stdin", "/proc/self/environ",
        "/proc/self/mem", "\\\\127.0.0.1\\share\\x", "//127.0.0.1/share/x", "~/secret.jsonl",
        "$HOME/secret.jsonl", "", "\0", "a" * 5000, str(live.paths.token),
    ]  # fmt: skip


def stored(live: Live, needle: str) -> bool:
    """Whether the text is in any file of the data directory's store."""
    raw = needle.encode()
    return any(raw in file.read_bytes() for file in live.paths.data.glob("memory.db*"))


def test_transcripts(live: Live) -> None:
    for number, path in enumerate(transcripts(live)):
        for event in EVENTS:
            payload = {
                "session_id": f"s-{number}-{event}", "cwd": str(live.home),
                "hook_event_name": event, "agent_type": "general-purpose", "agent_id": "a1",
                "transcript_path": path, "agent_transcript_path": path,
            }  # fmt: skip
            start = time.monotonic()
            live.hook(event, payload)
            assert time.monotonic() - start < 3, (event, path)
    time.sleep(2)  # longer than anybody looks for a late answer
    assert not stored(live, MARKER)
    token = live.paths.token
    assert not token.exists() or not stored(live, token.read_text().strip())


def test_working_directories(live: Live, tmp_path: Path) -> None:
    pwned = tmp_path / "pwned"
    for number, words in enumerate(CWDS):
        cwd = words.format(pwned=pwned)
        base = {"session_id": f"c-{number}", "cwd": cwd, "tool_name": "Read"}
        given = {
            **base,
            "tool_input": {"file_path": cwd + "/a.py"},
            "tool_response": {"f": cwd},
        }
        live.hook("PostToolUse", {**given, "hook_event_name": "PostToolUse"})
        live.hook("PreToolUse", {**given, "hook_event_name": "PreToolUse"})
    live.hook("Stop", {"session_id": "c-1", "cwd": "/", "hook_event_name": "Stop"})
    assert eventually(lambda: len(live.rows("SELECT id FROM tool_uses")) >= len(CWDS) - 2, 10)
    assert not pwned.exists()
    assert "worker" in live.mem("status")
    assert "Traceback" not in live.logs()
