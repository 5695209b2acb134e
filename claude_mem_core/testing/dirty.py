"""Configuration files as people have them, for the contract of installers."""

from __future__ import annotations

JSON_CONTENTS = (
    b"",
    b"{}",
    b"{ }\n",
    b'{"hooks": {}}\n',
    b'{"a": 1, "b": [1, 2]}',
    b'{\n    "theme": "dark",\n    "hooks": {\n        "Stop": []\n    }\n}\n',
    b'{\n\t"a": {"b": "\xc3\xbc"} // why\n\t/* c */\n}\n',
    b'\xef\xbb\xbf{\r\n  "a": 1,\r\n  "b": [1,\r\n    2,],\r\n}\r\n',
    b'{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "say"}]}]}}',
)
JSON_BROKEN = (
    b"{",
    b"[]",
    b"\xff\xfe{",
    b'{"hooks": []}',
    b'{"a": 1} x',
)
TOML_CONTENTS = (
    b"x = 1",
    b"x = 1\n",
    b"# mine\n\n[models.fake]\nname = 'x' # why\n\n\n",
    b'\xef\xbb\xbfdefault_model = "k"\r\n[a]\r\nb = [1,\r\n 2]\r\n',
)
JSON_SERVERS = (
    b"{}",
    b'{"mcpServers": {}}',
    b'{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n',
    b'// mine\n{"mcpServers": {"claude-mem": {"command": "another product"}}, "a": [1,],}\n',
)
