"""The worker process: `python -I -m claude_mem_core.worker.main --data-dir D`.

It claims the data directory and listens first, so that whoever needs it can connect
and wait; everything else is imported after that.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

from claude_mem_core import hardening
from claude_mem_core.errors import MemError, UsageError
from claude_mem_core.paths import Paths


@attrs.frozen
class Options:
    """How to run.

    Attributes:
        tcp: listen on TCP from the start.
        port: the TCP port; 0 for the documented one of this user.
        foreground: log to the terminal too, and complain when another one runs.
    """

    data_dir: Path
    tcp: bool = False
    port: int = 0
    foreground: bool = False

    def argv(self) -> list[str]:
        """The command line that starts such a worker."""
        module = "claude_mem_core.worker.main"
        argv = [sys.executable, "-I", "-m", module, "--data-dir", str(self.data_dir)]
        argv += ["--tcp"] if self.tcp else []
        argv += ["--port", str(self.port)] if self.port else []
        return argv + (["--foreground"] if self.foreground else [])


def parsed(argv: Sequence[str]) -> Options:
    """Read the command line.

    Raises:
        UsageError: an unknown word, or no data directory.
    """
    words = list(argv)
    known = {name: name in words for name in ("--tcp", "--foreground")}
    values = {name: _value(words, name) for name in ("--data-dir", "--port")}
    rest = [w for w in words if w not in known and w not in values]
    if values["--data-dir"] is None or set(rest) - set(values.values()):
        raise UsageError("usage: worker.main --data-dir DIR [--tcp] [--port N] [--foreground]")
    port = values["--port"] or "0"
    if not port.isdigit() or int(port) > 65_535:
        raise UsageError("--port must be a number from 1 to 65535")
    return Options(
        data_dir=Path(values["--data-dir"]).absolute(),
        tcp=known["--tcp"] or port != "0",
        port=int(port),
        foreground=known["--foreground"],
    )


def _value(words: list[str], name: str) -> str | None:
    if name not in words or words.index(name) + 1 >= len(words):
        return None
    return words[words.index(name) + 1]


def run(options: Options) -> int:
    """Be the worker until told to stop; returns the exit code.

    0: stopped in good order, or another worker already runs. 3: the data directory or
    the database can't be used; the reason goes to standard error and to `mem status`.
    """
    hardening.protect()
    gc.disable()  # until requests are answered: what is loaded now stays
    paths = Paths(options.data_dir)
    outcome = _run_once(options, paths)
    if isinstance(outcome, int):
        return outcome
    os.execv(sys.executable, outcome.argv())


def _run_once(options: Options, paths: Paths) -> Options | int:
    from claude_mem_core.worker import notice, process

    try:
        return _claim_and_serve(options, paths)
    except process.AlreadyRunning as error:
        if not options.foreground:
            return 0
        sys.stderr.write(f"mem: {error}\n")
        return 1
    except MemError as error:
        process.note_failure(paths, str(error), time.time_ns() // 1_000_000)
        notice.leave(paths, str(error))
        sys.stderr.write(f"mem: {error}\n")
        return 3
    except Exception as error:  # noqa: BLE001 - a fault of ours is told in one line
        from claude_mem_core.worker.logs import where

        text = f"the worker failed in {where(error)}; please report this"
        process.note_failure(paths, text, time.time_ns() // 1_000_000)
        notice.leave(paths, text)
        sys.stderr.write(f"mem: {text}\n")
        return 1


def _claim_and_serve(options: Options, paths: Paths) -> Options | int:
    import secrets

    from claude_mem_core.worker.process import claimed

    start_id = secrets.token_hex(8)
    with claimed(paths, start_id) as place:
        from claude_mem_core.worker.serve import serve

        os.chdir(paths.data)
        again = serve(options, paths, place.listener, start_id)
    return again or 0


if __name__ == "__main__":
    try:
        sys.exit(run(parsed(sys.argv[1:])))
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
