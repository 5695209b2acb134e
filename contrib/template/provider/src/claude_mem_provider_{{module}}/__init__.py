"""{{title}} as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
MODEL = "CLAUDE_MEM_{{KEY}}_MODEL"


def open_model(settings: Values) -> Model:
    from claude_mem_provider_{{module}}.model import {{class}}Model

    return {{class}}Model(settings[MODEL])


@hookimpl
def mem_settings() -> Iterator[Setting]:
    help_text = "Model of {{title}} to ask."
    yield Setting(key=MODEL, default="small", area="{{name}}", help=help_text)


@hookimpl
def mem_providers() -> Iterator[Provider]:
    summary = "{{title}}: gives back what it hears"
    yield Provider(name="{{name}}", summary=summary, open=open_model)
