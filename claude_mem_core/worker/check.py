"""Checks values against the few parts of JSON Schema that our endpoints declare."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from claude_mem_core.errors import InvalidInput
from claude_mem_core.worker.spec import Endpoint, Param, Schema

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
# Patterns that people meet at the command line, in words.
IDS = {
    "^#?[SsPp]?[0-9]{1,18}$": "be an id like 12, S3 or P4; `mem search WORDS` shows ids",
    "^[Ss]?[0-9]{1,18}$": "be an id like 12 or S3; `mem search WORDS` shows ids",
    "^[0-9]{1,18}$": "be a number like 12",
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


def check(value: Any, schema: Schema, name: str) -> None:
    """Raise InvalidInput, naming `name`, when `value` is not as `schema` says."""
    if "x-unchecked" in schema:
        return
    if "anyOf" in schema:
        _check_any(value, schema["anyOf"], name)
    kinds = schema.get("type")
    if kinds is not None and not _is_type(value, kinds):
        raise InvalidInput(f"{name} must be {_worded(kinds)}")
    if "enum" in schema and not _is_one_of(value, schema["enum"]):
        raise InvalidInput(f"{name} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str):
        _check_text(value, schema, name)
    elif isinstance(value, dict):
        _check_object(value, schema, name)
    elif isinstance(value, list):
        _check_list(value, schema, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(value, schema, name)


def _check_any(value: Any, schemas: Sequence[Schema], name: str) -> None:
    texts = []
    for schema in schemas:
        try:
            check(value, schema, name)
        except InvalidInput as error:
            texts.append(str(error))
        else:
            return
    raise InvalidInput(" or ".join(dict.fromkeys(texts)))


def _is_type(value: Any, kinds: str | Sequence[str]) -> bool:
    names = (kinds,) if isinstance(kinds, str) else kinds
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _TYPES[kind]) for kind in names)


def _is_one_of(value: Any, words: Sequence[Any]) -> bool:
    """JSON tells true from 1, Python does not."""
    return any(type(value) is type(word) and value == word for word in words)


def _worded(kinds: str | Sequence[str]) -> str:
    names = (kinds,) if isinstance(kinds, str) else kinds
    return " or ".join(f"{'an' if k[0] in 'aio' else 'a'} {k}" for k in names if k != "null")


def _check_text(value: str, schema: Schema, name: str) -> None:
    if len(value) < schema.get("minLength", 0):
        raise InvalidInput(f"{name} must not be empty")
    longest = schema.get("maxLength")
    if longest is not None and len(value) > longest:
        raise InvalidInput(f"{name} is longer than {longest} characters")
    pattern = schema.get("pattern")
    if pattern and not re.search(pattern, value):
        raise InvalidInput(f"{name} must {IDS.get(pattern, f'match {pattern}')}")


def _check_number(value: float, schema: Schema, name: str) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and value < low:
        raise InvalidInput(f"{name} must be at least {low}")
    if high is not None and value > high:
        raise InvalidInput(f"{name} must be at most {high}")


def _check_list(value: list[Any], schema: Schema, name: str) -> None:
    if len(value) > schema.get("maxItems", len(value)):
        raise InvalidInput(f"{name} holds more than {schema['maxItems']} items")
    if len(value) < schema.get("minItems", 0):
        raise InvalidInput(f"{name} must not be empty")
    items = schema.get("items")
    for item in value if items else ():
        check(item, items or {}, f"each of {name}")


def _check_object(value: dict[str, Any], schema: Schema, name: str) -> None:
    where = "" if name == "the body" else f"{name}."
    for key in schema.get("required", ()):
        if key not in value:
            raise InvalidInput(f"{where}{key} is missing")
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        for key in value:
            if key not in known:
                raise InvalidInput(f"{where}{key[:60]} is not known here")
    for key, part in known.items():
        if key in value:
            check(value[key], part, f"{where}{key}")


def parameters(
    endpoint: Endpoint, query: bytes, path: Mapping[str, str]
) -> dict[str, Any]:
    """Every declared parameter, converted and checked; unknown ones are left out.

    Raises:
        InvalidInput: one is missing, given twice, or not as declared.
    """
    given = _given(query)
    return {param.name: _one(param, given, path) for param in endpoint.params}


def _given(query: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    try:
        text = query.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError as error:
        raise InvalidInput("the query string is not valid UTF-8, or too long") from error
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _one(param: Param, given: Mapping[str, list[str]], path: Mapping[str, str]) -> Any:
    values = [path[param.name]] if param.where == "path" else given.get(param.name, [])
    if not values:
        if param.required:
            raise InvalidInput(f"{param.name} is missing")
        return param.default
    if param.schema["type"] == "array":
        check(values, param.schema, param.name)
        return tuple(values)
    if len(values) > 1:
        raise InvalidInput(f"{param.name} is given more than once")
    return _converted(param, values[0])


def _converted(param: Param, raw: str) -> Any:
    if param.schema["type"] == "integer":
        if not _NUMBER.fullmatch(raw):
            raise InvalidInput(f"{param.name} must be a whole number")
        number = int(raw)
        check(number, param.schema, param.name)
        return number
    check(raw, param.schema, param.name)
    if param.schema.get("x-csv"):
        return tuple(part.strip() for part in raw.split(",") if part.strip())
    return raw in {"true", "1"} if isinstance(param.default, bool) else raw
