"""A fuzzer that reads our OpenAPI document, against a real worker on TCP."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.testing.worker import LiveWorker, running

EXAMPLES = 3
# Which folders hold notes, no schema can say: any other is refused.
CONFIG = """
[[operations]]
include-path = "/api/memory/ingest"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403]
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWorker]:
    home = tmp_path_factory.mktemp("home")  # what is asked may read there
    with running(tcp=True, env={"HOME": str(home)}) as worker:
        body = {"text": "something to find", "project": "fuzz"}
        worker.ask("POST", "/api/memory/save", body)
        yield worker


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_fuzzer_finds_no_fault(live: LiveWorker, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_bytes(live.ask("GET", "/api/openapi.json").body)
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    argv = [
        str(Path(sys.executable).parent / "schemathesis"), "run", str(document),
        "--url", f"http://127.0.0.1:{live.port}", "-H", f"Authorization: Bearer {live.token}",
        "--checks", "all", "--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES),
        "--max-response-time", "60", "--seed", "1", "--no-color", "--warnings", "off",
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    log = live.ask("GET", "/api/logs?lines=20").json["logs"]
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-500:]}\n{log}"
    assert '"level": "ERROR"' not in log


def test_the_document_holds_every_endpoint_but_those_that_end_or_never_end(
    live: LiveWorker,
) -> None:
    from claude_mem_core.worker.routes import all_endpoints

    paths = live.ask("GET", "/api/openapi.json").json["paths"]
    hidden = {e.path for e in all_endpoints() if e.path not in paths}
    ending = {"/stream", "/api/admin/shutdown", "/api/admin/restart"}
    # These talk to others: a protocol of its own, requests to a provider.
    others = {"/mcp", "/api/providers/{name}/test", "/api/observe/again"}
    assert hidden == ending | others
    shown = [(e.method.lower(), e.path) for e in all_endpoints() if e.listed]
    assert len(shown) == len(set(shown))
    assert all(method in paths[path] for method, path in shown)


def test_the_document_is_plain_json_schema(live: LiveWorker) -> None:
    text = json.dumps(live.ask("GET", "/api/openapi.json").json)
    assert '"x-csv"' not in text
    assert '"x-unchecked"' not in text
