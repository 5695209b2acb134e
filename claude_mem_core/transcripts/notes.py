"""The notes that a host keeps by itself, as rows of an import.

They are distilled already, so nothing is asked of a model. A host's record says where
they lie; the directory that a folder of notes is about stands in the transcripts beside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.projects import Place, excluded, place_of
from claude_mem_core.settings import Settings
from claude_mem_core.transcripts.finding import Found, find
from claude_mem_core.transcripts.places import below, open_below, roots_of
from claude_mem_core.transcripts.reading import lines_of
from claude_mem_core.types import Host, TranscriptFile, TranscriptReader, Transcripts

LARGEST = 64 << 10  # bytes of one note
LOOKED_AT = 200  # lines of a transcript, for the directory
NAME_CHARS = 200  # longer names of folders are cut and end in a hash
INDEX = "MEMORY.md"  # links only
FIELD = re.compile(r"^\s*(name|description|type|originSessionId):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@attrs.frozen(kw_only=True)
class Note:
    """One note: its title and prose, and what its head says."""

    title: str
    subtitle: str = ""
    prose: str = ""
    about: Mapping[str, str] = attrs.field(factory=dict)


@attrs.define
class Ingested:
    """What became of the notes."""

    stored: int = 0
    known: int = 0
    files: int = 0
    folders: int = 0
    found: int = 0  # notes that can be stored
    skipped: list[tuple[str, str]] = attrs.field(factory=list)
    failed: list[tuple[str, str]] = attrs.field(factory=list)


@attrs.frozen(kw_only=True)
class Folder:
    """The notes of one project: its files, and the directory that they are about."""

    host: str
    name: str
    cwd: str
    files: tuple[Found, ...]


def _no_reader(_: TranscriptFile) -> TranscriptReader:
    raise InvalidInput("notes are no transcripts")


def folders_of(hosts: Iterable[Host]) -> Iterator[Folder]:
    """All folders of notes, with the directory of each where it can be told."""
    for host in hosts:
        for root in roots_of(host, {}):
            for pattern in host.notes:
                found: dict[str, list[Found]] = {}
                for file in find(root, Transcripts(pattern=pattern, open=_no_reader)):
                    found.setdefault(file.steps[0], []).append(file)
                for name, files in found.items():
                    cwd = _directory(root, name)
                    yield Folder(host=host.name, name=name, cwd=cwd, files=tuple(files))


def _directory(root: str, name: str) -> str:
    """The directory that the newest transcripts beside the notes name."""
    form = Transcripts(pattern="*.jsonl", open=_no_reader)
    files = sorted(find(os.path.join(root, name), form), key=lambda f: -f.changed_ms)
    for file in files[:5]:
        opened = open_below(file.root, file.steps)
        if opened is None:
            continue
        with os.fdopen(opened, "rb") as lines:
            for number, line in enumerate(lines_of(lines)):
                cwd = (line.record or {}).get("cwd")
                if isinstance(cwd, str) and os.path.isabs(cwd):
                    return cwd
                if number == LOOKED_AT:
                    break
    return ""


def chosen(
    folders: Iterable[Folder], hosts: Sequence[Host], *, source: str, every: bool, here: str
) -> list[Folder]:
    """The folders that are wanted: all, the one that was named, or that of a directory.

    Raises:
        InvalidInput: the named one is outside of where a host keeps notes, or not there.
    """
    if every:
        return list(folders)
    if source:
        wanted = _inside(hosts, source)
        return [f for f in folders if any(_lies_in(file, wanted) for file in f.files)]
    name = encoded(here)
    return [f for f in folders if f.cwd == here or f.name[:NAME_CHARS] == name[:NAME_CHARS]]


def encoded(path: str) -> str:
    """A directory as the name of its folder: all but letters and digits are dashes."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _inside(hosts: Sequence[Host], source: str) -> str:
    try:
        real = os.path.realpath(source)
    except ValueError:  # no path can be written so
        raise InvalidInput("the source is no path") from None
    roots = [root for host in hosts if host.notes for root in roots_of(host, {})]
    if not any(below(os.path.realpath(root), real) for root in roots):
        places = ", ".join(roots) or "nowhere: no host with notes is installed"
        raise InvalidInput(f"{source} is not where a host keeps its notes: {places}")
    if not os.path.isdir(real):
        raise InvalidInput(f"{source} is not there; `mem ingest --all --dry-run` shows what is")
    return real


