"""Small tools for text: squeezing, cutting, words, names worth remembering."""

from __future__ import annotations

import re
from collections.abc import Iterable

ELLIPSIS = "…"
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)?")
WORD = re.compile(r"\w+")
# A name or value that can be looked up again: `a.b`, `a_b`, `aB`, `A-1`, 12.5, a1b2c3d.
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:[./:#@\\-]|::|->)+[\w$]+)*|\d[\w.:%-]*\w|\d\d")
PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d")
# Letters of scripts that are written without spaces.
WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]")


def squash(text: str) -> str:
    """`text` on one line with single spaces."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """`text` without terminal colours; of a line that was redrawn, the last state."""
    text = ANSI.sub("", text).replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def clip(text: str, limit: int) -> str:
    """`text` squashed and cut at a word, at most `limit` characters with the mark."""
    text = squash(text)
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > limit // 2 else head).rstrip(" ,;:(…") + ELLIPSIS


def clip_words(text: str, words: int, chars: int) -> str:
    """The first `words` words of `text`, and never more than `chars` characters."""
    parts = squash(text).split(" ")
    cut = " ".join(parts[:words])
    if len(parts) > words:
        cut = cut.rstrip(" ,;:.(-–—")
    return clip(cut, chars)


def around(text: str, start: int, end: int, limit: int) -> str:
    """The part of `text` about `start:end`, at most about `limit` characters long."""
    text_len = len(text)
    if text_len <= limit:
        return text
    spare = max(0, limit - (end - start)) // 2
    left, right = max(0, start - spare), min(text_len, end + spare)
    left = _word_start(text, left, start)
    right = _word_end(text, right, end)
    head = ELLIPSIS if left else ""
    return head + text[left:right].strip() + (ELLIPSIS if right < text_len else "")


def _word_start(text: str, at: int, most: int) -> int:
    while 0 < at < most and (text[at - 1].isalnum() or text[at - 1] in "_."):
        at += 1
    return at


def _word_end(text: str, at: int, least: int) -> int:
    while least < at < len(text) and (text[at].isalnum() or text[at] in "_."):
        at -= 1
    return at


def words(text: str) -> list[str]:
    """The words of `text` in lower case."""
    return WORD.findall(text.casefold())


def names(text: str) -> list[str]:
    """The names and values in `text` that are no everyday words, in order, once each."""
    found = (m.strip(".:-") for m in NAME.findall(text))
    return list(dict.fromkeys(n for n in found if len(n) > 1 and not PLAIN.fullmatch(n)))


def is_wide(text: str) -> bool:
    """Whether `text` is mostly of a script without spaces between words."""
    return len(WIDE.findall(text)) * 3 > len(text.replace(" ", ""))


def unique(items: Iterable[str]) -> list[str]:
    """The items without doubles (ignoring case and spaces) and without empty ones."""
    seen: dict[str, str] = {}
    for item in items:
        key = squash(item).casefold()
        if key:
            seen.setdefault(key, item)
    return list(seen.values())


def comma(items: Iterable[str], most: int) -> str:
    """Up to `most` items as a list; what is left out is counted."""
    listed = list(items)
    shown = ", ".join(listed[:most])
    return f"{shown} and {len(listed) - most} more" if len(listed) > most else shown
