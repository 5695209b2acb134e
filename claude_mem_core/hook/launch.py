"""Runs the hook client: `python -I -S -E -c BOOT launch.py HOST EVENT`.

From cached code, if that is what was installed, else from source: whoever swaps a cached
file only makes the hook slower. The digest is the keyed hash that Python itself uses for
its caches, with a key made at the installation. The installer fills in the constants.
This file is compiled at every start, so it is short, and the rest lies in `client`.
"""

import sys
from _imp import source_hash
from marshal import loads

FOLDER = sys.argv[0][:-9]
VERSION = 0
CACHED = ""
KEY = 0
DIGEST = b""
code = None
try:
    data = open(FOLDER + CACHED, "rb").read()
    if sys.hexversion == VERSION and source_hash(KEY, data) == DIGEST:
        code = loads(memoryview(data)[16:])
except (OSError, ValueError, EOFError, TypeError):
    pass
if not code:
    try:
        code = compile(open(FOLDER + "client.py", "rb").read(), "client.py", "exec")
    except (OSError, SyntaxError) as error:
        sys.stderr.write(f"claude-mem: {error}, continuing without memory\n")
        sys.exit()
exec(code)  # noqa: S102 - our own file, from our own folder
