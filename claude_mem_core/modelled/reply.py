"""Reading what a model answered: tolerant where it is safe, strict where it is not.

A reply is read by its tags, not as a document: models leave signs unescaped, forget an
end, put a fence around, think aloud first. Prose never becomes a memory.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import attrs

from claude_mem_core.modelled.fields import CONTROL

LONGEST = 400_000
OBSERVATION_FIELDS = (
    "type", "title", "subtitle", "facts", "narrative", "concepts", "files_read",
    "files_modified", "supersedes",
)  # fmt: skip
SUMMARY_FIELDS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
ITEMS = {"facts": "fact", "concepts": "concept", "files_read": "file", "files_modified": "file"}

THINKING = re.compile(
    r"<(think|thinking|reasoning|thought|scratchpad|analysis)\b[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[^\n]*\n(.*?)\n?\s*\1\s*\Z", re.DOTALL)
ROOT = re.compile(r"<(observation|summary)\b[^<>]*>", re.IGNORECASE)
SKIP = re.compile(
    r"<skip_summary\b(?:\s+reason\s*=\s*[\"']([^\"']{0,400})[\"'])?[^<>]*/?>", re.IGNORECASE
)
NAMES = "|".join(dict.fromkeys([*OBSERVATION_FIELDS, *SUMMARY_FIELDS, *ITEMS.values()]))
TAG = re.compile(
    rf"</?(?:observations?|summary|skip_summary|think|thinking|reasoning|{NAMES}"
    r"|earlier|stored|asked|said|tool)\b[^<>]*(?:>|\Z)"
    r"|</?(?:b|i|em|strong|code|pre|br|p|ul|ol|li|u|tt)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
NUMBER = re.compile(r"\d{1,15}")


@attrs.frozen(kw_only=True)
class Read:
    """One observation of a reply, as it stands there.

    Attributes:
        whole: its end was there.
    """

    type: str = ""
    title: str = ""
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    supersedes: tuple[int, ...] = ()
    whole: bool = True

    @property
    def is_empty(self) -> bool:
        """It says nothing."""
        return not (self.title and (self.narrative or self.facts or self.subtitle))


@attrs.frozen(kw_only=True)
class Answer:
    """What a reply holds.

    Attributes:
        observations: those that say something and are whole.
        torn: those of which the end is missing, as far as they go.
        summary: its fields by name.
        skipped: it says on purpose that nothing is worth keeping, and why.
        fault: why it can't be used as it is; empty when it can.
    """

    observations: tuple[Read, ...] = ()
    torn: tuple[Read, ...] = ()
    summary: dict[str, str] = attrs.field(factory=dict)
    skipped: str | None = None
    fault: str = ""


def read(text: str, *, summary_due: bool = False) -> Answer:
    """Read a reply.

    Args:
        summary_due: a summary was asked for; another one is no answer to an observation.
    """
    text = CONTROL.sub("", THINKING.sub("", text[:LONGEST]))
    if fenced := FENCE.match(text):
        text = fenced[2]
    if not text.strip():
        return Answer(fault="it is empty")
    found, summary = _roots(text)
    whole = tuple(one for one in found if one.whole and not one.is_empty)
    torn = tuple(one for one in found if not one.whole and not one.is_empty)
    summary = summary if summary_due else {}
    if whole or summary:
        return Answer(observations=whole, torn=torn, summary=summary)
    if (skip := SKIP.search(text)) and not found:
        return Answer(skipped=_plain(skip[1] or "nothing worth keeping"))
    return Answer(torn=torn, fault=_fault(found, text))


def _fault(found: Sequence[Read], text: str) -> str:
    if any(not one.whole for one in found):
        return "its end is missing"
    if found:
        return "its observation says nothing"
    return "it has no <observation>" if "<" in text else "it is no XML"


def _roots(text: str) -> tuple[list[Read], dict[str, str]]:
    """Every observation, and the first summary, in order."""
    found: list[Read] = []
    summary: dict[str, str] = {}
    at = 0
    while start := ROOT.search(text, at):
        name = start[1].lower()
        body, at, whole = _body(text, start)
        if name == "observation":
            found.append(_observation(body, whole=whole))
        elif not summary:
            summary = _summary(body)
    return found, summary


def _body(text: str, start: re.Match[str]) -> tuple[str, int, bool]:
    """What a root holds; one that has no end goes to the next root."""
    end = re.compile(rf"</\s*{start[1]}\s*>", re.IGNORECASE).search(text, start.end())
    following = ROOT.search(text, start.end())
    if end and not (following and following.start() < end.start()):
        return text[start.end() : end.start()], end.end(), True
    stop = following.start() if following else len(text)
    return text[start.end() : stop], stop, False


def _observation(body: str, *, whole: bool) -> Read:
    fields = {name: _field(body, name) for name in OBSERVATION_FIELDS}
    return Read(
        type=_plain(fields["type"]), title=_line(fields["title"]),
        subtitle=_line(fields["subtitle"]), narrative=_plain(fields["narrative"]),
        facts=_items(fields["facts"], "facts"),
        concepts=_items(fields["concepts"], "concepts"),
        files_read=_items(fields["files_read"], "files_read"),
        files_modified=_items(fields["files_modified"], "files_modified"),
        supersedes=tuple(int(n) for n in NUMBER.findall(fields["supersedes"])), whole=whole,
    )  # fmt: skip


def _summary(body: str) -> dict[str, str]:
    found = {name: _plain(_field(body, name)) for name in SUMMARY_FIELDS}
    said = {name: text for name, text in found.items() if text}
    return said if set(said) - {"notes"} else {}


def _field(body: str, name: str) -> str:
    """The inner text of the first such field that is closed."""
    found = re.search(rf"<{name}\b[^<>]*>(.*?)</\s*{name}\s*>", body, re.DOTALL | re.IGNORECASE)
    return found[1] if found else ""


def _items(text: str, name: str) -> tuple[str, ...]:
    item = ITEMS[name]
    found = re.findall(
        rf"<{item}\b[^<>]*>(.*?)</\s*{item}\s*>", text, re.DOTALL | re.IGNORECASE
    )
    if not found and not ROOT.search(text):
        found = [BULLET.sub("", line) for line in text.splitlines()]
    return tuple(dict.fromkeys(line for part in found if (line := _line(part))))


def _plain(text: str) -> str:
    """The text of a field: no tags of the form, signs as they are meant."""
    bare = TAG.sub("", text)
    return TAG.sub("", html.unescape(bare)).strip()


def _line(text: str) -> str:
    return " ".join(_plain(text).split())
