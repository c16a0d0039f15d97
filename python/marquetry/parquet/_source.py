"""Resolves what pyarrow accepts as a file: paths, URIs, filesystems, file objects, buffers."""

from __future__ import annotations

import io
import os
from typing import Any

import pyarrow as pa


def is_path(source: Any) -> bool:
    """Returns whether it is a path or a URI."""
    return isinstance(source, (str, os.PathLike))


def resolve(source: Any, filesystem: Any = None, memory_map: bool = False) -> tuple[Any, Any]:
    """Returns the filesystem and the path in it; the filesystem is ``None`` for file objects."""
    from pyarrow.fs import _resolve_filesystem_and_path

    filesystem, path = _resolve_filesystem_and_path(source, filesystem, memory_map=memory_map)
    return filesystem, path


def is_local(filesystem: Any) -> bool:
    """Returns whether it is the filesystem of this machine."""
    from pyarrow.fs import LocalFileSystem

    return filesystem is None or isinstance(filesystem, LocalFileSystem)


def input_of(source: Any, filesystem: Any = None, memory_map: bool = False) -> tuple[Any, str | None, Any]:
    """Returns what our reader opens, its name, and a file to close at the end."""
    if source is None:
        raise TypeError("'source' is None: a path or a file is wanted")
    if isinstance(source, pa.Buffer):
        return source, None, None
    if isinstance(source, (bytes, bytearray, memoryview, int)):
        raise TypeError(f"a path or a file is wanted, not {type(source).__name__}")
    if isinstance(source, io.TextIOBase):
        raise TypeError("a file of bytes is wanted, and this one is text: open it with mode 'rb'")
    if not is_path(source):
        resolve(source, filesystem)
        if isinstance(source, pa.NativeFile) or hasattr(source, "read"):
            return source, None, None
        raise TypeError(f"cannot read from objects of type {type(source).__name__}")
    filesystem, path = resolve(source, filesystem, memory_map)
    if is_local(filesystem):
        if os.path.isdir(path):
            raise IsADirectoryError(f"Cannot open for reading: path '{path}' is a directory")
        # Not text: our reader would take a path that begins with a scheme for a URL.
        return _Path(os.fspath(path)), os.fspath(path), None
    file = filesystem.open_input_file(path)
    return file, path, file


def output_of(where: Any, filesystem: Any = None) -> tuple[Any, str | None, Any]:
    """Returns what our writer writes to, its name, and a file to close at the end."""
    if where is None:
        raise TypeError("'where' is None: a path or a file is wanted")
    resolved, path = resolve(where, filesystem)
    if not is_path(where):
        if hasattr(where, "write"):
            return where, None, None
        raise TypeError(f"cannot write to objects of type {type(where).__name__}")
    if is_local(resolved):
        if os.path.isdir(path):
            raise IsADirectoryError(f"Cannot open for writing: path '{path}' is a directory")
        return _Path(os.fspath(path)), os.fspath(path), None
    file = resolved.open_output_stream(path, compression=None)
    return file, path, file


class _Path(os.PathLike[str]):
    """A path on this machine, even if it looks like a URL."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path
