"""What an endpoint declares: parameters, body and answers.

The declaration is all there is: requests are checked against it before the handler
runs, and the OpenAPI document is made from it. A routes module holds

    async def by_file(call: Call) -> object: ...

    ENDPOINTS = (
        Endpoint(
            "GET", "/api/observations/by-file", by_file, "Memories of a file",
            params=(text("path", required=True), integer("limit", default=20, low=1)),
            answers={200: OBJECT},
        ),
    )

A handler returns a JSON value, or a `Reply` when the status is not 200, or a Starlette
response. It raises `Refused`, or one of our errors: InvalidInput and UsageError become
400, NotFound 404, StoreError 503.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.worker.refusal import Refused as Refused  # noqa: PLC0414 - for routes
from claude_mem_core.worker.refusal import Right as Right  # noqa: PLC0414 - for routes

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services
    from claude_mem_core.worker.state import WorkerState

Schema = Mapping[str, Any]

INT64 = 9_223_372_036_854_775_807
LONGEST = 4096  # characters of a query parameter

ANY: Schema = {}
OBJECT: Schema = {"type": "object"}
ERROR: Schema = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
}


@attrs.frozen
class Param:
    """One parameter in the query or the path.

    Attributes:
        instead: names of parameters that may be given in its place, which a document
            can't say: it is shown as required there, and they are not shown.
    """

    name: str
    schema: Schema
    required: bool = False
    default: Any = None
    help: str = ""
    where: str = "query"
    instead: tuple[str, ...] = ()


@attrs.frozen
class Call:
    """One checked request.

    Attributes:
        services: the parts of the running worker.
        worker: the process itself: uptime, ports, streams.
        params: every declared parameter by name; defaults filled in.
        body: the checked JSON body; None when there was none.
        right: what the caller has proved.
        local: whether it came over the socket.
        number: of the request, in the worker's table of waiting ones.
    """

    services: Services
    worker: WorkerState
    params: Mapping[str, Any]
    body: Any = None
    right: Right = Right.FULL
    local: bool = True
    number: int = 0


@attrs.frozen
class Reply:
    """A JSON answer with a status of its own."""

    value: Any
    status: int = 200


Handler = Callable[[Call], Awaitable[object]]


@attrs.frozen
class Endpoint:
    """One method of one path.

    Attributes:
        body: JSON Schema of the body; None when the endpoint takes none.
        body_optional: whether an empty body is as good as `{}`.
        answers: JSON Schema of each status it answers itself; errors are added.
        right: what a caller on TCP has to prove.
        media: content type of the 200 answer in the document.
        listed: whether the OpenAPI document shows it: not what ends the worker, and not
            what never ends itself.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    params: tuple[Param, ...] = ()
    body: Schema | None = None
    body_optional: bool = False
    answers: Mapping[int, Schema] = attrs.field(factory=lambda: {200: OBJECT})
    right: Right = Right.SESSION
    media: str = "application/json"
    area: str = "data"
    listed: bool = True


def text(
    name: str, *, required: bool = False, default: str | None = None, longest: int = LONGEST,
    shortest: int = 0, pattern: str = "", help: str = "",
) -> Param:  # fmt: skip
    """A parameter of free text."""
    schema: dict[str, Any] = {"type": "string", "maxLength": longest}
    if pattern:
        schema["pattern"] = pattern
    if shortest:
        schema["minLength"] = shortest
    return Param(name, schema, required, default, help)


def one_of(first: Param, *others: Param) -> tuple[Param, ...]:
    """Parameters of which the handler needs one; the first is the one to be told of."""
    names = tuple(param.name for param in others)
    words = f"{first.help}; or {', '.join(names)} instead".removeprefix("; or ")
    schema = {**first.schema, "minLength": 1, "pattern": r"\S"}
    return attrs.evolve(first, schema=schema, help=words, instead=names), *others


