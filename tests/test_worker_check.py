"""Requests against their declarations."""

from __future__ import annotations

from typing import Any

import pytest

from claude_mem_core.errors import InvalidInput
from claude_mem_core.worker import spec
from claude_mem_core.worker.body import storable
from claude_mem_core.worker.check import check, parameters
from claude_mem_core.worker.routes.browse import MEMORY
from claude_mem_core.worker.routes.correct import NUMBER
from claude_mem_core.worker.spec import KEY, Endpoint


async def nothing(_: spec.Call) -> object:
    return None


WANTED = Endpoint(
    "GET", "/x/{id}", nothing, "",
    params=(
        spec.row_id(), spec.text("q", longest=5), spec.limit(), spec.offset(),
        spec.choice("order", "up", "down", default="up"), spec.flag("deep"),
        spec.words("tags"), spec.texts("path"),
    ),
)  # fmt: skip


def given(query: bytes, number: str = "7") -> dict[str, Any]:
    return parameters(WANTED, query, {"id": number})


def test_defaults_are_filled_in() -> None:
    assert given(b"") == {
        "id": 7, "q": None, "limit": 20, "offset": 0, "order": "up", "deep": False,
        "tags": (), "path": (),
    }  # fmt: skip


def test_values_are_converted() -> None:
    found = given(b"q=%E6%97%A5&limit=999999999&deep=1&tags=a,+b,,c&path=x&path=y&other=1")
    assert found["q"] == "日"
    assert found["limit"] == 999_999_999
    assert found["deep"] is True
    assert found["tags"] == ("a", "b", "c")
    assert found["path"] == ("x", "y")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (b"limit=0", "limit"), (b"limit=", "limit"), (b"limit=x", "limit"),
        (b"limit=1e3", "limit"), (b"limit=+5", "limit"), (b"limit=05", "limit"),
        (b"limit=99999999999999999999", "limit"), (b"offset=-5", "offset"),
        (b"limit=1&limit=2", "limit"), (b"q=abcdef", "q"), (b"order=left", "order"),
        (b"deep=yes", "deep"), (b"q=%ff", "query string"), (b"\xff", "query string"),
        (b"&".join([b"a=1"] * 300), "query string"), (b"limit=9223372036854775808", "limit"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(query: bytes, names: str) -> None:
    with pytest.raises(InvalidInput, match=names):
        given(query)


@pytest.mark.parametrize("number", ["0", "-1", "01", "+1", " 1", "1.0", "x", "9" * 40])
def test_odd_ids_are_refused(number: str) -> None:
    with pytest.raises(InvalidInput, match="id"):
        given(b"", number)


BODY = spec.record(
    {
        "text": spec.string(longest=10, shortest=1),
        "n": {"type": ["integer", "null"], "minimum": 1, "maximum": 5},
        "yes": {"type": "boolean"},
        "list": spec.array({"type": "string"}, most=2),
        "inner": spec.record({"a": {"type": "integer"}}, "a"),
        "ids": {"anyOf": [{"type": "array"}, {"type": "string", "pattern": "^[0-9,]+$"}]},
    },
    "text",
    strict=True,
)


@pytest.mark.parametrize(
    "value",
    [
        {"text": "a"}, {"text": "a", "n": None}, {"text": "a", "n": 5}, {"text": "a", "n": 2.0},
        {"text": "a", "yes": False, "list": ["x"], "inner": {"a": 1, "b": 2}},
        {"text": "a", "ids": [1]}, {"text": "a", "ids": "1,2"},
    ],
)  # fmt: skip
def test_good_bodies_pass(value: Any) -> None:
    check(value, BODY, "the body")


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ([], "the body must be an object"), (None, "the body must be an object"),
        ({}, "text is missing"), ({"text": ""}, "text must not be empty"),
        ({"text": "a" * 11}, "text is longer"), ({"text": 1}, "text must be a string"),
        ({"text": "a", "n": True}, "n must be an integer"), ({"text": "a", "n": 6}, "n must"),
        ({"text": "a", "n": 1.5}, "n must be an integer"), ({"text": "a", "yes": 1}, "yes"),
        ({"text": "a", "list": ["x"] * 3}, "list holds more"),
        ({"text": "a", "list": [1]}, "each of list"), ({"text": "a", "inner": {}}, "inner.a"),
        ({"text": "a", "other": 1}, "other is not known"), ({"text": "a", "ids": {}}, "ids"),
        ({"text": "a", "ids": "x"}, "ids must match"),
    ],
)  # fmt: skip
def test_bad_bodies_are_named(value: Any, names: str) -> None:
    with pytest.raises(InvalidInput, match=names):
        check(value, BODY, "the body")


@pytest.mark.parametrize("pattern", [f"^{KEY}$", MEMORY, NUMBER])
def test_an_id_that_is_none_is_answered_in_words(pattern: str) -> None:
    with pytest.raises(InvalidInput, match=r"^id must be an? (id|number) like 12") as told:
        check("foo", {"type": "string", "pattern": pattern}, "id")
    assert "[0-9]" not in str(told.value)


def test_what_no_column_takes_is_replaced() -> None:
    odd = {"a\x00": ["\ud800x", {"b": "ok \U0001f600", "n": 1, "none": None}]}
    assert storable(odd) == {
        "a\ufffd": ["\ufffdx", {"b": "ok \U0001f600", "n": 1, "none": None}]
    }
