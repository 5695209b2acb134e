"""Edits of other programs' configuration that leave no trace of the edit.

What is not ours stays byte for byte: order, comments, indentation, line ends, the byte
order mark. Public for plugins that install into a host:

* `read_config` reads a file safely; `decode` and `encode` keep its byte order mark;
* `Json` finds places in JSON with comments and changes only those;
* `HookGroups` keeps our hooks in JSON of the nested form, `JsonHooksInstaller` is a whole
  installer for hosts of that form that start hooks through a shell;
* `FlatHooksInstaller` is one for hosts whose lists hold the hooks themselves;
* `JsonServers` keeps our MCP server in a JSON file, `McpOnlyInstaller` is a whole installer
  for programs that take nothing else;
* `TomlBlock` keeps one marked block in a TOML file;
* `OwnFile` is a file of ours in a host's folder;
* `shell_words` words a command for a shell, `starts_us` knows one of ours again;
* `restored` takes an edit back, to the byte where nobody else wrote meanwhile.
"""

from __future__ import annotations

from claude_mem_core.editing.commands import LAUNCH_MARK, shell_words, starts_us
from claude_mem_core.editing.files import CONFIG_BYTES, read_config
from claude_mem_core.editing.flathooks import FlatHooksInstaller
from claude_mem_core.editing.hookgroups import HookGroups
from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.jsonhooks import (
    JsonHooksInstaller,
    changed,
    home_folder,
    only_user,
    opened,
    readable,
)
from claude_mem_core.editing.jsontext import Node
from claude_mem_core.editing.mcponly import McpOnlyInstaller, SendsNothing
from claude_mem_core.editing.ownfile import OwnFile
from claude_mem_core.editing.restore import Before, earlier, restored
from claude_mem_core.editing.servers import JsonServers
from claude_mem_core.editing.text import decode, encode
from claude_mem_core.editing.tomlblock import TomlBlock

__all__ = [
    "CONFIG_BYTES",
    "LAUNCH_MARK",
    "Before",
    "FlatHooksInstaller",
    "HookGroups",
    "Json",
    "JsonHooksInstaller",
    "JsonServers",
    "McpOnlyInstaller",
    "Node",
    "OwnFile",
    "SendsNothing",
    "TomlBlock",
    "changed",
    "decode",
    "earlier",
    "encode",
    "home_folder",
    "only_user",
    "opened",
    "read_config",
    "readable",
    "restored",
    "shell_words",
    "starts_us",
]
