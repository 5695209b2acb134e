"""A worker with something to see, and its page in a real browser."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import attrs
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    expect,
    sync_playwright,
)

from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.verifying import Verifier
from claude_mem_core.projects import Place
from claude_mem_core.store import queue
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.types import Draft, Observed, SummaryDraft
from tests.store_home import Home, opened

expect.set_options(timeout=20_000)  # a busy machine
WIDE, NARROW, FOUR_K = (1280, 800), (375, 812), (3840, 2160)
# Pictures for people; the folder is no part of the repository.
SHOTS = Path(os.environ.get("VIEWER_SHOTS") or Path(__file__).parent.parent / ".shots")
DAY = 86_400_000
STORY: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("decision", "Refresh tokens rotate on every use; reuse revokes the whole family",
     "A refresh token is valid once; an old one that comes again was copied, so its family is"
     + " revoked.\n\nA grace of 10 seconds covers two tabs that refresh at once.",
     "Rotate refresh tokens on use. Think about two tabs refreshing at once.",
     ("src/auth/refresh.py", "tests/auth/test_family.py")),
    ("bugfix", "Login loop on Safari came from SameSite=Strict on the callback cookie",
     "The callback is a navigation from another site, so the cookie was not sent.",
     "Safari users land on the login page again and again.", ("src/auth/callback.py",)),
    ("discovery", "The callback route is also called by the mobile app, without cookies",
     "It sends its own device id in a header.", "Who else calls the callback?",
     ("src/auth/callback.py",)),
    ("change", "Health check moved from port 8080 to 9090, as the proxy expects",
     "The proxy probes 9090 only.", "Move the health check.", ("deploy/compose.yml",)),
    ("feature", "Saved views keep their column order and share a link",
     "The order is part of the address.", "Let people share a view.", ("web/views.ts",)),
    ("refactor", "Table cells no longer measure themselves; widths come from one observer",
     "A thousand observers became one.", "The table is slow.", ("web/table.ts",)),
    ("bugfix", "Double charge on retry: the idempotency key was made after the timeout",
     "It is made before the first try now and kept with the order.", "We charged twice.",
     ("worker/pay.go",)),
    ("decision", "Amounts stay in minor units end to end; no floats past the parser",
     "Sums of floats were off by a cent in 3 of 40,000 invoices.", "Cents are lost.",
     ("worker/money.go",)),
)  # fmt: skip


@attrs.frozen
class Seeded:
    """A store that was filled: ids by what they are for."""

    newest: int
    older: int
    replaced: int
    dead: tuple[int, ...]
    stale: int
    sessions: int


def place(name: str) -> Place:
    return Place(key=f"/srv/{name}", label=name, kind="folder", root=f"/srv/{name}")


def seed(paths: Paths) -> Seeded:
    """Three projects, eight turns with evidence, a replaced memory, dead letters."""
    secure_dir(paths.data)
    now = time.time_ns() // 1_000_000
    made: list[int] = []
    with opened(paths.database) as home:
        for number, story in enumerate(reversed(STORY)):
            made.append(_turn(home, number, now - (len(STORY) - number) * 7 * 60_000, story))
        replaced = _old(home, now - 9 * DAY, made[-1])
        dead = _dead(home, now - 3 * 60_000)
    doubted = stale(paths, now - 12 * DAY)
    return Seeded(made[-1], made[-2], replaced, dead, doubted, len(STORY) + 3)


def _turn(home: Home, number: int, now: int, story: Any) -> int:
    kind, title, words, asked, files = story
    name = ("payments-worker", "lighthouse-web", "atlas-api")[number // 3]
    home.now, home.session, home.place = now, f"s{number}", place(name)
    home.prompt(asked)
    home.tool(f"t{number}a", 1000, name="Read", input={"file_path": f"/srv/{name}/{files[0]}"}, output={"text": "x"})
    home.tool(f"t{number}b", 2000, name="Bash", input={"command": "pytest -q"}, output={"stdout": "1 passed"})
    home.stop(f"Done: {title}." if number % 3 else "Shall I remove the old cookie as well?", 3000)
    (work,) = home.claim(4000, force=True)
    draft = Draft(
        type=kind, title=title, narrative=words, events=work.event_ids, files_modified=files,
        facts=("It was measured before and after", "The old way is gone"),
        concepts=("why-it-exists",), tokens=2310,
    )  # fmt: skip
    summary = SummaryDraft(
        request=asked, completed=title, next_steps="Watch the rate of logouts.", events=work.event_ids
    )
    kept = home.keep(work, Observed(observations=(draft,), summary=summary))
    return kept.observations[0].id


def _old(home: Home, now: int, newer: int) -> int:
    home.now, home.session, home.place = now, "old", place("atlas-api")
    home.prompt("How long is a refresh token valid?")
    home.tool("old", 1000, name="Read", input={"file_path": "src/auth/refresh.py"})
    (work,) = home.claim(60_000, force=True)
    draft = Draft(type="discovery", title="Refresh tokens are valid for 30 days and can be reused",
                  events=work.event_ids)  # fmt: skip
    (old,) = home.keep(work, Observed(observations=(draft,))).observations
    sql = "UPDATE observations SET superseded_by = ? WHERE id = ?"
    home.write(lambda conn: conn.execute(sql, (newer, old.id)).fetchall())
    return old.id


def stale(paths: Paths, now: int) -> int:
    """A memory that speaks of a file which has changed since."""
    root = paths.data.parent / "shop"
    root.mkdir()
    (root / "conf.ini").write_text("port = 8080")
    with opened(paths.database) as home:
        home.now, home.session = now, "stale"
        home.place = Place(key=str(root), label="shop", kind="folder", root=str(root))
        home.prompt("Which port does the shop listen on?")
        home.tool("stale", 1000, name="Read", input={"file_path": "conf.ini"})
        (work,) = home.claim(60_000, force=True)
        draft = Draft(type="discovery", title="The shop listens on port 8080",
                      files_modified=("conf.ini",), events=work.event_ids)  # fmt: skip
        (made,) = home.keep(work, Observed(observations=(draft,))).observations
        sql = "UPDATE sdk_sessions SET root = ? WHERE content_session_id = 'stale'"
        home.write(lambda conn: conn.execute(sql, (str(root),)).fetchall())
        Verifier(home.store, lambda: home.now).confirm(made.id)
    (root / "conf.ini").write_text("port = 9090, as the proxy wants it")
    return made.id


def _dead(home: Home, now: int) -> tuple[int, ...]:
    home.now, home.session, home.place = now, "dead", place("lighthouse-web")
    home.prompt("Make the nightly import faster.")
    for number in range(2):
        home.tool(f"d{number}", 1000 + number, input={"command": f"import --step {number}"})
    for at in (60_000, 200_000, 400_000):
        (work,) = home.claim(at, force=True)
        home.write(lambda conn, w=work, t=home.now + at: queue.fail(conn, w, "the model gave no usable reply", t, 1))  # type: ignore[misc]
    return work.item_ids


def many(paths: Paths, count: int) -> None:
    """Memories of 90 days, fast: the triggers that count them run as always."""
    secure_dir(paths.data)
    now = time.time_ns() // 1_000_000
    types = ("bugfix", "feature", "refactor", "discovery", "decision", "change")
    with opened(paths.database) as home:
        home.now = now
        home.prompt("many")

        def write(conn: apsw.Connection) -> None:
            session, memory, project, label = conn.execute(
                "SELECT id, memory_session_id, project_id, project FROM sdk_sessions"
            ).fetchall()[0]
            conn.executemany(
                """INSERT INTO observations (memory_session_id, project, type, title, narrative,
                     created_at, created_at_epoch, project_id, session_db_id, platform_source)
                   VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, 'claude-code')""",
                (
                    (memory, label, types[n % 6], f"Memory number {n} of many",
                     f"words {n % 977} and more", now - (count - n) * (90 * DAY // count),
                     project, session)
                    for n in range(count)
                ),
            )  # fmt: skip

        home.write(write)


# The browser --------------------------------------------------------------------------


def chromium() -> str:
    """The browser of the system; `tools/debian.py` installs it."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no chromium: run .venv/bin/python tools/debian.py"
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """One for a whole module of tests."""
    with sync_playwright() as play:
        made = play.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield made
        finally:
            made.close()


