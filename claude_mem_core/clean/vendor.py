"""Finds credentials by their shape and puts `<redacted type='NAME'/>` in their place.

Standard library only and free of package imports, because a copy lies beside the
installed hook. Each pattern is tried only on text that holds its literal beginning, and
each reads a stretch of text at most a fixed number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

# (start, end, name) of what has to go.
Hit = tuple[int, int, str]
Finder = Callable[[str], Iterable[Hit]]
# Name, literals of which one has to be there, finder.
Kind = tuple[str, tuple[str, ...], Finder]

JOINT = "\x1e"  # as in tags.py: between the strings of one list

# A field longer than this keeps its ends only; UTF-16 units, as in the reference.
OVERSIZE_UNITS = 1_000_000
KEPT_AT_ENDS = 30_000
_LONGEST_WORD = 4_000
_SHORTEST = 14  # characters of the shortest text that any pattern matches

# Between a name and its value: `=`, `:`, quotes, also escaped ones.
_IS = r"[\"'\\\]]{0,6}\s{0,8}(?:=>|[:=])\s{0,8}[\"'\\]{0,6}"


def marker(name: str) -> str:
    """What stands in the place of a credential of that kind."""
    return f"<redacted type='{name}'/>"


def _kind(name: str, literals: str, pattern: str, group: int = 0) -> Kind:
    """Hits of `pattern`; with `group` only that part of the match goes."""

    def find(text: str) -> Iterator[Hit]:
        # Compiled when first needed: the hook pays for what it uses.
        for match in re.finditer(pattern, text):
            if group or _begins_word(text, match.start()):
                yield match.start(group), match.end(group), name

    return name, tuple(literals.split(" ")), find


def _begins_word(text: str, at: int) -> bool:
    """Whether no letter or digit stands before; the letter of an escape (`\\n`) is none."""
    before = text[max(0, at - 6) : at]
    if not before[-1:].isalnum() or not before[-1:].isascii():
        return True
    return (before[-2:-1] == "\\" and before[-1] in "nrtbf") or before[:2] == "\\u"


_OPENAI = r"sk-(proj-|svcacct-|admin-|or-)?[A-Za-z0-9_.-]{19,}[A-Za-z0-9_]"


def _openai(text: str) -> Iterator[Hit]:
    """`sk-` and twenty or more; words joined by dashes are no key."""
    for match in re.finditer(_OPENAI, text):
        if not match[1] and not _begins_word(text, match.start()):
            continue
        parts = re.split(r"[-_.]", match[0])
        if len(max(parts, key=len)) >= 16 or any(map(_looks_random, parts)):
            yield match.start(), match.end(), "openai_key"


def _looks_random(part: str) -> bool:
    if len(part) < 6:
        return False
    kinds = [any(map(kind, part)) for kind in (str.isdigit, str.isupper, str.islower)]
    return sum(kinds) >= 2 and not part.istitle()


_PEM_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
_PEM_GAP = r"(?:\s|\\{1,8}[nrt]|[-+>|\d:,\"'])*+"
_PEM_BODY = rf"(?:{_PEM_GAP}(?:[A-Za-z-]{{3,20}}: [^\n\\]{{1,80}}|[A-Za-z0-9+/=]{{16,}}+))*+"
# The same, read backwards from an end line whose beginning was cut away.
_PEM_GAP_BACK = r"(?:\s|[nrt]\\{1,8}|[-+>|\d:,\"'])*+"
_PEM_BODY_BACK = (
    rf"(?:{_PEM_GAP_BACK}[A-Za-z0-9+/=]{{2,}}+)?+(?:{_PEM_GAP_BACK}[A-Za-z0-9+/=]{{16,}}+)*+"
)
_PEM_LONGEST = 70_000  # more than what is kept of either end of a large field


def _private_key(text: str) -> Iterator[Hit]:
    """A key block to its end line; without one, as far as it looks like a key."""
    find_begin, find_end = re.compile(_PEM_BEGIN).search, re.compile(_PEM_END).search
    at, end_line = 0, find_end(text)
    while begin := find_begin(text, at):
        if end_line and end_line.start() < begin.start():
            yield _headless(text, at, end_line)
            end_line = find_end(text, begin.end())
        body = re.compile(_PEM_BODY).match(text, begin.end())
        at = end_line.end() if end_line else body.end() if body else begin.end()
        yield begin.start(), at, "private_key_pem"
        end_line = end_line and find_end(text, at)
    if end_line:
        yield _headless(text, at, end_line)


def _headless(text: str, at: int, end_line: re.Match[str]) -> Hit:
    """The rest of a key whose beginning is missing."""
    before = text[max(at, end_line.start() - _PEM_LONGEST) : end_line.start()]
    body = re.match(_PEM_BODY_BACK, before[::-1])
    return end_line.start() - (body.end() if body else 0), end_line.end(), "private_key_pem"


_PASSWORD = (
    r"(?i:passw(?:or)?d|passphrase|[_-]pwd)" + _IS + r"(?P<value>"
    r"(?<=\")[^\"\\\n]{8,200}(?=\\*\")|(?<=')[^'\\\n]{8,200}(?=\\*')|[^\s\"'`\\;,(){}\[\]]{8,200}+(?![(\[{]))"
)
# Variables, placeholders, words of a type.
_NO_SECRET = (
    r"(?i)^[$<%{*#]|\s"
    r"|^(?:your|my|the|change|example|placeholder|redacted)[\W_]"
    r"|^(?:none|null|true|false|undefined|string|required|optional)\b"
)
_DOTTED = r"[\w-]+(?:\.[\w-]+)+\.?"
_IDENTIFIER = r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+"


def _password(text: str) -> Iterator[Hit]:
    """What is given to a name with `password` in it, when it looks like one."""
    for match in re.finditer(_PASSWORD, text):
        value, start = match["value"], match.start("value")
        quoted = text[start - 1] in "\"'"
        if looks_secret(value) and (quoted or not re.fullmatch(_IDENTIFIER, value)):
            yield start, match.end("value"), "password"


def looks_secret(value: str) -> bool:
    """Letters mixed with digits or signs; no variable, placeholder or dotted name."""
    if len(value) < 8 or len(set(value)) < 5:
        return False
    if re.search(_NO_SECRET, value) or re.fullmatch(_DOTTED, value):
        return False
    return bool(re.search(r"[A-Za-z]", value) and re.search(r"\d|[^\w\s.,:;/()-]", value))


_URL_PASSWORD = r"://[^\s/:@\"'<>]{0,128}:([^\s/@\"'<>]{1,256}+)@"
_EXAMPLE_WORDS = frozenset(
    {"password", "passwd", "pass", "pwd", "secret", "pw", "user", "username", "token", "xxx"}
)


def _url_password(text: str) -> Iterator[Hit]:
    for match in re.finditer(_URL_PASSWORD, text):
        value = match[1]
        if value.lower() not in _EXAMPLE_WORDS and value[0] not in "$<{*%[":
            yield match.start(1), match.end(1), "url_password"


_AUTH = r"(?i:authorization)" + _IS + r"(?i:(basic)|bearer) {1,4}([A-Za-z0-9+/_.~-]{8,}+={0,2})"


def _auth_header(text: str) -> Iterator[Hit]:
    for match in re.finditer(_AUTH, text):
        if match[1] or looks_secret(match[2]):
            yield match.start(2), match.end(2), "auth_header"


_RUN = r"[A-Za-z0-9_-]"

# More vendors whose keys say by their first letters whose they are.
_OTHER = (
    r"(?:(?:glpat-|gsk_|lin_api_)[A-Za-z0-9_-]{20,}+|(?:hf_|shpat_|dop_v1_)[A-Za-z0-9]{30,}+"
    r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+|pypi-AgE[A-Za-z0-9_-]{20,}+"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{30,}+)"
)
_JWT = (
    r"(?<![A-Za-z0-9_-])(?:(?!eyJ)[A-Za-z0-9_-])*+"
    r"(eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{2,}+\.[A-Za-z0-9_-]{8,}+)"
)
_GITHUB = r"(?:gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{20,}+)"
_AWS_SECRET = r"(?i:secret_?access_?key)" + _IS + r"([A-Za-z0-9/+]{40,64}+={0,2})"

# The eleven documented kinds first, then ours. Literals of the kinds in `_ANY_CASE` are
# looked for in any case.
VENDOR: tuple[Kind, ...] = (
    ("private_key_pem", ("-----BEGIN ", "-----END "), _private_key),
    _kind("aws_access_key", "AKIA ASIA", r"A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _kind("aws_secret_key", "secret_access_key secretaccesskey", _AWS_SECRET, 1),
    _kind("github_pat", "ghp_ ghs_ gho_ ghu_ ghr_ github_pat_", _GITHUB),
    _kind("anthropic_key", "sk-ant-", r"(sk-ant-[A-Za-z0-9_-]{20,}+)", 1),
    ("openai_key", ("sk-",), _openai),
    _kind("slack_token", "xox", r"xox[bpars]-[A-Za-z0-9-]{10,}+"),
    _kind("jwt", "eyJ", _JWT, 1),
    _kind("stripe_key", "_live_ _test_", r"[spr]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _kind("google_api_key", "AIza", r"AIza[0-9A-Za-z_-]{35,40}+"),
    _kind("claude_mem_key", "cmem_ cm_pro_", r"cm(?:em|_pro)_[A-Za-z0-9_-]{16,}+"),
    _kind("npm_token", "npm_", r"npm_[A-Za-z0-9]{36,}+"),
    _kind(
        "vendor_token",
        "glpat- hf_ SG. pypi-AgE dop_v1_ shpat_ gsk_ lin_api_ AGE-SECRET-KEY-1",
        _OTHER,
    ),
    ("auth_header", ("basic ", "bearer "), _auth_header),
    ("url_password", ("://",), _url_password),
    ("password", ("password", "passwd", "passphrase", "_pwd", "-pwd"), _password),
)
_ANY_CASE = frozenset({"aws_secret_key", "auth_header", "password"})

# Opt-in (CAP-085): a name that says it holds a secret, whatever the value looks like.
_VALUE = r"([A-Za-z0-9_./+=~!@#%^&*-]{8,200}+)"
_PASSWORD_NAME = r"(?i:passw(?:or)?d|(?<![A-Za-z])(?!oldpwd)[a-z0-9_]{1,40}_pwd)"
_TOKEN_NAME = r"(?i:token|secret|api_?key)"
_BEARER = r"(?i:bearer) {1,4}([A-Za-z0-9_.~+/-]{8,}+={0,2})"
GENERIC: tuple[Kind, ...] = (
    _kind("generic_password", "passw _pwd", _PASSWORD_NAME + _IS + _VALUE, 1),
    _kind("generic_token", "token secret api_key apikey", _TOKEN_NAME + _IS + _VALUE, 1),
    _kind("bearer_token", "bearer", _BEARER, 1),
)


def redact(text: str, disabled: frozenset[str] = frozenset(), *, generic: bool = False) -> str:
    """Return `text` with a marker in the place of each credential.

    Args:
        disabled: names of built-in patterns that stay unused.
        generic: also what is only named like a secret (CAP-085).
    """
    if len(text) < _SHORTEST:
        return text
    text = shortened(text)
    lower = text.lower()
    for name, literals, find in VENDOR:
        place = lower if name in _ANY_CASE else text
        if _holds(place, literals) and name not in disabled:
            text = _replaced(text, find(text))
    return _generic(text, lower, disabled) if generic else text


def _holds(text: str, literals: tuple[str, ...]) -> bool:
    """Whether one of them is there; a plain loop is what makes clean text cheap."""
    for literal in literals:  # noqa: SIM110
        if literal in text:
            return True
    return False


def _generic(text: str, lower: str, disabled: frozenset[str]) -> str:
    for name, literals, find in GENERIC:
        if _holds(lower, literals) and name not in disabled:
            text = _replaced(text, filter(_generic_hit(text), find(text)))
    return text


def _generic_hit(text: str) -> Callable[[Hit], bool]:
    """Whether a value named like a secret has a letter and is no placeholder."""

    def is_secret(hit: Hit) -> bool:
        value = text[hit[0] : hit[1]]
        dotted = hit[2] != "bearer_token" and re.fullmatch(_DOTTED, value)
        named = re.search(r"[A-Za-z]", value) and not re.search(_NO_SECRET, value)
        return bool(named and not dotted)

    return is_secret


def _replaced(text: str, hits: Iterable[Hit]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, name in hits:
        if start >= at:
            joints = JOINT * text.count(JOINT, start, end)
            parts += (text[at:start], marker(name), joints)
            at = end
    return "".join([*parts, text[at:]]) if parts else text


def shortened(text: str) -> str:
    """Of a field over a million UTF-16 units only the ends; between them what is missing.

    The ends are what a journal field can hold; the middle is given up unread.
    """
    if len(text) <= OVERSIZE_UNITS // 2 or _units(text) <= OVERSIZE_UNITS:
        return text
    start = _gap(text, KEPT_AT_ENDS - _LONGEST_WORD, KEPT_AT_ENDS, last=True)
    end = _gap(text, len(text) - KEPT_AT_ENDS, len(text) - KEPT_AT_ENDS + _LONGEST_WORD)
    joints = JOINT * text.count(JOINT, start, end)
    note = f"[{end - start} characters left out]"
    return text[:start] + marker("oversize") + note + joints + text[end:]


def _gap(text: str, low: int, high: int, *, last: bool = False) -> int:
    """A place between two words, so that no key is cut in two; else `high` or `low`."""
    gaps = [match.start() for match in re.finditer(r"\s|\\n", text[low:high])]
    if not gaps:
        return high if last else low
    return low + (gaps[-1] if last else gaps[0])


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