def _lies_in(file: Found, folder: str) -> bool:
    return os.path.realpath(os.path.dirname(file.path)) == folder


def read(found: Found) -> Note:
    """A note.

    Raises:
        OSError: it can't be read, or became a link.
        InvalidInput: it says nothing.
    """
    opened = open_below(found.root, found.steps)
    if opened is None:
        raise InvalidInput("it is gone")
    with os.fdopen(opened, "rb") as file:
        text = file.read(LARGEST + 1).decode("utf-8", "replace").lstrip("\ufeff")
    head, prose = split(text)
    about = {name: value.strip("\"'") for name, value in reversed(FIELD.findall(head))}
    if not prose.strip():
        raise InvalidInput("empty")
    title = about.get("name") or Path(found.path).stem
    return Note(
        title=title.replace("-", " "), subtitle=about.get("description", ""),
        prose=prose.strip(), about=about,
    )  # fmt: skip


def split(text: str) -> tuple[str, str]:
    """The head between two lines of `---`, and what follows."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == "---":
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return "", text


def row(folder: Folder, label: str, note: Note) -> dict[str, Any]:
    """A note as a row of an import. It has no time: its words tell it from others."""
    kept = {"note": note.about.get("type", ""), "session": note.about.get("originSessionId", "")}
    return {
        "memory_session_id": f"notes:{folder.name}", "content_session_id": f"notes:{folder.name}",
        "project": label, "platform_source": folder.host, "type": "discovery",
        "title": note.title, "subtitle": note.subtitle, "narrative": note.prose,
        "metadata": {name: value for name, value in kept.items() if value},
    }  # fmt: skip


def rows_of(
    folder: Folder, settings: Settings, done: Ingested, *, require_cwd: bool
) -> tuple[list[dict[str, Any]], dict[str, Place]]:
    """The rows of a folder, and where its project is; counts what is left out."""
    done.folders += 1
    links = list(_links(folder))
    done.files += len(folder.files) + len(links)
    done.skipped += [(path, "a link") for path in links]
    place = place_of(folder.cwd, settings, str(Path.home())) if folder.cwd else None
    reason = ""
    if place is None and require_cwd:
        reason = "its directory is not known"
    elif place is not None and excluded(place, folder.cwd, settings):
        reason = "project_excluded"
    if reason:
        done.skipped += [(file.path, reason) for file in folder.files]
        return [], {}
    label = place.label if place is not None else folder.name.strip("-")[-60:] or "notes"
    rows = [row(folder, label, note) for file in folder.files if (note := _one(file, done))]
    done.found += len(rows)
    return rows, {label: place} if place is not None else {}


def _links(folder: Folder) -> Iterator[str]:
    """Links among the notes; they are named, and never followed."""
    for place in sorted({os.path.dirname(file.path) for file in folder.files}):
        with os.scandir(place) as entries:
            yield from (e.path for e in entries if e.is_symlink() and e.name.endswith(".md"))


def _one(file: Found, done: Ingested) -> Note | None:
    if file.steps[-1] == INDEX:
        done.skipped.append((file.path, "an index"))
        return None
    if file.size > LARGEST:
        done.skipped.append((file.path, "larger than 64 KB"))
        return None
    try:
        return read(file)
    except OSError as error:
        done.failed.append((file.path, error.strerror or "not readable"))
    except InvalidInput as error:
        done.skipped.append((file.path, str(error)))
    return None


@attrs.frozen
class Gathered:
    """What was found: the count so far, and the rows of each folder with its place."""

    done: Ingested
    parts: list[tuple[list[dict[str, Any]], dict[str, Place]]]


def gathered(
    hosts: Sequence[Host], settings: Settings, *, source: str = "", every: bool = False,
    here: str = "", require_cwd: bool = False,
) -> Gathered:  # fmt: skip
    """Read the notes that are wanted; nothing is written.

    Raises:
        InvalidInput: what `chosen` refuses.
    """
    wanted = chosen(folders_of(hosts), hosts, source=source, every=every, here=here)
    done = Ingested()
    found = [rows_of(f, settings, done, require_cwd=require_cwd) for f in wanted]
    return Gathered(done, [(rows, places) for rows, places in found if rows])
