"""`mem api`: ask the worker's API by hand, over the socket."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from claude_mem_core.cli.emit import complain, emit, emit_json
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths, data_dir

HELP = "send a request to the worker: mem api GET /api/stats"
METHODS = ("GET", "POST", "DELETE")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("method", type=str.upper, choices=METHODS, help="GET, POST or DELETE")
    parser.add_argument("path", help="such as /api/stats?project=x")
    parser.add_argument("body", nargs="?", help="JSON; - reads it from standard input")
    parser.add_argument("--json", action="store_true", help="always JSON; the default")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.client import ensure_started

    if not args.path.startswith("/"):
        raise UsageError("the path must begin with /, such as /api/stats")
    body = _body(args.body)
    client = ensure_started(Paths(data_dir()))
    response = client.request(args.method, args.path, json=body, timeout=60)
    if response.json is not None:
        emit_json(response.json)
    else:
        emit(response.body.decode("utf-8", "replace"))
    if not response.ok:
        complain(f"mem: the worker answered {response.status}")
    return 0 if response.ok else 1


def _body(given: str | None) -> Any:
    if given is None:
        return None
    text = sys.stdin.read() if given == "-" else given
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"the body is no JSON: {error}") from error
