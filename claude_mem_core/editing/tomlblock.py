"""One marked block at the end of a TOML file; the rest is never written anew."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from claude_mem_core.editing.text import BOM, newline_of, refused
from claude_mem_core.errors import HostConfigError

OPEN = "# >>> claude-mem >>> written by `mem install`; `mem uninstall` takes it out"
CLOSE = "# <<< claude-mem <<<"


def parsed(text: str, name: str) -> dict[str, Any]:
    """The file's values.

    Raises:
        HostConfigError: it is no TOML; the text names file, line and column.
    """
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        import re

        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, 1)
        raise HostConfigError(
            f"{name}, line {line}, column {column}: {str(error).split(' (at ')[0]}."
            " The file was left as it is; mend it, then run the command again"
        ) from None


@attrs.frozen
class TomlBlock:
    """Our block in one file.

    Attributes:
        key: name of the array of tables that the block adds to.
        mine: whether a table of that array is one of ours, for copies that another
            program wrote anew without the marks.
    """

    key: str
    mine: Callable[[Mapping[str, Any]], bool]

    def put(self, text: str, body: str, name: str) -> str:
        """The text with `body` as our block: in the place of an older one, else at the end.

        Raises:
            HostConfigError: the file is no TOML, or holds `key` in another form.
        """
        parsed(text, name)
        bare = self.take(text, name) if not self._whole(text) else text
        block = self._block(body, bare)
        made = self._swapped(bare, block) if self._whole(bare) else self._ended(bare) + block
        self._check(made, name)
        return made

    def take(self, text: str, name: str) -> str:
        """The text without our block, and without unmarked tables of ours.

        Raises:
            HostConfigError: the file is no TOML.
        """
        parsed(text, name)
        bare = self._swapped(text, "") if self._whole(text) else text
        left = parsed(bare, name).get(self.key)
        if isinstance(left, list) and any(self._ours(table) for table in left):
            bare = self._without(bare, name)
        return bare

    def body(self, text: str) -> str | None:
        """What our block holds, with plain line ends; None when there is no block."""
        if not self._whole(text):
            return None
        start = text.find(OPEN) + len(OPEN)
        return text[start : text.find(CLOSE, start)].replace("\r\n", "\n").strip()

    def _ours(self, table: object) -> bool:
        return isinstance(table, Mapping) and self.mine(table)

    def _whole(self, text: str) -> bool:
        start = text.find(OPEN)
        return start >= 0 and text.find(CLOSE, start) > start

    def _block(self, body: str, text: str) -> str:
        whole = f"{OPEN}\n{body.strip()}\n{CLOSE}\n"
        return whole.replace("\n", newline_of(text))

    def _ended(self, text: str) -> str:
        """The text, with the one line end that `_swapped` takes away again."""
        return text + newline_of(text) if text.strip(BOM) else text

    def _swapped(self, text: str, block: str) -> str:
        """The text with `block` for ours; with none, its line end goes as well."""
        start = text.find(OPEN)
        end = text.find(CLOSE, start) + len(CLOSE)
        after = text[end:]
        line = "\r\n" if after.startswith("\r\n") else "\n" if after.startswith("\n") else ""
        before = text[:start]
        if not block:
            line_end = "\r\n" if before.endswith("\r\n") else "\n"
            before = before.removesuffix(line_end)
        return before + block + after[len(line) :]

    def _without(self, text: str, name: str) -> str:
        """Take out our tables where the marks are gone; tomlkit keeps the rest."""
        import tomlkit

        mark = BOM if text.startswith(BOM) else ""
        before = parsed(text, name)
        document = tomlkit.parse(text.removeprefix(BOM))
        tables = document[self.key]
        for place in reversed(range(len(before[self.key]))):
            if self._ours(before[self.key][place]):
                del tables[place]
        if not len(tables):
            del document[self.key]
        made = mark + tomlkit.dumps(document)
        self._same(before, parsed(made, name), name)
        return made

    def _same(self, before: dict[str, Any], after: dict[str, Any], name: str) -> None:
        """Nothing but our tables may be gone."""
        kept = [table for table in before[self.key] if not self._ours(table)]
        if {**before, self.key: kept} != {**after, self.key: after.get(self.key, [])}:
            raise HostConfigError(
                f"{name}: our tables in [[{self.key}]] can't be taken out without touching"
                " others; delete them by hand"
            )

    def _check(self, made: str, name: str) -> None:
        try:
            parsed(made, name)
        except HostConfigError:
            at = made.find(self.key)
            raise refused(
                name, made, max(at, 0), f"`{self.key}` is not written as [[{self.key}]] tables"
            ) from None
