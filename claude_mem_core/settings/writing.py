"""Changing the settings file: one writer at a time, one key at a time, all or nothing."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import attrs

from claude_mem_core.errors import HostConfigError, SettingsError, StoreError
from claude_mem_core.files import (
    locked,
    read_private,
    secure_dir,
    sweep_temps,
    write_private,
)
from claude_mem_core.paths import Paths
from claude_mem_core.settings.reading import MAX_BYTES, Reading, read

NOTED_BYTES = 100_000
# A write takes milliseconds; many scripts at once may queue up for it.
WAIT_S = 30.0


def put(paths: Paths, changes: Mapping[str, str], noted: Collection[str] = ()) -> None:
    """Write these keys into the settings file; everything else in it stays as it is.

    Args:
        changes: text by full key.
        noted: those of them that are to be remembered as set through this product.

    Raises:
        SettingsError: the file can't be read as it stands; it is left alone.
        StoreError: it can't be written, or another process holds the lock.
    """
    secure_dir(paths.data)
    with locked(paths.data / "settings.lock", WAIT_S):
        _note(paths, noted)
        target = _target(paths.settings)
        sweep_temps(target)
        write_private(target, edited(paths.settings, read(paths.settings), changes))


def create(paths: Paths, values: Mapping[str, str]) -> bool:
    """Write a first settings file; one that is there stays. Says whether it was made."""
    secure_dir(paths.data)
    with locked(paths.data / "settings.lock", WAIT_S):
        if os.path.lexists(paths.settings):
            return False
        text = json.dumps(dict(values), indent=2, ensure_ascii=False) + "\n"
        write_private(paths.settings, text.encode())
    return True


@attrs.frozen
class Rescued:
    """What was whole in a broken file, and where that file lies now."""

    values: Mapping[str, object]
    aside: Path


def mend(paths: Paths) -> Rescued | None:
    """Write a broken file anew from its whole values; None when it can be read.

    The broken one stays beside it, under another name.

    Raises:
        SettingsError, StoreError: it can't be moved or written.
    """
    secure_dir(paths.data)
    with locked(paths.data / "settings.lock", WAIT_S):
        found = read(paths.settings)
        if not found.broken:
            return None
        target = _target(paths.settings)
        aside = target.with_name(f"{target.name}.{time.time_ns()}.broken")
        try:
            os.replace(target, aside)
        except OSError as error:
            raise StoreError(f"{target} can't be moved: {error.strerror}; see `mem doctor`") from error
        text = json.dumps(found.values, indent=2, ensure_ascii=False) + "\n"
        write_private(target, text.encode())
    return Rescued(found.values, aside)


def _target(path: Path) -> Path:
    """Where the file really lies: an own link is kept and written behind."""
    if not path.is_symlink():
        return path
    real = Path(os.path.realpath(path))
    if not real.is_file() or (hasattr(os, "getuid") and real.stat().st_uid != os.getuid()):
        raise SettingsError(
            f"{path} is a link to {real}, which is no file of yours; it was left as it is. "
            f"Look: ls -l {shlex.quote(str(path))}"
        )
    return real


def edited(path: Path, now: Reading, changes: Mapping[str, str]) -> bytes:
    """The file's bytes with these keys changed; order, indentation, comments stay.

    Raises:
        SettingsError: it can't be read, or is not written in a way that can be edited.
    """
    if now.broken:
        raise SettingsError(f"{now.broken}. The file was left as it is; mend it first")
    text = now.text if now.text and now.text.strip() else "{\n}\n"
    try:
        made = _changed(path, text, changes)
    except HostConfigError as error:
        raise SettingsError(str(error)) from None
    data = now.mark + made.encode(now.encoding)
    if len(data) > MAX_BYTES:
        raise SettingsError(f"{path} would become larger than {MAX_BYTES:,} bytes")
    return data


def _changed(path: Path, text: str, changes: Mapping[str, str]) -> str:
    # Not needed to read settings, which every start does.
    from claude_mem_core.editing import Json

    file = Json(text, str(path))
    old = [(file.root.get(key), value) for key, value in changes.items()]
    file.replace([(node, value) for node, value in old if node is not None])
    fresh = [(key, value) for key, value in changes.items() if file.root.get(key) is None]
    file.add((file.root, fresh))
    return file.text


# Keys that were set through this product ----------------------------------------------


def noted_file(paths: Paths) -> Path:
    """Lists the keys that were set here, beside a file that others may have written."""
    return paths.data / "settings.set"


def explicit_keys(paths: Paths) -> frozenset[str]:
    """Keys whose value is the user's own choice, whatever the value looks like."""
    with suppress(FileNotFoundError, StoreError, ValueError):
        known = json.loads(read_private(noted_file(paths), NOTED_BYTES))
        return frozenset(key for key in known if isinstance(key, str))
    return frozenset()


def _note(paths: Paths, keys: Collection[str]) -> None:
    known = explicit_keys(paths)
    if not set(keys) <= known:
        text = json.dumps(sorted(known | set(keys)))
        write_private(noted_file(paths), text.encode())
