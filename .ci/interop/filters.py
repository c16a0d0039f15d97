"""Statistics, indexes and bloom filters of our files, as other libraries see them, and filters that use them.

A filter on the file must find the rows that the same library finds with the same filter among all rows in memory.
"""

import pyarrow as pa
import pyarrow.compute as pc

import canon
import matrix
import readers

ROW_GROUP_ROWS = 3000
#: Where in the sorted values of a column the constants are that it is compared with.
PLACES = [0.0, 0.35, 1.0]
OPERATORS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def check_file(task):
    """All checks of one library on one file: (peer, case, failure) for each."""
    peer, folder, row = task
    path = folder / row["file"]
    found = []
    for check in CHECKS[peer]:
        try:
            results = list(check(path, folder / row["truth"]))
        except BaseException as error:
            results = [(check.__name__, "all", matrix.message_of(error))]
        for column, what, failure in results:
            case = {"part": "filters", "file": row["file"], "column": column, "encoding": what}
            found.append((peer, case, failure))
    return found


def compared(column, what, got, want):
    return column, what, None if got == want else f"{what}: {got!r:.120} instead of {want!r:.120}"


def constants(values):
    """Some of the values of a column that has no nulls."""
    return [values[round(place * (len(values) - 1))] for place in PLACES] if len(values) else []


# pyarrow


def pyarrow_statistics(path, truth):
    """Bounds and counts in the footer against the values."""
    import pyarrow.parquet as pq

    metadata = pq.ParquetFile(path).metadata
    table = pa.ipc.open_file(pa.memory_map(str(truth))).read_all()
    for group in range(metadata.num_row_groups):
        for at, name in enumerate(table.column_names):
            chunk = metadata.row_group(group).column(at)
            rows = canon.one_array(table.column(name).slice(group * ROW_GROUP_ROWS, ROW_GROUP_ROWS))
            yield name, "statistics", wrong_statistics(path, name, chunk, canon.undressed(rows))


