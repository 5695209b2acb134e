"""A configuration file as text: its encoding, line ends and indentation."""

from __future__ import annotations

import re

from claude_mem_core.errors import HostConfigError

BOM = "\ufeff"
INDENTED = re.compile(r"\n([ \t]+)[^\s]")


def decode(data: bytes, name: str) -> str:
    """The text of a UTF-8 file, a byte order mark included, so that `encode` gives it back.

    Raises:
        HostConfigError: it is no UTF-8; the text names file, line and column.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data[: error.start].decode("utf-8")
        raise refused(name, text, len(text), "this is not UTF-8") from None


def encode(text: str, name: str) -> bytes:
    """The bytes of a text.

    Raises:
        HostConfigError: a path in it can't be written as UTF-8.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise HostConfigError(
            f"{name}: the path of the data directory is not valid UTF-8;"
            " choose another with CLAUDE_MEM_DATA_DIR"
        ) from None


def refused(name: str, text: str, at: int, what: str) -> HostConfigError:
    """The error for a file that can't be read: where, why, and what happens now."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return HostConfigError(
        f"{name}, line {line}, column {column}: {what}."
        " The file was left as it is; mend it, then run the command again"
    )


def newline_of(text: str) -> str:
    """The line end the file uses; by its first one."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def unit_of(text: str) -> str:
    """One level of indentation, by the first indented line; two spaces where none is."""
    found = INDENTED.search(text)
    return found[1] if found else "  "


def indent_at(text: str, at: int) -> str:
    """The white space that the line of this place begins with."""
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]