@attrs.define
class Viewer:
    """The page of one worker, and what must never happen on it."""

    live: LiveWorker
    base: str
    context: BrowserContext
    page: Page
    faults: list[str] = attrs.field(factory=list)
    left: list[str] = attrs.field(factory=list)

    def open(self, path: str = "/memories") -> Page:
        """Open the page as `mem open` does: with a code that works once."""
        code = self.live.ask("POST", "/api/admin/open", {}).json["code"]
        self.page.goto(f"{self.base}{path}#{code}")
        self.page.wait_for_selector(".rail")
        return self.page

    def start_over(self) -> None:
        """The same tab with nothing kept: half of what another tab costs."""
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        if self.page.url.startswith(self.base):
            self.page.evaluate("sessionStorage.clear(); localStorage.clear()")
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.faults.clear()
        self.left.clear()

    def check(self) -> None:
        """Nothing went wrong on the page, and it asked nobody else."""
        assert self.faults == []
        assert self.left == [], "the page asked somebody else"

    def go(self, path: str) -> Page:
        """Another address in the same tab, as a link of the page goes there."""
        self.page.evaluate(
            "(path) => { history.pushState({}, '', path); dispatchEvent(new Event('popstate')); }", path
        )
        return self.page

    def memory(self, key: object) -> dict[str, Any]:
        return dict(self.live.ask("GET", f"/api/memories/{key}").json)

    def shot(self, name: str) -> Path:
        """A picture under the tests' output."""
        SHOTS.mkdir(exist_ok=True)
        self.page.evaluate("document.getAnimations().forEach((one) => one.finish())")
        file = SHOTS / f"{name}.png"
        self.page.screenshot(path=file)
        return file