def integer(
    name: str, *, default: int | None = None, low: int = 0, high: int = INT64,
    required: bool = False, help: str = "",
) -> Param:
    """A whole number; outside its bounds is a 400."""
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Param(name, schema, required, default, help)


# Days that every calendar has, and those of the longer months; no leap days, which no
# pattern can tell: the handlers take them all the same.
_DAY = (
    "(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31"
)
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,6})?)?"
DATE = (
    f"(197[1-9]|19[89][0-9]|2[0-9]{{3}})-({_DAY})"
    f"([T ]{_CLOCK}(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?)?"
)


KEY = "#?[SsPp]?[0-9]{1,18}"  # of a record: 12, S3 or P4


def moment(name: str, *, help: str = "") -> Param:
    """A day, an ISO time, or milliseconds; the handler gets the text and reads it."""
    pattern = f"^({DATE}|[0-9]{{9,15}})?$"
    schema = {"type": "string", "pattern": pattern, "x-unchecked": True}
    words = "YYYY-MM-DD, an ISO time, or milliseconds"
    return Param(name, schema, False, None, help or words)


def choice(name: str, *words: str, default: str | None = None, help: str = "") -> Param:
    """One of a few words."""
    return Param(name, {"type": "string", "enum": list(words)}, False, default, help)


def flag(name: str, *, default: bool = False, help: str = "") -> Param:
    """`true`, `false`, `1` or `0`; the handler gets a bool."""
    schema = {"type": "string", "enum": ["true", "false", "1", "0"]}
    return Param(name, schema, False, default, help)


def words(name: str, *, help: str = "") -> Param:
    """A list separated by commas; the handler gets a tuple, empty by default."""
    return Param(name, {"type": "string", "maxLength": LONGEST, "x-csv": True}, False, (), help)


def texts(name: str, *, required: bool = False, help: str = "") -> Param:
    """A parameter that may be given several times; the handler gets a tuple."""
    schema = {"type": "array", "items": {"type": "string", "maxLength": 4096}, "maxItems": 100}
    if required:
        schema["minItems"] = 1
    return Param(name, schema, required, (), help)


def row_id(name: str = "id") -> Param:
    """The id of a row, in the path: a decimal without sign or leading zero."""
    schema = {"type": "integer", "minimum": 1, "maximum": INT64}
    return Param(name, schema, True, None, "row id", "path")


def limit(default: int = 20, most: int = 100) -> Param:
    """Page size. More than `most` counts as `most`, as documented."""
    return integer("limit", default=default, low=1, help=f"at most {most} are given")


def offset() -> Param:
    """How many records to pass over."""
    return integer("offset", default=0, help="records to pass over")


def project() -> Param:
    """Label or id of a project."""
    return text("project", longest=4096, help="label or id of a project")


DEFAULT_HOST = "claude-code"
HOST_NAMES = {"": DEFAULT_HOST, "claude": DEFAULT_HOST}  # as older clients call it


def host_name(given: str | None) -> str:
    """The host that a client means by `platformSource`."""
    name = (given or "").strip().lower()[:100]
    return HOST_NAMES.get(name, name)


def host_filter(call: Call) -> str | None:
    """The host that the `platformSource` parameter asks for; None for all of them."""
    given = call.params.get("platformSource")
    return host_name(given) if given else None


def platform() -> Param:
    """The host that the records come from."""
    return text("platformSource", longest=200, help="name of the host")


def record(properties: Mapping[str, Schema], *required: str, strict: bool = False) -> Schema:
    """An object schema."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    if strict:
        schema["additionalProperties"] = False
    return schema


def string(longest: int = 1_000_000, shortest: int = 0) -> Schema:
    """A string schema."""
    schema: dict[str, Any] = {"type": "string", "maxLength": longest}
    return {**schema, "minLength": shortest} if shortest else schema


def array(items: Schema, most: int = 10_000) -> Schema:
    """A list schema."""
    return {"type": "array", "items": items, "maxItems": most}
