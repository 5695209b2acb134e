"""Asking for a passphrase; it is never an argument, which every process could read."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path

from claude_mem_core.errors import UsageError

SHORTEST = 8
LARGEST = 4096


def passphrase(file: str | None, *, new: bool) -> str:
    """The passphrase out of `file`, else asked for at the terminal; twice when it is new.

    Raises:
        UsageError: it can't be asked for, is too short, or was not repeated.
    """
    text = _of_file(file) if file else _asked(new=new)
    if new and len(text) < SHORTEST:
        raise UsageError(f"a passphrase has at least {SHORTEST} characters")
    if not text:
        raise UsageError("the passphrase is empty")
    return text


def _of_file(file: str) -> str:
    from claude_mem_core.files import open_regular

    with open_regular(Path(file), LARGEST, follow=True) as source:
        raw = source.read()
    try:
        return raw.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise UsageError(f"{file} is no text in UTF-8") from None


def _asked(*, new: bool) -> str:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked for the passphrase: use --passphrase-file FILE")
    text = getpass.getpass("Passphrase: ")
    if new and getpass.getpass("Once more: ") != text:
        raise UsageError("the two are not the same")
    return text
