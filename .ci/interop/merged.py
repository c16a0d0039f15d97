"""Files of different writers, whose schemas say the same in other words, merged: every reader finds the rows of both."""

import subprocess

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import matrix
import readers

TABLE = """
SELECT i::BIGINT AS i64, (i * 7)::INTEGER AS i32, (i % 100)::SMALLINT AS i16, (i % 100)::UTINYINT AS u8, i / 3 AS f64,
       CASE WHEN i % 5 > 0 THEN 'w' || i % 9 END AS text, DATE '2020-01-01' + i::INTEGER AS day,
       TIMESTAMP '2020-01-01 12:30:00' + INTERVAL (i) SECOND AS at, (i / 8)::DECIMAL(12, 3) AS price,
       CASE WHEN i % 11 > 0 THEN [i, i + 1] END AS list, CASE WHEN i % 7 > 0 THEN {'x': i, 'y': 'q' || i} END AS struct
FROM range(1000) AS r(i)
"""


def write(folder):
    """The same rows, as DuckDB and as pyarrow write them; pyarrow's also with columns that are required."""
    folder.mkdir(parents=True, exist_ok=True)
    duck, arrow, required = (folder / f"{name}.parquet" for name in ("duckdb", "pyarrow", "required"))
    connection = duckdb.connect()
    connection.sql(TABLE).write_parquet(str(duck))
    table = connection.sql(TABLE).to_arrow_table()
    pq.write_table(table, arrow, store_decimal_as_integer=True)
    fields = [field.with_nullable(field.name in ("text", "list", "struct")) for field in table.schema]
    pq.write_table(table.cast(pa.schema(fields)), required, store_decimal_as_integer=True)
    return duck, arrow, required


def check(cli, folder, peers):
    """(peer, what, case, failure) for each pair of files."""
    duck, arrow, required = write(folder)
    for what, first, second, options in [
        ("duckdb, pyarrow", duck, arrow, []),
        ("pyarrow, duckdb", arrow, duck, []),
        ("required, duckdb", required, duck, ["--compatible"]),
        ("duckdb, required", duck, required, ["--compatible"]),
    ]:
        merged = folder / f"{first.stem}-{second.stem}.parquet"
        appended = folder / f"{first.stem}-{second.stem}.appended.parquet"
        appended.write_bytes(first.read_bytes())
        commands = [["merge", first, second, merged, "--overwrite", *options]]
        if first != required:
            commands.append(["append", appended, second, *options])
        for command in commands:
            path = merged if command[0] == "merge" else appended
            done = subprocess.run([cli, *map(str, command)], capture_output=True, text=True)
            for peer in peers:
                failure = done.stderr.strip() if done.returncode else rows_of(peer, path, first, second)
                case = {"encoding": "default", "nesting": "all", "file": path.name, "part": "changes", "column": "all"}
                yield peer, f"{command[0]}: {what}", case, failure


def rows_of(peer, path, first, second):
    """What is wrong with the rows that a library reads; `None` if they are those of both files."""
    try:
        read = lambda file: [column.to_pylist() for column in readers.READERS[peer](file).values()]
        wanted = [a + b for a, b in zip(read(first), read(second))]
        return None if read(path) == wanted else "other rows"
    except BaseException as error:  # polars' panics are not Exceptions
        return matrix.message_of(error)
