"""File objects whose `read` reads the file that they are, or waits for a thread that does: an error, where a call would never end."""

import signal
import subprocess
import sys
import threading
import time

import pytest

READS = {
    "read": "file.read()",
    "read of few rows": "file.read(['a'], limit=1, threads=1)",
    "stream": "list(file.stream())",
    "other library": "pa.table(file)",
    "filter": "file.read(filter='a > 5')",
    "schema": "file.schema",
    "next of a stream": "next(other)",
    "close of a stream": "other.close()",
    "explain": "file.explain('a > 5')",
    "exported before": "exported.read_next_batch()",
}

PROGRAM = """
import io, sys, threading, pyarrow as pa, marquetry
out = io.BytesIO()
marquetry.write(pa.table({"a": range(100_000), "b": [str(i) for i in range(100_000)]}), out, row_group_rows=10_000)

class Object:
    def __init__(self):
        self.inner, self.is_open, self.raised = io.BytesIO(out.getvalue()), False, []
    def seek(self, *place):
        return self.inner.seek(*place)
    def tell(self):
        return self.inner.tell()
    def read(self, size):
        if self.is_open:
            self.is_open = False
            place = self.inner.tell()
            try:
                INNER
            except (marquetry.ArgumentError, pa.ArrowInvalid) as error:
                self.raised.append(str(error))
            self.inner.seek(place)
        return self.inner.read(size)

source = Object()
file = marquetry.open(source)
streamed = file.stream()
other, exported = file.stream(batch_size=100), pa.RecordBatchReader.from_stream(file.stream(batch_size=100))

def outer():
    source.is_open = True
    assert OUTER == 100_000
    source.is_open = False

if WHERE == "main":
    outer()
else:
    thread = threading.Thread(target=outer)
    thread.start()
    thread.join()
assert len(source.raised) == 1 and "wait for itself" in source.raised[0], source.raised
# Afterwards all is as before.
assert len(file.read()) == len(pa.table(file)) == 100_000
"""


def run(inner: str, outer: str = "len(file.read())", where: str = "main") -> None:
    program = PROGRAM.replace("INNER", inner).replace("OUTER", outer).replace("WHERE", repr(where))
    ends(program)


