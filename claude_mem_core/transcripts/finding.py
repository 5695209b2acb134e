"""Which transcripts there are: files below a root that fit a pattern, links left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import attrs

from claude_mem_core.transcripts.places import roots_of
from claude_mem_core.types import Host, Transcripts

DEEPEST = 12
MOST = 200_000


@attrs.frozen(kw_only=True)
class Found:
    """One transcript that is there.

    Attributes:
        root, steps: where it lies, as `open_below` takes it.
        form: what is known of files like it.
        inode: of the device and file, to know it again under another name.
    """

    root: str
    steps: tuple[str, ...]
    form: Transcripts
    size: int
    changed_ms: int
    inode: tuple[int, int]

    @property
    def path(self) -> str:
        """Its whole path."""
        return os.path.join(self.root, *self.steps)


def find_all(record: Host, env: Mapping[str, str], *, inner: bool = False) -> list[Found]:
    """A host's transcripts, oldest change first; with `inner`, those of sub-agents too."""
    found: dict[tuple[int, int], Found] = {}
    for root in roots_of(record, env):
        for form in record.transcripts:
            if inner or not form.inner:
                found.update({file.inode: file for file in find(root, form)})
    return sorted(found.values(), key=lambda file: (file.changed_ms, file.path))


def find(root: str, form: Transcripts) -> Iterator[Found]:
    """The plain files below `root` that fit the form's pattern; what can't be read, or is
    gone by now, is passed over."""
    for number, (entry, steps) in enumerate(_walk(root, form.pattern.split("/"), ())):
        if number == MOST:
            return
        try:
            there = entry.stat(follow_symlinks=False)
        except OSError:  # it went while we were looking
            continue
        yield Found(
            root=root, steps=steps, form=form, size=there.st_size,
            changed_ms=there.st_mtime_ns // 1_000_000, inode=(there.st_dev, there.st_ino),
        )  # fmt: skip


def _walk(
    folder: str, pattern: Sequence[str], steps: tuple[str, ...]
) -> Iterator[tuple[os.DirEntry[str], tuple[str, ...]]]:
    if len(steps) >= DEEPEST:
        return
    head, *rest = pattern
    if head == "**":
        yield from _walk(folder, rest, steps)
    for entry in _entries(folder):
        fits = head == "**" or fnmatchcase(entry.name, head)
        inner = pattern if head == "**" else rest
        if fits and rest and entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, inner, (*steps, entry.name))
        elif fits and not rest and entry.is_file(follow_symlinks=False):
            yield entry, (*steps, entry.name)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
