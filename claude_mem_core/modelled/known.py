"""What the events of a request name, so that what a reply makes up is found out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

PATH = re.compile(
    r"(?<![\w@:/.-])(?:~|\.{1,2}|[A-Za-z]:)?/?(?:[\w.@+-]+[/\\])+[\w.@+-]+|\b[\w-]+\.[A-Za-z]\w{0,7}\b"
)
URL = re.compile(r"\bhttps?://[^\s<>\"'`)\]]+")
TICKED = re.compile(r"`([^`\n]{1,200})`")
# snake_case, call(), lowerCamel, a.dotted.name, Type::member: nobody's everyday words.
SYMBOL = re.compile(
    r"\b[A-Za-z]\w*_\w+\b|\b[A-Za-z_]\w*(?=\(\))|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b"
    r"|\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b|\b\w+(?:::\w+)+"
)
WORD = re.compile(r"\w+")
NUMBERED = re.compile(r":\d+(?::\d+)?$")
# Written like a symbol or a file and known to everybody.
_COMMON = (
    "javascript typescript github gitlab postgresql mysql sqlite nodejs openai graphql nosql"
    " youtube linkedin iphone ios macos devops mongodb wordpress jetbrains stackoverflow"
    " powershell websocket websockets node.js next.js vue.js e.g i.e asp.net"
)
_EXTENSIONS = (
    "py pyi js jsx ts tsx mjs cjs json jsonl yaml yml toml ini cfg conf md rst txt csv tsv sql"
    " sh bash zsh ps1 bat go rs java kt kts scala c h cc cpp hpp cs fs rb php pl lua swift m r"
    " html htm css scss less vue svelte xml svg png jpg gif pdf log lock env proto tf gradle"
    " properties dockerfile mk db sqlite ex exs erl hs ml dart jl nix snap patch diff"
)
COMMON, EXTENSIONS = frozenset(_COMMON.split()), frozenset(_EXTENSIONS.split())


class Known:
    """Text that memories may name things from."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts).replace("\\", "/").casefold()
        self._words = frozenset(WORD.findall(self._text))

    def has_path(self, path: str) -> bool:
        """Whether the path, or the file with all its folders, occurs."""
        plain = NUMBERED.sub("", path.strip().replace("\\", "/")).casefold()
        bare = plain.removeprefix("./").rstrip("/")
        if not bare:
            return False
        if bare in self._text:
            return True
        name = PurePosixPath(bare).name
        folders = [part for part in bare.split("/")[:-1] if part not in ("", "~", ".", "..")]
        return name in self._text and all(part in self._text for part in folders)

    def has_symbol(self, symbol: str) -> bool:
        """Whether every word of a name occurs, in any case of letters."""
        parts = [part.casefold() for part in WORD.findall(symbol)]
        return all(part in self._words or self._inside(part) for part in parts)

    def _inside(self, part: str) -> bool:
        return len(part) > 2 and part in self._text

    def has(self, text: str) -> bool:
        """Whether `text` occurs, letter by letter but for the case."""
        return text.replace("\\", "/").casefold() in self._text

    def invented(self, text: str) -> list[str]:
        """Files, addresses and symbols that `text` names and that do not occur."""
        bare = URL.sub(" ", text)
        wrong = [url for url in URL.findall(text) if not self.has(url.rstrip(".,;:"))]
        wrong += [path for path in _paths(bare) if not self.has_path(path)]
        wrong += [name for name in _symbols(bare) if not self.has_symbol(name)]
        return list(dict.fromkeys(wrong))


def _paths(text: str) -> Iterator[str]:
    for found in PATH.findall(text):
        path = found.rstrip(".,;:")
        if path.casefold() in COMMON:
            continue
        extension = path.rpartition(".")[2].casefold()
        if extension in EXTENSIONS and not path.startswith("."):
            yield path


def _symbols(text: str) -> Iterator[str]:
    found = [*SYMBOL.findall(text)]
    found += [word for word in TICKED.findall(text) if " " not in word.strip()]
    yield from (name for name in found if name.casefold() not in COMMON)
