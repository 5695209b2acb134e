"""Plugins of ours that run inside a host, in JavaScript: how their text is made.

A host's part is a small file that knows the host's events and nothing else. Before it
stands `worker.mjs`, the same for all, and before that what this machine needs to know.
The result is one file without imports of ours, for hosts load such files one by one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

MARK = b"// claude-mem: written by `mem install`; `mem uninstall` takes it away.\n"
SHARED = Path(__file__).with_name("worker.mjs")


def script(host: str, data_dir: str, argv: Sequence[str], part: str) -> bytes:
    """The text of a plugin.

    Args:
        host: name of the host record.
        data_dir: our data directory.
        argv: how our hook client is started.
        part: the host's own part.
    """
    head = (
        f"const HOST = {_text(host)}",
        f"const DATA = {_text(data_dir)}",
        f"const CLIENT = [{', '.join(map(_text, argv))}]",
    )
    whole = "\n".join((*head, "", SHARED.read_text(encoding="utf-8") + part))
    return MARK + b"// @ts-check\n" + whole.encode("utf-8", "surrogatepass")


def _text(value: str) -> str:
    """A JSON string is a JavaScript string, with two line ends as the exception."""
    return json.dumps(value).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
