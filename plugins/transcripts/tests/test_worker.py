"""The watcher in a real worker: no hook runs, and the session is remembered."""

from __future__ import annotations

import json

import pytest

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.files import secure_dir
from plugins.transcripts.tests.transcript_home import SCHEMA, meta, turn
from tests.worker_home import home, until


@pytest.mark.slow
def test_a_transcript_becomes_searchable() -> None:
    with home() as place:
        root = place.paths.data.parent
        secure_dir(place.paths.data)
        watch = {"name": "acme", "path": f"{root}/logs/*.jsonl", "schema": SCHEMA,
                 "startAtEnd": False}  # fmt: skip
        config = place.paths.data / "transcript-watch.json"
        config.write_text(json.dumps({"watches": [watch]}))
        (root / "logs").mkdir()
        lines = [meta("s1", root / "shop"), *turn("make the till ring", "t1")]
        (root / "logs" / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
        assert place.mem("start").returncode == 0
        until(lambda: place.prompts() == ["make the till ring"], 60)
        found = WorkerClient(place.paths).get("/api/search", query="till ring")
        assert "till" in str(found)
