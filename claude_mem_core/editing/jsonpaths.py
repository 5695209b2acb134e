"""Members deep inside a JSON file: put there with the objects on the way, taken out again."""

from __future__ import annotations

from typing import Any

from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.jsontext import Node
from claude_mem_core.errors import HostConfigError


def put(doc: Json, keys: tuple[str, ...], value: Any) -> None:
    """Let `keys` lead to this value; what stands there already is replaced.

    Raises:
        HostConfigError: something on the way is no object.
    """
    there = doc.find(*keys)
    if there is not None:
        if doc.value(there) != value:
            doc.replace([(there, value)])
        return
    for depth in range(len(keys) - 1, -1, -1):
        box = doc.find(*keys[:depth])
        if box is not None:
            doc.add((_object(doc, box, keys[:depth]), [(keys[depth], value)]))
            return
        value = {keys[depth]: value}


def append(doc: Json, keys: tuple[str, ...], value: Any) -> None:
    """Let the list at `keys` hold this value; it is put at the end.

    Raises:
        HostConfigError: something on the way has another form.
    """
    there = doc.find(*keys)
    if there is None:
        put(doc, keys, [value])
    elif there.kind != "array":
        raise HostConfigError(f"{doc.name}: `{'.'.join(keys)}` is no list")
    elif value not in doc.value(there):
        doc.add((there, [(None, value)]))


def drop(doc: Json, keys: tuple[str, ...]) -> None:
    """Take out the member that `keys` lead to, if there is one."""
    box = doc.find(*keys[:-1])
    if box is not None and box.kind == "object":
        doc.remove((box, [i for i, key in enumerate(box.keys) if key == keys[-1]]))


def drop_item(doc: Json, keys: tuple[str, ...], value: Any) -> None:
    """Take a value out of the list at `keys`."""
    box = doc.find(*keys)
    if box is not None and box.kind == "array":
        doc.remove((box, [i for i, item in enumerate(box.items) if doc.value(item) == value]))


def tidy(doc: Json, keys: tuple[str, ...], before: Json | None) -> None:
    """Take out what is empty now on the way to `keys` and was not there before us."""
    for depth in range(len(keys), 0, -1):
        node = doc.find(*keys[:depth])
        if node is None:
            continue
        if node.kind not in {"object", "array"} or not doc.bare(node):
            return
        if before is not None and before.find(*keys[:depth]) is not None:
            return
        drop(doc, keys[:depth])


def _object(doc: Json, node: Node, keys: tuple[str, ...]) -> Node:
    if node.kind != "object":
        where = ".".join(keys) or "the file"
        raise HostConfigError(f"{doc.name}: `{where}` is no object; it was left as it is")
    return node
