"""What is left of files of other libraries, broken in several ways, is recovered."""

import itertools
import json
import subprocess

import canon
import matrix
import readers
import theirs

# Of so many files of a writer one is broken.
EVERY = {"pyarrow": 7, "duckdb": 2, "polars": 2, "fastparquet": 2}


def footer_start(path):
    tail = path.read_bytes()[-8:]
    return path.stat().st_size - 8 - int.from_bytes(tail[:4], "little")


def row_group_ends(path):
    """(rows, end) up to each row group."""
    metadata, rows, out = theirs.pq.ParquetFile(path).metadata, 0, []
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        chunks = (group.column(i) for i in range(group.num_columns))
        start = lambda chunk: min(filter(None, [chunk.dictionary_page_offset, chunk.data_page_offset]))
        rows += group.num_rows
        out.append((rows, max(start(chunk) + chunk.total_compressed_size for chunk in chunks)))
    return out


def breaks(path):
    """(what is left, how many of its rows must come back) of a file, broken in several ways."""
    good, footer, ends = path.read_bytes(), footer_start(path), row_group_ends(path)
    all_rows = ends[-1][0]
    yield "cut before the footer", good[:footer], all_rows
    yield "footer overwritten", good[:footer] + b"\xa5" * (len(good) - footer), all_rows
    yield "garbage behind", good + bytes(i * i % 251 for i in range(3000)), all_rows
    # A writer that died in its last row group.
    before = ends[-2] if len(ends) > 1 else (0, 4)
    yield "cut in the last row group", good[: (before[1] + ends[-1][1]) // 2], before[0]


GIVEN_UP = "no row group is whole"
LOST = ": lost: "
# Files that may be given up: plain columns that are alike, in pages of as many rows, behind which nothing shows that the row
# group ended.
MOST_GIVEN_UP = {"pyarrow": 8, "duckdb": 0, "polars": 0, "fastparquet": 0}


def recovered(cli, path, broken, rows):
    """What is wrong with what comes back, as pyarrow reads it; `None` if it is the first rows of the file."""
    left, out = path.with_suffix(".broken"), path.with_suffix(".recovered.parquet")
    left.write_bytes(broken)
    command = [cli, "recover", left, out, "--schema-from", path, "--overwrite", "--format", "json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    # That parts are lost is what 1 says, too; which they are is held against the rows below.
    if done.returncode != 0 and LOST not in done.stderr:
        is_nothing = GIVEN_UP in done.stderr or "neither a footer nor pages" in done.stderr
        return None if rows == 0 and is_nothing else done.stderr.strip()
    try:
        names = theirs.pq.ParquetFile(path).schema_arrow.names
        if "-DELTA_" in path.name:  # pyarrow makes no dictionaries of such pages
            names = [name for name in names if name != "dict"]
        wanted, got = (theirs.pq.read_table(file, columns=names, use_threads=False) for file in (path, out))
        if got.num_rows != rows:
            losses = [loss["why"] for loss in json.loads(done.stdout)["losses"]]
            raise canon.Differs(f"{got.num_rows} rows, not {rows}: {losses}")
        for name in wanted.column_names:
            pair = (canon.canon_chunks(t.column(name), t.column(name).type) for t in (got, wanted.slice(0, rows)))
            canon.check_same(*pair)
    except Exception as error:
        return matrix.message_of(error)


def check(cli, folder, peer):
    """(peer, group, case, failure) for each broken file."""
    folder.mkdir(parents=True, exist_ok=True)
    results, given_up = [], 0
    # Pages of nulls only do not tell which column they are of.
    files = (written for written in theirs.WRITERS[peer](folder) if written[2]["nulls"] not in ("all", "empty"))
    for path, table, case in itertools.islice(files, 0, None, EVERY[peer]):
        for what, broken, rows in breaks(path):
            failure = recovered(cli, path, broken, rows)
            if failure and GIVEN_UP in failure:
                given_up, failure = given_up + 1, None
            results.append((peer, what, {**case, "file": path.name, "column": what, "part": "recovery"}, failure))
    assert given_up <= MOST_GIVEN_UP[peer], f"{peer}: {given_up} files are given up"
    return results
