"""Input that does not end, or is too large. Loaded only then; imports what it needs."""

from __future__ import annotations

import json
import posix as _os
import re
from select import select
from time import monotonic

SILENCE_S = 4.0  # after which a half document is taken as it is
QUIET_S = 0.05
ENDS = 31_000  # bytes kept of each end of what is too large; both fit a journal's field
OVERLAP = 256
# A private tag anywhere in the part that is dropped, in any spelling, escapes of JSON
# included; on lower case.
_THIN = rb"(?:\\u[0-9a-f]{4}|[^a-z]){0,12}?"
_LETTERS = [
    b"(?:%c|\\\\u00%02x|\\\\u00%02x)" % (letter, letter, letter - 32) for letter in b"private"
]
PRIVATE = re.compile(
    rb"(?:<|u003c|u\+?ff1c|\xef\xbc\x9c)"
    + rb"(?:\\[nrt]|[^a-z<]){0,32}?"
    + _THIN.join(_LETTERS)
)


def quiet(blocks: list[bytes]) -> tuple[bytes, int]:
    """The document, once it is complete or nothing more has come for a while."""
    end = monotonic() + SILENCE_S
    while not complete(b"".join(blocks)) and monotonic() < end:
        if not select([0], [], [], QUIET_S)[0]:
            continue
        block = _os.read(0, 65536)
        if not block:
            break
        blocks.append(block)
        end = monotonic() + SILENCE_S
        if sum(map(len, blocks)) > 8 * 1024 * 1024:
            return too_large(blocks, sum(map(len, blocks)))
    body = b"".join(blocks)
    return body, len(body)


def complete(body: bytes) -> bool:
    """Whether a JSON document has come to its end; a number might go on."""
    text = body.strip()
    if text[:1] not in (b"{", b"[", b'"') or text[-1:] not in (b"}", b"]", b'"'):
        return text in (b"null", b"true", b"false")
    try:
        json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def too_large(blocks: list[bytes], size: int) -> tuple[bytes, int]:
    """Read on to the end in little memory; keep both ends and the size.

    What is private could begin in the part that is dropped: then the tail goes too.
    """
    read = b"".join(blocks)
    blocks.clear()
    head, tail = read[:ENDS], read[-ENDS:]
    private = has_private(read)
    del read
    while select([0], [], [], SILENCE_S)[0]:
        block = _os.read(0, 65536)
        if not block:
            break
        size += len(block)
        private = private or has_private(tail[-OVERLAP:] + block)
        tail = (tail + block)[-ENDS:]
    return joined(head, b"" if private else tail, size), size


def has_private(raw: bytes) -> bool:
    """Whether a private tag may stand in a piece of a document."""
    lower = raw.lower()
    # Text without the letter is common where brackets are many.
    return (b"p" in lower or b"\\u00" in lower) and bool(PRIVATE.search(lower))


def joined(head: bytes, tail: bytes, size: int) -> bytes:
    """A valid document made of both ends; of the head alone when they don't fit."""
    note = f" ...[too large: {size} bytes, the middle is left out]... "
    start, end = between(head, last=True), between(tail, last=False)
    if tail:
        text = start + note + end
        if is_json(text):
            return text.encode("utf-8", "replace")
    return mended(start, note).encode("utf-8", "replace")


def between(raw: bytes, *, last: bool) -> str:
    """The text cut at a blank, so that no word, escape or letter is cut in two."""
    text = raw.decode("utf-8", "replace")
    part = text[-4000:] if last else text[:4000]
    gaps = [match.start() for match in re.finditer(r" |\\n|\n", part)]
    if not gaps:
        return whole_escapes(text, last=last)
    return text[: len(text) - len(part) + gaps[-1]] if last else text[gaps[0] :]


def whole_escapes(text: str, *, last: bool) -> str:
    """A text without a gap, less the half escape that may stand at its cut end."""
    if last:
        cut = re.search(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$", text[-80:])
        return text[: len(text) - len(cut[1])] if cut else text
    fit = re.search(r"(?<=[^\\])(?=[^\\\"])", text)
    return text[fit.start() :] if fit else ""


def mended(head: str, note: str) -> str:
    """The head as a document of its own: what stands open is closed."""
    for _ in range(50):
        text = head + closing(head, note)
        if is_json(text):
            return text
        at = max(head.rfind(","), 0)
        head = head[:at]
        if not head:
            break
    return json.dumps({"too_large": note.strip()})


def closing(head: str, note: str) -> str:
    """What closes the string and the brackets that are open at the end of `head`."""
    opened: list[str] = []
    tail = ""
    for match in re.finditer(r'"(?:[^"\\]|\\.)*+("?)|[{}\[\]]', head, re.DOTALL):
        mark = match[0]
        if mark in "{[":
            opened.append("}" if mark == "{" else "]")
        elif mark in "}]":
            opened = opened[:-1]
        elif not match[1]:
            tail = note + '"'
    return tail + "".join(reversed(opened))


def is_json(text: str) -> bool:
    """Whether `text` is one JSON document."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
