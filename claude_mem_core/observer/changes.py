"""What was done to a file, in words: places, old and new, what is new in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from claude_mem_core.observer import code
from claude_mem_core.observer.deltas import Delta, deltas, of_hunks
from claude_mem_core.observer.files import Attempt, File
from claude_mem_core.observer.newtext import PROSE, TESTS, new_code, prose, tests
from claude_mem_core.observer.text import around, clip, comma, unique

SIDE = 90  # characters of one side of a change
PIECES = 5
WORDISH = re.compile(r"[\w.$@/%-]")


@attrs.frozen
class Change:
    """What became of one file.

    Attributes:
        verb: added, changed, deleted, rewritten by a command.
        pieces: each place in words, most telling first.
        short: the one place that tells most, for a sentence; may be empty.
        remarks: what comments in the new text say.
        names: what it defines or touches.
    """

    path: str
    verb: str
    pieces: tuple[str, ...] = ()
    short: str = ""
    remarks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    renamed: tuple[str, str] | None = None

    @property
    def bare(self) -> list[str]:
        """The pieces without the name of the place before them."""
        return [p[p.find("`") :] if "`" in p else p for p in self.pieces]

    @property
    def fact(self) -> str:
        """The change as one fact."""
        head = f"{self.path} ({self.verb})" if self.verb != "changed" else self.path
        said = "; ".join(self.pieces)
        remark = f" (comment: {clip(self.remarks[0], 140)})" if self.remarks else ""
        return f"{head}: {said}{remark}" if said or remark else f"{head}"


def describe(file: File) -> Change:
    """A changed file in words."""
    if file.deleted:
        return Change(file.path, "deleted")
    if file.created:
        return _created(file)
    found = deltas(file)
    if not found:
        writer = file.writers[-1] if file.writers else ""
        by = f"rewritten by `{clip(writer, 60)}`" if writer else "changed, as git lists it"
        return Change(file.path, by)
    return _edited(file.path, found)


def _created(file: File) -> Change:
    lines = (file.now or "").splitlines() or [n for h in file.hunks for n in h.new.splitlines()]
    names = tuple(code.definitions(lines))
    if PROSE.search(file.path):
        pieces: Sequence[str] = prose(lines, 6, 700)
    elif TESTS.search(file.path):
        pieces = tests(lines)
    else:
        pieces = new_code(lines, names)
    remarks = tuple(code.comments(lines)[:2]) if not PROSE.search(file.path) else ()
    short = comma(names, 3) if names else clip(pieces[0], 60) if pieces else ""
    return Change(file.path, "new", tuple(pieces), short, remarks, names)


def _edited(path: str, found: Sequence[Delta]) -> Change:
    if TESTS.search(path) and (named := tests([line for d in found for line in d.new])):
        return Change(path, "changed", tuple(named), "", (), ())
    parts = [(_delta_weight(d), piece(d, in_prose=bool(PROSE.search(path)))) for d in found]
    ranked = sorted((p for p in parts if p[1]), key=lambda p: -p[0])
    ranked = [p for p in ranked if p[0] > 3] or ranked
    kept = {id(p) for p in ranked[:PIECES]}
    pieces = _moves(unique(text for part in parts if id(part) in kept for text in (part[1],)))
    added = [line for d in found for line in d.new]
    removed = {c for d in found for c in code.comments(d.old)}
    remarks = (
        [] if PROSE.search(path) else [c for c in code.comments(added) if c not in removed]
    )
    names = unique([*(d.inside for d in found), *code.definitions(added)])
    return Change(
        path, "changed", tuple(pieces), clip(ranked[0][1], 150) if ranked else "",
        tuple(remarks[:2]), tuple(names), _renamed(found),
    )  # fmt: skip


def _moves(pieces: Sequence[str]) -> list[str]:
    """A line that went out at one place and in at another was moved."""
    gone = {p.split("removed ", 1)[1]: p for p in pieces if "removed `" in p}
    out = []
    for text in pieces:
        what = text.split("added ", 1)[1] if "added `" in text else ""
        if what in gone:
            out.append(text.replace("added ", "moved ", 1))
        elif not (
            "removed `" in text
            and any(f"added {text.split('removed ', 1)[1]}" in p for p in pieces)
        ):
            out.append(text)
    return out


def _delta_weight(delta: Delta) -> int:
    lines = [*delta.new, *delta.old]
    return max((code.weight(line) for line in lines), default=0) + (
        2 if delta.old and delta.new else 0
    )


def piece(delta: Delta, *, in_prose: bool = False) -> str:
    """One place of a change in words; empty when it tells nothing."""
    old = [line for line in delta.old if line.strip()]
    new = [line for line in delta.new if line.strip()]
    old_code = old if in_prose else [line for line in old if not code.comment(line)]
    new_code = new if in_prose else [line for line in new if not code.comment(line)]
    where = f"{delta.inside}: " if delta.inside and not _says(delta, old_code, new_code) else ""
    if in_prose:
        told = prose(new, 2, 300)
        return f"added: {' '.join(told)}" if told else ""
    if len(old_code) == 1 and len(new_code) == 1:
        return where + pair(old_code[0], new_code[0])
    return where + _lists(old_code, new_code) if old_code or new_code else ""


def _says(delta: Delta, old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the name of the place stands in the quoted lines anyway."""
    return any(delta.inside in line for line in (*old[:2], *new[:2]))


