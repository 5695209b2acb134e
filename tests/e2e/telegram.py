"""Telegram's Bot API as far as a gateway needs it: one chat, and all that is said in it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

USER = 42
POLL_S = 1.0
ME = {"id": 1, "is_bot": True, "first_name": "m", "username": "membot"}


@attrs.define
class Telegram:
    """What the bot is told, and what it says.

    Attributes:
        url: root of the API.
        said: texts that the bot has sent to the chat.
        polled: whether the bot listens.
    """

    url: str = ""
    said: list[str] = attrs.field(factory=list)
    polled: bool = False
    _waiting: list[dict[str, Any]] = attrs.field(factory=list)
    _number: int = 10

    def say(self, text: str) -> None:
        """Write something as the user."""
        self._number += 1
        who = {"id": USER, "is_bot": False, "first_name": "u"}
        command = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
        message = {
            "message_id": self._number, "date": int(time.time()), "from": who, "text": text,
            "chat": {"id": USER, "type": "private", "first_name": "u"}, "entities": [command],
        }  # fmt: skip
        self._waiting.append({"update_id": self._number, "message": message})

    def answer(self, method: str, body: dict[str, Any]) -> Any:
        """What the API answers to one call."""
        if method == "getMe":
            return ME
        if method == "getUpdates":
            self.polled = True
            return self._updates()
        if method == "sendMessage":
            self.said.append(str(body["text"]))
            chat = {"id": USER, "type": "private"}
            return {"message_id": len(self.said), "date": 1, "chat": chat, "text": body["text"]}
        return True

    def _updates(self) -> list[dict[str, Any]]:
        """The news; the call stays open for a moment when there are none."""
        end = time.monotonic() + POLL_S
        while not self._waiting and time.monotonic() < end:
            time.sleep(0.05)
        found, self._waiting = self._waiting, []
        return found


@contextmanager
def telegram() -> Iterator[Telegram]:
    """The API on a free port."""
    chat = Telegram()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            method = self.path.rpartition("/")[2].partition("?")[0]
            body = json.loads(raw) if raw[:1] == b"{" else {}
            out = json.dumps({"ok": True, "result": chat.answer(method, body)}).encode()
            try:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)
            except OSError:
                return  # a gateway that ends leaves its calls

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
