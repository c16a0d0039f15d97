"""Folders of files, with the names of pyarrow.parquet: partitions, and what is written and read of many files."""

import pathlib
import shutil
import time

import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet as theirs
import pytest

import marquetry.parquet as ours
from marquetry.parquet._dataset import _dictionaries, _repeated


def test_partitions(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": range(6), "year": [2020, 2020, 2021, 2021, None, None], "k": ["a/b", "c", "a/b", "c", "a/b", None]})
    ours.write_to_dataset(table, tmp_path / "ours", partition_cols=["year", "k"])
    theirs.write_to_dataset(table, tmp_path / "theirs", partition_cols=["year", "k"])
    for name in ("ours", "theirs"):
        for filters in (None, [("year", "=", 2020)], [("k", "=", "c"), ("x", ">", 1)]):
            expected = theirs.read_table(tmp_path / name, filters=filters)
            read = ours.read_table(tmp_path / name, filters=filters)
            key = lambda row: row["x"]
            assert sorted(read.to_pylist(), key=key) == sorted(expected.to_pylist(), key=key)
            assert read.schema.names == expected.schema.names


def test_delete_matching_deletes_without_partitions(tmp_path):
    for library, folder in [(ours, tmp_path / "ours"), (theirs, tmp_path / "theirs")]:
        for name in ["a", "b"]:
            options = dict(basename_template=name + "-{i}.parquet", existing_data_behavior="delete_matching")
            library.write_to_dataset(pa.table({"x": [1, 2]}), folder, **options)
        assert [path.name for path in folder.iterdir()] == ["b-0.parquet"]


def test_a_schema_may_leave_partitions_out(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"], "day": ["mon", "tue", "mon"]})
    ours.write_to_dataset(table, tmp_path, partition_cols=["day"])
    schema = table.schema.remove(2)
    for options in [{}, {"columns": ["y"]}, {"filters": [("x", ">", 1)]}]:
        found, expected = [module.read_table(tmp_path, schema=schema, **options) for module in [ours, theirs]]
        assert found.equals(expected), options


def test_no_files_are_no_rows() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    for module in [ours, theirs]:
        assert module.read_table([]).num_columns == 0 and module.ParquetDataset([]).files == []
        assert module.read_table([], schema=schema).equals(schema.empty_table())
        with pytest.raises(pa.ArrowInvalid, match="No match"):
            module.read_table([], columns=["a"])


def test_files_whose_folder_says_no_partition_have_their_own_column(tmp_path: pathlib.Path) -> None:
    by_year = pa.dataset.partitioning(pa.schema([("year", pa.int32()), ("k", pa.string())]), flavor="hive")
    for number, folders in enumerate([("n=1", "n=2"), ("year=1", "n=2"), ("n=1", "year=2")]):
        root = tmp_path / str(number)
        for folder in folders:
            (root / folder).mkdir(parents=True)
            theirs.write_table(pa.table({"a": [1], "year": pa.array([9], pa.int32())}), root / folder / "f.parquet")
        for filters in [None, [("year", "=", 9)], [("year", "=", 1)], pa.compute.field("year") > 1]:
            found, expected = [module.read_table(root, partitioning=by_year, filters=filters) for module in [ours, theirs]]
            assert found.equals(expected), (folders, filters)
    assert ours.read_table(tmp_path / "0", partitioning=by_year)["year"].to_pylist() == [9, 9]


def test_files_above_the_last_folder_have_their_own_column(tmp_path: pathlib.Path) -> None:
    (tmp_path / "2020").mkdir()
    theirs.write_table(pa.table({"a": [1], "k": ["of the file"]}), tmp_path / "2020" / "f.parquet")
    folders = pa.dataset.partitioning(pa.schema([("year", pa.int32()), ("k", pa.string())]))
    found, expected = [module.read_table(tmp_path, partitioning=folders) for module in [ours, theirs]]
    assert found.equals(expected) and found["k"].to_pylist() == ["of the file"]


@pytest.mark.parametrize("flavor", [None, "hive", "filename"])
def test_a_partitioning_without_fields_is_one_file(tmp_path: pathlib.Path, flavor: str | None) -> None:
    table = pa.table({"a": [1, 2], "k": ["x", "y"]})
    ours.write_to_dataset(table, tmp_path / "0", partitioning=pa.dataset.partitioning(pa.schema([]), flavor=flavor))
    ours.write_to_dataset(table, tmp_path / "1", partitioning=[], partitioning_flavor=flavor)
    for number in "01":
        assert len(list((tmp_path / number).glob("*.parquet"))) == 1
        assert theirs.read_table(tmp_path / number).equals(table)


def test_a_flavor_is_for_names_of_columns(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": [1], "k": ["x"]})
    of_k = pa.dataset.partitioning(pa.schema([("k", pa.string())]))
    for options in [
        {"partition_cols": ["k"], "partitioning_flavor": "filename"},
        {"partitioning": of_k, "partitioning_flavor": "hive"},
        {"partitioning": ["k"], "partitioning_flavor": "none"},
        {"partitioning": pa.dataset.HivePartitioning.discover()},
        {"partitioning": "hive"},
    ]:
        for module in [ours, theirs]:
            with pytest.raises(ValueError):
                module.write_to_dataset(table, tmp_path / "t", **options)
    ours.write_to_dataset(table, tmp_path / "t", partitioning=["k"], partitioning_flavor="filename")
    assert [file.name[:2] for file in (tmp_path / "t").iterdir()] == ["x_"]


@pytest.mark.parametrize("rows", ["frame", "batch", "reader", "batches"])
def test_datasets_are_written_of_anything(tmp_path: pathlib.Path, rows: str) -> None:
    table = pa.table({"x": [1, 2], "day": ["mon", "tue"]})
    given = {"frame": table.to_pandas, "batch": lambda: table.to_batches()[0], "reader": table.to_reader, "batches": table.to_batches}[rows]()
    ours.write_to_dataset(given, tmp_path, partition_cols=["day"])
    assert sorted(ours.read_table(tmp_path).column("x").to_pylist()) == [1, 2]


def test_partitions_that_are_dictionaries_have_all_values(tmp_path: pathlib.Path) -> None:
    """Those of files that are not read, too: pandas has them as categories."""
    table = pa.table({"x": range(6), "n": pa.array([3, 1, 1, 3, 2, 1]), "k": ["c", "a", "b", "c", "a", "d"]})
    theirs.write_to_dataset(table, tmp_path, partition_cols=["k", "n"])
    for filters in [None, [("k", "=", "a")], [("x", "<", 0)]]:
        for partitioning in ["hive", pa.dataset.partitioning(pa.schema([("k", pa.string()), ("n", pa.int32())]), flavor="hive")]:
            found, expected = [module.read_table(tmp_path, filters=filters, partitioning=partitioning) for module in [ours, theirs]]
            assert found.equals(expected), filters
            for name in ("k", "n"):
                assert found.to_pandas()[name].equals(expected.to_pandas()[name])


def test_each_file_asks_for_the_place_of_its_value_only() -> None:
    """Of 50,000 partitions, each file would else look through as many values."""
    data_type, names = pa.dictionary(pa.int32(), pa.string()), [f"user {i}" for i in range(50_000)]
    known = _dictionaries(pa.dataset.partitioning(pa.schema([("k", data_type)]), dictionaries={"k": pa.array(names)}))
    begun = time.monotonic()
    assert all(_repeated(name, 1, data_type, known["k"]).to_pylist() == [name] for name in names[::25])
    assert time.monotonic() - begun < 5
    # One that nobody has said is a dictionary of its own.
    assert _repeated("new", 2, data_type, known["k"]).to_pylist() == ["new", "new"]


@pytest.mark.parametrize("values", [pa.array([5, None, 5, 7]), pa.array(["a", "b", None, "a"])], ids=["numbers", "text"])
def test_partitions_of_dictionaries(tmp_path: pathlib.Path, values: pa.Array) -> None:
    table = pa.table({"k": values.dictionary_encode(), "x": range(4)})
    for flavor in (None, "filename"):
        schema = table.select(["k"]).schema
        folders = [tmp_path / f"{module.__name__}-{flavor}" for module in (ours, theirs)]
        for module, folder in zip((ours, theirs), folders):
            chosen = pyarrow.dataset.partitioning(schema, flavor=flavor)
            module.write_to_dataset(table, folder, partitioning=chosen, basename_template="p-{i}.parquet")
        found, expected = ({str(path.relative_to(folder)): theirs.read_table(path, partitioning=None)["x"].to_pylist() for path in folder.rglob("*.parquet")} for folder in folders)
        assert found == expected


def test_partitions_stay_in_their_folder(tmp_path: pathlib.Path) -> None:
    for value in (".", "..", "a/../.."):
        table = pa.table({"k": ["a", value], "x": [1, 2]})
        with pytest.raises(pa.ArrowInvalid, match="name a folder that is another one"):
            ours.write_to_dataset(table, tmp_path / "d", partitioning=["k"])
        assert not list(tmp_path.rglob("*.parquet"))
        # In the name of a folder they are no more than that.
        ours.write_to_dataset(table, tmp_path / "hive", partition_cols=["k"], existing_data_behavior="delete_matching")
        assert sorted(ours.read_table(tmp_path / "hive")["k"].cast(pa.string()).to_pylist()) == sorted(["a", value])
        shutil.rmtree(tmp_path / "hive")


_BYTE_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(3), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.binary(3))]


@pytest.mark.parametrize("data_type", _BYTE_TYPES, ids=str)
def test_zero_bytes_of_partitions_are_kept(tmp_path: pathlib.Path, data_type: pa.DataType) -> None:
    values = [b"a\0b", b"a\0c", b"\0\0\0", b"abc"]
    plain = data_type.value_type if pa.types.is_dictionary(data_type) else data_type
    keys = pa.array(values if pa.types.is_fixed_size_binary(plain) else [value.decode() for value in values]).cast(plain)
    table = pa.table({"x": range(4), "k": keys.dictionary_encode() if plain != data_type else keys, "l": [1] * 4})
    ours.write_to_dataset(table, tmp_path, partition_cols=["k", "l"])
    for module in (ours, theirs):
        found = module.read_table(tmp_path).to_pydict()
        assert dict(zip(found["x"], found["k"])) == {x: value.decode() for x, value in enumerate(values)}


def test_zero_bytes_that_paths_cannot_have_are_refused(tmp_path: pathlib.Path) -> None:
    fixed = pa.table({"x": [1, 2], "k": pa.array([b"a\0b", b"a\0c"], pa.binary(3))})
    hive = pyarrow.dataset.partitioning(pa.schema([fixed.schema.field("k")]), flavor="hive")
    with pytest.raises(pa.ArrowInvalid, match="only binary can tell of it"):
        ours.write_to_dataset(fixed, tmp_path, partitioning=hive)
    text = pa.table({"x": [1, 2], "k": ["a\0b", "a\0c"]})
    for partitioning in (pyarrow.dataset.partitioning(pa.schema([text.schema.field("k")])), pyarrow.dataset.FilenamePartitioning(pa.schema([text.schema.field("k")]))):
        with pytest.raises(pa.ArrowInvalid, match="only names such as key=value"):
            ours.write_to_dataset(text, tmp_path, partitioning=partitioning)
    assert not list(tmp_path.rglob("*"))


def test_partitions_that_are_no_text_are_escaped(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": [1, 2], "k": pa.array([b"a", b"\xff\xfe"])})
    for module in (ours, theirs):
        module.write_to_dataset(table, tmp_path / module.__name__, partition_cols=["k"])
    assert {path.name for path in (tmp_path / ours.__name__).iterdir()} == {path.name for path in (tmp_path / theirs.__name__).iterdir()} == {"k=a", "k=%FF%FE"}


@pytest.mark.parametrize("fields", [["x", "day", "m"], ["x"], ["x", "m"], ["day"]])
def test_a_schema_says_the_type_of_partitions_without_values(tmp_path: pathlib.Path, fields: list[str]) -> None:
    theirs.write_to_dataset(pa.table({"x": [1, 2, 3], "day": pa.nulls(3, pa.string()), "m": [5, 5, 6]}), tmp_path, partition_cols=["day", "m"])
    schema = pa.schema([pa.field(name, {"x": pa.int32(), "day": pa.string(), "m": pa.int8()}[name]) for name in fields])
    for filters in [None, *([[("x", ">", 1)]] if "x" in fields else []), *([[("m", "=", 6)]] if "m" in fields else [])]:
        found, expected = (module.read_table(tmp_path, schema=schema, filters=filters) for module in (ours, theirs))
        assert found.equals(expected)
    for module in (ours, theirs):
        with pytest.raises(pa.ArrowInvalid, match="No non-null segments"):
            module.read_table(tmp_path)
