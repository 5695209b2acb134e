"""A user's repository is as it was after 500 events in it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import anyio

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.services import Services, open_services
from claude_mem_core.types import Delivery

EVENTS = 500


def git(folder: Path, *words: str) -> str:
    argv = ["git", "-c", "user.name=u", "-c", "user.email=u@example.com", *words]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder, the repository's own included: size and time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        found[str(path)] = (state.st_size, state.st_mtime_ns)
    return found


def payload(number: int, cwd: Path) -> tuple[str, dict[str, object]]:
    common = {"session_id": f"s-{number // 50}", "cwd": str(cwd), "transcript_path": ""}
    event = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")[number % 5]
    tool = {"tool_name": "Edit", "tool_use_id": f"t-{number}",
            "tool_input": {"file_path": f"{cwd}/cart.py", "old_string": "1", "new_string": str(number)},
            "tool_response": {"filePath": f"{cwd}/cart.py"}}  # fmt: skip
    more: dict[str, dict[str, object]] = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": f"change the cart, part {number}"},
        "PreToolUse": {**tool, "tool_name": "Read"},
        "PostToolUse": tool,
        "Stop": {"last_assistant_message": f"Part {number} of the cart is done."},
    }
    return event, {**common, "hook_event_name": event, **more[event]}


async def played(services: Services, cwd: Path) -> None:
    for number in range(EVENTS):
        event, fields = payload(number, cwd)
        body = json.dumps(fields).encode()
        await services.deliverer.handle(
            Delivery(host="claude-code", event=event, stdin=body, size=len(body),
                     key=f"{number:020d}-1", at_ms=1_796_000_000_000 + number)
        )
    await services.loop.settle(60)


def test_git_status_is_the_same_after_500_events(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "cart.py").write_text("total = 1\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "first")
    (repository / "cart.py").write_text("total = 2\n")
    (repository / "new.py").write_text("")
    status = git(repository, "status", "--porcelain", "--ignored")
    before = tree(repository)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)

    async def main() -> int:
        async with open_services(Paths(data)) as services:
            await played(services, repository)
            sql = "SELECT count(*) FROM observations"
            return int(await services.store.aread(lambda conn: conn.execute(sql).fetchone()[0]))

    assert anyio.run(main) > 0
    assert tree(repository) == before
    assert git(repository, "status", "--porcelain", "--ignored") == status
