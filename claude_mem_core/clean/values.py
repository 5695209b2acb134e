"""Cleans JSON values: every string in them, names of members included.

Strings that lie at one place but for list positions (the lines of a patch, the parts of
a prompt) are cleaned as one text, so that what begins in one and ends in another is
found. Standard library only: a copy lies beside the installed hook.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the name is what type checkers look for; `typing` costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Clean = Callable[[str], str]
    Slot = tuple[Any, Any]  # where a string stands in its new container

JOINT = "\x1e"  # as in tags.py and vendor.py

_PLAIN_NAME = 18  # an identifier up to this long can hold neither a tag nor a key
# Names that may tell that the string they name is a credential.
_TELLING = ("passw", "passphrase", "pwd", "secret", "token", "api", "key", "authorization")
_SHORTEST = 8
_LARGE = 400_000  # characters; a longer text might be taken for one oversized field


def cleaned(value: Any, clean: Clean, *, whole: bool = False) -> Any:
    """A copy of `value` with every string run through `clean`.

    Args:
        whole: `clean` finds in a joined text whatever it finds in its parts; then a
            value with nothing to clean is recognised at once and returned itself.

    Raises:
        RecursionError: the value is nested too deeply.
    """
    if whole and is_clean(value, clean):
        return value
    fields: dict[str, list[Slot]] = {}
    top = [value]
    _Copy(clean, fields).into(top, 0, value, "")
    for slots in fields.values():
        _clean_field(slots, clean)
    return top[0]


def is_clean(value: Any, clean: Clean) -> bool:
    """Whether a `clean` that takes joined texts finds nothing; large values aren't tried.

    Raises:
        RecursionError: the value is nested too deeply.
    """
    texts: list[str] = []
    _gather(value, "", texts)
    joined = JOINT.join(texts)
    return len(joined) <= _LARGE and clean(joined) == joined


def _gather(value: Any, name: str, texts: list[str]) -> None:
    """All strings and names; a telling name together with what it names."""
    if isinstance(value, str):
        texts.append(f'{name}="{value}"' if name and _tells(name) else value)
    elif isinstance(value, dict):
        for key, part in value.items():
            texts.append(str(key))
            _gather(part, _name_of(str(key), value), texts)
    elif isinstance(value, list | tuple):
        for part in value:
            _gather(part, "", texts)


def _tells(name: str) -> bool:
    lower = name.lower()
    for word in _TELLING:  # noqa: SIM110 - a plain loop is what makes it cheap
        if word in lower:
            return True
    return False


def _name_of(name: str, around: dict[str, Any]) -> str:
    """What a member is called; in a pair of name and value, the name."""
    if name != "value":
        return name
    pair = around.get("name", around.get("key", name))
    return pair if isinstance(pair, str) else name


class _Copy:
    """Copies a value with cleaned names, and notes where its strings lie."""

    def __init__(self, clean: Clean, fields: dict[str, list[Slot]]) -> None:
        self._clean = clean
        self._fields = fields

    def into(self, holder: Any, at: Any, value: Any, path: str) -> None:
        holder[at] = value
        if isinstance(value, str):
            self._fields.setdefault(path, []).append((holder, at))
        elif isinstance(value, dict):
            made: dict[str, Any] = {}
            holder[at] = made
            for name, part in value.items():
                part = self._judged(_name_of(str(name), value), part)
                self.into(made, self._name(str(name), made), part, f"{path}\0{name}")
        elif isinstance(value, list | tuple):
            items = list(value)
            holder[at] = items
            for index, part in enumerate(value):
                self.into(items, index, part, path + "\0")

    def _name(self, name: str, taken: dict[str, Any]) -> str:
        """The cleaned name; numbered when cleaning made two names equal."""
        if len(name) <= _PLAIN_NAME and name.isidentifier():
            return name
        made = base = self._clean(name)
        while made in taken:
            made = f"{base} {len(taken)}"
            base = made
        return made

    def _judged(self, name: str, value: Any) -> Any:
        """`value`, or the marker that stands for it when its name gives it away."""
        if not isinstance(value, str) or len(value) < _SHORTEST or not _tells(name):
            return value
        head, tail = f'{name}="', '"'
        made = self._clean(head + value + tail)
        whole = made != head + value + tail and made.startswith(head) and made.endswith(tail)
        return made[len(head) : -len(tail)] if whole else value


def _clean_field(slots: list[Slot], clean: Clean) -> None:
    texts = [holder[at] for holder, at in slots]
    made = [clean(texts[0])] if len(texts) == 1 else _clean_together(texts, clean)
    for (holder, at), text in zip(slots, made, strict=True):
        holder[at] = text


def _clean_together(texts: list[str], clean: Clean) -> list[str]:
    """Clean the strings as one text and part it again at the joints."""
    joined = JOINT.join(text.replace(JOINT, " ") for text in texts)
    made = clean(joined).split(JOINT)
    if len(made) > len(texts):  # a filter that adds joints can't be followed
        made = [" ".join(made)]
    return made + [""] * (len(texts) - len(made))
