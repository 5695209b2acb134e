"""Finds values that look random and stand where a secret stands, whatever made them.

Standard library only and free of package imports, because a copy lies beside the
installed hook. Two rules, both measured on what must stay (hashes, UUIDs, lock files,
encoded images): a value that is given to a name like `api_key` or `client_secret`, and a
lone word of capitals, small letters and digits without any order in it.
"""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False  # as in values.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Hit = tuple[int, int, str]

NAME = "high_entropy"

_NAMED = re.compile(
    r"(?i:(?:api|access|auth|private|signing|encryption|shared|service|account|master|app)[_-]?key"
    r"|secret|token|credentials?|passphrase)(?P<rest>[A-Za-z0-9_-]{0,40}+)"
    r"[\"'\\\]]{0,6}\s{0,8}(?:=>|[:=])\s{0,8}[\"'\\]{0,6}"
    r"(?P<value>[A-Za-z0-9+/_.~-]{20,200}+={0,2}+)(?![A-Za-z0-9+/_~=(\[{])"
)
# Never part of something longer: a path, a name with dots, an encoded file.
_LONE = re.compile(
    r"(?<![A-Za-z0-9+/_.=~%@$#&-])[A-Za-z0-9][A-Za-z0-9_-]{30,98}[A-Za-z0-9](?![A-Za-z0-9+/_.=~%@-])"
)
# What says of itself that it is a digest, or that it is public.
_DIGEST = re.compile(
    r"(?i:(?:md5|sha\d{0,3}|sha\d-\d{3}|blake\d\w?|h1|zh|crc\w*|integrity|checksum|digest|hash|etag"
    r"|fingerprint|base64|nonce|ssh-[a-z0-9]+|public[_-]?key|pub[_-]?key|kid|cache[_-]?key|commit"
    r"|revision|uuid|guid|build[_-]?id)[\"'\\]{0,4}\s{0,4}[-:=,]?\s{0,4}[\"'\\]{0,4})$"
)
# What is called so is about a secret, not one.
_ABOUT = re.compile(r"(?i:[_-](?:names?|ids?|files?|paths?|urls?|uri|arn|type|count|version))$")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
# Ids that say what they are of: `srvtoolu_...`, `gen-...`. Many records hang on them.
_TYPED = re.compile(r"[a-z]{2,12}[_-]")
_ENCODED = re.compile(r"[A-Za-z0-9+/=]+")
_UUID = re.compile(r"(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")

NAMED_BITS = 3.2  # of information in each character, at least
LONE_BITS = 4.2
LONE_CHANGES = 0.35  # how often the kind of character changes; words change seldom
MOST_IN_WORDS, MOST_IN_NAMED = 0.5, 0.65
_BEFORE = 40
_LITERALS = ("key", "secret", "token", "credential", "passphrase")


def redact(
    text: str, marker: Callable[[str], str], kinds: Iterable[Any] = (),
    disabled: frozenset[str] = frozenset(),
) -> str:  # fmt: skip
    """`text` with a marker for each such value.

    Args:
        kinds: the vendors' patterns; what those of them find that the user switched off
            (`disabled`) is left to him.
    """
    hits = _hits(text)
    if hits and disabled:
        off = [hit for name, _, find in kinds if name in disabled for hit in find(text)]
        hits = [h for h in hits if not any(h[0] < o[1] and o[0] < h[1] for o in off)]
    parts: list[str] = []
    at = 0
    for start, end, name in hits:
        if start >= at:
            parts += (text[at:start], marker(name))
            at = end
    return "".join([*parts, text[at:]]) if parts else text


def _hits(text: str) -> list[Hit]:
    found = [*_lone(text)]
    lower = text.lower()
    if any(literal in lower for literal in _LITERALS):
        found += _named(text)
    return sorted(found)


def _named(text: str) -> Iterator[Hit]:
    for match in _NAMED.finditer(text):
        if is_secret(match["value"]) and not _ABOUT.search(match["rest"]):
            yield match.start("value"), match.end("value"), NAME


def _lone(text: str) -> Iterator[Hit]:
    for match in _LONE.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        if _TYPED.match(match[0]) or not is_random(match[0]) or _DIGEST.search(before):
            continue
        if not _is_line_of_many(text, match.start(), match.end()):
            yield match.start(), match.end(), NAME


def _is_line_of_many(text: str, start: int, end: int) -> bool:
    """Whether it is one line of an encoded file: the next or the last one is as long."""
    size = end - start
    if size < 60:
        return False
    after, before = text[end : end + size + 2], text[max(0, start - size - 2) : start]
    following = after.lstrip("\r\n\\n")[: size - 2]
    leading = before.rstrip("\r\n\\n")[2 - size :]
    return any(len(line) >= size - 4 and _ENCODED.fullmatch(line) for line in (following, leading))


def is_secret(value: str) -> bool:
    """Whether a value that is named like a secret is one: mixed, and no words."""
    if len(value) < 20 or not re.search(r"\d", value) or not re.search(r"[A-Za-z]", value):
        return False
    if _UUID.fullmatch(value) or in_words(value) > MOST_IN_NAMED:
        return False
    return bits(value) >= (3.0 if _HEX.fullmatch(value) else NAMED_BITS)


def is_random(word: str) -> bool:
    """Whether a word without any name is random: all three kinds, in no order."""
    counts = [sum(map(kind, word)) for kind in (str.isupper, str.islower, str.isdigit)]
    if min(counts) < 3 or bits(word) < LONE_BITS:
        return False
    return changes(word) >= LONE_CHANGES and in_words(word) <= MOST_IN_WORDS


def bits(text: str) -> float:
    """Information in each character, by how often each occurs."""
    counts = [text.count(c) for c in set(text)]
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


def changes(text: str) -> float:
    """How often the kind of character changes, of how often it could."""
    kinds = ["u" if c.isupper() else "l" if c.islower() else "d" if c.isdigit() else "-" for c in text]
    changed = [kinds[n] != kinds[n + 1] for n in range(len(kinds) - 1)]
    return sum(changed) / max(1, len(changed))


def in_words(text: str) -> float:
    """The share of the text that is words: three small letters in a row, or four capitals."""
    return sum(map(len, _WORDS.findall(text))) / max(1, len(text))
