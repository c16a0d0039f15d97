"""File objects whose `read` reads the file that they are: an error, where a call would wait for itself."""

import subprocess
import sys

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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("where", ["main", "thread"])
@pytest.mark.parametrize("what", READS)
def test_a_file_object_that_reads_its_own_file(what: str, where: str) -> None:
    run(READS[what], where=where)


def test_a_stream_that_its_own_file_object_reads() -> None:
    run("next(streamed)", "sum(batch.num_rows for batch in streamed)")


def test_a_file_object_may_read_another_file() -> None:
    run("self.raised.append('it does not wait for itself: %d' % len(marquetry.open(out.getvalue()).read()))")
