"""From what a reply says to drafts of memories: checked, bounded, in the mode's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from claude_mem_core.modelled.known import Known
from claude_mem_core.modelled.parts import Part
from claude_mem_core.modelled.reply import Answer, Read
from claude_mem_core.modes import Mode
from claude_mem_core.types import Draft, EventKind, SummaryDraft, Trust

TITLE_WORDS, TITLE_CHARS = 12, 120
FACTS, FACT_CHARS = 10, 320
NARRATIVE_CHARS = 1_200
WHOLE_CHARS = 2_800  # of one observation
SUMMARY_CHARS = 620  # of one field
FILES = 20
WORDS = re.compile(r"[a-z][a-z_-]*")
SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
EDITS = frozenset(
    {"old_string", "new_string", "content", "edits", "new_source", "patch", "diff"}
)


@attrs.frozen(kw_only=True)
class Source:
    """What a reply is read against.

    Attributes:
        known: what its events name.
        edited: paths that were edited in them, as the tools were told.
        earlier: ids of memories that it may supersede.
        model: who answered.
        tokens: what the answer cost.
        whole: one observation was made of the part, so the files of its events are its own.
    """

    part: Part
    mode: Mode
    known: Known
    edited: frozenset[str]
    earlier: frozenset[int]
    root: str
    model: str
    tokens: int
    prompt_number: int
    whole: bool = False


def drafts(answer: Answer, source: Source) -> tuple[Draft, ...]:
    """The observations of a reply that hold against the events."""
    share = source.tokens // max(1, len(answer.observations))
    if len(answer.observations) == 1:  # it stands for all that was done
        source = attrs.evolve(source, whole=True)
    made = (_draft(read, source, share) for read in answer.observations)
    return tuple(draft for draft in made if draft is not None)


def _draft(read: Read, source: Source, tokens: int) -> Draft | None:
    mode, part = source.mode, source.part
    facts = _facts(read.facts, source.known)
    narrative = _told(read.narrative, source.known, NARRATIVE_CHARS)
    title = _title(read, facts, source.known)
    if not title or not (narrative or facts or read.subtitle):
        return None
    kind, given = type_of(read.type, mode)
    subtitle = clipped(read.subtitle, 240) if not source.known.invented(read.subtitle) else ""
    modified, looked = _files(read, source)
    room = WHOLE_CHARS - len(title) - len(subtitle) - len(narrative)
    return Draft(
        type=kind, title=title, subtitle=subtitle, narrative=narrative,
        facts=_fitting(facts, room), concepts=_concepts(read, mode, kind),
        files_read=looked, files_modified=modified, events=part.ids,
        supersedes=tuple(n for n in read.supersedes if n in source.earlier),
        prompt_number=source.prompt_number, agent_id=part.agent_id, agent_type=part.agent_type,
        model=source.model, tokens=tokens, trust=Trust.FOREIGN if part.foreign else Trust.WORK,
        metadata=_metadata(given, read),
    )  # fmt: skip


def _metadata(given: str, read: Read) -> dict[str, object]:
    found: dict[str, object] = {"type_given": given} if given else {}
    return found if read.whole else {**found, "torn": True}


def type_of(word: str, mode: Mode) -> tuple[str, str]:
    """The mode's type for a reply's word, and the word where it is another one."""
    said = " ".join(word.casefold().split())
    if said in mode.type_ids:
        return said, ""
    found = [part for part in WORDS.findall(said.replace(" ", "_")) if part in mode.type_ids]
    return (found[0] if found else mode.neutral), clipped(word, 60)


def _concepts(read: Read, mode: Mode, kind: str) -> tuple[str, ...]:
    words = (concept.partition(":")[0].strip().casefold() for concept in read.concepts)
    kept = (word for word in words if word in mode.concept_ids and word != kind)
    return tuple(dict.fromkeys(kept))


def _facts(facts: Iterable[str], known: Known) -> list[str]:
    kept = [clipped(fact, FACT_CHARS) for fact in facts if not known.invented(fact)]
    return list(dict.fromkeys(kept))[:FACTS]


def _fitting(facts: Sequence[str], room: int) -> tuple[str, ...]:
    kept: list[str] = []
    for fact in facts:
        room -= len(fact)
        if room < 0:
            break
        kept.append(fact)
    return tuple(kept)


def _told(text: str, known: Known, limit: int) -> str:
    """The sentences that name nothing made up, as far as there is room."""
    kept: list[str] = []
    for sentence in SENTENCE.split(text) if known.invented(text) else [text]:
        if not known.invented(sentence):
            kept.append(sentence)
    return clipped(" ".join(kept) if len(kept) != 1 else kept[0], limit, lines=True)


def _title(read: Read, facts: Sequence[str], known: Known) -> str:
    """Its title; one that names something made up gives way to its subtitle or a fact."""
    found = next(
        (t for t in (read.title, read.subtitle, *facts) if t and not known.invented(t)), ""
    )
    words = found.split()
    title = " ".join(words[:TITLE_WORDS])
    return clipped(title.rstrip(" ,;:.-") if len(words) > TITLE_WORDS else title, TITLE_CHARS)


def _files(read: Read, source: Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files that were changed and those that were read, as far as they occur."""
    said = _occurring(read.files_modified, source)
    modified = [path for path in said if _was_edited(path, source.edited)]
    looked = [*_occurring(read.files_read, source), *said]
    if source.whole:
        touched = [_relative(path, source.root) for path in used_paths(source.part)]
        edited = {_relative(path, source.root) for path in source.edited}
        modified += [path for path in touched if path in edited and path not in modified]
        looked += touched
    rest = [path for path in dict.fromkeys(looked) if path not in modified]
    return tuple(modified[:FILES]), tuple(rest[:FILES])