def wrong_statistics(path, name, chunk, rows):
    stats = chunk.statistics
    if not chunk.has_offset_index:
        return "no offset index"
    # Bounds of a page of NaN alone cannot be given, and there is no column index without all of them.
    if not chunk.has_column_index and not name.endswith("_nan"):
        return "no column index"
    if stats is None or not stats.has_null_count or stats.null_count != rows.null_count:
        return f"null count {stats and stats.null_count} instead of {rows.null_count}"
    if chunk.num_values != len(rows):
        return f"{chunk.num_values} values instead of {len(rows)}"
    values = pc.drop_null(rows) if rows.type != pa.string_view() else pc.drop_null(rows.cast(pa.string()))
    if pa.types.is_floating(rows.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    if len(values) == 0:
        return "bounds of no values" if stats.has_min_max else None
    if not stats.has_min_max:
        if pa.types.is_floating(rows.type) and "total-order" in path.name:
            return None  # pyarrow does not know that order
        # There may be no upper bound once it is cut.
        return None if values.type in (pa.string(), pa.binary()) and len(pc.max(values).as_py()) > 60 else "no bounds"
    if values.type == pa.binary(16) or values.type == pa.binary():
        sorted_values = sorted(values.to_pylist())
        low, high = sorted_values[0], sorted_values[-1]
        got_low, got_high = stats.min_raw, stats.max_raw
    elif pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        low, high = pc.min(values.cast(pa.int64())).as_py(), pc.max(values.cast(pa.int64())).as_py()
        got_low, got_high = stats.min_raw, stats.max_raw
    elif values.type == pa.float16():
        values = values.cast(pa.float32())
        low, high = pc.min(values).as_py(), pc.max(values).as_py()
        got_low, got_high = (float(bound) if not isinstance(bound, bytes) else half(bound) for bound in (stats.min, stats.max))
    else:
        low, high = pc.min(values).as_py(), pc.max(values).as_py()
        got_low, got_high = stats.min, stats.max
    if isinstance(low, (str, bytes)):
        fits = got_low <= low and got_high >= high and len(got_low) <= max(64, len(low))
    else:
        fits = got_low == low and got_high == high
    return None if fits else f"bounds {got_low!r:.80} {got_high!r:.80} instead of {low!r:.80} {high!r:.80}"


def half(stored):
    import struct

    return struct.unpack("<e", stored)[0]


def pyarrow_filters(path, truth):
    """`pyarrow.dataset` leaves out row groups by their statistics."""
    import pyarrow.dataset as ds

    on_file = ds.dataset(path)
    rows = on_file.to_table()
    in_memory = ds.dataset(rows)
    for name in rows.column_names:
        field = pc.field(name)
        values = canon.undressed(canon.one_array(rows.column(name)))
        values = pa.array(sorted(present(values)), values.type)
        filters = [("is null", field.is_null()), ("is not null", field.is_valid())]
        for constant in constants(values):
            filters += [
                ("==", field == constant), ("!=", field != constant), ("<", field < constant),
                ("<=", field <= constant), (">", field > constant), (">=", field >= constant),
            ]
        if len(values):
            filters.append(("in", field.isin(pa.array([values[0].as_py(), values[-1].as_py()], values.type))))
        for what, expression in filters:
            try:
                want = in_memory.to_table(columns=["row"], filter=expression).column("row").to_pylist()
            except pa.ArrowNotImplementedError:
                continue
            got = on_file.to_table(columns=["row"], filter=expression).column("row").to_pylist()
            yield compared(name, what, sorted(got), sorted(want))


def present(values):
    """The values that are neither null nor NaN, as Python has them, each once."""
    return {value for value in values.to_pylist() if value is not None and value == value}


# DuckDB


def duckdb_tables(path):
    connection = readers.duckdb_connection()
    connection.execute(f"CREATE OR REPLACE TEMP TABLE rows AS SELECT * FROM read_parquet('{path}')")
    return connection, connection.execute("DESCRIBE rows").fetchall()


def duckdb_literals(connection, name, type_name):
    query = f"""SELECT DISTINCT "{name}" AS v FROM rows WHERE v IS NOT NULL ORDER BY v"""
    texts = connection.execute(f"SELECT v::VARCHAR FROM ({query})").fetchall()
    texts = [text for (text,) in texts if text != "nan"]
    return ["'{}'::{}".format(text.replace("'", "''"), type_name) for text in constants(texts)]


def duckdb_filters(path, truth):
    """DuckDB leaves out row groups by statistics and bloom filters."""
    connection, columns = duckdb_tables(path)
    for name, type_name, *_ in columns:
        literals = duckdb_literals(connection, name, type_name)
        filters = ["IS NULL", "IS NOT NULL"]
        filters += [f"{operator} {literal}" for literal in literals for operator in OPERATORS.values()]
        filters += [f"IN ({literals[0]}, {literals[-1]})", f"BETWEEN {literals[0]} AND {literals[1]}"] if literals else []
        if type_name in ("FLOAT", "DOUBLE"):
            filters += [f"= 'nan'::{type_name}", f"> 'inf'::{type_name}", f"<> 'nan'::{type_name}", f"= -0.0::{type_name}"]
        for text in filters:
            query = f"""SELECT coalesce(list(row ORDER BY row), []) FROM {{}} WHERE "{name}" {text}"""
            want = connection.execute(query.format("rows")).fetchone()[0]
            got = connection.execute(query.format(f"read_parquet('{path}')")).fetchone()[0]
            yield compared(name, text.split("'")[0].strip(), got, want)


def duckdb_statistics(path, truth):
    """What `parquet_metadata` says of each chunk."""
    connection, columns = duckdb_tables(path)
    chunks = connection.execute(
        f"""SELECT row_group_id, path_in_schema, stats_null_count, stats_min_value, stats_max_value, bloom_filter_offset
            FROM parquet_metadata('{path}')"""
    ).fetchall()
    types = {name: type_name for name, type_name, *_ in columns}
    for group, name, null_count, low, high, bloom in chunks:
        finite = f"""AND NOT isnan("{name}")""" if types[name] in ("FLOAT", "DOUBLE") else ""
        row_range = f"row >= {group * ROW_GROUP_ROWS} AND row < {(group + 1) * ROW_GROUP_ROWS}"
        nulls, n = connection.execute(
            f"""SELECT count(*) FILTER ("{name}" IS NULL), count(*) FILTER ("{name}" IS NOT NULL {finite})
                FROM rows WHERE {row_range}"""
        ).fetchone()
        failure = None
        if null_count != nulls:
            failure = f"null count {null_count} instead of {nulls}"
        elif n == 0 and (low, high) != (None, None):
            failure = f"bounds {low} {high} of no values"
        elif bloom is None and types[name] != "BOOLEAN" and name != "f16":
            failure = "no bloom filter"
        elif low is not None and high is not None:
            bound = lambda text: "'{}'::{}".format(text.replace("'", "''"), types[name])
            outside = connection.execute(
                f"""SELECT count(*) FROM rows WHERE {row_range} AND "{name}" IS NOT NULL {finite}
                    AND NOT ("{name}" BETWEEN {bound(low)} AND {bound(high)})"""
            ).fetchone()[0]
            failure = f"{outside} values are not between {low} and {high}" if outside else None
        yield name, "statistics", failure


def duckdb_bloom(path, truth):
    """`parquet_bloom_probe`: never excludes a value that is there, and mostly one that is not."""
    connection, columns = duckdb_tables(path)
    for name, type_name, *_ in columns:
        # FLOAT16 has none: DuckDB would look for a FLOAT in it.
        if type_name == "BOOLEAN" or name in ("row", "f16"):
            continue
        literals = duckdb_literals(connection, name, type_name)
        for literal in literals:
            there = connection.execute(
                f"""SELECT DISTINCT row // {ROW_GROUP_ROWS} FROM rows WHERE "{name}" = {literal}"""
            ).fetchall()
            probe = f"SELECT row_group_id FROM parquet_bloom_probe('{path}', '{name}', {literal}) WHERE bloom_filter_excludes"
            excluded = connection.execute(probe).fetchall()
            wrong = sorted(set(there) & set(excluded))
            yield name, "bloom probe", f"excludes {literal} from {wrong}" if wrong else None
    for name, absent in [("i64", "{}::BIGINT"), ("random_i64", "-{}::BIGINT"), ("utf8", "'absent {}'"), ("f64", "{}.125::DOUBLE")]:
        excluded = 0
        for i in range(40):
            probe = f"SELECT count(*) FROM parquet_bloom_probe('{path}', '{name}', {absent.format(10**6 + i)}) WHERE bloom_filter_excludes"
            excluded += connection.execute(probe).fetchone()[0]
        yield name, "bloom probe", None if excluded > 0.8 * 160 else f"excludes {excluded} of 160 that are not there"


# polars


def polars_filters(path, truth):
    """`scan_parquet` with a filter that is pushed down."""
    import polars

    frame = polars.read_parquet(path)
    scan = polars.scan_parquet(path)
    for name in frame.columns:
        column = polars.col(name)
        values = frame.get_column(name).drop_nulls()
        if values.dtype.is_float():
            values = values.filter(values.is_not_nan())
        plain = values.cast(polars.String) if values.dtype == polars.Categorical else values
        values = plain.unique().sort()
        filters = [("is null", column.is_null()), ("is not null", column.is_not_null())]
        for constant in constants(values):
            lit = polars.lit(constant, dtype=values.dtype)
            filters += [
                ("==", column == lit), ("!=", column != lit), ("<", column < lit),
                ("<=", column <= lit), (">", column > lit), (">=", column >= lit),
            ]
        if len(values):
            filters.append(("in", column.is_in(polars.Series([values[0], values[-1]], dtype=values.dtype).implode())))
        if values.dtype.is_float():
            filters += [("is nan", column.is_nan()), ("> inf", column > float("inf")), ("== nan", column == float("nan"))]
        for what, expression in filters:
            try:
                want = frame.filter(expression).get_column("row").to_list()
            except polars.exceptions.PolarsError:
                continue
            got = scan.filter(expression).select("row").collect().get_column("row").to_list()
            yield compared(name, what, got, want)


CHECKS = {
    "pyarrow": [pyarrow_statistics, pyarrow_filters],
    "duckdb": [duckdb_statistics, duckdb_filters, duckdb_bloom],
    "polars": [polars_filters],
}
