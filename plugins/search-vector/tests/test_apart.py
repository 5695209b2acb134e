"""An embedder in a process of its own: started when needed, gone when not."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from claude_mem_search_vector.apart import Apart
from claude_mem_search_vector.tiers import Tier

from claude_mem_core.errors import MemError
from claude_mem_core.testing.search import opened_store
from claude_mem_core.types import Embedder

FOLDER = Path(__file__).parent


def _kit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vector_store", FOLDER / "vector_store.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["vector_store"] = made
    spec.loader.exec_module(made)
    return made


kit = _kit()


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))


def offered(opening: Callable[[Any], Any]) -> Embedder:
    return Embedder(name="far", summary="counts words elsewhere", open=opening, apart=True)


@pytest.fixture
def far() -> Iterator[Apart]:
    made = Apart(offered(kit.open_counting), {"CLAUDE_MEM_EMBEDDER": "auto"})
    yield made
    made.close()


def test_it_answers_as_it_would_here(far: Apart) -> None:
    assert not far.ready
    here = kit.Counting().embed(["login", "ümlaut 漢字"])
    assert [list(map(float, one)) for one in here] == [
        pytest.approx(list(vector)) for vector in far.embed(["login", "ümlaut 漢字"])
    ]
    assert (far.model, far.dimensions, far.ready) == ("apart", 8, True)


def test_one_that_was_killed_is_started_again(far: Apart) -> None:
    far.embed(["login"])
    assert far._process is not None
    far._process.kill()
    far._process.wait()
    assert not far.ready
    assert len(far.embed(["login"])) == 1


def test_it_ends_when_long_unused_and_with_its_input(
    far: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    far.embed(["login"])
    process = far._process
    assert process is not None
    assert process.stdin is not None
    far.rest()
    assert far.ready
    monkeypatch.setattr("claude_mem_search_vector.apart.UNUSED_S", -1.0)
    far.rest()
    assert process.poll() is not None
    far.embed(["login"])
    assert far._process is not None
    assert far._process.stdin is not None
    far._process.stdin.close()  # as when the worker dies
    assert far._process.wait(30) == 0


def test_a_text_that_fails_costs_no_more_than_itself() -> None:
    made = Apart(offered(kit.open_failing), {})
    try:
        with pytest.raises(MemError, match="far failed: ValueError: no such word"):
            made.embed(["explode"])
        assert len(made.embed(["login"])) == 1
    finally:
        made.close()


def test_one_that_does_not_start_is_named() -> None:
    with pytest.raises(MemError, match="the embedder far ended"):
        Apart(offered(kit.open_broken), {}).embed(["login"])


def test_a_busy_one_holds_no_search_up(far: Apart) -> None:
    far.embed(["login"])
    tier = Tier(offered(kit.open_counting), {}, far)
    with far._lock:
        assert tier.ask("login") is None
    assert tier.ask("login") is not None


def test_a_sleeping_one_is_woken_by_a_search_that_does_not_wait(far: Apart) -> None:
    tier = Tier(offered(kit.open_counting), {}, far)
    assert tier.ask("login") is None
    end = time.monotonic() + 30
    while not far.ready and time.monotonic() < end:
        time.sleep(0.02)
    assert far.embed(["login"])
    assert tier.ask("login") is not None


def test_it_catches_up_beside_the_quick_one(tmp_path: Path) -> None:
    with opened_store(tmp_path / "memory.db") as store:
        ids = kit.observe(store, "login", "cache")
        quick = kit.record("small", kit.Counting(), quick=True)
        index = kit.fed(kit.opened(store, quick, offered(kit.open_counting)))
        assert kit.found(index, "cache")[0] == ids[1]
        while index.idle():
            pass
        assert kit.value(store, "SELECT count(*) FROM memory_vectors_2") == 2
        assert kit.found(index, "cache")[0] == ids[1]
        index.close()
