"""The page at `/` while no viewer is installed."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from claude_mem_core import __version__

PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>claude-mem</title>
<h1>claude-mem {__version__}</h1>
<p>The memory is running. There is no viewer in this installation.</p>
<p>On the command line, <code>mem search WORDS</code>, <code>mem timeline</code> and
<code>mem status</code> show what it holds. The viewer comes as a package of its own:
once it is installed, <code>mem open</code> shows it here.</p>
</html>
"""


async def page(_: Request) -> Response:
    """A static page: it holds nothing that anybody wrote."""
    return HTMLResponse(PAGE)


async def no_icon(_: Request) -> Response:
    """There is no icon."""
    return Response(status_code=204)


ROUTES: list[BaseRoute] = [
    Route("/", page),
    Route("/viewer", page),
    Route("/favicon.ico", no_icon),
]
