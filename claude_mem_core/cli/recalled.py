"""What the commands that show memories have in common: the worker, and its texts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from claude_mem_core.cli.client import WorkerClient, ensure_started
from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir


def client() -> WorkerClient:
    """A client of the worker; starts one if none runs.

    Raises:
        WorkerError: it can't be started; the text says why.
    """
    return ensure_started(Paths(data_dir()))


def json_flag(parser: argparse.ArgumentParser) -> None:
    """`--json`, as every command has it."""
    parser.add_argument("--json", action="store_true", help="print a JSON value")


def text_of(answer: Any) -> str:
    """The text in the form that agents' tools get."""
    return str(answer["content"][0]["text"])


def show(answer: Any, *, as_json: bool) -> None:
    """Print an answer that holds a text."""
    if as_json:
        emit_json(answer)
    else:
        emit(text_of(answer))


def in_project(name: str | None) -> str | None:
    """`name`, if it is a project's label or id; None where none was given.

    Raises:
        NotFound: there is no such project; the text names those near it.
    """
    if name is not None:
        client().get("/api/admin/projects/known", name=name)
    return name


def csv(values: Sequence[str] | None) -> str | None:
    """Values of a repeated option as one parameter."""
    return ",".join(values) if values else None


def here() -> str:
    """The working directory as the shell knows it."""
    return os.environ.get("PWD") or os.getcwd()
