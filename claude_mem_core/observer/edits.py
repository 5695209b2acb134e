"""Changes of files as tools report them: replacements, whole files, patches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from claude_mem_core.observer.paths import is_scratch, relative
from claude_mem_core.observer.payload import first

PATH = (
    "file_path", "path", "filePath", "filepath", "file", "filename", "notebook_path",
    "target_file", "absolute_path", "relative_workspace_path", "TargetFile", "AbsolutePath",
)  # fmt: skip
OLD = ("old_string", "oldString", "old_str", "old", "oldText", "search", "old_source")
NEW = (
    "new_string",
    "newString",
    "new_str",
    "new",
    "newText",
    "replace",
    "replacement",
    "new_source",
)
CONTENT = ("content", "contents", "file_text", "text", "code_edit", "new_source")
HEADER = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$")


@attrs.frozen(kw_only=True)
class Edit:
    """One change of one file.

    Attributes:
        old: what was replaced; None when the whole file was written.
        new: what stands there now; None when the file was deleted.
        before: the whole file before, where the host tells; "" when it was not there.
        every: whether all occurrences were replaced.
    """

    path: str
    old: str | None = None
    new: str | None = None
    before: str | None = None
    every: bool = False


def edits(given: Mapping[str, Any], output: Any, root: str) -> tuple[Edit, ...]:
    """The changes that one use of a tool asked for; none of throw-away places."""
    path = relative(first(given, PATH), root)
    if is_scratch(path):
        return ()
    patch = _patch_text(given)
    if patch:
        return tuple(_from_patch(patch, root))
    if not path:
        return ()
    before = _before(output)
    pairs = list(_pairs(given))
    if pairs:
        return tuple(
            Edit(path=path, old=old, new=new, before=before if i == 0 else None, every=every)
            for i, (old, new, every) in enumerate(pairs)
        )
    content = first(given, CONTENT)
    return (Edit(path=path, new=content, before=before),) if content else ()


def _pairs(given: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """(old, new, every) of each replacement in an edit's input."""
    several = given.get("edits") or given.get("edit")
    parts = several if isinstance(several, list) else [several] if several else [given]
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        old = next((part[k] for k in OLD if isinstance(part.get(k), str)), None)
        new = next((part[k] for k in NEW if isinstance(part.get(k), str)), None)
        if old is not None and new is not None and (old or not several):
            yield old, new, bool(part.get("replace_all"))


def _before(output: Any) -> str | None:
    """The whole file before the change, where the host gives it."""
    if not isinstance(output, Mapping):
        return None
    shown = output.get("returnDisplay")
    sources = [output, shown] if isinstance(shown, Mapping) else [output]
    for source in sources:
        for key in ("originalFile", "originalContent"):
            if isinstance(source.get(key), str):
                return str(source[key])
    return "" if output.get("type") == "create" else None


def _patch_text(given: Mapping[str, Any]) -> str:
    for key in ("patch", "diff", "command", "input"):
        value = given.get(key)
        if isinstance(value, str) and "*** Begin Patch" in value:
            return value
    return ""


def _from_patch(patch: str, root: str) -> Iterator[Edit]:
    """The edits of a patch in the form that Codex and its kin use."""
    kind, path = "", ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.split("\n"), "*** End"]:
        header = HEADER.match(line)
        if header or line.startswith(("@@", "*** End")):
            if old or new:
                yield _hunk(kind, path, old, new)
            old, new = [], []
            if header:
                kind, path = header.group(1), relative(header.group(2), root)
                if kind == "Delete":
                    yield Edit(path=path, old=None, new=None)
        elif line[:1] in ("-", " "):
            old.append(line[1:])
            new += [line[1:]] if line[:1] == " " else []
        elif line[:1] == "+":
            new.append(line[1:])


def _hunk(kind: str, path: str, old: list[str], new: list[str]) -> Edit:
    if kind == "Add":
        return Edit(path=path, new="\n".join(new), before="")
    return Edit(path=path, old="\n".join(old), new="\n".join(new))
