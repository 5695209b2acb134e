"""Tools that change memories: for clients that the user has allowed, and undone by him.

What an agent does may be what a web page told it to do. So it changes nothing that the
user wrote himself and no words that every session is given, what it edits is `foreign`
afterwards, text from outside is pinned at a terminal only, and each answer names the
command that takes the change back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.mcp.asker import Asker, Scope
from claude_mem_core.mcp.ids import strings
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall.records import parse_key
from claude_mem_core.store import cards, correct, fetch, personal, projects
from claude_mem_core.store.trash import TABLES, missing
from claude_mem_core.types import DocKind, Trust
from claude_mem_core.worker.refusal import Refused
from claude_mem_core.worker.routes import correct as routes

MOST = 50
LONGEST = 65_536
Arguments = Mapping[str, Any]
Key = tuple[DocKind, int]
STANDING = (
    "#{name} is given to every session, so its words are changed at a terminal only:"
    " `mem edit {name}`, or `mem {undo} {name}` first"
)
ABOUT = "SELECT project_id, trust FROM {table} WHERE id = ?"


async def edit_memory(asker: Asker, arguments: Arguments) -> str:
    """New words in the place of a memory's."""
    (key,) = await _allowed(asker, arguments, "id", own=False)
    await _no_standing(asker, [key])
    names = {"title": "title", "text": "narrative"}
    words = {to: arguments[name] for name, to in names.items() if arguments.get(name)}
    if isinstance(arguments.get("facts"), list):
        words["facts"] = [str(fact) for fact in arguments["facts"]][:100]
    if not words or any(isinstance(w, str) and len(w) > LONGEST for w in words.values()):
        raise InvalidInput("say what is to be new, title, text or facts, of at most 64 KB each")
    clean, now = routes.cleaned(asker.call, words), now_ms()
    done = await asker.call.services.store.awrite(
        lambda conn: correct.edit(conn, *key, clean, None, now, trust=Trust.FOREIGN.value)
    )
    return _said(routes.told(asker.call, [done]))


async def delete_memories(asker: Asker, arguments: Arguments) -> str:
    """Out of everything; the user can bring them back for a week."""
    keys = await _allowed(asker, arguments, "ids", own=False)
    return _said(await _bulk(asker, "delete", keys))


async def pin_memories(asker: Asker, arguments: Arguments) -> str:
    """Into every context of its project, or out of it again."""
    action = "unpin" if arguments.get("unpin") is True else "pin"
    keys = await _allowed(asker, arguments, "ids", own=True)
    # As if it came over the network: text from outside is pinned at a terminal only.
    outside = attrs.evolve(asker, call=attrs.evolve(asker.call, local=False))
    return _said(await _bulk(outside, action, keys))


async def mark_wrong(asker: Asker, arguments: Arguments) -> str:
    """It does not hold: nobody is given it any more."""
    keys = await _allowed(asker, arguments, "ids", own=False)
    return _said(await _bulk(asker, "wrong", keys))


async def merge_memories(asker: Asker, arguments: Arguments) -> str:
    """The first says all, the others are replaced by it."""
    keys = await _allowed(asker, arguments, "ids", own=False)
    if len(keys) < 2 or any(kind is not DocKind.OBSERVATION for kind, _ in keys):
        raise InvalidInput("ids of two or more observations are needed; the first one stays")
    await _no_standing(asker, keys)
    body: dict[str, Any] = {"with": [str(number) for _, number in keys[1:]]}
    if isinstance(arguments.get("title"), str) and arguments["title"].strip():
        body["title"] = arguments["title"][:1_000]
    call = attrs.evolve(asker.call, params={"key": str(keys[0][1])}, body=body)
    return _said(await routes.merge(call))


# The pieces ----------------------------------------------------------------------------------


async def _allowed(asker: Asker, arguments: Arguments, name: str, *, own: bool) -> list[Key]:
    """The memories that are named, each one that this client may change.

    `own`: also what the user wrote himself.

    Raises:
        InvalidInput: the client may not write, or not this one.
        NotFound: there is none of that id, or it is not open to this client.
    """
    if not asker.may_write:
        raise InvalidInput(
            "this changes a memory, which the user has to allow:"
            f" `mem mcp allow {asker.client} --write`"
        )
    keys = [parse_key(text) for text in strings(arguments.get(name), name)][:MOST]
    if name == "id" and len(keys) != 1:
        raise InvalidInput("id is one memory: 12, or S3")
    if any(kind is DocKind.PROMPT for kind, _ in keys):
        raise InvalidInput("prompts can't be changed; `mem forget` is for the user")
    named = str(arguments.get("project") or "")
    await asker.call.services.store.aread(
        lambda conn: _check(conn, keys, asker.scope(conn, named), own=own)
    )
    return keys


def _check(conn: apsw.Connection, keys: Sequence[Key], scope: Scope, *, own: bool) -> None:
    among = None if scope.project is None else projects.find(conn, scope.project)
    for kind, number in keys:
        row = fetch.row(conn, ABOUT.format(table=TABLES[kind]), number)
        if row is None or (among is not None and row[0] not in among):
            raise missing(kind, number)
        if row[1] == "user" and not own:
            name = cards.key_text(kind, number)
            raise InvalidInput(
                f"#{name} is the user's own word, changed at a terminal only: `mem edit {name}`"
            )


async def _no_standing(asker: Asker, keys: Sequence[Key]) -> None:
    """Refuse new words for what every session is given, pinned or personal."""

    def check(conn: apsw.Connection) -> None:
        mine = personal.ids(conn)
        for kind, number in keys:
            name = cards.key_text(kind, number)
            if correct.pinned(conn, kind, number):
                raise InvalidInput(STANDING.format(name=name, undo="unpin"))
            if kind is DocKind.OBSERVATION and number in mine:
                raise InvalidInput(STANDING.format(name=name, undo="demote"))

    await asker.call.services.store.aread(check)


async def _bulk(asker: Asker, action: str, keys: Sequence[Key]) -> Any:
    body = {"action": action, "keys": [cards.key_text(*key) for key in keys]}
    try:
        return await routes.bulk(attrs.evolve(asker.call, body=body, params={}))
    except Refused as error:
        raise InvalidInput(str(error)) from None


def _said(answer: Any) -> str:
    """What was done, and how the user takes it back."""
    found = getattr(answer, "value", answer)
    if "changed" not in found:
        raise NotFound(str(found.get("error", "it could not be done")))
    lines = [
        f"#{one['key']}: {one['action']} done; the user can take it back: mem undo {one['undo']}"
        for one in found["changed"]
    ]
    return "\n".join(lines)
