"""The package's own names: reading, writing, errors, and what goes to other libraries."""

import io
import multiprocessing
import os
import pathlib
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import marquetry

TABLE = pa.table(
    {
        "id": pa.array(range(10_000), pa.int64()),
        "name": pa.array([None if i % 7 == 0 else f"name {i % 100}" for i in range(10_000)]),
        "score": pa.array([float("nan") if i % 11 == 0 else i / 3 for i in range(10_000)]),
        "tags": pa.array([[str(i)] * (i % 3) for i in range(10_000)]),
    }
)


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    path = str(tmp_path / "t.parquet")
    marquetry.write(TABLE, path, row_group_rows=3000)
    return path


def test_what_is_written_is_read(path: str) -> None:
    file = marquetry.open(path, text="utf8")
    assert pa.table(file.read()).cast(TABLE.schema).equals(TABLE) or rows(file.read()) == rows(TABLE)
    assert file.num_row_groups == 4
    assert file.num_rows == len(file.read()) == 10_000
    assert file.metadata.row_group(0).num_rows == 3000


@pytest.mark.parametrize("ends", [pa.int16(), pa.int32()])
def test_long_columns_of_runs_are_handed_over(tmp_path: pathlib.Path, ends: pa.DataType) -> None:
    """Batches are not longer than the ends of runs, which have 16 bits, can say."""
    runs = [pa.RunEndEncodedArray.from_arrays(pa.array([10_000, 30_000], ends), [f"a{i}", None]) for i in range(3)]
    path = tmp_path / "runs.parquet"
    marquetry.write(pa.table({"r": pa.chunked_array(runs)}), path)
    expected = [text for i in range(3) for text in [f"a{i}"] * 10_000 + [None] * 20_000]
    for read in [marquetry.open(path), marquetry.open(path).read(), marquetry.dataset(path), marquetry.dataset(path).read()]:
        chunks = pa.table(read)["r"].chunks
        assert chunks[0].type.run_end_type == ends
        assert [text for chunk in chunks for text in pc.run_end_decode(chunk).to_pylist()] == expected
    assert marquetry.write(marquetry.open(path), tmp_path / "again.parquet").num_rows == 90_000


def rows(table: object) -> list[dict[str, object]]:
    # NaN is not equal to itself: as text.
    return [{name: repr(value) for name, value in row.items()} for row in pa.table(table).to_pylist()]


def test_every_source_gives_the_same(path: str) -> None:
    expected = rows(marquetry.open(path).read(limit=100))
    contents = pathlib.Path(path).read_bytes()
    sources = [pathlib.Path(path), contents, bytearray(contents), io.BytesIO(contents), pa.BufferReader(contents), pa.py_buffer(contents)]
    for source in sources:
        assert rows(marquetry.open(source).read(limit=100)) == expected, type(source)
    with open(path, "rb") as file:
        assert rows(marquetry.open(file).read(limit=100)) == expected
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open(f"file://{path}") as file:
        assert rows(marquetry.open(file).read(limit=100)) == expected


def test_columns_rows_and_row_groups(path: str) -> None:
    file = marquetry.open(path)
    table = pa.table(file.read(["score", "id"], row_groups=[1], offset=10, limit=5))
    assert table.column_names == ["score", "id"]
    assert table.column("id").to_pylist() == list(range(3010, 3015))
    numbered = pa.table(file.read(["id"], filter="id >= 9998", row_numbers="row"))
    assert numbered.to_pydict() == {"id": [9998, 9999], "row": [9998, 9999]}


@pytest.mark.parametrize(
    ("filter", "expression"),
    [
        ("id > 5 and name = 'name 8'", (pc.field("id") > 5) & (pc.field("name") == "name 8")),
        ([("id", "<", 10)], pc.field("id") < 10),
        ([[("id", "=", 3)], [("name", "in", ["name 1", None])]], (pc.field("id") == 3) | pc.field("name").isin(["name 1", None])),
        ([("name", "not in", ["name 1"])], ~pc.field("name").isin(["name 1"])),
        (~pc.field("name").isin(["name 1", None]), ~pc.field("name").isin(["name 1", None])),
        (pc.field("score") == float("nan"), pc.field("score") == float("nan")),
        (~(pc.field("score") == float("nan")), ~(pc.field("score") == float("nan"))),
        (pc.field("score") != float("nan"), pc.field("score") != float("nan")),
        (pc.field("name").is_null(), pc.field("name").is_null()),
        (pc.field("score").is_null(nan_is_null=True), pc.field("score").is_null(nan_is_null=True)),
        (~(pc.field("id") > 100), ~(pc.field("id") > 100)),
        (pc.field("name") != "name 1", pc.field("name") != "name 1"),
    ],
)
def test_filters_want_the_rows_that_pyarrow_wants(path: str, filter: object, expression: pc.Expression) -> None:
    expected = TABLE.filter(expression).column("id").to_pylist()
    assert pa.table(marquetry.open(path).read(["id"], filter=filter)).column("id").to_pylist() == expected
    assert pa.table(marquetry.dataset(path).read(["id"], filter=filter)).column("id").to_pylist() == expected


