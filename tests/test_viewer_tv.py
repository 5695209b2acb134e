"""The TV page for a screen in another room: titles only, by its own door."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.worker.tv_door import WRONG, TvDoor
from tests.viewer_kit import Viewer, browser, viewing

FRONT, TOKEN = "tv.example.org", "a-token-of-at-least-20-letters"
SETTINGS = json.dumps({"CLAUDE_MEM_TV_FRONT": FRONT, "CLAUDE_MEM_TV_TOKEN": TOKEN})


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(tcp=True, settings=SETTINGS) as made:
        for number in range(8):
            body = {"text": f"secret words {number}", "title": f"Title {number}", "project": "tv"}
            made.ask("POST", "/api/memory/save", body)
        yield made


def ask(
    live: LiveWorker, path: str, token: str = TOKEN, method: str = "GET", host: str = FRONT, **more: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=20)
    try:
        head = {"Host": host, **more, **({"Authorization": f"Bearer {token}"} if token else {})}
        connection.request(method, path, headers=head)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_by_the_fronts_name_there_are_titles_and_nothing_else(live: LiveWorker) -> None:
    status, body = ask(live, "/api/tv")
    assert status == 200
    found = json.loads(body)
    assert [card["title"] for card in found["items"]] == [f"Title {n}" for n in range(7, 1, -1)]
    assert found["items"][0].keys() == {"key", "type", "title", "project", "host", "t"}
    assert (found["today"], found["total"]) == (8, 8)
    assert b"secret" not in body
    assert json.loads(ask(live, "/api/tv?project=none")[1])["items"] == []


@pytest.mark.parametrize(
    "path",
    ["/", "/memories", "/tv/", "/TV", "/tv.HTML", "/api/tv/", "/api/observations", "/stream", "/api/health", "/health",
     "/prove?n=abcdefghijklmnopqrst", "/api/session", "/api/settings", "/api/memories", "/mcp", "//api/tv"],
)  # fmt: skip
def test_no_other_path_is_there(live: LiveWorker, path: str) -> None:
    assert ask(live, path)[0] in {400, 404}
    assert ask(live, path, live.token)[0] in {400, 404}, "not even with the token of the installation"


def test_nothing_can_be_changed(live: LiveWorker) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert ask(live, "/api/tv", method=method)[0] == 404


def test_the_page_and_its_files_come_without_a_token(live: LiveWorker) -> None:
    for path in ("/tv", "/tv.html", "/assets/viewer/js/app.js"):
        assert ask(live, path, token="")[0] == 200


def test_other_sites_and_names_are_refused(live: LiveWorker) -> None:
    assert ask(live, "/api/tv", Origin="https://evil.example")[0] == 403
    assert ask(live, "/api/tv", Origin=f"https://{FRONT}")[0] == 200
    assert ask(live, "/api/tv", host="evil.example")[0] == 421
    assert ask(live, "/api/tv", host=f"127.0.0.1:{live.port}", token=TOKEN)[0] == 401


def test_the_tv_token_opens_nothing_on_this_machine(live: LiveWorker) -> None:
    assert ask(live, "/api/memories", host=f"127.0.0.1:{live.port}")[0] == 401


@pytest.mark.parametrize(
    ("name", "token"), [("", TOKEN), (FRONT, ""), (FRONT, "short"), ("", "")]
)
def test_the_door_is_shut_unless_both_are_set(name: str, token: str) -> None:
    settings = {"CLAUDE_MEM_TV_FRONT": name, "CLAUDE_MEM_TV_TOKEN": token}
    assert not TvDoor.of(settings).is_meant([FRONT.encode()])


def test_guessing_the_token_is_slowed_down() -> None:
    with running(tcp=True, settings=SETTINGS) as live:
        assert [ask(live, "/api/tv", f"wrong {n}")[0] for n in range(WRONG)] == [401] * WRONG
        assert ask(live, "/api/tv")[0] == 429


@pytest.mark.slow
def test_the_page_behind_a_front(live: LiveWorker) -> None:
    """A real browser on an https address; what stands between is played by the test."""

    def pass_on(route: Route) -> None:
        request = route.request
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        path = request.url.removeprefix(f"https://{FRONT}")
        connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=20)
        head = {"Host": FRONT, **({"Authorization": f"Bearer {token}"} if token else {})}
        connection.request(request.method, path, headers=head)
        answer = connection.getresponse()
        route.fulfill(status=answer.status, headers=dict(answer.getheaders()), body=answer.read())
        connection.close()

    with browser() as chrome, viewing(chrome, live) as viewer:
        page = viewer.page
        page.route(f"https://{FRONT}/**", pass_on)
        page.goto(f"https://{FRONT}/tv#{TOKEN}")
        expect(page.locator(".tvnow h1")).to_have_text("Title 7")
        assert page.url == f"https://{FRONT}/tv"
        assert page.locator(".rail").count() == 0
        assert "secret" not in page.content()
        page.reload()
        expect(page.locator(".tvnow h1")).to_have_text("Title 7")
        viewer.shot("tv-away")
        _forget_what_the_front_was(viewer)


def _forget_what_the_front_was(viewer: Viewer) -> None:
    assert all(url.startswith(f"https://{FRONT}/") for url in viewer.left)
    viewer.left.clear()
