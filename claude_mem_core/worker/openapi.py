"""The OpenAPI document, made from what the endpoints declare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from claude_mem_core import __version__
from claude_mem_core.worker.routes import all_endpoints
from claude_mem_core.worker.spec import ERROR, Endpoint, Param, Right, Schema, record

MEANING = {
    200: "done",
    400: "the request is not as declared; the text names what is wrong",
    401: "no proof: the install token, or a session of `mem open`, is needed",
    403: "a request of another page, or a session that may not do this",
    404: "there is no such record",
    408: "the body did not come in time",
    409: "it was changed in the meantime; the answer has it as it is now",
    413: "the body is too large",
    415: "the body is not declared as JSON",
    421: "the Host header names another server",
    503: "the worker is starting or stopping, or the store can't be used",
}
ALWAYS = (400, 401, 403, 413, 415, 421, 503)
HEALTH = record({"status": {"type": "string"}}, "status")


@cache
def document() -> dict[str, Any]:
    """The whole document. The same for the life of the process."""
    paths: dict[str, dict[str, Any]] = {"/api/health": {"get": _health()}}
    for endpoint in filter(lambda e: e.listed, all_endpoints()):
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "claude-mem worker",
            "version": __version__,
            "description": "The local API. It answers this machine only.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": dict(ERROR)},
        },
        "security": [{"token": []}],
    }


def _health() -> dict[str, Any]:
    return {
        "operationId": "get_api_health",
        "summary": "Whether the worker answers",
        "tags": ["health"],
        "security": [],
        "responses": {"200": _answer(200, HEALTH)} | _errors(()),
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": _name(endpoint),
        "summary": endpoint.summary,
        "tags": [endpoint.area],
        "parameters": [_parameter(param) for param in _shown(endpoint)],
        "responses": _responses(endpoint),
    }
    if endpoint.right is Right.NONE:
        made["security"] = []
    if endpoint.body is not None:
        made["requestBody"] = {
            "required": not endpoint.body_optional,
            "content": {"application/json": {"schema": plain(endpoint.body)}},
        }
    return made


def _name(endpoint: Endpoint) -> str:
    words = re.sub(r"[^a-zA-Z0-9]+", "_", endpoint.path).strip("_")
    return f"{endpoint.method.lower()}_{words}"


def _shown(endpoint: Endpoint) -> list[Param]:
    hidden = {name for param in endpoint.params for name in param.instead}
    return [param for param in endpoint.params if param.name not in hidden]


def _parameter(param: Param) -> dict[str, Any]:
    schema = plain(param.schema)
    if param.default not in (None, (), False) and param.where == "query":
        schema["default"] = param.default
    made = {
        "name": param.name,
        "in": param.where,
        "required": param.required or bool(param.instead),
        "schema": schema,
    }
    return {**made, "description": param.help} if param.help else made


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    good = _answer(200, endpoint.answers[200], endpoint.media)
    return {"200": good} | _errors(endpoint.answers)


def _errors(answers: Iterable[int]) -> dict[str, Any]:
    statuses = sorted({*ALWAYS, *answers} - {200})
    return {str(status): _answer(status, ERROR) for status in statuses}


def _answer(status: int, schema: Schema, media: str = "application/json") -> dict[str, Any]:
    is_error = status != 200
    shown = {"$ref": "#/components/schemas/Error"} if is_error else plain(schema)
    kind = "application/json" if is_error else media
    content = {"application/json": {"schema": shown}}
    if kind != "application/json":  # with `format=json` it is JSON all the same
        content[kind] = {"schema": {"type": "string"}}
    return {"description": MEANING.get(status, "an error"), "content": content}


def plain(schema: Schema) -> dict[str, Any]:
    """A schema without our own marks."""
    return {
        key: _plain_value(value) for key, value in schema.items() if not key.startswith("x-")
    }


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value
