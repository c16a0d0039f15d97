"""Loads the extension with an option of its allocator, mimalloc.

By default, mimalloc returns memory to the system 10 milliseconds after it was freed. The system then clears it again, page by page,
for the next table, which takes as long as reading the table. So the delay is set to one second, the default of mimalloc 3. A value
that the user has set takes precedence. Ours is removed once the extension is loaded, so that nobody else sees it.
"""

from __future__ import annotations

import os

_DELAY = "MIMALLOC_PURGE_DELAY"

if _DELAY not in os.environ:
    os.environ[_DELAY] = "1000"
    try:
        # mimalloc reads its options once, when it is loaded.
        from . import _marquetry as _marquetry
    finally:
        del os.environ[_DELAY]
