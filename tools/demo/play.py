"""Play a recorded session through the installed hook, then start the next one.

    .venv/bin/python tools/demo/play.py [--keep]

Works in a home of its own: installs the hooks with `mem install`, sends every recorded
event to the hook exactly as the host would, waits until the memories are made, and
prints what the next session is given. No key, no network, no model.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MEM = [sys.executable, "-m", "claude_mem_core.cli.main"]
NEXT = "7d1c9a52-5b1e-4b0e-9a3c-0d5e6f7a8b02"


class Demo:
    """One home, one project, one data directory."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "reminders"
        self.data = self.home / ".claude-mem"
        for folder in (self.home / ".claude", self.project):
            folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=False)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "CLAUDE_MEM_DATA_DIR": str(self.data),
        }

    def mem(self, *args: str) -> str:
        """Run one `mem` command and return what it prints."""
        done = subprocess.run(
            [*MEM, *args], check=False, env=self.env, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"mem {' '.join(args)}: {done.stderr or done.stdout}")
        return done.stdout

    def hook_argv(self, event: str) -> list[str]:
        """The command that the host was told to run for `event`."""
        settings = json.loads((self.home / ".claude" / "settings.json").read_text())
        hook = settings["hooks"][event][0]["hooks"][0]
        return [hook["command"], *hook["args"]]

    def send(self, event: str, payload: dict[str, Any]) -> str:
        """Give one event to the hook as the host does."""
        done = subprocess.run(
            self.hook_argv(event),
            check=False,
            input=json.dumps(payload),
            env=self.env,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=30,
        )
        return done.stdout

    def play(self) -> int:
        """Send the recorded session; return how many events were sent."""
        lines = (HERE / "session.jsonl").read_text(encoding="utf-8")
        events = [
            json.loads(x) for x in lines.replace("{{CWD}}", str(self.project)).splitlines()
        ]
        for item in events:
            self.send(item["event"], item["payload"])
        return len(events)

    def next_session(self) -> str:
        """What the next session's start hook gives to the agent."""
        payload = {
            "session_id": NEXT,
            "cwd": str(self.project),
            "source": "startup",
            "transcript_path": "",
            "hook_event_name": "SessionStart",
        }
        said = self.send("SessionStart", payload)
        if not said:
            raise SystemExit(f"the hook said nothing; `mem status` says\n{self.mem('status')}")
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"])


def waited(demo: Demo, seconds: float = 30) -> dict[str, Any]:
    """The queue's status once it is empty."""
    end = time.monotonic() + seconds
    while True:
        status: dict[str, Any] = json.loads(demo.mem("queue", "status", "--json"))
        if not status["pending"] + status["processing"] or time.monotonic() > end:
            return status
        time.sleep(0.1)


def show(demo: Demo, keep: bool) -> None:
    """Run the whole story; with `keep` the worker's page is there afterwards."""
    say = sys.stdout.write
    demo.mem("install", "--ide", "claude-code", "--yes")
    started = time.monotonic()
    count = demo.play()
    waited(demo)
    say(
        f"{count} recorded events went through the hook in {time.monotonic() - started:.1f} s.\n"
    )
    say(demo.mem("verify"))
    say("\nThe next session starts with:\n\n")
    say(demo.next_session() + "\n\n")
    if keep:
        say(f"See it in the browser: {demo.mem('open', '--print').splitlines()[-1]}\n")


def main() -> int:
    """Run the demo in a folder of its own and clean up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the worker and its files")
    keep = parser.parse_args().keep
    base = Path(tempfile.mkdtemp(prefix="mem-demo-"))
    demo = Demo(base)
    try:
        show(demo, keep)
    finally:
        if keep:
            data = f"CLAUDE_MEM_DATA_DIR={demo.data}"
            sys.stdout.write(f"Look around: {data} {sys.executable} -m {MEM[-1]} status\n")
            sys.stdout.write(f"End it:      {data} {sys.executable} -m {MEM[-1]} stop\n")
        else:
            sys.stdout.write(
                "The worker of the demo is stopped now; `make demo KEEP=1` leaves it and prints the address of the viewer.\n"
            )
            subprocess.run([*MEM, "stop"], check=False, env=demo.env, capture_output=True)
            shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
