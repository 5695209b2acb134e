"""The contract of plugins that add blocks to the context.

class TestMine(ContextContract):
    plugin = "context.mine"
"""

from __future__ import annotations

from claude_mem_core.plugins.registry import Registry
from claude_mem_core.testing.plugin import PluginContract
from claude_mem_core.types import Block, Query


class ContextContract(PluginContract):
    """Inherit and name the plugin."""

    def _blocks(self, registry: Registry) -> list[Block]:
        hook, query = "mem_context_blocks", Query(text="cart", project="shop")
        return list(registry.records(hook, Block, project="shop", query=query))

    def test_blocks_have_a_title_and_text(self, registry: Registry) -> None:
        for block in self._blocks(registry):
            assert block.title.strip()
            assert isinstance(block.text, str)
        assert registry.plugins[self.plugin].error == ""

    def test_the_same_question_gets_the_same_bytes(self, registry: Registry) -> None:
        assert self._blocks(registry) == self._blocks(registry)
