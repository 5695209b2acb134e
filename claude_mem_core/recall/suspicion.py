"""Text from outside that speaks like an order to the agent.

A help, no wall: what keeps foreign text from acting is the fence and that it is shown
as a title only. A row that matches here is left out of contexts altogether.
"""

from __future__ import annotations

import re

from claude_mem_core.recall.words import normal

_LOOKED_AT = 4_000
# Letters of other alphabets that pose as Latin ones.
_POSING = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0410\u0412\u0415\u041a\u041c\u041d"
    "\u041e\u0420\u0421\u0422\u0425\u0406\u03bf\u039f\u0391\u0395\u0399",
    "aeopcyxiABEKMHOPCTXIoOAEI",
)
_ROLES = r"(?:system|human|user|assistant|developer)"
_DOING = (
    r"(?:run|execute|add|use|call|send|deploy|delete|install|paste|push|open|include|approve"
    r"|answer|obey|ignore|merge|disable|fetch|write|read|do)"
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all|any|every|the|your|previous|earlier|prior)"
    rf"|(?:^|[\n.!?>]\s*){_ROLES}\s*:"
    r"|\b(?:system|developer)\s+(?:prompt|message|mode|override|reminder)"
    r"|\byou\s+are\s+(?:now|in)\b|\bmaintenance\s+mode\b|\badmin\s+mode\b"
    rf"|\b(?:always|never|must|please|immediately|now)\s+(?:\w+\s+)?{_DOING}\b"
    r"|\b(?:curl|wget)\b[^\n]{0,80}\|\s*(?:ba|z)?sh\b|\bpipes?\b[^\n]{0,80}\bto\s+sh\b"
    r"|\bwhen\s+you\s+read\s+this\b|\bwithout\s+asking\b|\bthe\s+user\s+(?:has\s+)?confirmed\b"
    r"|\bdecode\s+and\b|\bobey\b|\bon\s+behalf\s+of\s+the\s+(?:user|developer)\b"
    r"|\b(?:approved|trusted|pinned|verified)\b[^\n]{0,30}\b(?:deploy|memory|user-level|merge)\b"
    r"|\bend\s+of\s+(?:stored\s+)?(?:data|memory|context)\b"
    r"|</?(?:system|private|claude-mem|mem-context|function|invoke|tool_|task-|hook_|user)[\w-]*"
    r"|<\|\w+\|>|\[/?INST\]|<<SYS>>|<!--|\[//\]\s*:"
    r'|"(?:tool_calls|decision|hookSpecificOutput|additionalContext)"'
    r"|\$\{?[A-Z_]*(?:KEY|TOKEN|SECRET|PASS)",
    re.IGNORECASE,
)


def instruction_like(*texts: str) -> bool:
    """Whether some of the texts reads like an order rather than a report."""
    whole = "\n".join(text for text in texts if text)[:_LOOKED_AT]
    return _ORDER.search(normal(whole).translate(_POSING)) is not None
