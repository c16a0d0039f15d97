"""Statistics as Arrow arrays, of files that others wrote: by row group against what pyarrow and DuckDB say of the same footers, by page
against the rows that pyarrow reads."""

import collections
import datetime
import decimal
import json
import math
import re
import struct
import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# Files of other writers, where they are at hand, besides those that the part `theirs` has left.
CORPUS = [Path(__file__).resolve().parents[3] / "shared" / name for name in ("corpus", "parquet-testing")]
# More rows take long, and tell nothing more.
MOST_ROWS = 200_000


def files(root):
    """(writer, path) of each file."""
    found = [(path.parent.name, path) for path in sorted((root / "theirs").rglob("*.parquet"))]
    for corpus in CORPUS:
        found += [("corpus", path) for path in sorted(corpus.rglob("*.parquet"))]
    return found


def ours(binary, paths, folder):
    """What we say of each column of each file: {path: {column: {what: array}}}, and why there is nothing of a file or a column."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [str(part) for i, path in enumerate(paths) for part in (path, folder / f"{i}.arrow")]
    told, errors = {}, []
    for at in range(0, len(pairs), 400):
        done = subprocess.run([binary, "statistics", *pairs[at : at + 400]], check=True, stdout=subprocess.PIPE, text=True)
        errors += [json.loads(line) for line in done.stdout.splitlines()]
    for i, path in enumerate(paths):
        if (out := folder / f"{i}.arrow").exists():
            columns = collections.defaultdict(dict)
            batch = pa.ipc.open_file(out).get_batch(0)
            for name, lists in zip(batch.schema.names, batch.columns):
                column, what = name.split(".", 1)
                columns[int(column)][what] = lists.flatten() if lists.type.value_type != pa.null() else pa.nulls(len(lists[0]))
            told[path] = columns
    return told, errors


def of_pyarrow(path):
    """{(row group, column): (min, max, nulls)} of the footer, bounds with their type and as they are stored; None where not said."""
    metadata = pq.ParquetFile(path).metadata
    said = {}
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            known = metadata.row_group(group).column(column).statistics
            if known is None:
                continue
            bounds = [None, None]
            if known.has_min_max:
                bounds = [bound(known, "min"), bound(known, "max")]
            said[group, column] = (*bounds, known.null_count if known.has_null_count else None)
    return said


def of_required(path):
    """The columns that have no nulls."""
    try:
        schema = pq.ParquetFile(path).schema
    except Exception:  # noqa: BLE001 - as below
        return set()
    return {i for i in range(len(schema)) if schema.column(i).max_definition_level == 0}


def bound(known, name):
    try:
        typed = getattr(known, name)
    except (OverflowError, ValueError):
        # A date that Python has no type for.
        typed = None
    return typed, getattr(known, name + "_raw")


def of_duckdb(path):
    """The same of DuckDB, bounds as text, and whether they are exact."""
    query = """SELECT row_group_id, column_id, stats_min_value, stats_max_value, stats_null_count, min_is_exact, max_is_exact
        FROM parquet_metadata(?)"""
    with duckdb.connect() as connection:
        return {row[:2]: row[2:] for row in connection.execute(query, [str(path)]).fetchall()}


def same_as_pyarrow(ours, theirs):
    """Whether a bound, as a scalar of Arrow, is the one of pyarrow."""
    typed, raw = theirs
    if pa.types.is_float16(ours.type):
        # By value: a zero that is a bound may stand for the other one.
        return struct.unpack("<e", raw)[0] == ours.as_py()
    if typed is not None:
        try:
            if pa.scalar(typed, type=ours.type).equals(ours) or ours.as_py() == typed:
                return True
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            pass
    return stored(ours) == (raw if not isinstance(raw, int) or isinstance(raw, bool) else raw % 2**64)


def stored(value):
    """A value as it is stored, integers without their sign."""
    kind = value.type
    if pa.types.is_decimal(kind):
        return int(value.as_py().scaleb(kind.scale, decimal.Context(prec=100))) % 2**64
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        number = value.cast(width).as_py()
        return (number // 86_400_000 if pa.types.is_date64(kind) else number) % 2**64
    python = value.as_py()
    if isinstance(python, str):
        return python.encode()
    return python % 2**64 if isinstance(python, int) and not isinstance(python, bool) else python


def same_as_duckdb(ours, text):
    kind = ours.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        plain = re.sub(rb"\\x([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())
        return plain == ours.as_py() or text.replace("-", "") == ours.as_py().hex()
    if isinstance(ours.as_py(), str):
        return ours.as_py() == text
    # Decimals of more than 38 digits are doubles to it.
    if pa.types.is_floating(kind) or pa.types.is_decimal256(kind):
        return math.isclose(ours.as_py(), float(text), rel_tol=1e-6)
    text = re.sub(r"\+00$", "", text)
    if pa.types.is_time(kind):
        return ours.as_py() == datetime.time.fromisoformat(text)
    if pa.types.is_duration(kind):
        return ours.cast(pa.int64()).as_py() == int(text)
    if pa.types.is_timestamp(kind):
        kind = pa.timestamp("ns" if kind.unit == "ns" else "us")
        return pa.scalar(text).cast(kind).cast(pa.int64()).equals(ours.cast(pa.timestamp(kind.unit, ours.type.tz)).cast(pa.int64()))
    return pa.scalar(text).cast(kind).equals(ours)


def of_footer(told, path):
    """Failures of the row groups of a file, and how many bounds and counts were compared."""
    seen, failures = collections.Counter(), []
    required = of_required(path)
    for peer, says, same in (("pyarrow", of_pyarrow, same_as_pyarrow), ("duckdb", of_duckdb, same_as_duckdb)):
        try:
            theirs = says(path)
        except Exception:  # noqa: BLE001 - what a peer cannot open is for other parts
            seen[peer, "cannot open"] += 1
            continue
        for (group, column), (least, most, nulls, *exact) in theirs.items():
            ours = told.get(column)
            if ours is None:
                continue
            for name, bound in (("min", least), ("max", most)):
                value = ours[name][group]
                if bound is None or not value.is_valid:
                    seen[peer, "only we say" if value.is_valid else "only they say" if bound is not None else "nobody says"] += 1
                    continue
                try:
                    is_same = same(value, bound)
                except OverflowError:
                    # A date that Python has no type for.
                    seen[peer, "not compared"] += 1
                    continue
                except (pa.ArrowException, ValueError) as error:
                    is_same = f"{type(error).__name__}: {error}"
                seen[peer, "bounds"] += 1
                if is_same is not True:
                    failures.append((peer, column, f"{name} of row group {group} is {value} ({value.type}), theirs {bound!r}"))
            known = ours["nulls"][group].as_py()
            if None not in (known, nulls):
                seen[peer, "null counts"] += 1
                # Of a column that is required we take no count from the footer: there is no null in it.
                if known != nulls and not (known == 0 and column in required):
                    failures.append((peer, column, f"{known} nulls in row group {group}, theirs {nulls}"))
            for name, is_exact in zip(("min", "max"), exact):
                known = ours[f"{name}_exact"][group].as_py()
                if None not in (known, is_exact):
                    seen[peer, "exactness"] += 1
                    # That zeros are not exact, which may have lost their sign, is ours.
                    if known and not is_exact or is_exact and not known and not is_zero(ours[name][group]):
                        failures.append((peer, column, f"{name} of row group {group} is exact: {known}, theirs {is_exact}"))
    return failures, seen


def is_zero(value):
    return pa.types.is_floating(value.type) and value.as_py() == 0


def of_pages(told, path):
    """Failures of the pages of columns at the root that are in no list, by the rows that pyarrow reads."""
    seen, failures = collections.Counter(), []
    try:
        file = pq.ParquetFile(path)
        columns = [file.schema.column(i) for i in range(len(file.schema))]
    except Exception:  # noqa: BLE001
        return failures, seen
    for number, ours in told.items():
        column = columns[number]
        names = [column.path for column in columns]
        if "." in column.path or column.max_repetition_level or names.count(column.path) > 1 or file.metadata.num_rows > MOST_ROWS:
            continue
        if len(ours["page.rows"]) <= len(ours["rows"]):
            continue
        try:
            # What is stored of a column that is always null, though it should not be, pyarrow counts as nulls.
            if str(column.logical_type) == "Null":
                continue
            values = file.read([column.path]).column(0).combine_chunks()
        except Exception:  # noqa: BLE001
            seen["pages", "pyarrow cannot read"] += 1
            continue
        if sum(ours["page.rows"].to_pylist()) != len(values):
            failures.append(("pyarrow", number, f"pages of {sum(ours['page.rows'].to_pylist())} rows, there are {len(values)}"))
            continue
        first = 0
        for page, rows in enumerate(ours["page.rows"].to_pylist()):
            part = values.slice(first, rows)
            first += rows
            if (nulls := ours["page.nulls"][page].as_py()) is not None:
                seen["pages", "null counts"] += 1
                if nulls != part.null_count:
                    failures.append(("pyarrow", number, f"{nulls} nulls in page {page}, there are {part.null_count}"))
            for name, wrong in (("min", pc.less), ("max", pc.greater)):
                bound = ours[f"page.{name}"][page]
                if not bound.is_valid:
                    continue
                try:
                    outside = wrong(part.cast(comparable(part.type)), bound.cast(comparable(bound.type)))
                except pa.ArrowException:
                    seen["pages", "not compared"] += 1
                    continue
                seen["pages", "bounds"] += 1
                if pc.any(outside).as_py():
                    failures.append(("pyarrow", number, f"{name} of page {page} is {bound}, there is more"))
    return failures, seen


def comparable(kind):
    """A type that pyarrow compares."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
        return pa.binary()
    return pa.string() if pa.types.is_string_view(kind) or pa.types.is_large_string(kind) else kind


def check(binary, root, folder):
    """(peer, case, failure) for each column that is wrong, and `None` for each file and peer without."""
    found = files(root)
    told, errors = ours(binary, [path for _, path in found], folder)
    results, seen = [], collections.Counter()
    for writer, path in found:
        if path not in told:
            continue
        failures = []
        for part in (of_footer, of_pages):
            wrong, counted = part(told[path], path)
            failures += wrong
            seen += counted
        for peer, column, failure in failures:
            results.append((peer, {"file": path.name, "column": str(column), "part": "statistics"}, failure))
        wrong = {peer for peer, _, _ in failures}
        results += [(peer, {"file": path.name, "part": "statistics"}, None) for peer in ("pyarrow", "duckdb") if peer not in wrong]
    for (who, what), count in sorted(seen.items()):
        print(f"  statistics, {who}: {count} {what}")
    # A check that compares nothing passes.
    for who, what in (("pyarrow", "bounds"), ("duckdb", "bounds"), ("duckdb", "exactness"), ("pages", "bounds")):
        assert seen[who, what] > 100, f"only {seen[who, what]} {what} of {who} were compared"
    return results
