"""Observing with a model: from the events of a turn to requests, from replies to drafts.

Nothing here talks to a service: `ModelObserver` is given a function that asks one.
"""

from __future__ import annotations
