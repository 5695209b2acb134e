"""Calling plugins so that one's failure stays its own.

pluggy stops a call at the first exception. Here every implementation is called by
itself, in a fixed order, and a failure becomes a value with the plugin's name on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import islice
from threading import Thread
from typing import Any, TypeVar

import attrs
from pluggy import HookImpl

T = TypeVar("T")

# More records than this are taken for a generator that never ends.
MOST = 1_000
LONGEST = 300


@attrs.frozen
class Outcome:
    """What one plugin's implementation of a hook returned or raised."""

    plugin: str
    value: Any = None
    error: BaseException | None = None


def call_each(impls: Iterable[HookImpl], kwargs: Mapping[str, Any]) -> Iterator[Outcome]:
    """Call the implementations one after the other; yield one outcome for each."""
    for impl in impls:
        yield call_one(impl, kwargs)


def call_one(impl: HookImpl, kwargs: Mapping[str, Any]) -> Outcome:
    """Call one implementation; an iterator is drained here, so that it fails here."""
    given = [kwargs[name] for name in impl.argnames]
    try:
        return Outcome(impl.plugin_name, _settle(impl.function(*given)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a plugin must not end the worker
        return Outcome(impl.plugin_name, error=error)


def _settle(value: Any) -> Any:
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError("a hook is a plain function, not `async def`")
    if not isinstance(value, Iterator):
        return value
    kept = tuple(islice(value, MOST + 1))
    if len(kept) > MOST:
        raise ValueError(f"yields more than {MOST} records")
    return kept


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run `work` and return its result, or give up after some seconds.

    Python can't stop a thread: what hangs goes on hanging in a daemon thread, which
    does not hold up the end of the process.

    Raises:
        TimeoutError: `work` did not finish in time.
        BaseException: whatever `work` raised.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # handed to the caller below
            failed.append(error)

    thread = Thread(target=run, daemon=True, name="claude-mem plugin import")
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"import did not finish within {seconds:g} s")
    return done[0]


def describe(error: BaseException) -> str:
    """One short line for an error, also when its own `__str__` is broken."""
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = ""
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def call_sync(plugin: str, work: Callable[..., Any], *args: Any) -> Outcome:
    """Call what a plugin's record offers; a failure becomes a value."""
    try:
        return Outcome(plugin, work(*args))
    except Exception as error:
        return Outcome(plugin, error=error)


async def call_async(plugin: str, work: Callable[..., Awaitable[Any]], *args: Any) -> Outcome:
    """Await what a plugin's record offers; a failure becomes a value."""
    try:
        return Outcome(plugin, await work(*args))
    except Exception as error:
        return Outcome(plugin, error=error)
