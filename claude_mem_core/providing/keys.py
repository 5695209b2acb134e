"""The keys of a provider: where they lie, which come first, which may go where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

from claude_mem_core import secrets
from claude_mem_core.paths import Paths
from claude_mem_core.providing.origins import is_gateway, may_go
from claude_mem_core.settings.model import Settings
from claude_mem_core.types import Provider

PREFIX = "CLAUDE_MEM_"
SEPARATORS = re.compile(r"[\s,]+")


@attrs.frozen
class Credential:
    """What one request goes with.

    Attributes:
        values: by name of the setting; empty texts where there is none.
        where: `keyring`, `environment`, `settings` or `.env`; empty without a key.
        position, of: its place in the pool, from 1.
    """

    values: Mapping[str, str] = attrs.field(repr=False)
    where: str = ""
    position: int = 1
    of: int = 1

    @property
    def key(self) -> str:
        """All of its secrets in one text, for a fingerprint; empty without any."""
        return "\n".join(value for value in self.values.values() if value)


@attrs.frozen
class Found:
    """One secret and where it lay."""

    value: str = attrs.field(repr=False)
    where: str


def credentials(
    paths: Paths, settings: Settings, record: Provider, address: str
) -> tuple[Credential, ...]:
    """The credentials of a provider, the first to be used first; at least one, maybe empty.

    Order: the keyring, the worker's own environment, the settings file, `.env`. Keys that
    may not go to `address` are left out. A pool is the key and the list beside it
    (`..._API_KEYS`); cmem.ai's gateway has none.

    Raises:
        StoreError: a file with secrets is not ours alone.
    """
    places = _Places(paths, settings)
    names = [n for n in record.keys if n[:-1] not in record.keys or not n.endswith("S")]
    fixed = {name: _first(places.all(name), address) for name in names}
    base = {name: found.value if found else "" for name, found in fixed.items()}
    if not names:
        return (Credential({}),)
    lead = names[0]
    pool = list(_pool(places, lead, address)) if _pools(record, address) else []
    if not pool:
        where = next((found.where for found in fixed.values() if found), "")
        return (Credential(base, where),)
    return tuple(
        Credential({**base, lead: found.value}, found.where, number, len(pool))
        for number, found in enumerate(pool, 1)
    )


def _pools(record: Provider, address: str) -> bool:
    return record.pool and not is_gateway(address)


def _first(found: Iterator[Found], address: str) -> Found | None:
    return next((each for each in found if may_go(each.value, address)), None)


def _pool(places: _Places, name: str, address: str) -> Iterator[Found]:
    single = next(places.all(name), None)
    listed = next(places.all(name + "S"), None)
    seen = set()
    for found in (single, listed):
        for value in SEPARATORS.split(found.value) if found else ():
            if value and value not in seen and may_go(value, address):
                seen.add(value)
                yield Found(value, found.where if found else "")


class _Places:
    """Where secrets may lie; the file is read once."""

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self._settings = settings
        self._file = secrets.from_file(paths)

    def all(self, name: str) -> Iterator[Found]:
        """Every secret of this name, the one that counts first."""
        ring = secrets.from_keyring(name)
        if ring:
            yield Found(ring, "keyring")
        set_to, origin = str(self._settings.get(name) or ""), self._settings.origin(name)
        if set_to and origin == "environment" and name.startswith(PREFIX):
            yield Found(set_to, "environment")
        if set_to and origin == "file":
            yield Found(set_to, "settings")
        for spelled in dict.fromkeys((name, name.removeprefix(PREFIX))):
            if self._file.get(spelled):
                yield Found(self._file[spelled], ".env")
