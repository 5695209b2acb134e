"""What every test of the repo may use."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

pytest_plugins = ["claude_mem_core.testing.fixtures"]


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Tests feed lone surrogates in; one in a report would end the run of pytest-xdist."""
    return _sendable((yield))


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_sendable(key): _sendable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sendable(item) for item in value]
    return value
