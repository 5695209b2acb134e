"""Runs `mem` in the test's own process: quick, and as the console script would end."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import attrs

from claude_mem_core.cli.main import main
from claude_mem_core.errors import MemError


@attrs.frozen
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


def mem(data: Path, *args: str, stdin: str = "", plugins: bool = False) -> Ran:
    """`mem ARGS` for the data directory `data`; standard input is no terminal.

    `plugins`: with what is installed beside the core, which takes longer.
    """
    out, err = io.StringIO(), io.StringIO()
    kept = {key: value for key, value in os.environ.items() if "CLAUDE_MEM" not in key}
    env = {**kept, "CLAUDE_MEM_DATA_DIR": str(data)}
    with (
        mock.patch.dict(os.environ, env, clear=True),
        mock.patch("sys.stdin", io.StringIO(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = _code([*([] if plugins else ["--no-plugins"]), *args], err)
    return Ran(code, out.getvalue(), err.getvalue())


def _code(argv: list[str], err: io.StringIO) -> int:
    try:
        return main(argv)
    except MemError as error:
        err.write(f"mem: {error}\n")
        return error.exit_code
    except SystemExit as ended:
        return int(ended.code or 0)
