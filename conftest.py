"""What every test of the repo may use."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast examples come says what else the machine does, not what the code does.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

pytest_plugins = ["claude_mem_core.testing.fixtures"]

# Files that take more than a few seconds as a whole, though each of their tests is short.
LONG = {
    "test_case_o01_end_to_end.py",
    "test_case_o01_hook_unicode.py",
    "test_case_o02_end_to_end.py",
    "test_case_o03_stdin_odd.py",
    "test_case_o04_huge_tool_output.py",
    "test_case_o06_context.py",
    "test_case_o07_secrets_in_tool_output.py",
    "test_case_o08_observer_replies.py",
    "test_case_o10_duplicate_delivery.py",
    "test_case_o11_events_out_of_order.py",
    "test_case_o12_end_to_end.py",
    "test_case_o12_worker_unreachable.py",
    "test_case_o13_stale_pid_lock_files.py",
    "test_case_o15_end_to_end.py",
    "test_case_o15_mcp.py",
    "test_case_o18_end_to_end.py",
    "test_clean_own_patterns.py",
    "test_clean_tags.py",
    "test_clean_vendor.py",
    "test_corrections.py",
    "test_db_command.py",
    "test_db_salvage.py",
    "test_hook_client.py",
    "test_hook_cold.py",
    "test_hook_privacy.py",
    "test_hook_worker.py",
    "test_import_bombs.py",
    "test_import_claude_mem.py",
    "test_install_claude_code.py",
    "test_install_command.py",
    "test_journal_order.py",
    "test_lifecycle.py",
    "test_mcp_bridge.py",
    "test_mcp_tools.py",
    "test_modelled_cases.py",
    "test_observer_exam.py",
    "test_observer_properties.py",
    "test_pause.py",
    "test_plugins_command.py",
    "test_project_confirm.py",
    "test_prompt_memories.py",
    "test_providing_outgoing.py",
    "test_queue_command.py",
    "test_security_poison.py",
    "test_settings_command.py",
    "test_spool.py",
    "test_store_stateful.py",
    "test_take_along.py",
    "test_where_on.py",
    "test_worker_auth.py",
    "test_worker_process.py",
}
# Each of these opens the library of a vendor and a server to talk to.
LONG_FOLDERS = {"providers"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is long as a whole is left out of the quick set."""
    for item in items:
        folder = item.path.relative_to(item.config.rootpath).parts[0]
        if item.path.name in LONG or folder in LONG_FOLDERS:
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
