"""Takes marked regions out of text: what is private, and what came from a memory or host.

Standard library only and free of package imports, because a copy lies beside the
installed hook. Every pass reads the text once from left to right; the time grows with
its length and with nothing else.

A tag may be in capitals, carry blanks, line ends, attributes and invisible letters, be
written with full-width brackets or with JSON escapes (`\\u003c`) of any depth.
"""

from __future__ import annotations

import re

# Joins the strings of one list, so that a region may begin in one and end in another.
JOINT = "\x1e"

_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff" + JOINT
_THIN = rf"[{_INVISIBLE}]*+"
_BLANK = rf"(?:[\s{_INVISIBLE}]|\\{{1,8}}[nrt])*+"
# The same with JSON escapes of these letters; used on text that holds `\u` only.
_INVISIBLE_CODE = "00ad|034f|061c|180e|200[b-f]|202[a-e]|206[0-9]|feff|001e"
_THIN_CODE = rf"(?:[{_INVISIBLE}]|\\{{1,8}}u(?:{_INVISIBLE_CODE}))*+"
_BLANK_CODE = (
    rf"(?:[\s{_INVISIBLE}]|\\{{1,8}}(?:[nrt]|u(?:{_INVISIBLE_CODE}|00(?:20|a0|0[9a-d]))))*+"
)
_OPEN = r"(?:[<\uff1c]|\\{1,8}u(?:003c|ff1c))"
_PLAIN_OPEN = r"[<\uff1c]"
_CLOSE = r"(?:[>\uff1e]|\\{1,8}u(?:003[eE]|[fF]{2}1[eE]))"
_END_OF_NAME = r"(?![\w.:-])"

# What may stand in a tag after its name. The window is short, so that text full of
# halves of tags costs no more than other text.
_WINDOW = 400
_QUOTED = r"\"[^\"]*+\"|'[^']*+'"
_REST = rf"(?:{_QUOTED}|(?!{_CLOSE})[^\"'<\uff1c])*+{_CLOSE}"
_LOOSE_REST = rf"(?:(?!{_CLOSE})[^<\uff1c])*+{_CLOSE}"
_ID = r"\bid\s*=\s*\\*[\"']?([\w.:-]{1,64})"
_BARE_SLASH = rf"{_BLANK}/{_BLANK}{_CLOSE}"

PRIVATE = "private"
OWN = "claude-mem-context"
# Blocks that hosts and we ourselves put into prompts; they must not come back as memory.
SYSTEM = (
    OWN,
    "system_instruction",
    "system-instruction",
    "persisted-output",
    "system-reminder",
)


def _tag(names: str) -> tuple[str, str]:
    """Patterns without and with escapes; the first is much faster.

    They stay text here and are compiled (and kept by `re`) when first needed, because
    the hook pays for what it loads. `~` stands for letters that are not seen.
    """
    plain = _pattern(_PLAIN_OPEN, _BLANK, names.replace("~", _THIN))
    return plain, _pattern(_OPEN, _BLANK_CODE, names.replace("~", _THIN_CODE))


def _pattern(opening: str, blank: str, names: str) -> str:
    slash = rf"(?P<slash>\\{{0,8}}[/\uff0f]{blank})?+"
    return f"(?i:{opening}{blank}{slash}(?P<name>{names}){_END_OF_NAME})"


_PRIVATE_TAGS = _tag("~".join(PRIVATE) + "~")
_SYSTEM_TAGS = _tag("|".join(SYSTEM))
_OWN_TAGS = _tag(OWN)

Span = tuple[int, int]


class Tag:
    """One tag in a text: where it lies and what it does."""

    __slots__ = ("closes", "end", "id", "lone", "name", "start")

    def __init__(self, text: str, match: re.Match[str]) -> None:
        self.start = match.start()
        self.name = match["name"].lower()
        self.closes = match["slash"] is not None
        rest = _rest(text, match.end())
        self.end = rest.end() if rest else match.end()
        self.lone = bool(re.compile(_BARE_SLASH).match(text, match.end()))
        found = re.compile(_ID).search(text, match.end(), self.end)
        self.id = found[1] if found else ""


def _rest(text: str, at: int) -> re.Match[str] | None:
    """The rest of a tag to its bracket; None for half a tag."""
    end = at + _WINDOW
    strict, loose = re.compile(_REST), re.compile(_LOOSE_REST)
    return strict.match(text, at, end) or loose.match(text, at, end)


def strip(text: str, *, own_id: str = "", where: str = "prompt") -> str:
    """Return `text` without private regions and without blocks that are not its own.

    Args:
        own_id: id in our context fence on this machine.
        where: `prompt` and `answer` lose every system block; `tool` only blocks that
            carry `own_id`, because a web page must not be able to hide itself.

    A private region that is never closed reaches to the end of the text.
    """
    if "<" not in text and "\uff1c" not in text and "\\u" not in text:
        return text
    text = _without(text, _private_spans(tags_in(text, _PRIVATE_TAGS), len(text)))
    names = _OWN_TAGS if where == "tool" else _SYSTEM_TAGS
    found = tags_in(text, names)
    if where == "tool":
        found = [tag for tag in found if tag.closes or (own_id and tag.id == own_id)]
    return _without(text, _block_spans(found, strays=where != "tool"))


def count(text: str) -> int:
    """How many private tags stand in `text`, opening and closing ones."""
    return len(tags_in(text, _PRIVATE_TAGS))


def tags_in(text: str, patterns: tuple[str, str]) -> list[Tag]:
    """The tags of these names, in order."""
    plain, escaped = patterns
    pattern = escaped if "\\u" in text else plain
    return [Tag(text, match) for match in re.finditer(pattern, text)]


def _private_spans(tags: list[Tag], length: int) -> list[Span]:
    """Regions by counting depth; a stray closing tag goes, what is around it stays."""
    spans: list[Span] = []
    depth = start = 0
    for tag in tags:
        if not depth and (tag.closes or tag.lone):
            spans.append((tag.start, tag.end))
        elif tag.closes:
            depth -= 1
            if not depth:
                spans.append((start, tag.end))
        elif not tag.lone:
            start = start if depth else tag.start
            depth += 1
    return [*spans, (start, length)] if depth else spans


def _block_spans(tags: list[Tag], *, strays: bool) -> list[Span]:
    """Whole blocks, each from its opening tag to the matching close.

    With `strays` a tag without its partner goes as well; the text beside it stays.
    """
    spans: list[Span] = []
    waiting: dict[str, list[Tag]] = {}
    for tag in tags:
        opened = waiting.setdefault(tag.name, [])
        if tag.lone or (tag.closes and not opened):
            spans += [(tag.start, tag.end)] if strays else []
        elif tag.closes:
            spans.append((opened.pop().start, tag.end))
        else:
            opened.append(tag)
    left = [(tag.start, tag.end) for opened in waiting.values() for tag in opened]
    return _merged([*spans, *left] if strays else spans)


def _merged(spans: list[Span]) -> list[Span]:
    """The same regions in order, without overlaps."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _without(text: str, spans: list[Span]) -> str:
    """Leave out the regions, but keep the joints in them: they count the strings."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], JOINT * text.count(JOINT, start, end))
        at = end
    return "".join([*parts, text[at:]])
