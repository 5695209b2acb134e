"""Finding a mode by its id: the user's own, the bundled ones, and what inherits from them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from claude_mem_core.errors import InvalidInput, NotFound, SettingsError
from claude_mem_core.modes.profile import ID, Mode, read

log = logging.getLogger(__name__)

DEFAULT = "code"
JOIN = "--"
BYTES = 200_000
DEPTH = 4
LISTS = ("observation_types", "observation_concepts")


class Modes:
    """The modes of one installation.

    Args:
        own: folder of the user's modes, `<data>/modes`.
        override: CLAUDE_MEM_MODES_DIR: may hold any id, also that of a bundled one.
    """

    def __init__(self, own: Path, override: Path | None = None) -> None:
        self._own = own
        self._override = override
        self._told: set[str] = set()

    def mode(self, mode_id: str) -> Mode:
        """A mode, merged with what it inherits from and checked.

        Raises:
            NotFound: there is no such mode.
            SettingsError: its file is wrong; the text names file and keys.
        """
        raw, where = self._merged(mode_id, 0)
        mode, faults = read(mode_id, raw)
        if mode is None:
            raise SettingsError(f"{where}: {'; '.join(faults)}")
        return mode

    def in_force(self, mode_id: str) -> Mode:
        """The mode to work with: `code` when the chosen one can't be had, told once."""
        try:
            return self.mode(mode_id or DEFAULT)
        except (NotFound, SettingsError) as error:
            if str(error) not in self._told:
                self._told.add(str(error))
                log.warning("mode %s can't be used, %s is: %s", mode_id, DEFAULT, error)
            return self.bundled(DEFAULT)

    def bundled(self, mode_id: str) -> Mode:
        """A mode of ours, whatever lies in the user's folders."""
        return Modes(Path("/nonexistent")).mode(mode_id)

    def ids(self) -> list[str]:
        """Every id there is a file for."""
        found = self.bundled_ids()
        for folder in (self._own, self._override):
            if folder is not None and folder.is_dir():
                found |= {path.stem for path in folder.glob("*.json")}
        return sorted(one for one in found if is_id(one))

    def bundled_ids(self) -> set[str]:
        """Ids of the modes that come with the product."""
        return {path.name.removesuffix(".json") for path in _files(_data())}

    def shadowed(self) -> list[str]:
        """Ids of the user's own files that a bundled mode hides."""
        ours = {path.name.removesuffix(".json") for path in _files(_data())}
        theirs = (
            {path.stem for path in self._own.glob("*.json")} if self._own.is_dir() else set()
        )
        return sorted(ours & theirs)

    def _merged(self, mode_id: str, depth: int) -> tuple[dict[str, Any], str]:
        if not is_id(mode_id) or depth > DEPTH:
            raise NotFound(f"no mode is called {mode_id!r}; see: mem mode list")
        own, where = self._file(mode_id)
        parent, _, _ = mode_id.rpartition(JOIN)
        if not parent:
            return own, where
        base, _ = self._merged(parent, depth + 1)
        return merged(base, own), where

    def _file(self, mode_id: str) -> tuple[dict[str, Any], str]:
        if (
            self._override is not None
            and (path := self._override / f"{mode_id}.json").is_file()
        ):
            return parsed(path.read_bytes(), str(path)), str(path)
        bundled = _data() / f"{mode_id}.json"
        if bundled.is_file():
            return parsed(bundled.read_bytes(), str(bundled)), str(bundled)
        path = self._own / f"{mode_id}.json"
        if path.is_file():
            return parsed(path.read_bytes(), str(path)), str(path)
        raise NotFound(f"no mode is called {mode_id!r}; see: mem mode list")


def is_id(mode_id: str) -> bool:
    """Whether a mode may be called so: names joined by two hyphens."""
    parts = mode_id.split(JOIN)
    return len(mode_id) <= 100 and all(ID.fullmatch(part) for part in parts)


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What a mode says laid over what it inherits; items of lists by their ids."""
    out = dict(base)
    for key, value in own.items():
        if key in LISTS and isinstance(value, list) and isinstance(base.get(key), list):
            out[key] = _items(base[key], value)
        elif isinstance(value, Mapping) and isinstance(base.get(key), Mapping):
            out[key] = {**base[key], **value}
        else:
            out[key] = value
    return out


def _items(base: list[Any], own: list[Any]) -> list[Any]:
    changed = {item.get("id"): item for item in own if isinstance(item, Mapping)}
    kept = [{**item, **changed.pop(item["id"], {})} for item in base]
    return [*kept, *changed.values()]


def parsed(data: bytes, where: str) -> dict[str, Any]:
    """A mode's JSON object.

    Raises:
        SettingsError: it is none; the text names `where`.
    """
    if len(data) > BYTES:
        raise SettingsError(f"{where}: larger than {BYTES:,} bytes")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise SettingsError(f"{where}: this is no JSON") from None
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: must hold one JSON object")
    return value


def _data() -> Traversable:
    return resources.files(__package__) / "data"


def _files(folder: Traversable) -> Iterator[Traversable]:
    return (path for path in folder.iterdir() if path.name.endswith(".json"))


def checked(raw: Mapping[str, Any], mode_id: str, modes: Modes) -> Mode:
    """A mode that somebody wants to keep under this id.

    Raises:
        InvalidInput: it is wrong; the text names the keys.
    """
    parent, _, _ = mode_id.rpartition(JOIN)
    base, _ = modes._merged(parent, 0) if parent else ({}, "")
    mode, faults = read(mode_id, merged(base, raw))
    if mode is None:
        raise InvalidInput("; ".join(faults))
    return mode
