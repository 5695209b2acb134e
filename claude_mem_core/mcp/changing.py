"""The tools that change memories, as clients see them that the user has allowed."""

from __future__ import annotations

from claude_mem_core.mcp import correcting
from claude_mem_core.mcp.tools import OwnTool, Schema

_IDS: Schema = {
    "type": "array", "items": {"type": "string"},
    "description": "ids as search gives them: 12, or S3 for a session",
}  # fmt: skip


def _text(help: str) -> Schema:
    return {"type": "string", "description": help}


CHANGING = (
    OwnTool(
        name="edit_memory",
        title="Edit a memory",
        text="New words in the place of a memory's, when the user asks for it. What the user"
        " wrote himself can't be edited here. Gives the number that takes it back.",
        run=correcting.edit_memory,
        properties={
            "id": _text("id as search gives it"),
            "title": _text("new title"),
            "text": _text("new text, in the place of all of the old one"),
            "facts": {"type": "array", "items": {"type": "string"}, "description": "all facts anew"},
        },
        required=("id",),
        read_only=False,
    ),
    OwnTool(
        name="delete_memories",
        title="Delete memories",
        text="Take memories out of everything, when the user asks for it. He can bring them"
        " back for 7 days.",
        run=correcting.delete_memories,
        properties={"ids": _IDS},
        required=("ids",),
        read_only=False,
        destructive=True,
    ),
    OwnTool(
        name="pin_memories",
        title="Pin memories",
        text="Put memories into every context of their project, when the user asks for it.",
        run=correcting.pin_memories,
        properties={
            "ids": _IDS, "unpin": {"type": "boolean", "description": "take them out again"},
        },
        required=("ids",),
        read_only=False,
    ),
    OwnTool(
        name="mark_wrong",
        title="Mark memories wrong",
        text="What these say does not hold: no session is given them and no search finds them.",
        run=correcting.mark_wrong,
        properties={"ids": _IDS},
        required=("ids",),
        read_only=False,
    ),
    OwnTool(
        name="merge_memories",
        title="Merge memories",
        text="Make memories that say the same one: the first stays and says all, the others"
        " are replaced by it.",
        run=correcting.merge_memories,
        properties={"ids": _IDS, "title": _text("its title from now on")},
        required=("ids",),
        read_only=False,
    ),
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in CHANGING}
