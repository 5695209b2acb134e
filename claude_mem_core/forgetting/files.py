"""Looking through files, whatever is packed in them."""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from claude_mem_core.forgetting.words import is_in

BLOCK = 1 << 20
LARGEST_PACKED = 64 << 20  # bytes that one packed stream may grow to
ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")


def regular(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links, sockets and the like are no files."""
    for place, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            try:
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path
            except OSError:
                continue


def holds(path: Path, wanted: Sequence[bytes], *, packed: bool = True) -> bool:
    """Whether one of `wanted` stands in the file, as it is or in what is packed in it.

    Raises:
        OSError: it can't be read.
    """
    if any(is_in(block, wanted) for block in _blocks(path, max(map(len, wanted), default=1))):
        return True
    return packed and any(is_in(part, wanted) for part in _unpacked(path))


def _blocks(path: Path, longest: int) -> Iterator[bytes]:
    """The file's bytes, each block with the end of the one before it."""
    return (block for _, block in _placed(path, longest))


def _placed(path: Path, longest: int) -> Iterator[tuple[int, bytes]]:
    """As `_blocks`, each with the place in the file where it begins."""
    kept, at = b"", 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield at - len(kept), kept + block
            at += len(block)
            kept = (kept + block)[-longest:]


def _unpacked(path: Path) -> Iterator[bytes]:
    if zipfile.is_zipfile(path):
        yield from _members(path)
        return
    seen = -1
    for start, block in _placed(path, len(b"\x1f\x8b\x08") - 1):
        for found in ZLIB.finditer(block):
            if start + found.start() > seen:
                seen = start + found.start()
                yield _inflated(path, seen)


def _members(path: Path) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                yield entry.filename.encode("utf-8", "surrogatepass")
                with archive.open(entry) as member:
                    yield member.read(LARGEST_PACKED)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error):
        return  # damaged or locked: its bytes were looked at all the same


def _inflated(path: Path, at: int) -> bytes:
    """What a packed stream that begins there holds; nothing when none does."""
    stream, made = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32), bytearray()
    with path.open("rb") as file:
        file.seek(at)
        try:
            while not stream.eof and len(made) < LARGEST_PACKED:
                block = file.read(4096)
                if not block:
                    break
                made += stream.decompress(block)
        except zlib.error:
            pass  # what came until there counts
    return bytes(made)
