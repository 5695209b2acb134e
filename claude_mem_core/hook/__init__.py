"""The hook client: what a host runs for each event.

Nothing here imports the package. `edge.install_hook` copies the files into the data
directory, where `launch.py` runs them with a bare interpreter.
"""

from __future__ import annotations
