"""The output of a command in words: tables as pairs, statuses, counts, plans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from claude_mem_core.observer.commands import PASSIVE, Sort, url_of
from claude_mem_core.observer.outcomes import tidy
from claude_mem_core.observer.shell import Command
from claude_mem_core.observer.text import clip, squash
from claude_mem_core.observer.turn import Run

LONGEST = 220
ROWS = 4

STATUS = re.compile(r"^(?:HTTP/[\d.]+ )?([1-5]\d\d)\b(.*)$")
ENDS_IN_STATUS = re.compile(r"(?<!\d)([1-5]\d\d)\s+[\d.]+$|(?<!\d)([1-5]\d\d)$")
ZERO_HITS = re.compile(r"^(?:(\S+):)?0$")
COSTS = re.compile(r"\s*\((?:cost|actual)[^)]*\)|\s*\(never executed\)")
PLAN = re.compile(
    r"(?i)(?:seq(?:uential)? scan|full (?:table )?scan|table scan|index (?:only )?scan|bitmap|using (?:temporary|filesort|index)"
    r"|\bscan\b|\bsearch\b .* using|execution time|rows removed|hash join|nested loop|type: ALL|collscan|ixscan)"
)
SQL = re.compile(r"(?is)\bexplain\b")
WHERE = re.compile(
    r"(?i)\b(?:from|update|into)\s+([\w.]+)(?:[^;\"]*?\bwhere\s+([^;\"]+?))?(?=\s+(?:group|order|limit|returning)\b|[;\"]|$)"
)
TAG = re.compile(r"^(?:BEGIN|COMMIT|ROLLBACK|SET|START TRANSACTION)$")
DONE = re.compile(
    r"^(?:INSERT|UPDATE|DELETE|ALTER|CREATE|DROP|TRUNCATE|COPY|MERGE|SELECT|GRANT|Query OK)\b"
)
CELLS = re.compile(r"\s*\|\s*|\t")


def report(run: Run) -> list[str]:
    """What a run told, one statement a line, nothing of its layout."""
    lines = _without_head(run.outcome.lines)
    for reader in (_statuses, _no_hits, _plan, _table, _one_each):
        told = reader(run, lines)
        if told:
            return told
    return [clip(RULED.sub("", line), LONGEST) for line in lines]


def _without_head(lines: Sequence[str]) -> Sequence[str]:
    """The lines without a first one that only names columns in capital letters."""
    if len(lines) > 1 and COLUMNS.fullmatch(lines[0].strip()):
        return lines[1:]
    return lines


COLUMNS = re.compile(r"[A-Z][A-Z%/()_-]*(?:\s+[A-Z][A-Z%/()_-]*){1,12}")
RULED = re.compile(r"^[=*_\s]+|[=*_\s]+$")


def _statuses(run: Run, lines: Sequence[str]) -> list[str]:
    """Answers of web servers: which address gave which status."""
    asked = [c for c in run.job.commands if c.program in ("curl", "wget", "http", "xh")]
    asked = [c for c in asked if any("http_code" in w or w in ("-I", "-i") for w in c.words)]
    if not asked:
        return []
    told, rest = [], list(lines)
    for command in asked:
        status = next((i for i, line in enumerate(rest) if _status(line)), None)
        if status is None:
            break
        body = " ".join(tidy(line) for line in rest[:status]) or ENDS_IN_STATUS.sub(
            "", rest[status]
        )
        told.append(
            _answered(command, _status(rest[status]), body if not STATUS.match(body) else "")
        )
        rest = rest[status + 1 :]
    alone = len(run.job.commands) == 1 or any(c.program == "cat" for c in run.job.commands)
    if alone and len(told) == 1 and len(rest) == 1 and len(rest[0]) < 80 and "(" not in told[0]:
        return [f"{told[0]} ({squash(rest[0])})"]
    return told + [clip(tidy(line), LONGEST) for line in rest] if told else []


def _status(line: str) -> str:
    match = STATUS.match(line.strip()) or ENDS_IN_STATUS.search(line.strip())
    return next((g for g in match.groups() if g and g.isdigit()), "") if match else ""


def _answered(command: Command, status: str, body: str) -> str:
    words = command.words
    method = next(
        (words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-X", "--request")), ""
    )
    sends = any(
        w in ("-d", "-F", "--data", "--form", "-T") or w.startswith("--data") for w in words
    )
    said = f" ({clip(body, 60)})" if body.strip() else ""
    return f"{method or ('POST' if sends else 'GET')} {url_of(command)} answered {status}{said}"


def _no_hits(run: Run, lines: Sequence[str]) -> list[str]:
    """A count of hits that is zero everywhere."""
    if run.job.main.program not in ("grep", "zgrep", "rg", "egrep") or not lines:
        return []
    hits = [ZERO_HITS.match(line.strip()) for line in lines]
    if not all(hits):
        return []
    places = [h.group(1) for h in hits if h and h.group(1)]
    pattern = run.job.main.args[0] if run.job.main.args else ""
    where = f" in {len(places)} files ({', '.join(places[:4])})" if places else ""
    return [f"no match (0) for `{clip(pattern, 60)}`{where}"]


def _plan(run: Run, lines: Sequence[str]) -> list[str]:
    """Of a query plan, how the tables are read and how long it took."""
    if run.sort is not Sort.DATABASE or not SQL.search(run.step.command):
        return []
    kept = [squash(COSTS.sub("", line)).lstrip("-> ") for line in lines if PLAN.search(line)]
    return ["query plan: " + ", ".join(kept[:5])] if kept else []


def _table(run: Run, lines: Sequence[str]) -> list[str]:
    """Rows of a table as `column value` pairs."""
    if run.sort is not Sort.DATABASE and not (len(lines) > 1 and "|" in lines[0]):
        return []
    told, tabular = pairs(lines)
    return _asked(told, WHERE.findall(squash(run.step.command))) if tabular else told


def pairs(lines: Sequence[str]) -> tuple[list[str], bool]:
    """The rows of a printed table as `column value` pairs, and whether there was one."""
    told: list[str] = []
    head: list[str] = []
    for line in lines:
        cells = CELLS.split(line.strip().strip("|"))
        if TAG.match(line.strip()):
            continue
        if DONE.match(line.strip()):
            told.append(tidy(line))
        elif _is_head(cells, head):
            head = cells
        elif head and len(cells) == len(head):
            told.append(", ".join(f"{h} {c}" for h, c in zip(head, cells, strict=True)))
        else:
            told.append(clip(tidy(line), LONGEST))
    return told, bool(head)


def _is_head(cells: Sequence[str], head: Sequence[str]) -> bool:
    names = all(re.fullmatch(r"[A-Za-z_?][\w ()*.]*", c) for c in cells)
    return names and (not head or (len(cells) == 1 and list(cells) == list(head)))


def _asked(told: list[str], questions: Sequence[tuple[str, str]]) -> list[str]:
    """Single figures with the table and the condition they are about."""
    if len(questions) == len(told):
        return [_of_table(t, *q) for t, q in zip(told, questions, strict=True)]
    more = f"; {len(told) - ROWS} more rows" if len(told) > ROWS else ""
    table = f"{_bare(questions[0][0])}: " if questions else ""
    return [table + clip("; ".join(told[:ROWS]), LONGEST) + more]


def _of_table(told: str, table: str, where: str) -> str:
    return f"{_bare(table)}: {told}" + (f" where {clip(where, 70)}" if where else "")


def _bare(table: str) -> str:
    return table.strip("\"'`")


def _one_each(run: Run, lines: Sequence[str]) -> list[str]:
    """Several small questions, one line of answer each."""
    asked = [c for c in run.job.commands if c.program not in ("cd", "echo")]
    if len(asked) < 2 or len(asked) != len(lines) or run.sort not in PASSIVE:
        return []
    return [f"{_topic(c)}: {squash(line)}" for c, line in zip(asked, lines, strict=True)]


def _topic(command: Command) -> str:
    field = next(
        (re.findall(r"\w+", w)[-1] for w in command.words if re.search(r"\{\{.*\w.*\}\}", w)),
        "",
    )
    return field or (command.args[-1] if command.args else command.program)
