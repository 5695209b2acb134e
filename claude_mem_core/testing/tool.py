"""The contract of MCP tools.

class TestMine(ToolContract):
    plugin = "tool.mine"
    arguments = {"text": "hello"}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import anyio

from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Tool


class ToolContract(RecordContract[Tool]):
    """Inherit and give arguments that the tool takes.

    Attributes:
        arguments: one good call.
    """

    hook: ClassVar[str] = "mem_tools"
    kind: ClassVar[type[Any]] = Tool
    arguments: ClassVar[Mapping[str, Any]] = {}

    def test_its_schema_describes_an_object(self, record: Tool) -> None:
        schema = json.loads(json.dumps(dict(record.schema)))
        assert schema.get("type") == "object"
        assert set(self.arguments) <= set(schema.get("properties", {}))
        assert set(schema.get("required", ())) <= set(self.arguments)

    def test_answers_with_text(self, record: Tool) -> None:
        assert isinstance(anyio.run(record.call, self.arguments), str)