@contextmanager
def viewing(
    chrome: Browser, live: LiveWorker, size: tuple[int, int] = WIDE, **more: Any
) -> Iterator[Viewer]:
    """A fresh tab with nothing kept; it fails on errors and on requests to elsewhere."""
    context = chrome.new_context(
        viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", locale="en-GB", **more
    )
    context.set_default_timeout(15_000)
    page = context.new_page()
    made = Viewer(live, f"http://127.0.0.1:{live.port}", context, page)
    page.on("pageerror", lambda error: made.faults.append(str(error)))
    page.on("console", lambda message: _heard(made, message))
    page.on("request", lambda request: _asked(made, request.url))
    page.on("dialog", lambda dialog: _leaving(made, dialog))
    try:
        yield made
    finally:
        context.close()
    made.check()


def _leaving(viewer: Viewer, dialog: Dialog) -> None:
    """A page with unsaved words may ask before it is left; nothing else may open a dialog."""
    if dialog.type != "beforeunload":
        viewer.faults.append("a dialog was opened")
    dialog.accept()


def _heard(viewer: Viewer, message: ConsoleMessage) -> None:
    # What a browser says of an answer that is no success is told by the page itself.
    if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
        viewer.faults.append(message.text)


def _asked(viewer: Viewer, url: str) -> None:
    if not url.startswith((viewer.base, "data:,", "about:")):
        viewer.left.append(url)


@contextmanager
def worker(
    fill: Callable[[Paths], Any] | None = None, port: int = 0
) -> Iterator[tuple[LiveWorker, Any]]:
    """A worker with TCP over a store that was filled before it started."""
    with data_dir() as paths:
        made = fill(paths) if fill else None
        live = start(paths, tcp=True, port=port)
        try:
            yield live, made
        finally:
            live.stop()
