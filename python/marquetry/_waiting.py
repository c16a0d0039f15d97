"""Finds which threads wait for which, as far as Python's frames show it. The extension asks when a thread has waited for long."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Iterator


def waits_for(threads: list[int], others: set[int]) -> bool:
    """Returns whether one of `threads` waits, directly or through further threads, for one of `others`: for its end, or for a future that
    it works on.

    >>> import threading, time
    >>> over = threading.Event()
    >>> other = threading.Thread(target=over.wait)
    >>> other.start()
    >>> waiting = threading.Thread(target=other.join)
    >>> waiting.start()
    >>> time.sleep(0.1)
    >>> waits_for([waiting.ident], {other.ident}), waits_for([other.ident], {waiting.ident})
    (True, False)
    >>> over.set()
    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        # Without the GIL other threads keep running, so their frames change.
        return False
    frames = sys._current_frames()
    futures = {id(future): thread for thread, frame in frames.items() for future in _worked_on(frame)}
    seen, left = set(threads), list(threads)
    while left:
        frame = frames.get(left.pop())
        for found in _waited_for(frame, futures):
            if found in others:
                return True
            if found not in seen:
                seen.add(found)
                left.append(found)
    return False


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _waited_for(frame: FrameType | None, futures: dict[int, int]) -> Iterator[int]:
    """Yields the threads that the thread of this frame waits for. Waits with a timeout do not count."""
    of_futures = _codes("concurrent.futures", "Future", "result", "exception")
    for outer in _outwards(frame):
        code = outer.f_code
        if code is not threading.Thread.join.__code__ and code not in of_futures or outer.f_locals.get("timeout") is not None:
            continue
        this = outer.f_locals.get("self")
        thread = futures.get(id(this)) if code in of_futures else getattr(this, "ident", None)
        if thread is not None:
            yield thread


def _worked_on(frame: FrameType) -> Iterator[Any]:
    """Yields the futures that the thread of this frame works on."""
    works = _codes("concurrent.futures.thread", "_WorkItem", "run")
    for outer in _outwards(frame):
        if outer.f_code in works:
            future = getattr(outer.f_locals.get("self"), "future", None)
            if future is not None:
                yield future


def _codes(module: str, name: str, *methods: str) -> list[Any]:
    """Returns the code objects of methods of a class, if its module was imported and has it."""
    found = getattr(sys.modules.get(module), name, None)
    return [code for method in methods if (code := getattr(getattr(found, method, None), "__code__", None)) is not None]
