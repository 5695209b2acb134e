"""Edits of JSON: what is not ours stays byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_core.editing import Json
from claude_mem_core.editing.jsontext import parse
from claude_mem_core.errors import HostConfigError

OURS = {"x": [1, {"y": "z"}]}

GOLDEN = [
    ("{}\n", '{\n  "new": 1\n}\n'),
    ("{}", '{\n  "new": 1\n}'),
    ('{"a": 1}', '{"a": 1, "new": 1}'),
    ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "new": 1\n}\n'),
    ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"new": 1\n}'),
    ('{\r\n    "a": 1\r\n}\r\n', '{\r\n    "a": 1,\r\n    "new": 1\r\n}\r\n'),
    ('{\n  "a": 1 // why\n}', '{\n  "a": 1, // why\n  "new": 1\n}'),
    ('{\n  "a": 1, // why\n}', '{\n  "a": 1, // why\n  "new": 1,\n}'),
    ('{\n  "a": 1\n  /* end */\n}', '{\n  "a": 1,\n  /* end */\n  "new": 1\n}'),
    ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "new": 1\n}'),
    ('\ufeff{\n  "a": "ü\\u2028"\n}', '\ufeff{\n  "a": "ü\\u2028",\n  "new": 1\n}'),
]


@pytest.mark.parametrize(("before", "after"), GOLDEN)
def test_a_member_is_added_in_the_files_own_manner(before: str, after: str) -> None:
    doc = Json(before, "f")
    doc.add((doc.root, [("new", 1)]))
    assert doc.text == after
    doc.remove((doc.root, [len(doc.root.items) - 1]))
    assert doc.text == before


def test_removal_in_the_middle_takes_only_its_line() -> None:
    doc = Json('{\n  "a": 1, // one\n  "b": 2, // two\n  "c": 3\n}', "f")
    doc.remove((doc.root, [1]))
    assert doc.text == '{\n  "a": 1, // one // two\n  "c": 3\n}'


@pytest.mark.parametrize("places", [[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
def test_any_elements_can_go(places: list[int]) -> None:
    doc = Json('{"l": [1, [2], "x,]"]}', "f")
    left = [v for i, v in enumerate([1, [2], "x,]"]) if i not in places]
    doc.remove((doc.root.items[0], places))
    assert json.loads(doc.text) == {"l": left}


def test_of_repeated_names_the_last_counts() -> None:
    doc = Json('{"a": {"x": 1}, "a": {"y": 2}}', "f")
    node = doc.find("a")
    assert node is not None
    assert doc.value(node) == {"y": 2}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("{", 1, 2),
        ('{\n  "a" 1}', 2, 7),
        ("{'a': 1}", 1, 2),
        ('{"a": tru}', 1, 7),
        ('{"a": 1} x', 1, 10),
        ('{"a": "b\nc"}', 1, 9),
        ('{"a": 01}', 1, 8),
        ('{"a": [1 2]}', 1, 10),
        ("{/* x }", 1, 2),
        ("\ufeff\n[", 2, 2),
        ('{"a":' + "[" * 300, 1, 205),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(HostConfigError, match=rf"^f\.json, line {line}, column {column}: "):
        parse(text, "f.json")


def test_reading_takes_time_in_proportion_to_the_text() -> None:
    import time

    def seconds(text: str) -> float:
        start = time.perf_counter()
        parse(text, "f")
        return time.perf_counter() - start

    for piece in ("/**/ ", "// x\n", "\n\t "):
        small, large = piece * 10_000 + "{}", piece * 80_000 + "{}"
        assert seconds(large) < 0.5 + 40 * seconds(small)


SPACE = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n    ", " // c\n", "/* c */"])
WORDS = st.text(max_size=8)


def _written(draw: st.DrawFn, value: object) -> str:
    """The value as somebody might have written it."""

    def gap() -> str:
        return draw(SPACE)

    if isinstance(value, dict | list):
        pairs = (
            [f"{json.dumps(k)}{gap()}:{gap()}{_written(draw, v)}" for k, v in value.items()]
            if isinstance(value, dict)
            else [_written(draw, v) for v in value]
        )
        inner = ",".join(f"{gap()}{pair}{gap()}" for pair in pairs)
        tail = draw(st.sampled_from(["", ","])) + gap() if pairs else gap()
        brackets = "{}" if isinstance(value, dict) else "[]"
        return brackets[0] + inner + tail + brackets[1]
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    value = draw(st.dictionaries(WORDS, VALUES, max_size=4))
    text = draw(SPACE) + _written(draw, value) + draw(SPACE)
    return draw(st.sampled_from(["", "\ufeff"])) + text, value


@given(files())
def test_reading_gives_the_value(file: tuple[str, dict[str, object]]) -> None:
    text, value = file
    doc = Json(text, "f")
    assert doc.value(doc.root) == value


@given(files(), st.integers(1, 3))
def test_adding_and_removing_is_the_identity(
    file: tuple[str, dict[str, object]], count: int
) -> None:
    text, value = file
    doc = Json(text, "f")
    had = len(doc.root.items)
    doc.add((doc.root, [(f"ours-{i}", OURS) for i in range(count)]))
    assert doc.value(doc.root) == {**value, **{f"ours-{i}": OURS for i in range(count)}}
    doc.remove((doc.root, range(had, had + count)))
    # An empty object may come back without the one line end that we would have added.
    assert doc.text == text or (
        not value and "".join(doc.text.split()) == "".join(text.split())
    )
