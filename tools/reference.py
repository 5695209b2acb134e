"""Write docs/reference from the code: hooks, settings, commands, hosts; list the decisions.

.venv/bin/python tools/reference.py            write the pages
.venv/bin/python tools/reference.py --check    exit 1 when a page is not up to date
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core import hookspecs, types
from claude_mem_core.cli.main import known, module_of
from claude_mem_core.plugins.checkup import RECORDS
from claude_mem_core.plugins.kinds import COMMON_HOOKS, LATE, kinds_of
from claude_mem_core.plugins.loading import HOOKS
from claude_mem_core.settings.listing import table
from tools.matrix import matrix_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTE = "<!-- Written by tools/reference.py from the code; changes here are lost. -->\n"
YIELDS: Mapping[str, type[Any]] = {**RECORDS, "mem_context_blocks": types.Block}


# Hooks -----------------------------------------------------------------------


def hooks_page() -> str:
    """Every hook: signature, meaning, who is asked, and the record it yields."""
    lines = [NOTE, "# Hooks, for reference", ""]
    lines += ["How they work, with an example of each: [Hooks](../hooks.md).", ""]
    for name, function in vars(hookspecs).items():
        if name in HOOKS:
            lines += _hook(name, function)
    lines += ["## What hooks yield", ""]
    for record in dict.fromkeys(YIELDS.values()):
        lines += _record(record)
    return _page(lines)


def _hook(name: str, function: Callable[..., Any]) -> Iterator[str]:
    signature = inspect.signature(function)
    yield f"## {name}({', '.join(signature.parameters)})"
    yield ""
    yield inspect.getdoc(function) or ""
    yield ""
    if name in YIELDS:
        record = YIELDS[name].__name__
        yield f"Yields: [`{record}`](#{record.lower()})."
    elif signature.return_annotation != "None":
        yield f"Answers: `{signature.return_annotation}`."
    yield f"Asked of plugins of kind: {_kinds(name)}."
    yield ""


def _kinds(name: str) -> str:
    if name in COMMON_HOOKS:
        late = ", ".join(f"`{kind}`" for kind in sorted(LATE))
        return f"all ({late} only where it is loaded already)"
    return ", ".join(f"`{kind}`" for kind in sorted(kinds_of(name)))


def _record(record: type[Any]) -> Iterator[str]:
    summary, notes = _documented(record)
    yield f"### {record.__name__}"
    yield ""
    yield summary
    yield ""
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    for field in attrs.fields(record):
        kind = field.type if isinstance(field.type, str) else field.type.__name__
        cells = (f"`{field.name}`", f"`{kind}`", _default(field), notes.get(field.name, ""))
        yield _row(*cells)
    yield ""


def _default(field: Any) -> str:
    if field.default is attrs.NOTHING:
        return "required"
    return "" if hasattr(field.default, "factory") else f"`{field.default!r}`"


def _documented(record: type[Any]) -> tuple[str, dict[str, str]]:
    """The docstring above `Attributes:`, and what it says of each attribute."""
    text = inspect.getdoc(record) or ""
    summary, _, rest = text.partition("Attributes:")
    notes: dict[str, str] = {}
    names: list[str] = []
    for line in rest.splitlines():
        head, colon, tail = line.strip().partition(": ")
        if line.startswith("    ") and not line.startswith("     ") and colon:
            names = [name.strip() for name in head.split(",")]
            notes.update(dict.fromkeys(names, tail))
        elif line.strip():
            notes.update({name: f"{notes[name]} {line.strip()}" for name in names})
    return " ".join(summary.split()), notes


# Settings --------------------------------------------------------------------


def settings_page() -> str:
    """Every setting of the core, by area."""
    return _page(
        [
            NOTE,
            "# Settings, for reference",
            "",
            "Where they are written and which wins: [Settings](../settings.md).",
            "*machine*: never taken from a hook's environment or from a repository.",
            "*restart*: takes effect with `mem restart`; all others at once.",
            "",
            table(),
        ]
    )


# Commands --------------------------------------------------------------------


def commands_page() -> str:
    """Every built-in command with its options."""
    lines = [NOTE, "# Commands, for reference", ""]
    lines += ["Exit codes and habits: [Command line](../cli.md).", ""]
    for name in known():
        module = module_of(name)
        parser = argparse.ArgumentParser(prog=f"mem {name}", description=module.HELP)
        module.arguments(parser)
        lines += _command(parser, 2, module.HELP)
    return _page(lines)


def _command(parser: argparse.ArgumentParser, level: int, help_text: str) -> Iterator[str]:
    """A section; not argparse's own text, which differs between Pythons."""
    yield f"{'#' * level} {parser.prog}"
    yield ""
    yield _sentence(help_text)
    yield ""
    inner = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    plain = [a for a in parser._actions if a not in inner and a.dest != "help"]
    if plain:
        yield "| argument | meaning |"
        yield "|---|---|"
        yield from (_row(_argument(action), _meaning(action)) for action in plain)
        yield ""
    for action in inner:
        texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, sub in action.choices.items():
            if name in texts:
                yield from _command(sub, level + 1, texts[name])


def _argument(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices is not None:
        value = "|".join(map(str, action.choices))
    if not action.option_strings:
        value = action.metavar if isinstance(action.metavar, str) else action.dest
        return f"`{value}`" + {"?": " (optional)", "*": " ...", "+": " ..."}.get(
            str(action.nargs), ""
        )
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _meaning(action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": "mem"}


# Decisions -------------------------------------------------------------------


def decisions_page() -> str:
    """The decisions, newest first."""
    lines = [NOTE, "# Decisions", ""]
    lines += ["What was decided where the code alone does not say why.", ""]
    for file in sorted((DOCS / "decisions").glob("0*.md"), reverse=True):
        title = file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        lines.append(f"- {file.name[:4]} [{title}]({file.name})")
    return _page(lines)


# Pages -----------------------------------------------------------------------


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _row(*cells: str) -> str:
    """A line of a table; a bar inside a cell would end it."""
    return (
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
    )


def _page(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def hosts_page() -> str:
    """What each host can do, by its tests."""
    return matrix_page(NOTE)


PAGES = {
    "reference/hosts.md": hosts_page,
    "reference/hooks.md": hooks_page,
    "reference/settings.md": settings_page,
    "reference/commands.md": commands_page,
    "decisions/index.md": decisions_page,
}


def stale() -> list[str]:
    """Names of pages that are not what the code says."""
    files = {name: DOCS / name for name in PAGES}
    return [
        name
        for name, file in files.items()
        if not file.exists() or file.read_text(encoding="utf-8") != PAGES[name]()
    ]


def main() -> int:
    """Write the pages, or only look."""
    if "--check" in sys.argv[1:]:
        found = stale()
        if found:
            print(f"not up to date: {', '.join(found)}; run `make reference`")
        return 1 if found else 0
    for name, write in PAGES.items():
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(write(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