def pair(old: str, new: str) -> str:
    """`old` → `new`, cut to about the part that differs."""
    a, b = code.shown(old), code.shown(new)
    if a == b:
        return ""
    head, tail = _ends(a, b)
    left = around(a, head, len(a) - tail, SIDE)
    right = around(b, head, len(b) - tail, SIDE)
    return f"`{clip(left, 200)}` → `{clip(right, 240)}`"


def _ends(a: str, b: str) -> tuple[int, int]:
    """How many characters two lines share at both ends, whole words only."""
    most = min(len(a), len(b))
    head = 0
    while head < most and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < most - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    while head and WORDISH.match(a[head - 1]):
        head -= 1
    while tail and WORDISH.match(a[-tail]):
        tail -= 1
    return head, tail


def _lists(old: Sequence[str], new: Sequence[str]) -> str:
    gone = code.telling_lines(old, 1 if new else 2, SIDE)
    come = code.telling_lines(new, 4, 300)
    after = "; ".join(f"`{line}`" for line in come)
    before = "; ".join(f"`{line}`" for line in gone)
    if before and after:
        return f"{before} → {after}"
    return f"added {after}" if after else f"removed {before}" if before else ""


def _renamed(found: Sequence[Delta]) -> tuple[str, str] | None:
    """A definition that has another name now."""
    for delta in found:
        old, new = code.definitions(delta.old), code.definitions(delta.new)
        gone = [n for n in old if n not in new]
        come = [n for n in new if n not in old]
        if len(gone) == 1 and come:
            return gone[0], come[0]
    return None


def tried(attempt: Attempt) -> str:
    """What an attempt had changed, without the reasons its comments gave."""
    return "; ".join(unique(filter(None, map(piece, _tried_deltas(attempt)))))[:300]


def tried_core(attempt: Attempt) -> str:
    """The one thing an attempt had changed, in a few words for a title."""
    for delta in map(_code_only, _tried_deltas(attempt)):
        if len(delta.old) == 1 and len(delta.new) == 1:
            a, b = code.shown(delta.old[0]), code.shown(delta.new[0])
            head, tail = _ends(a, b)
            start = a.rfind(" ", 0, max(0, head - 12)) + 1 if head > 28 else 0
            old, new = a[start : len(a) - tail], b[head : len(b) - tail]
            old, new = old.strip(" \"'`"), new.strip(" \"'`")
            if new:
                return f"{old} → {new}" if old else new
        if told := code.telling_lines(delta.new, 1, 60):
            return told[0]
    return ""


def _code_only(delta: Delta) -> Delta:
    old = tuple(line for line in delta.old if line.strip() and not code.comment(line))
    new = tuple(line for line in delta.new if line.strip() and not code.comment(line))
    return Delta(old, new, delta.inside)


def _tried_deltas(attempt: Attempt) -> list[Delta]:
    """The places of an attempt; imports only when there is nothing else."""
    found = of_hunks(attempt.hunks)
    telling = [d for d in found if any(code.weight(line) > 1 for line in (*d.old, *d.new))]
    return telling or found
