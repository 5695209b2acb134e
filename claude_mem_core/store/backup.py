"""The whole store in one file, and back: a ZIP with the database and what it says of itself."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.files.workfolder import work_folder
from claude_mem_core.store import connect, fetch, identity, migrations, snapshot
from claude_mem_core.store.faults import fault

FORMAT = "claude-mem-backup/1"
MANIFEST, DATABASE, SETTINGS = "manifest.json", "memory.db", "settings.json"
BLOCK = 1 << 20
LARGEST_MANIFEST = 1 << 16
LARGEST_SETTINGS = 1 << 20
COUNTED = ("observations", "session_summaries", "user_prompts", "sdk_sessions", "events")


@attrs.frozen(kw_only=True)
class Backup:
    """What a backup says of itself.

    Attributes:
        made_ms: when it was made.
        version: of the database's tables.
        sha256: of the database.
        rows: rows of each table that people ask for.
        settings: the settings of that time, without any secret; None for none.
    """

    made_ms: int
    version: int
    sha256: str
    rows: Mapping[str, int]
    settings: str | None = None


def make(path: Path, settings: str | None, at_ms: int, file: IO[bytes]) -> Backup:
    """Write a backup of the database at `path` to `file`; the worker may go on meanwhile.

    Raises:
        NotFound, StoreForeign, StoreError: it can't be copied; the text says why.
    """
    copy = snapshot.take(path, keep=1 << 30)
    try:
        made = _described(copy, settings, at_ms)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(MANIFEST, _manifest(made))
            packed.write(copy, DATABASE)
            if settings is not None:
                packed.writestr(SETTINGS, settings)
    finally:
        copy.unlink(missing_ok=True)
    return made


def wrap(copy: Path, at_ms: int, file: IO[bytes]) -> Backup:
    """Write a backup made of a copy of a database, such as one of `snapshots/`.

    Raises:
        StoreForeign, StoreError: it is not ours, or can't be read.
    """
    identity.check(copy, migrations.VERSION)
    try:
        made = _described(copy, None, at_ms)
    except apsw.Error as error:
        raise fault(error, copy) from error
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr(MANIFEST, _manifest(made))
        packed.write(copy, DATABASE)
    return made


def look_into(file: IO[bytes]) -> Backup:
    """What a backup holds, from its first lines; the database is not read.

    Raises:
        InvalidInput: it is no backup, or one of a newer version.
    """
    try:
        with zipfile.ZipFile(file) as packed:
            return _read(packed)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, RuntimeError):
        raise InvalidInput("it is no backup of `mem backup`, or it was cut") from None


def restore(file: IO[bytes], path: Path) -> tuple[Backup, Path | None]:
    """Put the database of a backup in the place of `path`; the old one is kept beside it.

    Nobody may have `path` open. Nothing is changed when this raises.

    Raises:
        InvalidInput: the backup is damaged, or of a newer version.
        StoreError: it can't be written.
    """
    made = look_into(file)
    with work_folder(path.parent, ".restore-") as folder:
        fresh = folder / DATABASE
        _unpack(file, fresh, made)
        _sound(fresh)
        return made, _exchanged(fresh, path)


def _described(copy: Path, settings: str | None, at_ms: int) -> Backup:
    conn = connect.reader(copy)
    try:
        rows = {t: int(fetch.value(conn, f"SELECT count(*) FROM {t}")) for t in COUNTED}
    finally:
        conn.close(True)
    with copy.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Backup(
        made_ms=at_ms, version=migrations.VERSION, sha256=digest, rows=rows, settings=settings
    )


def _manifest(made: Backup) -> str:
    fields: dict[str, Any] = {"format": FORMAT, **attrs.asdict(made)}
    del fields["settings"]
    return json.dumps(fields, indent=1, sort_keys=True)


def _read(packed: zipfile.ZipFile) -> Backup:
    with packed.open(MANIFEST) as file:
        fields = json.loads(file.read(LARGEST_MANIFEST))
    if fields.pop("format") != FORMAT or int(fields["version"]) > migrations.VERSION:
        raise InvalidInput("it was made by a newer version; run `mem update`")
    settings = None
    if SETTINGS in packed.namelist():
        with packed.open(SETTINGS) as file:
            settings = file.read(LARGEST_SETTINGS).decode()
    return Backup(**fields, settings=settings)


def _unpack(file: IO[bytes], fresh: Path, made: Backup) -> None:
    """Write the database out and compare it with the digest of its time."""
    digest = hashlib.sha256()
    connect.touch(fresh)
    file.seek(0)
    try:
        with (
            zipfile.ZipFile(file) as packed,
            packed.open(DATABASE) as source,
            fresh.open("wb") as target,
        ):
            while block := source.read(BLOCK):
                digest.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError) as error:
        raise InvalidInput("the backup is damaged: nothing was changed") from error
    except OSError as error:
        raise StoreError(f"{fresh.parent} can't be written: {error.strerror}") from error
    if digest.hexdigest() != made.sha256:
        raise InvalidInput("the backup is damaged: nothing was changed")


def _sound(fresh: Path) -> None:
    """Refuse a database that is not ours or not whole, whatever its digest says."""
    identity.check(fresh, migrations.VERSION)
    try:
        conn = connect.reader(fresh)
        try:
            answer = fetch.value(conn, "PRAGMA quick_check(1)")
        finally:
            conn.close(True)
    except apsw.Error as error:
        raise fault(error, fresh) from error
    if answer != "ok":
        raise InvalidInput(
            f"the database in the backup is damaged ({answer}): nothing was changed"
        )


def _exchanged(fresh: Path, path: Path) -> Path | None:
    """Put `fresh` at `path`; where the old file is now."""
    kept = None
    if path.exists():
        _merge(path)
        kept = path.with_name(f"{path.name}.{time.time_ns()}.before-restore")
        os.replace(path, kept)
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    os.replace(fresh, path)
    return kept


def _merge(path: Path) -> None:
    """What lies in the log belongs to the old file."""
    try:
        conn = connect.writer(path)
        try:
            fetch.rows(conn, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            conn.close(True)
    except apsw.Error:  # a damaged file: its log goes beside it, nothing is thrown away
        stamp = time.time_ns()
        for end in ("-wal",):
            log = path.with_name(path.name + end)
            if log.exists():
                os.replace(log, log.with_name(f"{log.name}.{stamp}.before-restore"))
