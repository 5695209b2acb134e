"""What shell commands do to files: moves, deletions, redirections, going back in git."""

from __future__ import annotations

import re

from claude_mem_core.observer.commands import Job, Sort
from claude_mem_core.observer.files import Workspace
from claude_mem_core.observer.labels import label
from claude_mem_core.observer.paths import is_inside, is_scratch, relative
from claude_mem_core.observer.shell import Command

ODD = re.compile(r"[*?$`{}\[\]<>|;&'\"\n]")
STAT = re.compile(r"^\s*(\S.*?)\s+\|\s+(?:\d+ [+-]+|\d+$|Bin )", re.MULTILINE)
SHORT = re.compile(r"^\s?([MARD]{1,2})\s+(\S+)$", re.MULTILINE)
CHANGERS = {Sort.FILES, Sort.INSTALL, Sort.SCRIPT, Sort.BUILD}
FIXES = re.compile(r"\b(?:format|fmt)\b|--(?:fix|write)\b|\s-w\b")
AUTHORS = {"cat", "echo", "printf"}  # what they redirect is written, not an output kept


def apply(space: Workspace, job: Job, step: int, root: str, folder: str = "") -> None:
    """Follow the file work of a shell line that went well; it began in `folder`."""
    if job.sort in CHANGERS or (job.sort is Sort.CHECK and FIXES.search(job.line)):
        space.acted = label(job)
    for command in job.commands:
        if command.host:
            continue
        if command.program == "cd" and command.args:
            folder = _into(folder, command.args[0], root)
        elif command.program == "git":
            _git(space, command, step, folder, root)
        else:
            _plain(space, command, step, _Place(folder, root, label(job)))


class _Place:
    """Where a command stands, to read its paths."""

    def __init__(self, folder: str, root: str, label: str) -> None:
        self.folder, self.root, self.label = folder, root, label

    def path(self, word: str) -> str:
        """The path from the project's root; empty when it is none of the project."""
        path = relative(word, self.root)
        if ODD.search(path) or not is_inside(path) or is_scratch(path):
            return ""
        return f"{self.folder}/{path}" if self.folder else path


def _into(folder: str, word: str, root: str) -> str:
    path = relative(word, root)
    if path == root or not is_inside(path) or path in (".", "-"):
        return ""
    return f"{folder}/{path}".strip("/")


def _plain(space: Workspace, command: Command, step: int, place: _Place) -> None:
    program = command.program
    for word in command.writes:
        if (path := place.path(word)) and (program in AUTHORS or path in space.files):
            space.file(path).written(_typed(command), step, place.label)
    if program == "rm":
        for path in filter(None, map(place.path, command.args)):
            _remove(space, path, step)
    elif program == "mv" and len(command.args) == 2:
        _move(space, place.path(command.args[0]), place.path(command.args[1]), step)
    elif program == "cp" and len(command.args) == 2:
        _written(space, place.path(command.args[1]), step, place.label)
    elif program in ("sed", "perl") and any(w.startswith(("-i", "-pi")) for w in command.words):
        for word in command.args[1:]:
            _written(space, place.path(word), step, place.label)
    elif program == "tee":
        for word in command.args:
            _written(space, place.path(word), step, place.label)


def _typed(command: Command) -> str | None:
    """The text of a here-document that goes straight into a file."""
    return command.body if command.body and command.program == "cat" else None


def _written(space: Workspace, path: str, step: int, label: str) -> None:
    if path and "." in path.rsplit("/", 1)[-1]:
        space.file(path).written(None, step, label)


def _remove(space: Workspace, path: str, step: int) -> None:
    below = [f for name, f in space.files.items() if name.startswith(path.rstrip("/") + "/")]
    if below:
        for file in below:
            file.remove(step)
    elif "." in path.rsplit("/", 1)[-1] or path in space.files:
        space.file(path).remove(step)


def _move(space: Workspace, old: str, new: str, step: int) -> None:
    if not old or not new:
        return
    if new.endswith("/") or "." not in new.rsplit("/", 1)[-1]:
        new = new.rstrip("/") + "/" + old.rsplit("/", 1)[-1]
    space.move(old, new, step)


def _git(space: Workspace, command: Command, step: int, folder: str, root: str) -> None:
    words = list(command.words[1:])
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-C", "-c") else words[1:]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    place = _Place(folder, root, "git")
    if verb in ("commit", "merge", "cherry-pick", "rebase", "pull"):
        space.save()
    elif verb in ("checkout", "restore"):
        for path in _restored(space, rest, place):
            space.undo(path, step)
    elif verb == "reset" and "--hard" in rest:
        space.undo(".", step)
    elif verb == "stash":
        _stash(space, rest, step)
    elif verb == "rm":
        for path in filter(None, map(place.path, _operands(rest))):
            _remove(space, path, step)
    elif verb == "mv" and len(_operands(rest)) == 2:
        old, new = (place.path(w) for w in _operands(rest))
        _move(space, old, new, step)


def _stash(space: Workspace, rest: list[str], step: int) -> None:
    if not rest or rest[0] in ("push", "save", "-u", "--include-untracked", "-k"):
        space.stash(step)
    elif rest[0] in ("pop", "apply"):
        space.unstash()


def _restored(space: Workspace, rest: list[str], place: _Place) -> list[str]:
    """The paths that `git checkout` or `git restore` brings back; a branch is none."""
    if "--staged" in rest and "--worktree" not in rest:
        return []
    words = rest[rest.index("--") + 1 :] if "--" in rest else _operands(rest)
    paths = [w if w in (".", "./", ":/") else place.path(w) for w in words]
    sure = "--" in rest or "." in paths
    return [
        "." if p in ("./", ":/") else p
        for p in paths
        if p and (sure or _known(space, p) or "." in p.rsplit("/", 1)[-1])
    ]


def _operands(words: list[str]) -> list[str]:
    return [w for w in words if not w.startswith("-")]


def _known(space: Workspace, path: str) -> bool:
    return any(n == path or n.startswith(path.rstrip("/") + "/") for n in space.files)


def listed(job: Job, text: str) -> list[str]:
    """Files that git says differ in the work tree."""
    for command in job.commands:
        if command.program != "git" or command.host:
            continue
        verb = command.args[0] if command.args else ""
        if verb == "diff" and "--stat" in command.words and len(command.args) == 1:
            return [p for p in STAT.findall(text) if not ODD.search(p) and "=>" not in p]
        if verb == "status" and {"--short", "-s", "--porcelain"} & set(command.words):
            return [p for kind, p in SHORT.findall(text) if kind != "D"]
    return []
