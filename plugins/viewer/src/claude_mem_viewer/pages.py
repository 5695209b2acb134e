"""The one page of the viewer and its files, read once and held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

TYPES: Mapping[str, str] = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8",
}
# Every address of the page; what comes after the first part is read by the page itself.
ADDRESSES = (
    "/", "/viewer", "/tv", "/tv.html", "/memories", "/memories/{key}", "/sessions",
    "/session/{key}", "/work/{key}", "/queue", "/usage", "/status", "/settings",
)  # fmt: skip


@attrs.frozen
class File:
    """One file as it is sent."""

    body: bytes
    media: str
    tag: str


def routes() -> list[BaseRoute]:
    """The page and its files. A name that is not among them does not exist."""
    files = dict(_files(resources.files(__package__) / "assets", ""))
    page = _page(files)

    async def shell(_: Request) -> Response:
        """The same for everybody: it holds nothing that anybody wrote."""
        return Response(page.body, media_type=page.media)

    async def asset(request: Request) -> Response:
        """One file; unchanged ones are not sent again."""
        found = files.get(request.path_params["name"])
        if found is None:
            return Response(status_code=404)
        headers = {"etag": found.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        return Response(found.body, media_type=found.media, headers=headers)

    async def icon(_: Request) -> Response:
        """Browsers ask for this one by themselves; the page names its own."""
        return Response(status_code=204)

    return [
        *(Route(path, shell) for path in ADDRESSES),
        Route("/assets/viewer/{name:path}", asset),
        Route("/favicon.ico", icon),
    ]


def _page(files: dict[str, File]) -> File:
    """The page, naming its modules, so that the browser asks for all of them at once."""
    found = files.pop("index.html")
    modules = sorted(name for name in files if name.startswith("js/") and name != "js/theme.js")
    links = "\n".join(
        f'<link rel="modulepreload" href="/assets/viewer/{name}">' for name in modules
    )
    return attrs.evolve(found, body=found.body.replace(b"MODULES", links.encode()))


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, File]]:
    for entry in folder.iterdir():
        name = prefix + entry.name
        if entry.is_dir():
            yield from _files(entry, f"{name}/")
        elif (ending := name.rpartition(".")[2]) in TYPES:
            body = entry.read_bytes()
            tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
            yield name, File(body, TYPES[ending], tag)
