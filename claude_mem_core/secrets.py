"""Credentials by name: in the system's keyring, else in `<data>/.env` (0600).

The file is in the form that claude-mem uses, `NAME=value` in lines; other lines stay.
Values appear in no error, log or listing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.files import locked, read_private, secure_dir, write_private
from claude_mem_core.paths import Paths

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "claude-mem-core"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*?)\s*")
VALUE_CHARS = 16_384
FILE_BYTES = 1_000_000


def read(paths: Paths, name: str) -> str | None:
    """The secret of this name, from the keyring first; None when there is none.

    Raises:
        StoreError: the file is not ours alone.
    """
    return from_keyring(name) or from_file(paths).get(name)


def from_keyring(name: str) -> str | None:
    """The secret of this name in the system's keyring, if there is one."""
    ring = _keyring()
    return _from_ring(ring, name) if ring else None


def from_file(paths: Paths) -> dict[str, str]:
    """Every secret of the file, by name.

    Raises:
        StoreError: the file is not ours alone.
    """
    return dict(_entries(_lines(_file(paths))))


def has_keyring() -> bool:
    """Whether this machine has a keyring that can be used now."""
    return _keyring() is not None


def stamp(paths: Paths) -> tuple[object, ...]:
    """Another value whenever a secret was changed through this product, or in the file."""
    found: list[object] = []
    for path in (_file(paths), _mark(paths)):
        try:
            state = path.stat()
            found.append((state.st_mtime_ns, state.st_ino, state.st_size))
        except OSError:
            found.append(None)
    return tuple(found)


def write(paths: Paths, name: str, value: str, where: str = "") -> str:
    """Keep a secret; says where: `keyring` or `file`.

    Args:
        where: `file` keeps it there even if there is a keyring; else the keyring is used
            where there is one.

    Raises:
        InvalidInput: the name or the value has a form that can't be kept.
        StoreError: the file can't be written.
    """
    if not NAME.fullmatch(name):
        raise InvalidInput("a secret's name has letters, digits, _ . - and at most 100 of them")
    if not value or len(value) > VALUE_CHARS or not value.isprintable():
        raise InvalidInput(
            f"{name}: a secret is one line of at most {VALUE_CHARS:,} characters"
        )
    ring = _keyring()
    kept = "file"
    if where != "file" and ring and _into_ring(ring, name, value):
        kept = "keyring"
    elif ring and _from_ring(ring, name):
        _out_of_ring(ring, name)  # what stands there would win
    _change_file(paths, name, value if kept == "file" else None)
    _changed(paths)
    return kept


def delete(paths: Paths, name: str) -> bool:
    """Forget a secret wherever it is kept; false when there was none.

    Raises:
        StoreError: the keyring or the file does not give it up.
    """
    ring = _keyring()
    known = bool(ring and _from_ring(ring, name))
    if ring and known:
        _out_of_ring(ring, name)
    gone = _change_file(paths, name, None)
    _changed(paths)
    return gone or known


def out_of_keyring(name: str) -> bool:
    """Forget a secret in the system's keyring alone; false when there was none.

    Raises:
        StoreError: the keyring does not give it up.
    """
    ring = _keyring()
    if ring is None or not _from_ring(ring, name):
        return False
    _out_of_ring(ring, name)
    return True


# The keyring ------------------------------------------------------------------------


def _keyring() -> KeyringBackend | None:
    """The system's own keyring, when it has one; loaded late, it takes 160 ms."""
    import keyring

    ring = keyring.get_keyring()
    # keyrings.alt would write plain text into a file of its own, unasked.
    if type(ring).__module__.startswith("keyrings.alt") or ring.priority < 1:
        return None
    return ring


def _from_ring(ring: KeyringBackend, name: str) -> str | None:
    from keyring.errors import KeyringError

    try:
        return ring.get_password(SERVICE, name)
    except KeyringError:
        return None


def _into_ring(ring: KeyringBackend, name: str, value: str) -> bool:
    from keyring.errors import KeyringError

    try:
        ring.set_password(SERVICE, name, value)
    except KeyringError:
        return False
    return True


def _out_of_ring(ring: KeyringBackend, name: str) -> None:
    from keyring.errors import KeyringError

    try:
        ring.delete_password(SERVICE, name)
    except KeyringError:
        raise StoreError(
            f"the keyring does not give up {name}; remove the entry {SERVICE!r} in it by hand"
        ) from None


# The file -----------------------------------------------------------------------------


def _file(paths: Paths) -> Path:
    return paths.data / ".env"


def _mark(paths: Paths) -> Path:
    """Touched on each change: the keyring itself tells nobody."""
    return paths.data / "keys.changed"


def _changed(paths: Paths) -> None:
    if paths.data.exists():
        write_private(_mark(paths), b"")


def _lines(path: Path) -> list[str]:
    try:
        return read_private(path, FILE_BYTES).decode("utf-8", "surrogateescape").splitlines()
    except FileNotFoundError:
        return []


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        found = LINE.fullmatch(line)
        if found:
            yield found[1], _unquoted(found[2])


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _change_file(paths: Paths, name: str, value: str | None) -> bool:
    """Replace or remove one entry; says whether it was there."""
    path = _file(paths)
    if value is None and not path.exists():
        return False
    secure_dir(paths.data)
    with locked(paths.data / ".env.lock"):
        lines = _lines(path)
        kept = [line for line in lines if name not in dict(_entries([line]))]
        fresh = [] if value is None else [f'{name}="{value}"']
        if kept + fresh != lines:
            text = "".join(line + "\n" for line in kept + fresh)
            write_private(path, text.encode("utf-8", "surrogateescape"))
    return len(kept) < len(lines)
