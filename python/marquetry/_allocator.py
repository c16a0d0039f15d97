"""Loads the extension with what its allocator, mimalloc, has to be told before.

By default it gives memory back to the system 10 milliseconds after it was freed, and the next table has it cleared again, page by page,
which takes as long as reading it. A second is what mimalloc's version 3 waits. Whoever sets the variable has the last word; nobody else
sees ours.
"""

from __future__ import annotations

import os

_DELAY = "MIMALLOC_PURGE_DELAY"

if _DELAY not in os.environ:
    os.environ[_DELAY] = "1000"
    try:
        # mimalloc reads its options once, as it is loaded.
        from . import _marquetry as _marquetry
    finally:
        del os.environ[_DELAY]
