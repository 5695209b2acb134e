"""Between the observer and the model services: keys, limits, failures, costs.

Provider packages use three modules of it: `classify` (an error of theirs becomes a
`ProviderError`), `outgoing` (the only HTTP client that may leave the machine) and
`origins` (which key may go where). The rest is the core's own.
"""

from __future__ import annotations
