"""What a person does to memories: edit, delete, pin, mark wrong, undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import browse, cards, correct, detail, fetch
from claude_mem_core.store.trash import TABLES
from claude_mem_core.types import DocKind
from claude_mem_core.worker.routes.browse import KEY, MEMORY, memory_key, shown_of
from claude_mem_core.worker.spec import (
    INT64,
    OBJECT,
    Call,
    Endpoint,
    Refused,
    Reply,
    array,
    record,
    string,
)

MOST = 1000
MOST_OF_LIST = 5000  # a larger change would hold up the writer for seconds
NO_FILTER = {"project": (), "type": (), "platformSource": None, "from": None, "to": None, "state": None}
Act = Callable[[apsw.Connection, DocKind, int, int], correct.Done]
ACTS: Mapping[str, Act] = {
    "delete": correct.delete,
    "pin": correct.pin,
    "unpin": correct.unpin,
    "wrong": correct.mark_wrong,
    "right": correct.mark_right,
}
FIELDS = {name for names in correct.FIELDS.values() for name in names}
NOT_HERE = "text from outside is pinned at a terminal only: mem pin {key}"


async def edit(call: Call) -> object:
    """Put new words in the place of old ones; `rev` says which words were seen.

    Another revision is a 409, with the memory as it is now.
    """
    kind, number = memory_key(call.params["key"])
    words = cleaned(call, {k: v for k, v in call.body.items() if k in FIELDS})
    rev, now = call.body.get("rev"), now_ms()
    try:
        done = await call.services.store.awrite(
            lambda conn: correct.edit(conn, kind, number, words, rev, now)
        )
    except correct.Changed as error:
        found = await call.services.store.aread(lambda conn: detail.detail(conn, kind, number))
        return Reply({"error": str(error), "memory": found}, 409)
    return told(call, [done])


def cleaned(call: Call, words: Mapping[str, Any]) -> dict[str, Any]:
    """New words pass the same door as all that is kept: tags and secrets go."""
    cleaner = call.services.cleaners.current(call.services.settings.current())
    return {
        name: [cleaner.text(part, "prompt") for part in value]
        if isinstance(value, list)
        else cleaner.text(value, "prompt")
        for name, value in words.items()
    }


def _acting(action: str) -> Callable[[Call], Any]:
    async def handler(call: Call) -> dict[str, Any]:
        """One change of one memory; `undo` of the answer takes it back."""
        return await _act(call, action, [call.params["key"]])

    return handler


async def bulk(call: Call) -> object:
    """The same change of several memories, all of them or none.

    They are named by `keys`, or by the `filter` of a list with the `count` that was seen:
    when it holds another number by now, that is a 409, and nothing is changed.
    """
    action, names, wanted = (call.body.get(name) for name in ("action", "keys", "filter"))
    if names is not None:
        return await _act(call, action, names)
    try:
        return await _all_of(call, action, wanted)
    except correct.Changed as error:
        return Reply({"error": str(error)}, 409)


async def _all_of(call: Call, action: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    now = now_ms()

    def write(conn: apsw.Connection) -> list[correct.Done]:
        keys = all_of(conn, call, wanted)
        if action == "pin" and not call.local:
            _only_from_inside(conn, keys)
        return [ACTS[action](conn, kind, number, now) for kind, number in keys]

    return told(call, await call.services.store.awrite(write))


def all_of(conn: apsw.Connection, call: Call, wanted: Mapping[str, Any]) -> list[cards.Key]:
    """Every memory of a filtered list, as many as the request says that were seen.

    Raises:
        InvalidInput: they are too many.
        Changed: they are more or fewer by now.
    """
    asked, count = attrs.evolve(call, params={**NO_FILTER, **wanted}), call.body.get("count")
    found, more = browse.page(conn, shown_of(conn, asked), MOST_OF_LIST)
    if more:
        raise InvalidInput(f"more than {MOST_OF_LIST:,} fit; narrow the filter")
    if count != len(found):
        raise correct.Changed(f"{len(found):,} fit by now; look at them again")
    return [(key.doc_kind, key.id) for key in found]


async def _act(call: Call, action: str, names: list[str]) -> dict[str, Any]:
    keys, now = [memory_key(name) for name in dict.fromkeys(names)], now_ms()

    def write(conn: apsw.Connection) -> list[correct.Done]:
        if action == "pin" and not call.local:
            _only_from_inside(conn, keys)
        return [ACTS[action](conn, kind, number, now) for kind, number in keys]

    return told(call, await call.services.store.awrite(write))


def _only_from_inside(conn: apsw.Connection, keys: list[cards.Key]) -> None:
    for kind, number in keys:
        sql = f"SELECT trust FROM {TABLES[kind]} WHERE id = ?"
        if fetch.value(conn, sql, number) == "foreign":
            raise Refused(403, NOT_HERE.format(key=cards.key_text(kind, number)))


async def merge(call: Call) -> object:
    """Make memories one: this one stays, the others are replaced by it; can be undone.

    409 when they are of two projects, or one of them does not hold any more.
    """
    number = int(call.params["key"])
    others = list(dict.fromkeys(int(name) for name in call.body["with"]))
    given = {name: call.body[name] for name in ("title", "narrative") if name in call.body}
    words, now = cleaned(call, given), now_ms()

    def write(conn: apsw.Connection) -> correct.Done:
        keys = [(DocKind.OBSERVATION, one) for one in (number, *others)]
        if not call.local and any(correct.pinned(conn, *key) for key in keys):
            _only_from_inside(conn, keys)  # what is made of them is pinned
        return correct.merge(conn, number, others, words, now)

    try:
        done = await call.services.store.awrite(write)
    except InvalidInput as error:
        return Reply({"error": str(error)}, 409)
    return told(call, [done])


async def undo(call: Call) -> object:
    """Take back the changes of these numbers, or the newest one; 409 under a newer change."""
    given, now = call.body.get("undo"), now_ms()
    numbers = [None] if given is None else sorted(given, reverse=True)

    def write(conn: apsw.Connection) -> list[correct.Done]:
        return [correct.undo(conn, number, now) for number in numbers]

    try:
        done = await call.services.store.awrite(write)
    except correct.Changed as error:
        return Reply({"error": str(error)}, 409)
    return told(call, done)


def told(call: Call, done: list[correct.Done]) -> dict[str, Any]:
    """The answer; search and every open page hear of it."""
    call.services.indexer.wake()
    changed = [
        {"key": cards.key_text(one.kind, one.id), "action": one.action, "rev": one.rev,
         "undo": one.undo}
        for one in done
    ]  # fmt: skip
    call.services.bus.publish("memory_changed", changed=changed)
    return {"success": True, "changed": changed}


TEXT = string(longest=1_000_000)
EDIT = record(
    {
        "rev": {"type": ["integer", "null"], "minimum": 0, "maximum": INT64},
        "type": string(longest=60, shortest=1),
        **{n: TEXT for n in FIELDS - {"type", "facts", "concepts"}},
        "facts": array(TEXT, 200), "concepts": array(string(longest=200), 100),
    },
    strict=True,
)  # fmt: skip
ANSWER = {200: record({"changed": {"type": "array"}}, "changed"), 404: OBJECT}
KEYS = {"type": "array", "minItems": 1, "maxItems": MOST,
        "items": {"type": "string", "pattern": MEMORY, "maxLength": 20}}  # fmt: skip
NUMBERS = {"type": ["array", "null"], "minItems": 1, "maxItems": MOST_OF_LIST,
           "items": {"type": "integer", "minimum": 1, "maximum": INT64}}  # fmt: skip


NUMBER = "^[0-9]{1,18}$"
OBSERVATION = attrs.evolve(KEY, schema={**KEY.schema, "pattern": NUMBER})
MERGE = record(
    {
        "with": {"type": "array", "minItems": 1, "maxItems": 50,
                 "items": {"type": "string", "pattern": NUMBER, "maxLength": 18}},
        "title": string(longest=1_000, shortest=1), "narrative": TEXT,
    },
    "with", strict=True,
)  # fmt: skip
NAMES = array(string(longest=4096), 100)
FILTER = record(
    {
        "project": NAMES, "type": NAMES, "platformSource": string(longest=200),
        "from": string(longest=40), "to": string(longest=40),
        "state": {"enum": ["pinned", "wrong", "replaced"]},
    },
    strict=True,
)  # fmt: skip
COUNT = {"type": "integer", "minimum": 0, "maximum": INT64}


def _one(action: str, summary: str) -> Endpoint:
    return Endpoint(
        "POST", f"/api/memories/{{key}}/{action}", _acting(action), summary, params=(KEY,),
        body=OBJECT, body_optional=True, answers=ANSWER, area="memory",
    )  # fmt: skip


ACTION = {"enum": list(ACTS)}
BULK = {
    "anyOf": [
        record({"keys": KEYS, "action": ACTION}, "keys", "action", strict=True),
        record(
            {"filter": FILTER, "count": COUNT, "action": ACTION}, "filter", "action", strict=True
        ),
    ]
}

ENDPOINTS = (
    Endpoint(
        "PATCH", "/api/memories/{key}", edit, "Edit a memory", params=(KEY,), body=EDIT,
        answers={**ANSWER, 409: OBJECT}, area="memory",
    ),
    Endpoint(
        "DELETE", "/api/memories/{key}", _acting("delete"),
        "Delete a memory; it can come back for 7 days", params=(KEY,), answers=ANSWER,
        area="memory",
    ),
    _one("pin", "Put a memory into every context of its project"),
    _one("unpin", "Unpin a memory"),
    _one("wrong", "Mark a memory wrong: nobody is given it any more"),
    _one("right", "Take the mark off again"),
    Endpoint(
        "POST", "/api/memories/{key}/merge", merge, "Make several memories one", params=(OBSERVATION,),
        body=MERGE, answers={**ANSWER, 409: OBJECT}, area="memory",
    ),
    Endpoint(
        "POST", "/api/memories/bulk", bulk, "Change several memories at once",
        body=BULK,
        answers={**ANSWER, 409: OBJECT}, area="memory",
    ),
    Endpoint(
        "POST", "/api/undo", undo, "Take changes back", body=record({"undo": NUMBERS}),
        body_optional=True, answers={**ANSWER, 409: OBJECT}, area="memory",
    ),
)  # fmt: skip
