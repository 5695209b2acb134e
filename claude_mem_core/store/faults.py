"""SQLite's errors in our words: what happened, to which file, what to do."""

from __future__ import annotations

from pathlib import Path

import apsw

from claude_mem_core.errors import StoreDamaged, StoreError

# Extended code of damage inside a virtual table only: the index, not the data.
CORRUPT_VTAB = 267

DAMAGED = (
    "the database {path} is damaged ({error}); stop the worker and run `mem db repair`,"
    " which saves what can be read and keeps the damaged file"
)
INDEX = "the search index in {path} is damaged ({error}); run `mem db rebuild-index`"
FULL = "no space left to write {path}; make room, memory goes on by itself"
DISK = "can't write {path} ({error}); check the disk and the rights, then `mem status`"
READ_ONLY = "{path} can't be written ({error}); check the rights of the file and its folder"
BUSY = "another program holds {path} for writing; close it and try again"
OTHER = "the database {path} refused a statement ({error}); please report this"

TEXTS: tuple[tuple[tuple[type[apsw.Error], ...], str], ...] = (
    ((apsw.FullError,), FULL),
    ((apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError), READ_ONLY),
    ((apsw.BusyError, apsw.LockedError, apsw.ProtocolError), BUSY),
    ((apsw.IOError,), DISK),
)

# After these SQLite may have rolled the whole transaction back.
BREAKING = (
    apsw.FullError,
    apsw.IOError,
    apsw.NoMemError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.InterruptError,
)


def fault(error: apsw.Error | OSError, path: Path) -> StoreError:
    """The error of ours that says what `error` means for the file at `path`."""
    if isinstance(error, OSError):
        return StoreError(DISK.format(path=path, error=error.strerror or error))
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        form = INDEX if getattr(error, "extendedresult", 0) == CORRUPT_VTAB else DAMAGED
        return StoreDamaged(form.format(path=path, error=text))
    form = next((form for kinds, form in TEXTS if isinstance(error, kinds)), OTHER)
    return StoreError(form.format(path=path, error=text))
