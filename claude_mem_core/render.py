"""How stored text leaves us: one function each for prompts, terminals and logs.

The store keeps what was said. Here it is made harmless for the place it goes to: text
in a prompt stays data inside one fence that it can't close, text on a terminal can't
drive it, text in a log stays one line.
"""

from __future__ import annotations

import re
import unicodedata
from re import Match

FENCE_TAG = "claude-mem-context"

# Controls, fillers, direction marks, tag letters, private use, noncharacters: nothing
# that a reader sees. Tab and newline are dealt with by each function.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff"
    "\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(chr(p + 0xFFFE) + chr(p + 0xFFFF) for p in range(0x10000, 0xF0000, 0x10000))
)
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
# Meaningful in some places only: joiners and variation selectors.
_JOINERS = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
# More stacked marks than any script uses hide text or spill over other lines.
_STACKED = re.compile(
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
# Scripts whose spelling needs joiners: Arabic to Thaana, the Indic ones, Khmer, Mongolian.
_JOINING = re.compile(
    "[\u0600-\u07bf\u0860-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdcf\ufe70-\ufefc]"
)
_KEYS = frozenset("0123456789#*")
_EMOJI_ODDITIES = frozenset("\u203c\u2049\u2139\u2194\u21a9\u21aa\u25fb\u25fc\u25fd\u25fe")

# Possessive, so that hostile text can't make them slow.
_TAG_NAMES = (
    r"claude-mem[\w-]*+|mem-context|private|system[\w-]*+|persisted-output|task-notification"
    r"|hook_context|observation|function_calls|invoke|parameter|tool_result"
)
# Colours and other orders to a terminal: the whole sequence goes, not only its ESC.
_ANSI = re.compile("\x1b\\[[0-?]*+[ -/]*+[@-~]|\x1b\\][^\x07\x1b]*+(?:\x07|\x1b\\\\)?")
_TAGS = re.compile(rf"</?\s*+(?:{_TAG_NAMES})\b[^<>]*+>", re.IGNORECASE)
_INST = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_LIVE = str.maketrans(
    {
        "<": "\u2039",
        ">": "\u203a",
        "`": "'",
        "\uff1c": "\u2039",
        "\uff1e": "\u203a",
        "\ufe64": "\u2039",
        "\ufe65": "\u203a",
    }
)
_LIVE_CHARS = re.compile("[<>`\uff1c\uff1e\ufe64\ufe65]")
_PLAIN = re.compile(r"[ -;=?-Z\\-_a-~]*")
_ELLIPSIS = "\u2026"


def for_prompt(text: str, limit: int = 0) -> str:
    """Stored text as one harmless line for a prompt.

    Newlines become spaces, invisible characters go, markup loses its brackets, our own
    and the hosts' tags vanish. With `limit`, at most that many characters.
    """
    if limit:
        text = text[: 8 * limit]
    if not (_PLAIN.fullmatch(text) and FENCE_TAG not in text):
        text = _defused(text)
    line = " ".join(text.split())
    return shortened(line, limit) if limit else line


def _defused(text: str) -> str:
    text = _TAGS.sub(" ", visible_only(text))
    text = text.replace(FENCE_TAG, FENCE_TAG.replace("-context", " context"))
    return _dead(_INST.sub(r"(\1)", text))


def _dead(text: str) -> str:
    """`text` with look-alikes for what could be markup."""
    return text.translate(_LIVE) if _LIVE_CHARS.search(text) else text


def shortened(line: str, limit: int) -> str:
    """`line` in at most `limit` characters, with an ellipsis where it was cut."""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + _ELLIPSIS


def visible_only(text: str) -> str:
    """`text` without invisible characters; newlines and tabs stay.

    Line and paragraph separators and other breaks become spaces, so that words stay
    apart. Joiners stay between letters that need them, selectors after an emoji.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI.sub("", text) if "\x1b" in text else text
    text = re.sub("[\x0b-\x0d\x1c-\x1f\x85\u2028\u2029]", " ", text)
    text = _STACKED.sub(r"\1", _HIDDEN.sub("", text))
    return _JOINERS.sub(_joiner, text)


def _joiner(match: Match[str]) -> str:
    """The joiner or selector itself where it has a meaning, else nothing."""
    text, at, char = match.string, match.start(), match.group()
    before = text[at - 1] if at else ""
    after = text[at + 1] if at + 1 < len(text) else ""
    if char in "\ufe0e\ufe0f":
        keycap = before in _KEYS and after == "\u20e3"
        return char if keycap or _is_emoji(before) else ""
    if char == "\u200d" and _is_emoji(after) and (_is_emoji(before) or before == "\ufe0f"):
        return char
    needed = char in "\u200c\u200d" and _JOINING.match(before) and _JOINING.match(after)
    return char if needed else ""


def _is_emoji(char: str) -> bool:
    if not char:
        return False
    skin_tone = "\U0001f3fb" <= char <= "\U0001f3ff"
    return skin_tone or char in _EMOJI_ODDITIES or unicodedata.category(char) == "So"


def fence(text: str, fence_id: str) -> str:
    """Put rendered text into the one frame that the text itself can't close.

    The frame carries the id of this installation, so that at capture our own block is
    known from a forged one. Deterministic: the same text and id give the same bytes.
    """
    inner = text.replace(fence_id, "") if fence_id else text
    inner = _dead(inner.replace(FENCE_TAG, "")).strip("\n")
    return f'<{FENCE_TAG} id="{fence_id}">\n{inner}\n</{FENCE_TAG}>'


def for_json(text: str) -> str:
    """JSON that is as harmless in a prompt as `for_prompt`, and still says the same.

    What could be markup, or can't be seen, becomes an escape of JSON.
    """
    return _JOINERS.sub(_unit, _LIVE_CHARS.sub(_unit, _HIDDEN.sub(_unit, text)))


def _unit(match: Match[str]) -> str:
    raw = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{raw[i]:02x}{raw[i + 1]:02x}" for i in range(0, len(raw), 2))


def for_terminal(text: str) -> str:
    """`text` with everything that could drive a terminal as a visible escape.

    Newlines and tabs stay. What is written over, hidden or reordered elsewhere
    (carriage return, ESC, C1, direction marks, tag letters) shows as `\\x1b` or `\\u202e`.
    """
    if text.isascii() and text.isprintable():
        return text
    return _JOINERS.sub(_joiner_seen, _STACKED.sub(r"\1", _HIDDEN.sub(_escape, text)))


def _joiner_seen(match: Match[str]) -> str:
    return _joiner(match) or _escape(match)


def _escape(match: Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def for_log(text: str) -> str:
    """`text` as one line of printable ASCII; the rest as escapes."""
    if text.isascii() and text.isprintable():
        return text
    ascii_text = text.encode("ascii", "backslashreplace").decode("ascii")
    return re.sub("[\x00-\x1f\x7f]", _escape, ascii_text)
