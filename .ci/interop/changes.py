"""Files with checkpoints in them, and files that were changed in place, read by other libraries as plain files are."""

import itertools
import os
import subprocess

import pyarrow as pa

import canon
import matrix
import readers
import theirs

WRITTEN = {
    "default": [],
    "v2": ["--page-version", "2"],
    "plain": ["--encoding", "PLAIN", "--dictionary", "off", "--compression", "none"],
    "delta": ["--compat", "latest", "--dictionary", "off", "--compression", "lz4_raw", "--page-version", "2"],
    "snappy": ["--compression", "snappy", "--no-arrow-schema"],
    "gzip": ["--compression", "gzip", "--no-checksums", "--statistics", "none"],
    "brotli": ["--compression", "brotli", "--bloom", "utf8", "--bloom", "i64:0.01"],
}
BLOOM = ["--bloom", "utf8", "i64:0.01"]
ROWS = 130
# How many files a library may fail to read even before they are changed.
MOST_UNREAD = {"pyarrow": 0, "duckdb": 0, "polars": 0}


def run(cli, *args):
    done = subprocess.run([cli, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, args))}: {done.stderr}"


def tables():
    """Columns of each kind, flat and nested, but for those that cost a library all the others of a file."""
    for nesting, nulls, table in theirs.tables():
        yield f"{nesting}-{nulls}", table.drop_columns(["dec256", "utf8_view", "null", "f16"])


def changed(cli, plain, folder):
    """(what was done, the file, the rows of `plain` that it must have) for each way to change a file."""
    count = lambda path: theirs.pq.ParquetFile(path).metadata.num_row_groups
    groups, rows = count(plain), theirs.pq.ParquetFile(plain).metadata.num_rows
    checkpointed = plain.with_suffix(".checkpoints.parquet")
    everything = list(range(rows))
    yield "checkpoints", checkpointed, everything

    def copy(what):
        path = folder / f"{plain.stem}.{what}.parquet"
        path.write_bytes(checkpointed.read_bytes())
        return path

    path = copy("appended")
    for _ in range(3):
        run(cli, "append", path, plain)
    yield "several appends", path, everything * 4
    path = copy("meta")
    run(cli, "meta", "set", path, "owner=somebody", "note=ä")
    yield "meta set", path, everything
    if groups > 1:
        path = copy("dropped")
        run(cli, "append", path, plain)
        run(cli, "drop-row-group", path, 1, groups)
        run(cli, "meta", "set", path, "dropped=two")
        without = lambda group: [row for row in everything if row // ROWS != group]
        yield "drop-row-group", path, without(1) + without(0)
        smaller = folder / f"{plain.stem}.rewritten.parquet"
        run(cli, "rewrite", path, smaller)
        assert smaller.stat().st_size < path.stat().st_size
        yield "rewrite", smaller, without(1) + without(0)


def write(cli, folder):
    """(case, plain file, changed file, rows) for all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    ways = itertools.cycle(WRITTEN.items())
    for name, table in tables():
        source = folder / f"{name}.arrow"
        with pa.ipc.new_file(source, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        is_flat = name.startswith("flat")
        for way, options in itertools.islice(ways, len(WRITTEN) if name == "flat-some" else 2):
            options = options if is_flat else [option for option in options if option not in BLOOM]
            plain = folder / f"{name}-{way}.parquet"
            common = ["convert", source, plain, "--row-group-rows", ROWS, "--page-rows", 50, "--report", "none"]
            run(cli, *common, *options)
            common[2] = plain.with_suffix(".checkpoints.parquet")
            run(cli, *common, *options, "--checkpoint-every", "1rg")
            is_grown = common[2].stat().st_size > plain.stat().st_size
            assert is_grown or table.num_rows <= ROWS, f"no checkpoints in {common[2]}"
            for what, path, rows in changed(cli, plain, folder):
                yield {"encoding": way, "nesting": name, "file": path.name, "part": "changes"}, what, plain, path, rows


def columns(peer, path):
    """What a library reads, each column in its canonical form; an error is text."""
    try:
        read = readers.READERS[peer](path)
        return {name: canon.canon_chunks(column, column.type) for name, column in read.items()}
    except BaseException as error:  # polars' panics are not Exceptions
        return matrix.message_of(error)


def failure_of(wanted, got, rows):
    """What is wrong with a column of a changed file; `None` if it is the plain file's, its rows chosen."""
    try:
        canon.check_same(got, wanted.take(pa.array(rows, pa.int64())))
    except Exception as error:
        return matrix.message_of(error)


def check_peer(peer, written):
    """(peer, group, case, failure) for each column of each changed file that the library can read unchanged."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # panics of polars write to standard error by themselves
    results, unread = [], set()
    for plain, changes in itertools.groupby(written, lambda change: change[2]):
        wanted = columns(peer, plain)
        if isinstance(wanted, str):
            unread.add(plain.name)
            continue
        for case, what, _, path, rows in changes:
            got = columns(peer, path)
            for name, column in wanted.items():
                failure = got if isinstance(got, str) else failure_of(column, got.get(name), rows)
                results.append((peer, what, {**case, "column": name}, failure))
    # What is not read here is for the matrix to explain.
    assert len(unread) <= MOST_UNREAD[peer], f"{peer} does not read {unread}"
    return results


def check(cli, folder, peers, processes):
    written = list(write(cli, folder))
    with processes() as pool:
        tasks = [pool.submit(check_peer, peer, written) for peer in peers if peer in MOST_UNREAD]
        return [result for task in tasks for result in task.result()]
