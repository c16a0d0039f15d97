"""The end of the interpreter, while threads still read and write: the process ends, as it would without them."""

import pathlib
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pytest

import marquetry

BEGIN = """
import atexit, io, sys, threading, time
import pyarrow as pa

class Slow:
    def __init__(self, path):
        self.file = open(path, "rb")
    def read(self, size=-1):
        time.sleep(0.001)
        return self.file.read(size)
    def seek(self, *where):
        return self.file.seek(*where)
    def tell(self):
        return self.file.tell()

class Taking:
    def write(self, contents):
        time.sleep(0.001)
        return len(contents)

path = sys.argv[1]
table = pa.table({"x": range(200_000)})

def batches():
    for batch in table.to_batches(max_chunksize=100):
        yield batch

def rows():
    return pa.RecordBatchReader.from_batches(table.schema, batches())
"""

THREADS = """
import marquetry

def forever():
    while True:
        work()

for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.4)
print("end")
"""

WORK = {
    "a file object": "marquetry.open(Slow(path)).read()",
    "a file object, batch by batch": "list(marquetry.open(Slow(path)).stream(batch_size=100))",
    "a file object that is written": "marquetry.write(table, Taking(), row_group_rows=1000)",
    "a generator": "marquetry.write(rows(), io.BytesIO())",
    "progress": "marquetry.write(table.to_reader(100), io.BytesIO(), progress=lambda rows: time.sleep(0.0001))",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("exit") / "t.parquet"
    table = pa.table({"id": pa.array(range(50_000), pa.int64()), "name": [f"name {i % 977}" for i in range(50_000)]})
    marquetry.write(table, path, row_group_rows=5_000)
    return path


def ended(program: str, path: pathlib.Path) -> tuple[int, str, str, float]:
    """How it ended, what it printed, and how long it took."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr, time.perf_counter() - begun


@pytest.mark.parametrize("work", WORK)
def test_daemon_threads_in_python_code_abort_nothing(work: str, path: pathlib.Path) -> None:
    program = f"{BEGIN}\ndef work():\n    {WORK[work]}\n{THREADS}"
    for _ in range(2):
        assert ended(program, path)[:3] == (0, "end\n", "")


def test_threads_below_another_library_abort_nothing(path: pathlib.Path) -> None:
    program = """
def work():
    pa.RecordBatchReader.from_stream(marquetry.open(Slow(path)).stream(batch_size=100)).read_all()
"""
    # pyarrow prints an exception that it makes of what ends the thread, and may be ended in code of its own, which aborts: rarely.
    assert (0, "end\n") in [ended(BEGIN + program + THREADS, path)[:2] for _ in range(3)]


def test_what_never_returns_is_not_waited_for(path: pathlib.Path) -> None:
    program = """
def batches():
    threading.Event().wait()
    yield from ()

def work():
    marquetry.write(rows(), io.BytesIO())
"""
    code, out, error, seconds = ended(BEGIN + program + THREADS, path)
    assert (code, out, error) == (0, "end\n", "") and seconds < 60


@pytest.mark.parametrize(
    "work",
    [
        "marquetry.write(rows(), io.BytesIO())",
        "marquetry.write(table, Busy())",
        "marquetry.open(Busy()).read()",
        "marquetry.write(table.to_reader(100), io.BytesIO(), progress=lambda rows: loop())",
        "pa.RecordBatchReader.from_stream(marquetry.open(Busy()).stream()).read_all()",
    ],
)
def test_what_is_busy_for_long_is_ended(work: str, path: pathlib.Path) -> None:
    program = f"""
def loop():
    while True:
        pass

class Busy:
    def write(self, contents):
        loop()
    def read(self, size=-1):
        loop()
    def seek(self, *where):
        loop()

def batches():
    loop()
    yield from ()

def work():
    {work}
"""
    code, out, error, seconds = ended(BEGIN + program + THREADS, path)
    assert (code, out, error) == (0, "end\n", "") and seconds < 60


@pytest.mark.parametrize(
    "work",
    [
        "marquetry.open(Slow(path)).read()",
        # Rust is at it for long before it calls Python again.
        "marquetry.write(numbers, Taking(), compression='zstd:19', encoding='plain')",
    ],
)
def test_functions_of_atexit_read_and_write(work: str, path: pathlib.Path) -> None:
    program = """
import random
numbers = pa.table({"x": [random.random() for _ in range(200_000)]})

# It is called after the package's own, which is imported later.
@atexit.register
def last():
    file = io.BytesIO()
    marquetry.write(rows(), file, progress=lambda rows: None)
    assert pa.table(marquetry.open(file)).num_rows == 200_000
    assert marquetry.open(Slow(path)).read().num_rows == 50_000
    print(sum(batch.num_rows for batch in marquetry.open(Slow(path)).stream()))
    try:
        marquetry.open(b"nothing")
    except marquetry.DamageError:
        print("damage")

def work():
    """
    done = ended(BEGIN + program + work + THREADS, path)[:3]
    # QUIRK: before Python 3.14 a thread that asks for the interpreter while it ends is unwound through foreign frames, which aborts, once
    # in some hundred runs of a busy machine.
    if done[0] == -signal.SIGABRT and sys.version_info < (3, 14):
        done = ended(BEGIN + program + work + THREADS, path)[:3]
    assert done == (0, "end\n50000\ndamage\n", "")


def test_objects_that_are_left_end_with_the_interpreter(path: pathlib.Path) -> None:
    program = """
import marquetry
stream = marquetry.open(Slow(path)).stream(batch_size=100)
next(stream)
target = path + ".left"
writer = marquetry.create(target, table.schema)
writer.write(table)
in_memory = marquetry.create(Taking(), table.schema)
in_memory.write(rows())

class AtTheEnd:
    def __del__(self):
        marquetry.open(path)

at_the_end = AtTheEnd()
print("end")
"""
    code, out, error, seconds = ended(BEGIN + program, path)
    assert (code, out) == (0, "end\n") and seconds < 60
    assert not path.with_name(path.name + ".left").exists()
