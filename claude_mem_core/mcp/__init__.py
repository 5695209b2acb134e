"""The memory as an MCP server: a thin client of recall, inside the worker.

It is stateless: each message stands for itself, over HTTP (`POST /mcp`, with the token) or
from the bridge that a host starts (`hook/bridge.py`). Why there is no SDK in it:
`docs/decisions/0006-mcp-without-an-sdk.md`.
"""
