"""Our tools: names, texts and schemas, all of them static.

Schemas keep to what every client reads: one type for each value, no references, no unions.
Unknown arguments are let pass. Of the calls, `remember` alone changes anything; what
changes a memory stands in `changing`, for clients that the user has allowed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs

from claude_mem_core.mcp import reading, work_state, writing
from claude_mem_core.mcp.asker import Asker
from claude_mem_core.mcp.texts import WORKFLOW

Run = Callable[[Asker, Mapping[str, Any]], Awaitable[str]]
Schema = dict[str, Any]


@attrs.frozen(kw_only=True)
class OwnTool:
    """One tool: what a client is told of it, and what it does.

    `switch`: the setting without which it is neither listed nor run.
    """

    name: str
    title: str
    text: str
    run: Run
    properties: Mapping[str, Schema] = attrs.field(factory=dict)
    required: tuple[str, ...] = ()
    read_only: bool = True
    destructive: bool = False
    switch: str = "CLAUDE_MEM_MCP_ENABLED"

    def listed(self) -> dict[str, Any]:
        """As `tools/list` gives it."""
        schema = {"type": "object", "properties": dict(self.properties)}
        if self.required:
            schema["required"] = list(self.required)
        return listed(
            self.name, self.title, self.text, schema, self.read_only, destructive=self.destructive
        )


def listed(
    name: str, title: str, text: str, schema: Mapping[str, Any], read_only: bool,
    *, destructive: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A tool as `tools/list` gives it."""
    marks = {
        "title": title, "readOnlyHint": read_only, "destructiveHint": destructive,
        "idempotentHint": read_only, "openWorldHint": False,
    }  # fmt: skip
    return {
        "name": name, "title": title, "description": text, "inputSchema": dict(schema),
        "annotations": marks,
    }  # fmt: skip


async def _workflow(_: Asker, __: Mapping[str, Any]) -> str:
    return WORKFLOW


def _text(help: str, *words: str) -> Schema:
    found: Schema = {"type": "string", "description": help}
    return {**found, "enum": list(words)} if words else found


def _count(help: str, low: int, high: int) -> Schema:
    return {"type": "integer", "description": help, "minimum": low, "maximum": high}


def _list(help: str, kind: str) -> Schema:
    return {"type": "array", "items": {"type": kind}, "description": help}


_PROJECT = _text("label or id; default: where you are")
_SOURCE = _text("only of this agent program, such as claude-code")
_DATES = {
    "dateStart": _text("first day or time: YYYY-MM-DD or ISO"),
    "dateEnd": _text("last day or time"),
}
_TYPE = _text("observations, sessions, prompts, or a type: bugfix, feature, decision, ...")

TOOLS = (
    OwnTool(
        name="important_workflow",
        title="How to use the memory",
        text=WORKFLOW,
        run=_workflow,
    ),
    OwnTool(
        name="search",
        title="Search the memory",
        text="Step 1: find memories of earlier sessions by words. Gives an index with ids and"
        " what reading each costs, best first; days stand in that order too. Any words will do:"
        " an error line, a path, an identifier; no character is an operator.",
        run=reading.search,
        properties={
            "query": _text("words; empty for the newest"),
            "limit": _count("rows, 20 by default", 1, 100),
            "offset": _count("rows to pass over", 0, 10_000),
            "project": _PROJECT,
            "projects": _list("several projects at once, by label or id", "string"),
            "type": _TYPE,
            "obs_type": _text("types of observations, separated by commas"),
            "concepts": _text("concepts, separated by commas"),
            "files": _text("paths, separated by commas"),
            **_DATES,
            "orderBy": _text("default: relevance", "relevance", "date_desc", "date_asc"),
            "platformSource": _SOURCE,
        },
    ),
    OwnTool(
        name="timeline",
        title="Around a memory",
        text="Step 2: what happened before and after one memory, in order of time.",
        run=reading.timeline,
        properties={
            "anchor": _text("id as search gives it (12, S3, P4), or a time"),
            "query": _text("instead of an anchor: the best match of these words"),
            "depth_before": _count("rows before, 3 by default", 0, 20),
            "depth_after": _count("rows after, 3 by default", 0, 20),
            "project": _PROJECT,
            "platformSource": _SOURCE,
        },
    ),
    OwnTool(
        name="get_observations",
        title="Memories in full",
        text="Step 3: full texts of the memories that matter, several in one call. Use ids from"
        " search or timeline; 150 to 500 tokens each.",
        run=reading.get_observations,
        properties={
            "ids": _list("ids of observations: 12 for #12", "integer"),
            "keys": _list("ids of other records: S3 (a session), P4 (a prompt)", "string"),
            "level": _text(
                "how much of each; default: full", "title", "summary", "full", "source"
            ),
            "orderBy": _text("default: as you ask", "date_desc", "date_asc"),
            "limit": _count("at most so many", 1, 100),
            "project": _PROJECT,
        },
    ),
    OwnTool(
        name="get_tool_uses",
        title="Raw tool uses",
        text="Step 4, seldom needed: commands, diffs and output as they were recorded, up to"
        " 64 KB each. Ids as get_observations names them.",
        run=reading.get_tool_uses,
        properties={
            "ids": _list("ids of tool uses: toolu_..., or row numbers", "string"),
            "project": _PROJECT,
        },
        required=("ids",),
    ),
    OwnTool(
        name="session_start_context",
        title="Context of a new session",
        text="The index of recent work that a session of this project begins with. For agents"
        " that were not given it; call it once, when real work begins.",
        run=reading.session_start_context,
        properties={
            "project": _PROJECT,
            "platformSource": _SOURCE,
            "full": {"type": "boolean", "description": "without the usual budget"},
        },
    ),
    OwnTool(
        name="remember",
        title="Remember this",
        text="Keep one fact, decision or preference that the user wants remembered in this"
        " project, in his words. Only when he asks for it. Gives its id.",
        run=writing.remember,
        properties={
            "text": _text("what to remember, at most 64 KB"),
            "title": _text("at most 12 words; default: how the text begins"),
            "project": _PROJECT,
        },
        required=("text",),
        read_only=False,
    ),
    OwnTool(
        name="work_state_write",
        title="Keep the to-do list",
        text="Your to-do list, kept for later sessions too. Send the whole list at each change;"
        " an empty one removes it. It is kept only if the answer begins with `saved`.",
        run=work_state.write,
        properties={
            "tasks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "task": _text("one line"),
                        "state": _text("default: queued", *work_state.STATES),
                    },
                    "required": ["task"],
                },
                "description": f"in order, at most {work_state.MOST_TASKS}",
            },
            "title": _text("the goal, in words"),
            "request_id": _text("name of a second goal"),
            "project": _PROJECT,
        },
        required=("tasks",),
        read_only=False,
        switch=work_state.SWITCH,
    ),
    OwnTool(
        name="work_state_read",
        title="Read the to-do list",
        text="The open to-do lists of this project.",
        run=work_state.read,
        properties={
            "request_id": _text("only this goal, also when all is done"),
            "project": _PROJECT,
        },
        switch=work_state.SWITCH,
    ),
)
BY_NAME: Mapping[str, OwnTool] = {tool.name: tool for tool in TOOLS}
