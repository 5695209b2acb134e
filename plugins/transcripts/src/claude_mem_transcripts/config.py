"""`transcript-watch.json`: which further transcripts are followed, and by which schema."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.types import Host, TranscriptFile, TranscriptReader, Transcripts
from claude_mem_transcripts.schema import Schema, SchemaReader, parse

NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
WILD = re.compile(r"[*?\[]")


@attrs.frozen(kw_only=True)
class Source:
    """Transcripts that are followed.

    Attributes:
        name: by which it is known in the state file.
        root, form: where they lie and how they are read.
        host: whose sessions they are.
        main, inner: whether the sessions themselves and their sub-agents are recorded.
        at_end: what was written before the first look is passed over.
    """

    name: str
    root: str
    form: Transcripts
    host: str
    main: bool = True
    inner: bool = True
    at_end: bool = True


def parse_config(value: Any, hosts: Sequence[Host]) -> list[Source]:
    """The sources that a settings file names.

    Raises:
        InvalidInput: with what is wrong in it.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("watches"), list):
        raise InvalidInput("`watches` must be a list")
    given = value.get("schemas", {})
    if not isinstance(given, Mapping):
        raise InvalidInput("`schemas` must be an object")
    schemas = {str(name): parse(str(name), schema) for name, schema in given.items()}
    return [_watch(item, schemas, hosts) for item in value["watches"]]


def _watch(value: Any, schemas: Mapping[str, Schema], hosts: Sequence[Host]) -> Source:
    if not isinstance(value, Mapping):
        raise InvalidInput("each of `watches` must be an object")
    name, path = str(value.get("name", "")), value.get("path")
    if not NAME.fullmatch(name):
        raise InvalidInput(f"the name {name[:64]!r} must be lower-case letters, digits, dashes")
    if not isinstance(path, str) or not path:
        raise InvalidInput(f"watch {name!r}: `path` is missing")
    root, pattern = split(os.path.expanduser(path))
    if not os.path.isabs(root):
        raise InvalidInput(f"watch {name!r}: `path` must be whole, or begin with ~")
    host = str(value.get("host") or name)
    if not NAME.fullmatch(host):
        raise InvalidInput(f"watch {name!r}: `host` must be lower-case letters, digits, dashes")
    open_ = _opener(name, host, value, schemas, hosts)
    return Source(
        name=f"watch:{name}", root=root, host=host, form=Transcripts(pattern=pattern, open=open_),
        at_end=value.get("startAtEnd", True) is not False,
    )  # fmt: skip


def _opener(
    name: str, host: str, value: Mapping[str, Any], schemas: Mapping[str, Schema],
    hosts: Sequence[Host],
) -> Any:  # fmt: skip
    wanted = value.get("schema")
    if isinstance(wanted, Mapping):
        schema = parse(name, wanted)
    elif isinstance(wanted, str) and wanted in schemas:
        schema = schemas[wanted]
    else:
        for record in hosts:
            if record.name == wanted and record.transcripts:
                return record.transcripts[0].open
        raise InvalidInput(f"watch {name!r}: there is no schema {str(wanted)[:64]!r}")
    return partial(opened, schema, host, value.get("agent"))


def opened(schema: Schema, host: str, agent: Any, file: TranscriptFile) -> TranscriptReader:
    """A reader by a schema, with the label of its agent."""
    reader = SchemaReader(schema, host, file)
    if isinstance(agent, str) and 0 < len(agent) <= 128:
        reader.told.agent_id = agent
    return reader


def split(path: str) -> tuple[str, str]:
    """The folder before the first wildcard, and the pattern below it."""
    parts = Path(path).parts
    first = next((n for n, part in enumerate(parts) if WILD.search(part)), len(parts) - 1)
    return str(Path(*parts[:first])), "/".join(parts[first:])
