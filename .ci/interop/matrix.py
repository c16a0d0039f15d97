"""Reads the files of the matrix with a library, and compares every value."""

import multiprocessing
import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import canon
import readers

TRUTHS = {}


def truth(path):
    """The columns of an Arrow file, and each in its canonical form."""
    if path not in TRUTHS:
        columns = {name: canon.one_array(column) for name, column in readers.read_ipc(path).items()}
        TRUTHS[path] = {name: (array, canon.canon(array, array.type)) for name, array in columns.items()}
    return TRUTHS[path]


def message_of(error):
    """The first line, without what differs from file to file."""
    text = re.sub(r"(/[\w.+-]+)+\.parquet", "FILE", f"{type(error).__name__}: {error}".strip())
    return text.splitlines()[0][:300]


def check_column(peer, got, want, canonical):
    """Raises `Differs` unless the column is what it should be."""
    if peer == "fastparquet":
        got = readers.from_pandas(got, want.type)
        if pa.types.is_decimal(want.type) and pa.types.is_floating(got.type):
            if not readers.float_decimals_are_near(got, want):
                raise canon.Differs("not the decimals, not even as floats")
            return
        if pa.types.is_floating(want.type):
            # Nulls and NaN are the same to pandas.
            got, want = (pc.fill_null(array.cast(want.type), float("nan")) for array in (got, want))
            canonical = canon.canon(want, want.type)
    if peer == "duckdb" and pa.types.is_decimal(want.type) and pa.types.is_float64(got.type):
        raise canon.Differs("decimals as floats")
    canon.check_same(canon.canon_chunks(got, want.type), canonical)


def check_columns(peer, got, columns, folder, row):
    """What is wrong with each column that was read."""
    failures = {}
    wanted = truth(folder / row["truth"])
    for name in columns:
        try:
            if name not in got:
                raise canon.Differs("the column is not there")
            check_column(peer, got[name], *wanted[name])
        except BaseException as error:  # polars' panics are not Exceptions
            failures[name] = message_of(error)
    return failures


def check_file(peer, folder, row, columns=None):
    """Of all columns or these, those that a library cannot read, or reads wrong, with its message."""
    path = folder / row["file"]
    read = readers.READERS[peer]
    try:
        got = read(path, columns)
    except BaseException:
        got = None
    columns = columns or row["columns"]
    if got is not None:
        failures = check_columns(peer, got, columns, folder, row)
        # One bad column may spoil others.
        if not failures or len(columns) == 1:
            return failures
    failures = {}
    for name in columns:
        try:
            got = read(path, [name])
        except BaseException as error:
            failures[name] = message_of(error)
            continue
        failures.update(check_columns(peer, got, [name], folder, row))
    return failures


def serve(connection, peer, folder, tasks):
    """A process that may die: sends one result after the other."""
    # Panics of polars write to standard error by themselves.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for row, columns in tasks:
        connection.send(check_file(peer, folder, row, columns))


def check_files(peer, folder, rows):
    """(peer, row, columns, failures) for all files, even if the library takes its process with it."""
    folder = Path(folder)
    tasks = [(row, None) for row in rows]
    results = []
    while tasks:
        ours, theirs = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=serve, args=(theirs, peer, folder, tasks))
        process.start()
        theirs.close()
        done = 0
        try:
            while done < len(tasks) and ours.poll(120):
                failures = ours.recv()
                row, columns = tasks[done]
                results.append((peer, row, columns or row["columns"], failures))
                done += 1
        except EOFError:
            pass
        if done < len(tasks):
            process.kill()
        process.join()
        tasks = tasks[done:]
        if not tasks:
            break
        (row, columns), later = tasks[0], tasks[1:]
        if columns is None:
            tasks = [(row, [name]) for name in row["columns"]] + later
        else:
            results.append((peer, row, columns, {columns[0]: f"the process ends with {process.exitcode}"}))
            tasks = later
    return results


PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["matrix"])


def check_ours(binary, folder, rows):
    """The same for our own reader, which gives all types back."""
    folder = Path(folder)
    out = folder / "ours"
    out.mkdir(exist_ok=True)
    pairs = [(folder / row["file"], out / (row["file"] + ".arrow")) for row in rows]
    errors = readers.read_all_ours(binary, pairs)
    results = []
    for row, (path, arrow) in zip(rows, pairs):
        if str(path) in errors:
            failures = {name: errors[str(path)] for name in row["columns"]}
        else:
            failures = check_columns("marquetry", readers.read_ipc(arrow), row["columns"], folder, row)
            arrow.unlink()
        results.append(("marquetry", row, row["columns"], failures))
    return results