def _occurring(paths: Iterable[str], source: Source) -> list[str]:
    found = dict.fromkeys(_relative(path, source.root) for path in paths)
    return [path for path in found if path and source.known.has_path(path)]


def _relative(path: str, root: str) -> str:
    """A path relative to the project where it is inside."""
    plain = path.strip().strip("`\"'")
    inside = root.rstrip("/\\") + "/" if root else ""
    if inside and plain.startswith(inside):
        return plain[len(inside) :]
    return plain.removeprefix("./")


def _was_edited(path: str, edited: frozenset[str]) -> bool:
    """Edited by a tool, or named in a command that may have: that can't be told."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return any(one == path or one.endswith("/" + path) or name in one for one in edited)


def used_paths(part: Part) -> list[str]:
    """The files that tools were told to read or change, in order."""
    tools = [stored.event.tool for stored in part.events]
    given = [tool.input for tool in tools if tool and isinstance(tool.input, Mapping)]
    found = (one.get("file_path") or one.get("notebook_path") for one in given)
    return list(dict.fromkeys(path for path in found if isinstance(path, str) and path))


def edited_paths(part: Iterable[Part]) -> frozenset[str]:
    """What tools edited in these events, and the commands that ran."""
    found: set[str] = set()
    for stored in (stored for one in part for stored in one.events):
        tool = stored.event.tool
        used = tool.input if tool is not None and isinstance(tool.input, Mapping) else {}
        path = used.get("file_path") or used.get("path") or used.get("notebook_path")
        changes = EDITS & set(used) or stored.event.kind is EventKind.FILE_EDITED
        if isinstance(path, str) and changes:
            found.add(path)
        found.update(_commands(used))
    return frozenset(found)


def _commands(used: Mapping[str, object]) -> list[str]:
    command = used.get("command") or used.get("cmd") or used.get("script")
    return [command] if isinstance(command, str) else []


def summary(answer: Answer, source: Source, files: Sequence[Draft]) -> SummaryDraft | None:
    """The summary of a reply, without sentences that name something made up."""
    said: dict[str, Any] = {
        name: _told(text, source.known, SUMMARY_CHARS) for name, text in answer.summary.items()
    }
    if not any(text for name, text in said.items() if name != "notes"):
        return None
    edited = tuple(dict.fromkeys(path for draft in files for path in draft.files_modified))
    looked = dict.fromkeys(path for draft in files for path in draft.files_read)
    return SummaryDraft(
        **said, files_edited=edited, files_read=tuple(p for p in looked if p not in edited),
        prompt_number=source.prompt_number, model=source.model,
    )  # fmt: skip


def clipped(text: str, limit: int, *, lines: bool = False) -> str:
    """`text` within its limit, cut at a word."""
    text = text.strip() if lines else " ".join(text.split())
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    cut = max(head.rfind(" "), head.rfind("\n"))
    return (head[:cut] if cut > limit // 2 else head).rstrip(" ,;:(") + "…"
