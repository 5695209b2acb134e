"""What every test of the repo may use."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

pytest_plugins = ["claude_mem_core.testing.fixtures"]

# Files that take more than a few seconds as a whole, though each of their tests is short.
LONG = {
    "test_observer_properties.py",
    "test_observer_exam.py",
    "test_hook_privacy.py",
    "test_worker_process.py",
    "test_lifecycle.py",
    "test_case_o08_observer_replies.py",
    "test_case_o11_events_out_of_order.py",
    "test_case_o13_stale_pid_lock_files.py",
    "test_install_claude_code.py",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is long as a whole is left out of the quick set."""
    for item in items:
        if item.path.name in LONG:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Tests feed lone surrogates in; one in a report would end the run of pytest-xdist."""
    return _sendable((yield))


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_sendable(key): _sendable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):  # pytest wants the reason of a skip as a tuple
        return type(value)(map(_sendable, value))
    return value
