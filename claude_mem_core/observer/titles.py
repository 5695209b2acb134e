"""Titles: specific, at most 12 words, never a tool's name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from claude_mem_core.observer.speech import is_routine, sentences
from claude_mem_core.observer.text import ELLIPSIS, clip_words, names, squash, words

WORDS = 12
CHARS = 110
LEAST = 8
SHORT = 18  # what a lead-in leaves has to be at least this long to stand alone

TOOLS = re.compile(
    r"^(?:bash|read|edit|write|grep|glob|agent|task|webfetch|websearch|todowrite|notebookedit|mcp__\w*)(?::|\b(?=\s))",
    re.IGNORECASE,
)
# Words at the start that only say that something is done.
LEAD = re.compile(
    r"^\W*(?:(?:found (?:one|it|two|three|the (?:bug|cause|problem))|redone|refeito|neu gemacht|done|fixed|decision|yes|no|ok(?:ay)?|finished|ready|result|summary|cause found|root cause|cause|reproduced|committed|found|solved|note|important"
    r"|fertig|erledigt|behoben|entscheidung|ja|nein|ergebnis|ursache|ursache gefunden|gefunden"
    r"|pronto|feito|corrigido|decisão|sim|não|resultado|causa|causa encontrada"
    r"|完了|修正しました|原因|結論|決定|はい|いいえ)\s*[:,.：、。!—–-]+\s*)+",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(
    r"^(?:I(?:'ve| have)? (?:also |now )?|we (?:have )?)(?=[a-z]+(?:ed|t|n|de|lt)\b)",
    re.IGNORECASE,
)
# Words that nothing ends with.
DANGLING = re.compile(
    r"(?:\s+(?:a|an|the|of|in|on|at|to|and|or|by|for|with|from|is|are|was|as|that|which|its|into|not|but|than|both|one|because|when|while|until|if"
    r"|der|die|das|den|dem|ein|eine|einen|und|oder|von|im|in|am|auf|zu|mit|für|ist|war|als|bei|nach"
    r"|o|os|as|um|uma|de|do|da|dos|das|em|no|na|e|ou|por|para|com|que|é))+$",
    re.IGNORECASE,
)
# Where a clause may end; `a:14`, `f(x)` and `1,5` are one word.
CLAUSE = re.compile(r"[;:,](?=\s|$)|(?<![A-Za-z0-9_])\(|[–—]|\s-\s|、|，|；")
CODE = re.compile(r"`([^`]+)`")


def title(
    candidates: Iterable[str],
    topics: set[str],
    asked: str = "",
    prefer: re.Pattern[str] | None = None,
) -> str:
    """The best of the candidates, cut to length; they come in order of preference.

    Better are those that name what was worked on, that speak of what was asked, and
    that match `prefer`.
    """
    wanted = {w[:6] for w in words(asked) if len(w) > 3}
    ranked = []
    for at, candidate in enumerate(candidates):
        text = trimmed(candidate)
        if len(text) >= LEAST and not is_routine(text) and not is_routine(candidate):
            shared = sum(n.casefold() in topics for n in names(candidate))
            common = len({w[:6] for w in words(text)} & wanted)
            bonus = 1.5 if prefer is not None and prefer.search(candidate) else 0.0
            ranked.append((min(shared, 2) + 0.5 * min(common, 3) + bonus - 0.6 * at, -at, text))
    return max(ranked)[2] if ranked else ""


def trimmed(text: str) -> str:
    """A sentence as a title: no lead-in, no first person, at most 12 words."""
    code = [squash(span) for span in CODE.findall(text)]
    text = squash(text.replace("**", "").replace("`", ""))
    led = LEAD.sub("", text)
    text = led if len(led) >= SHORT else text
    bare = FIRST_PERSON.sub("", text)
    text = bare[:1].upper() + bare[1:] if bare != text else text
    text = TOOLS.sub(lambda m: f"The {m.group().rstrip(':').casefold()}", text)
    return _capital(DANGLING.sub("", _shortened(text, code)).rstrip(" .。;:,、"))


def _capital(text: str) -> str:
    """A first word that is a plain word begins with a capital letter."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _shortened(text: str, code: Sequence[str] = ()) -> str:
    """Cut at a clause where that leaves enough, else at the twelfth word.

    What stood in backticks (`code`) is not cut where there is enough before it.
    """
    if len(text.split()) <= WORDS and len(text) <= CHARS:
        return text
    cut = clip_words(text, WORDS, CHARS)
    whole = list(_places(text, code))
    for start, end in whole:
        if start < len(cut.rstrip(ELLIPSIS)) < end and _is_enough(cut[:start]):
            cut = cut[:start].rstrip()
    clauses = [m.start() for m in CLAUSE.finditer(cut)]
    free = [at for at in clauses if not any(start <= at < end for start, end in whole)]
    ends = [at for at in free if _is_enough(cut[:at])]
    wide = [at for at in free if at >= 18 and not cut[:18].count(" ")]
    at = (ends or wide or [0])[-1]
    return cut[:at] if at else cut


def _is_enough(head: str) -> bool:
    return len(head.split()) >= 5


def _places(text: str, code: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where in a text each piece of code stands, in order."""
    at = 0
    for span in code:
        found = text.find(span, at) if span else -1
        if found >= 0:
            at = found + len(span)
            yield found, at


def from_text(text: str, most: int = 4) -> list[str]:
    """The first sentences of a text as candidates."""
    return sentences(text)[:most]