def ends(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("where", ["main", "thread"])
@pytest.mark.parametrize("what", READS)
def test_a_file_object_that_reads_its_own_file(what: str, where: str) -> None:
    run(READS[what], where=where)


def test_a_stream_that_its_own_file_object_reads() -> None:
    run("next(streamed)", "sum(batch.num_rows for batch in streamed)")


def test_a_file_object_may_read_another_file() -> None:
    run("self.raised.append('it does not wait for itself: %d' % len(marquetry.open(out.getvalue()).read()))")


# Other threads

WAITS = {
    "thread": "thread = threading.Thread(target=inner); thread.start(); thread.join()",
    "thread of a thread": "thread = threading.Thread(target=further); thread.start(); thread.join()",
    "pool": "POOL.submit(inner).result()",
    "end of a pool": "with ThreadPoolExecutor(1) as pool: pool.submit(inner)",
    "map of a pool": "list(POOL.map(lambda _: inner(), [1]))",
}

INNER = {
    "read": "file.read()",
    "read of few rows": "file.read(['a'], limit=1, threads=1)",
    "stream": "list(file.stream())",
    "other library": "pa.table(file)",
    "next of a stream that is read": "next(streamed)",
    "stream that is read": "pa.table(streamed)",
}

THREADS = """
import io, sys, threading, time, pyarrow as pa, marquetry
from concurrent.futures import ThreadPoolExecutor
POOL = ThreadPoolExecutor(2)
out = io.BytesIO()
marquetry.write(pa.table({"a": range(100_000), "b": [str(i) for i in range(100_000)]}), out, row_group_rows=10_000)

def inner():
    try:
        exec(WHAT)
    except Exception as error:
        raised.append(error)

def further():
    thread = threading.Thread(target=inner)
    thread.start()
    thread.join()

class Object:
    def __init__(self):
        self.inner, self.is_open = io.BytesIO(out.getvalue()), False
    def seek(self, *place):
        return self.inner.seek(*place)
    def tell(self):
        return self.inner.tell()
    def read(self, size):
        if self.is_open:
            self.is_open = False
            place = self.inner.tell()
            exec(HOW)
            self.inner.seek(place)
        return self.inner.read(size)

def outer():
    source.is_open = True
    try:
        exec(READ)
    except Exception as error:
        raised.append(error)

for WHERE, HOW, WHAT, READ, KIND, SAID in CASES:
    print(WHERE, HOW, WHAT, READ, file=sys.stderr)
    raised, source = [], Object()
    file = marquetry.open(source)
    streamed = file.stream(threads=1)
    if WHERE == "main":
        outer()
    else:
        thread = threading.Thread(target=outer)
        thread.start()
        thread.join()
    # Afterwards all is as before.
    assert len(file.read()) == 100_000
    assert raised, "nobody was told"
    for error in raised:
        # Of a stream that another library reads only the text comes through.
        assert getattr(error, "kind", KIND) == KIND and SAID in str(error), repr(error)
"""

FOUND = ("argument", "waits for a thread that reads the file")


def test_file_objects_that_wait_for_a_thread_which_reads_their_file() -> None:
    cases = [(where, wait, "file.read()", "file.read()", *FOUND) for wait in WAITS.values() for where in ("main", "thread")]
    ends(f"CASES = {cases}\n{THREADS}")


def test_what_a_thread_reads_for_which_a_file_object_waits() -> None:
    reads = {inner: "list(streamed)" if "stream that" in what else "file.read(threads=1)" for what, inner in INNER.items()}
    cases = [("main", WAITS["thread"], inner, outer, *FOUND) for inner, outer in reads.items()]
    # A stream that is closed meanwhile ends.
    cases.append(("main", WAITS["thread"], "streamed.close()", "list(streamed)", "cancelled", "cancelled"))
    ends(f"CASES = {cases}\n{THREADS}")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_ctrl_c_ends_a_wait_for_nobody_knows_whom() -> None:
    """No wait ends by itself, as nobody can tell it from a long one."""
    wait = "over = threading.Event(); POOL.submit(lambda over=over: (inner(), over.set())); print('waits', flush=True); over.wait()"
    program = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell has left us
CASES = []
{THREADS}
HOW, WHAT, raised, source = {wait!r}, "file.read()", [], Object()
file = marquetry.open(source)
source.is_open = True
try:
    file.read()
except KeyboardInterrupt:
    print("ended", flush=True)
POOL.shutdown()
assert [getattr(error, "kind", None) for error in raised] == ["cancelled"], raised
# Afterwards all is as before.
assert len(file.read()) == 100_000
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        watch = threading.Timer(60, process.kill)
        watch.start()
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "waits\n"
        time.sleep(1.5)
        assert process.poll() is None, "it has not waited"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "ended\n"
        assert process.wait(30) == 0, process.stderr.read()
        watch.cancel()


def test_threads_for_which_a_slow_file_object_waits_may_read_others() -> None:
    """It waits for a thread that reads another file, slowly, and others wait for it: all come to their end."""
    ends("""
import io, threading, time, pyarrow as pa, marquetry
from concurrent.futures import ThreadPoolExecutor
out = io.BytesIO()
marquetry.write(pa.table({"a": range(100_000), "b": [str(i) for i in range(100_000)]}), out, row_group_rows=10_000)
POOL = ThreadPoolExecutor(4)

def slow():
    time.sleep(1.5)
    return len(marquetry.open(io.BytesIO(out.getvalue())).read())

class Object(io.BytesIO):
    waits = False
    def read(self, size):
        if Object.waits:
            Object.waits = False
            assert POOL.submit(slow).result() == 100_000
        return super().read(size)

file = marquetry.open(Object(out.getvalue()))
Object.waits = True
readers = [POOL.submit(lambda: len(file.read())) for _ in range(3)]
assert [reader.result() for reader in readers] == [100_000] * 3
""")


def test_a_stream_that_is_thrown_away_while_its_file_object_is_read() -> None:
    """Wherever Python's garbage collector finds it: the threads of the stream may be in the file object."""
    ends("""
import gc, io, threading, time, pyarrow as pa, marquetry
out = io.BytesIO()
marquetry.write(pa.table({"a": range(400_000), "b": [str(i) for i in range(400_000)]}), out, row_group_rows=10_000)

class Object(io.BytesIO):
    left = []
    def read(self, size):
        if Object.left:
            # Others wait for this call meanwhile.
            time.sleep(0.2)
            Object.left.clear()
        return super().read(size)

for export in (False, True):
    for _ in range(3):
        file = marquetry.open(Object(out.getvalue()))
        stream = file.stream(batch_size=1000, threads=4)
        if export:
            stream = pa.RecordBatchReader.from_stream(stream)
            stream.read_next_batch()
        else:
            next(stream)
        Object.left.append(stream)
        del stream
        assert len(file.read(threads=4)) == 400_000
""")
