"""What the core expects of every embedder, against a small service on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from claude_mem_embedder_openai import KEY, URL
from claude_mem_embedder_openai.embedding import Service

from claude_mem_core.errors import MemError
from claude_mem_core.testing import EmbedderContract

DIMENSIONS = 64
SAME = {"sign-in": "login", "fails": "rejects", "correct": "valid", "password": "passwords"}


class Answering(BaseHTTPRequestHandler):
    """Counts words; words of one meaning count as one."""

    seen: list[Mapping[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append(
            {**body, "path": self.path, "key": self.headers["Authorization"]}
        )
        rows = [{"index": n, "embedding": counted(t)} for n, t in enumerate(body["input"])]
        answer = json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


def counted(text: str) -> list[float]:
    vector = [0.01] * DIMENSIONS
    for word in text.lower().split():
        vector[sum(SAME.get(word, word).encode()) % DIMENSIONS] += 1.0
    return vector


@pytest.fixture
def service() -> Iterator[tuple[str, type[Answering]]]:
    handler = type("Handler", (Answering,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", handler
    server.shutdown()
    thread.join()
    server.server_close()


class TestService(EmbedderContract):
    plugin = "embedder.openai"

    @pytest.fixture
    def values(self, registry: Any, service: tuple[str, type[Answering]]) -> Mapping[str, Any]:
        from claude_mem_core.settings import CORE
        from claude_mem_core.types import Setting

        declared = [*CORE, *registry.records("mem_settings", Setting)]
        return {**{one.key: one.default for one in declared}, URL: service[0]}

    def test_it_is_asked_in_batches_with_the_key(
        self, values: Mapping[str, Any], service: tuple[str, type[Answering]]
    ) -> None:
        made = Service({**values, KEY: "k-1"})
        made.embed([f"text {number}" for number in range(100)])
        seen = service[1].seen
        assert [len(one["input"]) for one in seen] == [1, 64, 36]
        assert {(one["path"], one["key"]) for one in seen} == {("/v1/embeddings", "Bearer k-1")}

    def test_one_that_is_not_there_is_named(self, values: Mapping[str, Any]) -> None:
        with pytest.raises(MemError, match="http://127.0.0.1:9/v1 does not answer"):
            Service({**values, URL: "http://127.0.0.1:9/v1"})

    def test_no_plain_http_to_elsewhere_with_a_key(self, values: Mapping[str, Any]) -> None:
        with pytest.raises(MemError, match="use an https:// address"):
            Service({**values, URL: "http://embeddings.example/v1", KEY: "k-1"})
