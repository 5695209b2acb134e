"""The second process: where providers and their SDKs are loaded, and nowhere else.

The worker starts it when a model is to be asked and lets it go when it was idle for a
while. The two share one private socket pair: when either end is gone, so is the other.
"""

from __future__ import annotations