def test_boxes_of_geometries(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "g.parquet")
    points = [None if i % 10 == 3 else struct.pack("<BIdd", 1, 1, i / 10, -i / 20) for i in range(1000)]
    marquetry.write(pa.table({"id": range(1000), "geom": pa.array(points, pa.binary())}), path, row_group_rows=100)
    expected = [i for i in range(1000) if i % 10 != 3 and 20 <= i / 10 <= 21 and i / 20 <= 10.25]
    filter = "bbox_intersects(geom, 20, -10.25, 21, 0)"
    assert len(expected) == 5
    for file in marquetry.open(path), marquetry.dataset(path):
        assert pa.table(file.read(["id"], filter=filter)).column("id").to_pylist() == expected
    with pytest.raises(marquetry.ArgumentError, match="four numbers"):
        marquetry.open(path).read(filter="bbox_intersects(geom, 1, 2)")


@pytest.mark.parametrize(
    "filter",
    [pc.field("id") + 1 > 2, pc.utf8_length(pc.field("name")) > 2, [("id", "~", 1)], [], 5],
)
def test_filters_that_are_no_predicates_are_errors(path: str, filter: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        marquetry.open(path).read(filter=filter)


def test_batches_go_to_other_libraries(path: str) -> None:
    file = marquetry.open(path)
    assert pl.DataFrame(file.read(["id"])).height == 10_000
    assert pl.DataFrame(file)["id"].sum() == sum(range(10_000))
    assert duckdb.sql("select sum(id) from file where id > 9000").fetchall() == [(sum(range(9001, 10_000)),)]
    # Twice: the stream is made anew.
    assert duckdb.sql("select count(*) from file").fetchall() == duckdb.sql("select count(*) from file").fetchall()
    assert pa.table(file.stream(batch_size=999)).num_rows == 10_000
    assert sum(batch.num_rows for batch in file.stream(batch_size=999)) == 10_000
    assert pa.record_batch(next(file.stream(batch_size=7))).num_rows == 7


def test_a_stream_is_read_once(path: str) -> None:
    stream = marquetry.open(path).stream()
    pa.table(stream)
    with pytest.raises(ValueError, match="read already"):
        pa.table(stream)


def test_everything_with_a_stream_is_written(tmp_path: pathlib.Path, path: str) -> None:
    target = str(tmp_path / "out.parquet")
    frame = pl.DataFrame({"x": [1, 2, 3]})
    for data in (frame, frame.to_arrow(), frame.to_arrow().to_reader(), duckdb.sql("select 1 as x"), marquetry.open(path)):
        written = marquetry.write(data, target)
        assert written.num_rows == pa.table(marquetry.open(target)).num_rows
    marquetry.write(pa.record_batch({"x": [1]}), target)
    out = io.BytesIO()
    seen: list[int] = []
    marquetry.write(TABLE, out, progress=seen.append, compression={"name": "snappy"}, bloom_filters=["name"])
    assert seen[-1] == 10_000
    chunk = marquetry.open(out.getvalue()).metadata.row_group(0).column(1)
    assert chunk.compression == "SNAPPY"
    assert chunk.bloom_filter_length > 0


def test_unknown_options_are_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="no option speed"):
        marquetry.write(TABLE, io.BytesIO(), speed=3)
    with pytest.raises(ValueError, match="compression"):
        marquetry.write(TABLE, io.BytesIO(), compression="zip")


