"""Sentences of prompts and answers, and what part each plays."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from claude_mem_core.observer import phrases
from claude_mem_core.observer.text import clip, is_wide, squash, unique

MOST = 60  # sentences of one text that are looked at
LONGEST = 20_000
CORRECTING = 300  # characters of a prompt in which a correction is looked for

FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6}|>)\s+")
TABLE_RULE = re.compile(r"^[\s|:+-]+$")
# An end of a sentence: not after z.B., e.g., a number or a single letter.
ABBREVIATED = "".join(
    rf"(?<!{word})" if word.startswith("[") else rf"(?<!\b{word})"
    for word in (
        "e\\.g", "i\\.e", "z\\.B", "d\\.h", "u\\.a", "bzw", "etc", "vs", "ca", "approx", "Nr", "inkl", "incl",
        "usw", "resp", "Dr", "Mr", "Mrs", "St", "Fig", "Sr", "Sra", "p\\.ex", "ex", "evtl", "ggf", "vgl", "[\\s(.][A-Za-z]",
    )
)  # fmt: skip
END = re.compile(
    rf"{ABBREVIATED}[.!?]+[\"')\]]?(?=\s+\S|\s*$)(?!\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*\b)"
    r"|(?<=[。！？])"
)


@attrs.frozen
class Speech:
    """An answer taken apart; every sentence is in exactly one of the groups.

    Attributes:
        learned: causes, findings, decisions.
        done: what was done and how it went.
        left: what is still to do, or advice.
    """

    learned: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    def without(self, sentences: Sequence[str]) -> Speech:
        """The same without some sentences."""
        parts = (self.learned, self.done, self.left)
        return Speech(*(tuple(s for s in part if s not in sentences) for part in parts))

    @property
    def all(self) -> tuple[str, ...]:
        """All sentences, those of one group together."""
        return (*self.learned, *self.done, *self.left)


def sentences(text: str) -> list[str]:
    """The sentences of a text; code blocks, bullets and headings are unmarked."""
    text = FENCE.sub("\n", text[:LONGEST])
    found: list[str] = []
    for line in text.split("\n"):
        line = BULLET.sub("", line).strip().strip("|").strip()
        if line and not TABLE_RULE.match(line):
            found += _cut(line)
        if len(found) >= MOST:
            break
    return unique(s for s in found if re.search(r"\w", s))[:MOST]


def _cut(line: str) -> list[str]:
    parts, start = [], 0
    for match in END.finditer(line):
        parts.append(line[start : match.end()].strip())
        start = match.end()
    parts.append(line[start:].strip())
    return [p for p in parts if p]


def sorted_out(text: str) -> Speech:
    """An answer by what its sentences say."""
    learned, done, left = [], [], []
    for sentence in sentences(text):
        if phrases.PLEASANTRY.match(sentence):
            continue
        if phrases.OPEN.search(sentence):
            left.append(sentence)
        elif any(
            p.search(sentence)
            for p in (phrases.CAUSE, phrases.DECIDE, phrases.REFUTED, phrases.ADMIT)
        ):
            learned.append(sentence)
        else:
            done.append(sentence)
    return Speech(tuple(learned), tuple(done), tuple(left))


def of_turn(answers: Sequence[str]) -> Speech:
    """All answers of a turn; what is left to do is what the last one leaves."""
    parts = [sorted_out(a) for a in answers]
    return Speech(
        tuple(unique(s for p in parts for s in p.learned)),
        tuple(unique(s for p in parts for s in p.done)),
        parts[-1].left if parts else (),
    )


def is_protocol(text: str) -> bool:
    """Whether a prompt is the host's, not the user's."""
    return bool(phrases.PROTOCOL.match(text[:2_000]))


def is_order(text: str) -> bool:
    """Whether a text tells its reader what to do."""
    return bool(phrases.ORDER.search(squash(text)[:600]))


def is_routine(sentence: str) -> bool:
    """A sentence that says no more than that it went well."""
    return bool(phrases.PLEASANTRY.match(sentence) or phrases.ROUTINE.search(sentence))


def rules(prompt: str, *, corrects: bool) -> list[str]:
    """Sentences of a prompt that lay down how things are done here.

    In a prompt that corrects, more counts as a rule than in one that sets a task.
    """
    wanted = phrases.RULE if corrects else phrases.LASTING
    return [s for s in sentences(prompt) if wanted.search(s) and not s.endswith(("?", "？"))]


def is_correction(prompt: str) -> bool:
    """Whether a prompt puts right what was done before."""
    return bool(phrases.CORRECTION.search(prompt.strip()[:CORRECTING]))


def refutes(answer: str) -> list[str]:
    """The sentences in which an answer takes something back."""
    return [s for s in sentences(answer) if phrases.REFUTED.search(s) or admits(s)]


def admits(sentence: str) -> bool:
    """Whether a sentence only owns up to a mistake."""
    return bool(phrases.ADMIT.search(sentence))


def join(parts: Sequence[str], limit: int) -> str:
    """Whole sentences, as many as fit."""
    out = ""
    for part in parts:
        glue = "" if not out or is_wide(part) else " "
        if len(out) + len(part) + 1 > limit:
            return out or clip(part, limit)
        out += glue + _ended(part)
    return out


def _ended(part: str) -> str:
    return part if re.search(r"[.!?。！？:;…]$", part) else part + "."
