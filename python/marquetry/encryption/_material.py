"""Key material files: wrapped keys beside a Parquet file."""

from __future__ import annotations

import os
from typing import Any

from .. import _marquetry


class KeyMaterialFile:
    """The file ``_KEY_MATERIAL_FOR_<name>.json`` beside a Parquet file, on this machine or in a filesystem of pyarrow or fsspec."""

    def __init__(self, parquet: Any, filesystem: Any = None) -> None:
        path = os.fspath(parquet)
        if filesystem is not None or "://" in path:
            from ..parquet._source import is_local, resolve

            filesystem, path = resolve(path, filesystem)
            filesystem = None if is_local(filesystem) else filesystem
        self._filesystem, self._parquet = filesystem, os.fspath(path)
        folder, slash, name = self._parquet.rpartition("/" if filesystem is not None else os.sep)
        self.path = f"{folder}{slash}{_marquetry.key_material_name(name)}"

    def read(self) -> bytes:
        """Reads the key material."""
        if self._filesystem is None:
            with open(self.path, "rb") as file:
                return file.read()
        with self._filesystem.open_input_stream(self.path) as stream:
            return bytes(stream.read())

    def write(self, material: str) -> None:
        """Writes the key material; on this machine in one step."""
        if self._filesystem is None:
            _marquetry.write_key_material(self._parquet, material.encode())
            return
        with self._filesystem.open_output_stream(self.path, compression=None) as stream:
            stream.write(material.encode())
