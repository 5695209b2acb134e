"""What a model as observer costs: input tokens of one session of 200 tool uses.

    .venv/bin/python bench/observer_cost.py --json
    .venv/bin/python bench/observer_cost.py --turns 200     one tool use in each turn

A session of tool uses of 2.6 KB each goes through the real hook protocol, worker and
processor to the scripted server. `input_tokens` is everything that the server was sent, at
four bytes a token; what a provider's prompt cache would save is not taken off.
`represented`: tool uses whose text was sent and that are evidence of a stored memory.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from bench.ingest import Connection
from claude_mem_core.testing import scripted
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn
from claude_mem_core.testing.worker import LiveWorker, data_dir, start

USES = 200
BYTES = 2_600
TURNS = 10
BYTES_A_TOKEN = 4
WAIT_S = 300.0
REPLY = (
    "<observation><type>change</type><title>Modules of the importer read and changed</title>"
    "<subtitle>The values of each step were moved</subtitle><facts><fact>each module holds its"
    " own values</fact></facts><narrative>The agent went through the modules one by one, read"
    " each of them and wrote down what it computes, as the user had asked.</narrative>"
    "<concepts><concept>what-changed</concept></concepts></observation><summary><request>go"
    " through the modules</request><completed>the modules of this part</completed></summary>"
)
MARK = re.compile(r"use_number_(\d+)_")


def use(number: int) -> dict[str, Any]:
    """One tool use, 2.6 KB of input and output, told apart by its mark."""
    path = f"/srv/bench/project/src/module_{number % 40}.py"
    line = f"    value_{number} = compute(base_{number}, scale=0.{number})\n"
    body = f"use_number_{number}_ = True\n" + line * 100
    room = BYTES - len(path)
    return {
        "tool_name": "Read", "tool_use_id": f"toolu_{number:06d}",
        "tool_input": {"file_path": path},
        "tool_response": {"type": "text", "file": {"filePath": path, "content": body[:room]}},
    }  # fmt: skip


def deliveries(uses: int, turns: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The session's hook events, turn after turn."""
    for turn in range(turns):
        yield "UserPromptSubmit", {"prompt": f"please go through part {turn} of the modules"}
        for number in range(turn * uses // turns, (turn + 1) * uses // turns):
            yield "PostToolUse", use(number)
        yield "Stop", {"last_assistant_message": f"Part {turn} of the modules is done."}


def played(live: LiveWorker, uses: int, turns: int) -> None:
    """Deliver the session; each turn is observed before the next one begins."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        stream.connect(os.fspath(live.paths.socket))
        connection = Connection(stream)
        for number, (name, more) in enumerate(deliveries(uses, turns)):
            payload = {"session_id": "bench", "cwd": "/srv/bench/project",
                       "transcript_path": "", "hook_event_name": name, **more}  # fmt: skip
            connection.send(name, json.dumps(payload).encode(), number)
            while not connection.receive():
                pass
            if name == "Stop":
                settled(live)


def settled(live: LiveWorker) -> None:
    """Wait until nothing waits.

    Raises:
        SystemExit: it took too long.
    """
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        status = live.ask("GET", "/api/processing-status").json
        if not status["queueDepth"] and not status["isProcessing"]:
            return
        time.sleep(0.05)
    raise SystemExit("the queue did not empty: mem queue status")


def represented(database: Path, sent: set[int]) -> int:
    """Tool uses that were sent and that a stored memory rests on."""
    conn = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    sql = """SELECT tool_use_id FROM tool_uses t JOIN evidence v ON v.event_id = t.event_id
      JOIN observations o ON v.kind = 'observation' AND o.id = v.memory_id
      WHERE o.generated_by_model <> 'builtin'"""
    try:
        kept = {int(str(row[0]).rpartition("_")[2]) for row in conn.execute(sql)}
    finally:
        conn.close()
    return len(kept & sent)


def measure(uses: int = USES, turns: int = TURNS) -> dict[str, Any]:
    """The figures of one session."""
    with data_dir() as paths, FakeModels([]) as models, tempfile.TemporaryDirectory() as folder:
        models.talks[:] = [Talk(match=".", anywhere=True, turns=[Turn(text=REPLY)])]
        scripted.choose(
            paths, models.url, CLAUDE_MEM_BUDGET_DAILY_TOKENS="0",
            CLAUDE_MEM_BUDGET_SESSION_TOKENS="0", CLAUDE_MEM_BUDGET_SESSION_CALLS="0",
        )  # fmt: skip
        live = start(paths, python=scripted.own_python(Path(folder) / "py"))
        try:
            played(live, uses, turns)
        finally:
            live.stop()
        said = [
            "".join(m["content"] for m in request.body["messages"])
            for request in models.requests
        ]
        sent = {int(number) for text in said for number in MARK.findall(text)}
        return {
            "tool_uses": uses, "requests": len(said),
            "input_tokens": sum(len(text.encode()) for text in said) // BYTES_A_TOKEN,
            "represented": represented(paths.database, sent), "turns": turns,
        }  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--uses", type=int, default=USES, help="tool uses of the session")
    parser.add_argument("--turns", type=int, default=TURNS, help="prompts of the session")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    figures = measure(args.uses, args.turns)
    print(json.dumps(figures) if args.json else figures)


if __name__ == "__main__":
    main()
