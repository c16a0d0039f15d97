"""Threads, processes, signals and memory, without other libraries, and the command."""

import io
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marquetry


def test_fifty_threads_read_one_file(path: str) -> None:
    for source in (path, io.BytesIO(pathlib.Path(path).read_bytes())):
        file = marquetry.open(source)
        found: list[int] = []

        def read() -> None:
            found.append(pa.table(file.read(["id"], threads=2))["id"].to_numpy().sum())

        threads = [threading.Thread(target=read) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == [sum(range(10_000))] * 50


def _sum(path: str) -> int:
    return int(pa.table(marquetry.open(path).read(["id"]))["id"].to_numpy().sum())


def test_pools_of_processes(path: str) -> None:
    _sum(path)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(_sum, [path] * 4) == [sum(range(10_000))] * 4


CALLS = [
    "marquetry.write(pa.RecordBatchReader.from_batches(batch.schema, batches()), FOLDER + '/x.parquet', memory_limit=1)",
    "marquetry.open(PATH).read()",
    "marquetry.open(PATH).read(filter='score < -1')",
    "marquetry.stats(PATH)",
    "marquetry.diff(PATH, PATH, rows=True)",
    "marquetry.verify(PATH, level='deep')",
    "marquetry.recover(open(PATH, 'rb').read()[:-9], FOLDER + '/x.parquet')",
    "pq.read_table(PATH)",
]


def test_ctrl_c_ends_a_call_and_leaves_no_file(tmp_path: pathlib.Path, path: str) -> None:
    # One process for all of them: it takes longer to begin than they do.
    code = f"""
import marquetry, marquetry.parquet as pq, os, pyarrow as pa, signal, time
PATH, FOLDER = {path!r}, {str(tmp_path / "out")!r}
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell has left us
batch = pa.record_batch({{"x": list(range(100000))}})
def batches():
    while True:
        yield batch
for call in {CALLS!r}:
    call = compile(call, call, "eval")
    try:
        print("begun", flush=True)
        while True:
            eval(call)
    except KeyboardInterrupt:
        print(time.monotonic(), *os.listdir(FOLDER), flush=True)  # before the next call begins files
"""
    out = tmp_path / "out"
    out.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as process:
        # Whatever hangs.
        watch = threading.Timer(60, process.kill)
        watch.start()
        assert process.stdout is not None
        for call in CALLS:
            assert process.stdout.readline() == "begun\n", call
            time.sleep(0.3)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            # A tenth of a second, where nothing else wants the processors.
            ended, *files = process.stdout.readline().split()
            assert float(ended) - begun < 1.0, call
            assert all(name == "x.parquet" for name in files), call
        watch.cancel()


def test_memory_is_given_back(path: str) -> None:
    def memory() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    for _ in range(300):
        marquetry.open(path).read(["id"])
    before = memory()
    # Two KiB of each would show: what comes and goes by itself is an eighth of a MiB.
    for _ in range(1000):
        marquetry.open(path).read(["id"])
    assert memory() - before < 2 << 20


def test_only_python_is_needed_and_little_time() -> None:
    code = "import sys; import marquetry; print([m for m in ('pyarrow', 'numpy', 'pandas', 'polars') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert out.stdout.strip() == "[]"


def test_all_but_the_names_of_pyarrow_works_without_it(tmp_path: pathlib.Path, path: str) -> None:
    code = f"""
import sys
for name in ("pyarrow", "numpy", "pandas", "polars", "duckdb"):
    sys.modules[name] = None
import marquetry, marquetry.encryption as keys
key, target = b"0123456789012345", {str(tmp_path / "x.parquet")!r}
file = marquetry.open({path!r})
metadata = marquetry.write(file.stream(), target, encryption=keys.create_encryption_properties(key), bloom_filters=["id"])
assert metadata.num_rows == 10_000 and metadata.row_group(0).column(0).statistics.min == 0
file = marquetry.open(target, decryption=keys.create_decryption_properties(key))
assert file.read(["id"], filter="id < 3").num_rows == 3 and file.metadata.schema.names[0] == "id"
assert file.explain("id < 0").rows_left == 0 and marquetry.dataset({path!r}).num_rows == 10_000
assert marquetry.verify({path!r}) and marquetry.recover({path!r}, target).rows == 10_000
repr(file), file._repr_html_(), file.schema
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr


def command(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "marquetry", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_the_command_line(tmp_path: pathlib.Path, path: str) -> None:
    assert command("count", path).stdout.split()[-1] == str(pq.read_metadata(path).num_rows)
    assert "Usage: marquetry" in command("--help").stdout
    csv = tmp_path / "x \udcff.csv"
    done = command("convert", path, csv)
    assert (done.returncode, done.stderr) == (0, "") and csv.exists()
    # Exit codes, and what is said, are those of the program.
    missing = command("schema", tmp_path / "missing.parquet")
    assert missing.returncode == 1 and "missing.parquet" in missing.stderr
    assert command("no-such-command").returncode == 2
    # The reader leaves: the command ends by SIGPIPE, as `cat` does.
    words = f"{sys.executable} -m marquetry cat --format json {path} | head -n 1"
    shown = subprocess.run(["bash", "-o", "pipefail", "-c", words], capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (141, "") and shown.stdout.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_signal_ends_the_command_line_and_leaves_no_file(tmp_path: pathlib.Path) -> None:
    source, target = tmp_path / "big.csv", tmp_path / "out"
    source.write_text("a,b\n" + "1,some text that is not so short\n" * 3_000_000)
    target.mkdir()
    words = [sys.executable, "-m", "marquetry", "convert", str(source), str(target / "x.parquet")]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not any(target.iterdir()):
            assert time.monotonic() < deadline and process.poll() is None, "nothing was begun"
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == -signal.SIGINT
    assert not any(target.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_leaves_the_file_alone(tmp_path: pathlib.Path) -> None:
    program = """
import os, sys
import marquetry, pyarrow as pa
table = pa.table({"n": range(100_000)})
for number, what in enumerate(["del writer", "writer.discard()", "writer.close()", "writer.write(table)", "pass"]):
    writer = marquetry.create(f"{sys.argv[1]}/{number}", table.schema, row_group_rows=30_000, compression="uncompressed", encoding="PLAIN")
    writer.write(table)
    child = os.fork()
    if child == 0:
        try:
            exec(what)
        except Exception:
            pass
        os._exit(0) if what == "pass" else sys.exit(0)
    os.waitpid(child, 0)
    writer.write(table)
    writer.close()
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2", "3", "4"]
    for name in os.listdir(tmp_path):
        assert pq.read_table(tmp_path / name).column("n").to_pylist() == list(range(100_000)) * 2, name
