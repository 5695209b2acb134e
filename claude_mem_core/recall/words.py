"""How text becomes words, for the index and for queries alike.

The tokenizer of SQLite splits at everything that is no letter, digit or mark, folds
case and accents and stems English. What it can't do is done here, to both sides:
scripts without spaces, parts of camelCase names, signs that carry meaning (`C++`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import Match

# Scripts written without spaces (and Hangul, which glues particles to words).
_RUN = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109f"
    "\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc\u17e0-\u17e9\u3005-\u3007\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# Dropped before anything else: controls, joiners, fillers, and the private characters
# that mark our own tokens, so that no text can forge one.
_DROPPED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# What a character of these scripts says, in Latin ones: a word of two or three, a
# syllable, a letter without the blanks that other scripts have between words.
_SAYS_MORE = (
    (re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"), 3),
    (re.compile("[\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7af]"), 2),
    (re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]"), 1.5),
)
_LETTERED = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]+")
_WEIGHED = 1_000  # characters; what is longer is long
SENTENCE = 20  # Latin characters that may be a sentence; less is a word or a name
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ALNUM = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")

SCOPE = "\ue000"
_IDENT = "\ue001"
_SIGN = "\ue002"
_WRAPPING = "`'\"()[]{}<>*,;:!?/\\|\u201c\u201d\u2018\u2019"
_LONGEST_IDENT = 40
TEXT_LIMIT = 100_000  # characters of one field that are indexed

# Too common to tell records apart; left out of partial matches only.
_STOP = (
    "a about after all also am an and any are as at be because been before being between"
    " both but by can could did do does doing done down each either for from get got had"
    " has have having he her here hers him his how i if in into is it its itself just let"
    " like make may me might more most my need no nor not now of off on once one only or"
    " other our out over own same she should so some such than that the their them then"
    " there these they this those through to too under until up us use used using very was"
    " we were what when where which while who whom why will with would you your yours"
)
STOP = frozenset(_STOP.split())


def normal(text: str) -> str:
    """`text` in one spelling: compatibility forms folded, invisible characters gone."""
    if text.isascii():
        return text.replace("\0", " ")
    return _DROPPED.sub("", unicodedata.normalize("NFKC", text))


def spaced(text: str) -> str:
    """Normal text with runs of unspaced script as overlapping pairs of characters.

    A pair is a token, so a phrase of pairs finds any part of a run of two characters
    or more.
    """
    return text if text.isascii() else _RUN.sub(_pairs, text)


def _pairs(match: Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "


def says(text: str) -> float:
    """How long a text is, as if it were written in Latin letters."""
    text = text.strip()[:_WEIGHED]
    more = ((worth - 1) * len(one.findall(text)) for one, worth in _SAYS_MORE)
    return len(text) + sum(more)


def is_lettered(pair: str) -> bool:
    """Whether a pair is two letters of an alphabet: two of these tell next to nothing."""
    return _LETTERED.fullmatch(pair) is not None


def runs(text: str) -> list[tuple[int, int]]:
    """Where the runs of unspaced script stand in normal text."""
    return [] if text.isascii() else [match.span() for match in _RUN.finditer(text)]


def idents(text: str) -> str:
    """What normal text holds beyond its words, as tokens for the column `idents`.

    The parts of camelCase names, whole words with a sign at an end (`C++`, `--flag`,
    `.env`), and single characters of unspaced scripts.
    """
    # Most words are plain ones, which have neither humps nor signs.
    chunks = [
        chunk
        for chunk in dict.fromkeys(text.split())
        if not (chunk.isalpha() and (chunk.islower() or chunk.istitle()))
    ]
    tokens = [_HUMP.sub(" ", name) for name in dict.fromkeys(_names(chunks))]
    tokens += [token for chunk in chunks if not chunk.isalnum() and (token := signed(chunk))]
    if not text.isascii():
        tokens += dict.fromkeys("".join(_RUN.findall(text)))
    return " ".join(tokens)


def _names(chunks: Iterable[str]) -> Iterator[str]:
    """The words in `chunks` that have a hump."""
    for chunk in chunks:
        if not (chunk.islower() or chunk.istitle()):
            yield from filter(_HUMP.search, _ALNUM.findall(chunk))


def signed(word: str) -> str:
    """The token of a word whose first or last sign carries meaning; empty for others."""
    if word[0].isalnum() and word[-1].isalnum():
        return ""
    word = word.strip(_WRAPPING).rstrip(".")
    if not word or len(word) > _LONGEST_IDENT or (word[0].isalnum() and word[-1].isalnum()):
        return ""
    if not any(char.isalnum() for char in word):
        return ""
    return _IDENT + _coded(word)


@lru_cache(4096)
def scope(letter: str, value: object) -> str:
    """The token of one filter: `letter` says which, `value` is matched exactly."""
    return f"{SCOPE}{letter}{_coded(str(value))}"


def _coded(word: str) -> str:
    """`word` as one token: signs become private characters and their number."""
    return "".join(
        char if char.isalnum() else f"{_SIGN}{ord(char):x}" for char in normal(word).casefold()
    )


def long_words(text: str) -> set[str]:
    """Words of spaced text that a query may name a part of: letters only, 4 to 32."""
    found = set()
    for chunk in set(text.casefold().split()):
        if chunk.isalpha():
            found.add(chunk)
        else:
            found.update(_LETTERS.findall(chunk))
    return {word for word in found if 4 <= len(word) <= 32}


def alnum(text: str) -> list[str]:
    """The runs of letters and digits in `text`."""
    return _ALNUM.findall(text)
