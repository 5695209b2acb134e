"""`mem open`: the worker's page in a browser. No address that lets anybody in is shown
to other users: the browser gets a file that only this user can read."""

from __future__ import annotations

import argparse
import html
from pathlib import Path
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir

HELP = "open the worker's page in a browser"
PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={url}">
<title>claude-mem</title>
<p>Opening <a href="{url}" rel="noreferrer">the memory</a>.</p>
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", action="store_true", help="print the address only")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.client import ensure_started

    paths = Paths(data_dir())
    found = ensure_started(paths).post("/api/admin/open")
    url = f"http://127.0.0.1:{found['port']}/#{found['code']}"
    if args.json:
        emit_json({"url": url, "port": found["port"], "note": found["note"]})
        return 0
    if found["note"]:
        emit(found["note"])
    if args.print:
        emit(url)
        return 0
    return _browse(paths, url, found)


def _browse(paths: Paths, url: str, found: dict[str, Any]) -> int:
    import webbrowser

    file = write_page(paths, url)
    if webbrowser.open(file.as_uri()):
        emit(f"opening port {found['port']} in your browser")
        return 0
    emit("no browser could be opened; within 30 seconds open")
    emit(url)
    return 1


def write_page(paths: Paths, url: str) -> Path:
    """The file that forwards the browser; the one of the last time is replaced."""
    from claude_mem_core.files import write_private

    file = paths.data / "open.html"
    write_private(file, PAGE.format(url=html.escape(url, quote=True)).encode())
    return file