def test_nothing_is_left_of_a_file_that_fails(tmp_path: pathlib.Path) -> None:
    def progress(rows: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        marquetry.write(TABLE, tmp_path / "a.parquet", progress=progress)
    with pytest.raises(KeyError):
        with marquetry.create(tmp_path / "b.parquet", TABLE.schema) as writer:
            writer.write(TABLE)
            raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_errors_say_what_and_where(tmp_path: pathlib.Path, path: str) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        marquetry.open(tmp_path / "none.parquet")
    assert isinstance(missing.value, marquetry.Error)
    assert missing.value.file == str(tmp_path / "none.parquet")
    with pytest.raises(KeyError, match="no column nmae"):
        marquetry.open(path).read(["nmae"])
    contents = bytearray(pathlib.Path(path).read_bytes())
    contents[600] ^= 255
    with pytest.raises(marquetry.Error) as damaged:
        marquetry.open(bytes(contents)).read()
    assert damaged.value.kind == "corrupt"
    assert damaged.value.column is not None
    assert damaged.value.row_group == 0
    assert pickle.loads(pickle.dumps(marquetry.open(path))).num_rows == 10_000


def test_damaged_files_are_errors_and_no_panics(path: str) -> None:
    contents = pathlib.Path(path).read_bytes()
    for at in range(4, len(contents), max(1, len(contents) // 150)):
        damaged = contents[:at] + bytes([contents[at] ^ 0x5A]) + contents[at + 1 :]
        try:
            marquetry.open(damaged, verify_checksums=False).read()
        except marquetry.Error as error:
            assert "a mistake in Marquetry" not in str(error)
    for length in range(0, len(contents), max(1, len(contents) // 60)):
        with pytest.raises(marquetry.Error):
            marquetry.open(contents[:length]).read()


class Broken(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise ZeroDivisionError("the file is out")


def test_an_exception_of_a_file_object_comes_out(path: str) -> None:
    with pytest.raises(ZeroDivisionError, match="out"):
        marquetry.open(Broken(pathlib.Path(path).read_bytes()))
    with pytest.raises(TypeError, match="text mode"):
        marquetry.open(io.StringIO("x" * 100))


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
import marquetry, marquetry.parquet as pq, pyarrow as pa, signal, time
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
        print(time.monotonic(), flush=True)
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
            assert float(process.stdout.readline()) - begun < 1.0, call
            assert all(name == "x.parquet" for name in os.listdir(out)), call
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
    # Who reads may have seen enough.
    words = f"{sys.executable} -m marquetry cat --format json {path} | head -n 1"
    shown = subprocess.run(["bash", "-o", "pipefail", "-c", words], capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "") and shown.stdout.count("\n") == 1


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


def test_datasets(tmp_path: pathlib.Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        marquetry.write(pa.table({"x": [year, year + 1]}), folder / "0.parquet")
    table = marquetry.dataset(tmp_path)
    assert table.num_rows == 4
    assert pa.table(table.read(["x", "year"], filter="year = 2024")).to_pydict() == {"x": [2024, 2025], "year": [2024, 2024]}
    assert len(table.files) == 2


def test_a_broken_file_is_verified_and_recovered(tmp_path: pathlib.Path, path: str) -> None:
    assert marquetry.verify(path)
    cut = pathlib.Path(path).read_bytes()[:-50]
    report = marquetry.verify(cut)
    assert not report
    assert report.worst == "corrupt"
    recovered = marquetry.recover(cut, tmp_path / "back.parquet")
    assert recovered.rows == marquetry.open(tmp_path / "back.parquet").num_rows > 0
    with pytest.raises(marquetry.Error):
        marquetry.recover(b"nothing of the kind", tmp_path / "none.parquet")


def test_a_page_shows_files(tmp_path: pathlib.Path, path: str) -> None:
    page = tmp_path / "page.html"
    marquetry.report([path, pathlib.Path(path).read_bytes()], page, filter="id >= 9000", verify="deep")
    text = page.read_text()
    assert pathlib.Path(path).name in text and "file 1" in text and str(tmp_path) not in text
    before = page.read_bytes()
    for wrong in ({"verify": "none at all"}, {"filter": "nothing > 3"}):
        with pytest.raises(marquetry.Error):
            marquetry.report(path, page, **wrong)
    with pytest.raises(marquetry.Error):
        marquetry.report(b"PAR1 and no more", page)
    assert page.read_bytes() == before


def test_explain_tells_what_is_left(path: str) -> None:
    told = marquetry.explain(path, pc.field("id") >= 9000)
    assert told.rows == 10_000
    assert told.rows_left == 1000
    assert told.stages[0]["row_groups_left"] == 1
    assert "1000 of 10000" in str(told)


def test_they_are_shown(path: str) -> None:
    file = marquetry.open(path)
    assert "10000 rows, 4 row groups" in repr(file)
    assert "<table>" in file._repr_html_()
    assert "name: Utf8View" in repr(file.read())
    assert "10,000 rows" in file.read()._repr_html_()


def test_a_lazy_frame_reads_what_it_needs(path: str) -> None:
    import marquetry.polars

    frame = marquetry.polars.scan(path)
    assert frame.filter(pl.col("id") >= 9990).select("name").collect().height == 10
    assert frame.head(7).collect()["id"].to_list() == list(range(7))
    assert frame.select(pl.len()).collect().item() == 10_000
    assert frame.collect().equals(pl.DataFrame(marquetry.open(path)))


def test_paths_into_variants_in_tuples():
    from marquetry._filters import predicate

    assert predicate([("v:user.id::bigint", ">", 5)]) == "(v:user.id::bigint > 5)"
    assert predicate([[("a:b", "=", "x")], [('a:"odd name"[*]', "=", 1)]]) == "((a:b = 'x') or (a:\"odd name\"[*] = 1))"
    # What is no path is a name.
    for name in ("time: now", "a.b", "x:", "any:x", "a:b c"):
        assert predicate([(name, "=", 1)]) == f'("{name}" = 1)'


def files_of(path, rows):
    """A file with a column `f` of FILE."""
    kinds = [("uri", pa.string()), ("offset", pa.int64()), ("size", pa.int64()), ("checksum", pa.string()), ("inline", pa.binary())]
    column = pa.array([None if row is None else dict(row) for row in rows], pa.struct(kinds))
    field = pa.field("f", column.type, metadata={"ARROW:extension:name": "marquetry.file"})
    marquetry.write(pa.table([column], schema=pa.schema([field])), path)


def test_readers_of_files(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.txt").write_bytes(b"hello" * 100_000)
    (tmp_path / "secret.txt").write_bytes(b"secret")
    path = tmp_path / "files.parquet"
    files_of(path, [
        {"inline": b"inline"}, None, {"offset": 0, "size": 4}, {"uri": "images/a.txt", "offset": 1, "size": 4}, {"uri": "images/a.txt"},
        {"uri": "secret.txt"}, {"uri": "images/../secret.txt"}, {"uri": "file:///etc/hostname"}, {"offset": -1, "size": 2},
        {"inline": b"x", "checksum": "CRC32:00000000"},
    ])  # fmt: skip
    file = marquetry.open(path)
    found = list(file.files("f", allow=[tmp_path / "images"]))
    assert len(found) == 10 and found[1] is None
    assert [found[i].read() for i in (0, 2, 3)] == [b"inline", b"PAR1", b"ello"]
    assert (found[3].uri, found[3].offset, found[3].size, found[3].content_type) == ("images/a.txt", 1, 4, None)
    parts = iter(lambda: found[4].read(1000), b"")
    assert b"".join(parts) == b"hello" * 100_000
    for reader in found[5:]:
        with pytest.raises(marquetry.Error):
            reader.read()
    # Without a word nothing is opened.
    with pytest.raises(marquetry.Error, match="not allowed"):
        list(file.files("f"))[3].read()
    assert list(file.files("f", compare=False))[9].read() == b"x"
    with pytest.raises(marquetry.Error):
        file.files("f", allow=[tmp_path / "not-there"])


def test_arrays_that_are_no_tables_are_errors(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(TypeError, match="rows are structs"):
        marquetry.write(pa.array([1, 2, 3]), path)
    with pytest.raises(ValueError, match="a row is null"):
        marquetry.write(pa.array([{"a": 1}, None]), path)
    assert not path.exists()
    marquetry.write(pa.array([{"a": 1}, {"a": None}]), path)
    assert marquetry.open(path).read().num_rows == 2


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


def test_a_directory_is_no_file(path, tmp_path):
    (tmp_path / "a.parquet").write_bytes(pathlib.Path(path).read_bytes())
    words = "is a directory, not a file: name a file in it"
    for attempt in (
        lambda: marquetry.verify(tmp_path),
        lambda: marquetry.lint(tmp_path),
        lambda: marquetry.open(tmp_path),
        lambda: marquetry.recover(tmp_path, tmp_path / "out.parquet"),
        lambda: marquetry.diff(tmp_path, tmp_path / "a.parquet"),
        lambda: marquetry.report(tmp_path, tmp_path / "out.html"),
    ):
        with pytest.raises(marquetry.IoError, match=words) as error:
            attempt()
        assert str(tmp_path) in str(error.value)
