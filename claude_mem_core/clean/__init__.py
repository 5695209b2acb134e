"""What may not be kept is taken out here, before the first write.

`tags`, `vendor` and `values` are standard library only: copies of them lie beside the
installed hook. `cleaner` puts them together with the redactors that plugins offer.
"""

from __future__ import annotations
