"""Settings in force, and how one of them came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from claude_mem_core.types import Setting


@attrs.frozen(eq=False)
class Settings(Mapping[str, Any]):
    """Typed values by full key; they do not change once read.

    Attributes:
        warnings: one sentence for each problem of the file or the environment.
        broken: why the file can't be read, None when it can.
        explicit: keys that the user set through this product.
        unknown: keys of the file that nothing here declares; they are kept.
    """

    _values: Mapping[str, Any]
    _origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    broken: str | None = None
    explicit: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def origin(self, key: str) -> str:
        """Where a value comes from: `environment`, `file` or `default`."""
        return self._origins.get(key, "default")


@attrs.frozen
class Explanation:
    """How one setting came to its value; secrets are masked.

    Attributes:
        candidates: (where, what stands there), the winner first.
        notes: warnings that concern it.
    """

    setting: Setting
    value: str
    origin: str
    candidates: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
