"""Whatever a host sends: no error, good form, no invented file, linear time."""

from __future__ import annotations

import json
import time
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.observer import commands, deltas, noise, shell, speech, titles
from claude_mem_core.observer.builtin import observe
from claude_mem_core.types import Batch, Event, EventKind, StoredEvent, ToolUse, Trust
from tests.observer_kit import ROOT, Session

NAMES = st.sampled_from(
    [
        "Bash",
        "Read",
        "Edit",
        "MultiEdit",
        "Write",
        "Grep",
        "Glob",
        "Agent",
        "Task",
        "WebFetch",
        "TodoWrite",
        "mcp__x__y",
        "ReadFile",
        "apply_patch",
        "Strange",
    ]
)
PATHS = st.sampled_from(
    [f"{ROOT}/src/a.py", "src/b.ts", "/etc/hosts", "../up.txt", "", "src\\win.c", "C:/x/y.z"]
)
COMMANDS = st.sampled_from(
    ["pytest -q", "git checkout src/a.py", "cat > src/n.py <<'E'\nx = 1\nE", "rm src/b.ts",
     "git stash && git stash pop", "psql -c 'select 1'", "curl -w '%{http_code}' http://x/y",
     "mv src/a.py src/c.py", "git commit -am 'say it'", "for i in 1 2; do", "'", "a | b > c"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        ["2 failed, 1 passed in 0.1s", "E   AssertionError: assert 1 == 2", "no, never do that",
         "The cause was x_y in src/a.py because of 17 ms.", "a | b\n1 | 2", "HTTP/1.1 200 OK",
         "Decision: keep `foo_bar`.", "まだ遅いです。原因は索引です。", "\x00\ud800 \x1b[31mred"]
    ),
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
INPUTS = st.one_of(
    JSON,
    st.fixed_dictionaries({"command": COMMANDS | TEXTS}),
    st.fixed_dictionaries({"file_path": PATHS, "old_string": TEXTS, "new_string": TEXTS}),
    st.fixed_dictionaries({"file_path": PATHS, "content": TEXTS}),
    st.fixed_dictionaries({"path": PATHS, "edits": JSON}),
    st.fixed_dictionaries({"pattern": TEXTS, "path": PATHS}),
)
OUTPUTS = st.one_of(
    JSON,
    st.fixed_dictionaries({"stdout": TEXTS, "stderr": TEXTS}),
    st.fixed_dictionaries({"originalFile": st.none() | TEXTS, "type": st.just("create")}),
    st.fixed_dictionaries({"file": st.fixed_dictionaries({"content": TEXTS})}),
)
KINDS = st.sampled_from(list(EventKind))


@st.composite
def events(draw: Any) -> Event:
    has_tool = draw(st.booleans())
    tool = ToolUse(
        name=draw(NAMES), input=draw(INPUTS), output=draw(OUTPUTS),
        error=draw(st.none() | TEXTS), is_interrupt=draw(st.booleans()),
    )  # fmt: skip
    return Event(
        kind=draw(KINDS), host="h", session_id="s", cwd=draw(st.sampled_from([ROOT, "", "/tmp/x"])),
        prompt=draw(st.none() | TEXTS), answer=draw(st.none() | TEXTS),
        error=draw(st.none() | TEXTS), tool=tool if has_tool else None,
        agent_id=draw(st.sampled_from([None, "a1"])), agent_type=draw(st.sampled_from([None, "E"])),
    )  # fmt: skip


@st.composite
def turns(draw: Any) -> Batch:
    made = draw(st.lists(events(), max_size=12))
    stored = tuple(
        StoredEvent(id=i, event=e, prompt_number=1, trust=draw(st.sampled_from(list(Trust))))
        for i, e in enumerate(made, start=1)
    )
    return Batch(
        session_db_id=1, project="p", events=stored, root=draw(st.sampled_from([ROOT, ""])),
        finished=draw(st.booleans()),
    )  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(turns())
def test_any_turn_is_observed(batch: Batch) -> None:
    observed = observe(batch)
    assert repr(observe(batch)) == repr(observed)
    ids = {e.id for e in batch.events}
    seen = _seen(batch)
    for draft in observed.observations:
        assert draft.title
        assert len(draft.title.split()) <= 12
        assert not titles.TOOLS.match(draft.title)
        assert len(draft.facts) <= 12
        assert set(draft.events) <= ids
        for path in (*draft.files_read, *draft.files_modified):
            assert path.rstrip("/").rsplit("/", 1)[-1] in seen
    assert {s.event_id for s in observed.skipped} <= ids
    assert (observed.summary is None) or batch.finished


def _seen(batch: Batch) -> str:
    """Every text of the events, with slashes as we write them."""
    return "\n".join(_texts(attrs.asdict(e.event, recurse=True)) for e in batch.events).replace(
        "\\", "/"
    )


def _texts(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(map(_texts, [*value.keys(), *value.values()]))
    if isinstance(value, list | tuple):
        return "\n".join(map(_texts, value))
    return str(value)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    shell.parse(text)
    commands.job(text)
    noise.telling(text)
    speech.sorted_out(text)
    deltas.name_of(text)
    assert len(titles.trimmed(text).split()) <= 12


@pytest.mark.parametrize(
    "text",
    ["'" * 40_000, "$(" * 20_000, "a " * 40_000, "`" * 40_000, "w0" * 40_000, "=" * 80_000,
     "a.b" * 30_000, "| " * 40_000, "\n" * 60_000, "Expected: 1\n" * 8_000, "。" * 30_000,
     "E  x\n" * 10_000, "(" * 40_000, "a-" * 40_000, "/*" * 40_000, '"' * 40_000],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    session = Session().prompt("why? " + text)
    session.run(text, text).read("src/a.py", text).write("src/b.py", text).fail(
        "make test", text
    )
    began = time.process_time()
    observe(session.batch(text))
    assert time.process_time() - began < 3.0


def test_a_long_turn_is_observed_quickly() -> None:
    """200 tool uses in well under half a second of CPU, 800 in about four times that."""
    observe(_long(20))
    short, long = _cpu(_long(200)), _cpu(_long(800))
    assert short < 0.5
    assert long < 10 * max(short, 0.05)


def _cpu(batch: Batch) -> float:
    times = []
    for _ in range(3):
        commands.job.cache_clear()
        began = time.process_time()
        observe(batch)
        times.append(time.process_time() - began)
    return min(times)


def _long(uses: int) -> Batch:
    session = Session().prompt("Fix fn_12 in src/mod_3.py, it is slow.")
    code = "\n".join(f"def fn_{i}(a):\n    return a.b_{i} + {i}" for i in range(120))
    log = "\n".join(
        f"2026-03-11T08:00:00Z INFO a.b - did {i} in {i % 90} ms" for i in range(120)
    )
    for i in range(uses // 4):
        path = f"src/mod_{i % 20}.py"
        session.read(path, code)
        session.edit(path, f"return a.b_{i % 100} + {i % 100}", f"return a.c_{i} * {i}")
        session.run(f"./bench.sh {i % 7}", log + f"\nRESULT p95={i}ms")
        session.fail(
            "pytest -q", f"E   AssertionError: assert {i} == 2\n1 failed, {i} passed in 1s"
        )
    return session.batch("The cause was fn_12, it called b_12 twice. 200 tests pass.")


def test_observations_are_plain_data() -> None:
    """Metadata goes into a JSON column."""
    session = Session().prompt("Fix it").read("a.py", "x = 1\n").edit("a.py", "x = 1", "x = 2")
    for draft in observe(session.batch("Fixed: x was 1 because of y_z.")).observations:
        assert json.loads(json.dumps(dict(draft.metadata))) == dict(draft.metadata)
