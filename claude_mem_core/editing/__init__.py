"""Edits of other programs' configuration that leave no trace of the edit.

What is not ours stays byte for byte: order, comments, indentation, line ends, the byte
order mark. Public for plugins that install into a host:

* `read_config` reads a file safely; `decode` and `encode` keep its byte order mark;
* `Json` finds places in JSON with comments and changes only those;
* `TomlBlock` keeps one marked block in a TOML file;
* `restored` takes an edit back, to the byte where nobody else wrote meanwhile.
"""

from __future__ import annotations

from claude_mem_core.editing.files import CONFIG_BYTES, read_config
from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.jsontext import Node
from claude_mem_core.editing.restore import Before, earlier, restored
from claude_mem_core.editing.text import decode, encode
from claude_mem_core.editing.tomlblock import TomlBlock

__all__ = [
    "CONFIG_BYTES",
    "Before",
    "Json",
    "Node",
    "TomlBlock",
    "decode",
    "earlier",
    "encode",
    "read_config",
    "restored",
]
