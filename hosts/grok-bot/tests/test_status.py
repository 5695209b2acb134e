"""What a worker shows of the webhook: that it fails, and never its address or secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from claude_mem_host_grok_bot import PREFIX, SECRET, URL

from claude_mem_core.testing.worker import running
from tests.cli_run import mem
from tests.worker_home import until

KEY = "shared-secret-7Qx"
HIDDEN = (KEY, "of-my-own-4fz", "in-the-address-9k")
SETTINGS = {
    URL: "http://127.0.0.1:9/of-my-own-4fz?token=in-the-address-9k",
    SECRET: KEY,
    PREFIX + "AWARENESS_TRIGGER_TYPES": "discovery",
    "CLAUDE_MEM_LOG_LEVEL": "DEBUG",
}


@pytest.mark.slow
def test_the_status_names_a_webhook_that_fails(tmp_path: Path) -> None:
    with running(settings=json.dumps(SETTINGS)) as live:
        body = {"text": "Cents, not euros", "project": "shop"}
        until(lambda: live.ask("GET", "/api/admin/doctor").json["sinks"]["grok-bot"]["on"])
        assert live.ask("POST", "/api/memory/save", body).json["success"]
        until(lambda: live.ask("GET", "/api/admin/doctor").json["sinks"]["grok-bot"]["failed"])
        status = mem(live.paths.data, "status", plugins=True)
        assert "! sink grok-bot: http://127.0.0.1:9: Connect" in status.out
        shown = [status.out, mem(live.paths.data, "status", "--json", plugins=True).out]
        shown += [live.ask("GET", target).body.decode() for target in
                  ("/api/settings", "/api/admin/doctor", "/api/logs?lines=500", "/api/health")]  # fmt: skip
        shown += [mem(live.paths.data, *words, plugins=True).out for words in
                  (("config", "get", URL), ("config", "list"))]  # fmt: skip
        file = tmp_path / "export.json"
        shown.append(mem(live.paths.data, "export", "", str(file), plugins=True).out)
        shown.append(file.read_text())
        assert "Cents, not euros" in shown[-1]
        shown += [file.read_text() for file in _logs(live.paths.data)]
        assert "sink grok-bot: http://127.0.0.1:9: Connect" in shown[-1]
    assert [hidden for hidden in HIDDEN for text in shown if hidden in text] == []


def _logs(data: Path) -> list[Path]:
    return sorted((data / "logs").glob("worker-*.log"))
