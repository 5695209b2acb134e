"""A worker whose observer model is the scripted server, through a provider plugin.

    with FakeModels(talks) as models, own_python(folder, models.url) as python:
        live = start(paths, python=python)       # finds provider `scripted`

The plugin lies beside a Python of its own, so that worker and processor find it as they
find any installed one, and nothing is installed where others look.
"""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path
from textwrap import dedent

from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_site import FakeSite

NAME = "scripted"
ADDRESS = "CLAUDE_MEM_SCRIPTED_URL"

CODE = '''
"""A provider that asks the scripted server by the standard library alone."""

import asyncio
import http.client
import json
import os
import time
from urllib.parse import urlsplit

from claude_mem_core import hookimpl
from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.types import Provider, Reply, Setting, Usage


@hookimpl
def mem_settings():
    yield Setting(key="CLAUDE_MEM_SCRIPTED_URL", scope="machine", help="Where it listens.")


@hookimpl
def mem_providers():
    yield Provider(name="scripted", summary="the scripted server", open=Model,
                   address=lambda values: values["CLAUDE_MEM_SCRIPTED_URL"])


class Model:
    def __init__(self, values):
        self.url = values["CLAUDE_MEM_SCRIPTED_URL"]

    async def reply(self, system, messages, *, max_tokens):
        said = [{"role": "system", "content": system}]
        said += [{"role": m.role, "content": m.text} for m in messages]
        body = {"model": "fake-model", "messages": said, "max_tokens": max_tokens}
        status, answer, after = await asyncio.to_thread(self.post, body)
        if status != 200:
            failure = {401: Failure.KEY_REFUSED, 402: Failure.PAYMENT, 429: Failure.RATE_LIMIT,
                       413: Failure.TOO_LONG, 529: Failure.OVERLOAD}.get(status, Failure.OUTAGE)
            raise ProviderError(failure, f"the server said {status}", retry_after_s=after)
        text = answer["choices"][0]["message"]["content"] or ""
        if text == "CRASH":
            os._exit(13)
        if text == "HANG":
            time.sleep(3600)
        if text == "BREAK":
            raise RuntimeError("a fault of the provider")
        usage = answer["usage"]
        return Reply(text=text, model=body["model"], stop="stop",
                     usage=Usage(input_tokens=usage["prompt_tokens"],
                                 output_tokens=usage["completion_tokens"]))

    def post(self, body):
        where = urlsplit(self.url)
        link = http.client.HTTPConnection(where.hostname, where.port, timeout=300)
        try:
            link.request("POST", "/v1/chat/completions", json.dumps(body),
                         {"Content-Type": "application/json"})
            answer = link.getresponse()
            data, after = answer.read(), answer.headers.get("Retry-After")
            good = answer.status == 200
            return answer.status, json.loads(data) if good else {}, float(after) if after else None
        finally:
            link.close()

    async def aclose(self):
        pass
'''


def own_python(folder: Path) -> str:
    """Make a Python below `folder` that has what this one has, and the plugin."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    plugins = folder / "plugins"
    plugins.mkdir()
    FakeSite(plugins)(f"provider.{NAME}", dedent(CODE))
    lines = [str(plugins)]
    for path in sys.path:
        if path.endswith("-packages"):  # with what its own .pth files name
            lines.append(f"import site; site.addsitedir({path!r})")
        elif path and Path(path).is_dir():
            lines.append(path)
    (site / "more.pth").write_text("\n".join(lines) + "\n", "utf-8")
    return str(folder / "bin" / "python")


def choose(paths: Paths, url: str, **settings: str) -> None:
    """Make the scripted server the provider of this data directory.

    Raises:
        MemError: the settings can't be written.
    """
    chosen = {"CLAUDE_MEM_PROVIDER": NAME, **settings}
    paths.data.mkdir(mode=0o700, exist_ok=True)
    # The address is the plugin's own setting, which only its own Python knows.
    if paths.settings.exists():
        raise MemError("the settings are there already")
    paths.settings.write_text(json.dumps({ADDRESS: url}), "utf-8")
    SettingsSource(paths).update(chosen)
