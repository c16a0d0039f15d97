"""Metadata that is not text, and names that C ends: `marquetry.parquet` beside `pyarrow.parquet`."""

import io
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours

BYTES = {b"k\xff": b"v\xfe", b"text": b"t"}
INNER = pa.field("x", pa.int64(), metadata=BYTES)


class Labelled(pa.ExtensionType):
    """An extension type whose parameters are not text."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "marquetry.test.labelled")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"\xff\x00"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Labelled":
        assert serialized == b"\xff\x00"
        return cls(storage)


@pytest.fixture(autouse=True)
def labelled() -> Any:
    pa.register_extension_type(Labelled(pa.int64()))
    yield
    pa.unregister_extension_type("marquetry.test.labelled")


LABELLED = pa.ExtensionArray.from_storage(Labelled(pa.int64()), pa.array([1, None]))
TABLES = {
    "schema": pa.table({"a": [1, 2]}).replace_schema_metadata(BYTES),
    "field": pa.table([[1, 2]], schema=pa.schema([INNER])),
    "struct": pa.table([pa.array([{"x": 1}, None])], schema=pa.schema([pa.field("s", pa.struct([INNER]), metadata=BYTES)], metadata=BYTES)),
    "list": pa.table([pa.array([[1], None])], schema=pa.schema([pa.field("l", pa.list_(INNER))])),
    "map": pa.table([pa.array([[(1, 2)], None], pa.map_(pa.int64(), pa.int64()))], schema=pa.schema([pa.field("m", pa.map_(pa.int64(), INNER))])),
    "extension": pa.table({"a": LABELLED, "s": pa.StructArray.from_arrays([LABELLED], ["x"])}),
    "extension without rows": pa.table({"a": LABELLED}).slice(0, 0),
    "looks like digits": pa.table([[1]], schema=pa.schema([pa.field("a", pa.int64(), metadata={"\ufffdhex:6b": "76", "\ufffdhex:": ""})])),
    "field id": pa.table([[1]], schema=pa.schema([pa.field("a", pa.int64(), metadata={b"PARQUET:field_id": b"7", b"\xff": b""})])),
}


def said(schema: Any) -> list[Any]:
    """Names, types and metadata; elements of lists have the names of either schema."""

    def of(field: pa.Field, is_named: bool) -> tuple[Any, ...]:
        data_type = field.type
        is_plain = isinstance(data_type, pa.BaseExtensionType) or data_type.num_fields == 0
        inner = [] if is_plain else [of(data_type.field(i), pa.types.is_struct(data_type)) for i in range(data_type.num_fields)]
        name = field.name if is_named else ""
        return name, data_type if is_plain else data_type.id, field.nullable, sorted((field.metadata or {}).items()), inner

    return [sorted((schema.metadata or {}).items()), *(of(field, True) for field in schema)]


@pytest.mark.parametrize("name", TABLES)
def test_bytes_of_metadata_are_kept(tmp_path: pathlib.Path, name: str) -> None:
    table, path = TABLES[name], str(tmp_path / "t.parquet")
    theirs.write_table(table, path)
    expected = said(theirs.read_schema(path))
    assert ours.read_metadata(path).metadata == theirs.read_metadata(path).metadata
    for write in (theirs, ours):
        write.write_table(table, path)
        assert said(theirs.read_schema(path)) == expected
        file = ours.ParquetFile(path)
        read = [ours.read_table(path), file.read(), file.read_row_groups(range(file.num_row_groups)), ours.read_table(path, filters=pc.field(table.column_names[0]).is_null())]
        assert all(found.to_pylist() == table.to_pylist() for found in read[:3])
        assert all(found.column(0).num_chunks == theirs.read_table(path).column(0).num_chunks for found in read[:3])
        assert all(said(found.schema) == expected for found in [*read, *file.iter_batches()])
        assert said(file.schema_arrow) == said(ours.read_schema(path)) == expected
    folder = tmp_path / "folder"
    folder.mkdir()
    for part in ("a", "b"):
        theirs.write_table(table, folder / f"{part}.parquet")
    assert said(ours.read_table(folder).schema) == said(theirs.read_table(folder).schema)


def test_bytes_are_added_to_the_metadata_of_a_file() -> None:
    found = []
    for module in (theirs, ours):
        file = io.BytesIO()
        with module.ParquetWriter(file, TABLES["schema"].schema) as writer:
            writer.write_table(TABLES["schema"])
            writer.add_key_value_metadata({b"k\xff": b"\xfd", "new": "\xe4"})
        found.append({key: value for key, value in theirs.read_metadata(file).metadata.items() if key != b"ARROW:schema"})
    assert found[0] == found[1] == {b"k\xff": b"\xfd", b"text": b"t", b"new": "\xe4".encode()}


def test_without_the_schema_nothing_of_its_metadata_is_written() -> None:
    for module in (theirs, ours):
        file = io.BytesIO()
        module.write_table(TABLES["schema"], file, store_schema=False)
        assert theirs.read_metadata(file).metadata is None


def test_the_stored_schema_is_that_of_the_table() -> None:
    table = pa.table({"t": pa.array([1], pa.timestamp("s")), "l": pa.array([[1]])})
    stored = []
    for module in (theirs, ours):
        file = io.BytesIO()
        module.write_table(table, file)
        stored.append(theirs.read_metadata(file).metadata[b"ARROW:schema"])
    assert stored[0] == stored[1]


NUL = pa.table({"a\0b": [1, 2], "a": [3, 4]})


@pytest.mark.parametrize("table", [NUL, pa.table({"s": [{"x\0y": 1}]})], ids=["column", "in a struct"])
def test_names_with_nul_are_not_cut_off(tmp_path: pathlib.Path, table: pa.Table) -> None:
    path = tmp_path / "t.parquet"
    with pytest.raises(pa.ArrowNotImplementedError, match="NUL"):
        ours.write_table(table, path)
    with pytest.raises(marquetry.UnsupportedError, match="NUL"):
        marquetry.write(table, path)
    with pytest.raises(marquetry.UnsupportedError, match="NUL"):
        marquetry.create(path, table.schema)
    assert not path.exists()


def test_names_with_nul_of_arrays_and_frames(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    struct = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a\0b", "c"])
    path = tmp_path / "t.parquet"
    for data in (struct, pa.chunked_array([struct]), pandas.DataFrame({"a\0b": [1]})):
        with pytest.raises(marquetry.UnsupportedError, match="NUL"):
            marquetry.write(data, path)
    assert not path.exists()


def test_columns_beside_names_with_nul_are_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(NUL, path)
    assert ours.read_table(path, columns=["a"]) == NUL.select(["a"])
    assert ours.read_metadata(path).schema.names == ["a\0b", "a"]
    for columns in (None, ["a\0b"]):
        with pytest.raises(pa.ArrowNotImplementedError, match=r"NUL.* in column a\\0b"):
            ours.read_table(path, columns=columns)
    with pytest.raises(marquetry.UnsupportedError, match="NUL"):
        pa.table(marquetry.open(path).read())


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("x", pa.int64())], metadata=BYTES),
        pa.schema([INNER]),
        pa.schema([pa.field("x", pa.struct([INNER]))]),
        pa.schema([pa.field("x", pa.list_(pa.field("item", pa.int64(), metadata={b"k": b"\xff"})))]),
    ],
)
def test_metadata_that_is_no_text_is_refused_in_words(tmp_path: pathlib.Path, schema: pa.Schema) -> None:
    table = schema.empty_table()
    marquetry.write(table.replace_schema_metadata() if schema.metadata else pa.table({"x": [1]}), tmp_path / "t.parquet")
    batch = pa.RecordBatch.from_arrays([column.combine_chunks() for column in table.columns], schema=schema)
    for attempt in (
        lambda: marquetry.write(table, tmp_path / "new.parquet"),
        lambda: marquetry.write(batch, tmp_path / "new.parquet"),
        lambda: marquetry.write(table.to_reader(), tmp_path / "new.parquet"),
        lambda: marquetry.create(tmp_path / "new.parquet", schema),
        lambda: marquetry.append(tmp_path / "t.parquet", table),
        lambda: marquetry.open(tmp_path / "t.parquet", schema=schema),
        lambda: marquetry.Table(table),
        lambda: marquetry.Table(batch),
    ):
        with pytest.raises(marquetry.Error, match="is not text .UTF-8.: marquetry.parquet carries such metadata") as error:
            attempt()
        assert error.value.kind == "argument"
    assert not (tmp_path / "new.parquet").exists()


def test_metadata_that_is_no_text_is_named() -> None:
    parametric = pa.field("f", pa.list_(pa.field("item", pa.int64(), metadata={b"good": b"x", b"bad": b"\xff"})))
    for schema, named in (
        (pa.schema([("x", pa.int64())], metadata={b"good": b"x", b"bad": b"\xff"}), "the metadata 'bad' of the schema is"),
        (pa.schema([("x", pa.int64())], metadata={b"k\xff": b"x"}), r"the metadata 'k\\xff' of the schema is"),
        (pa.schema([pa.field("x", pa.int64(), metadata={b"k": b"\xff"})]), "the metadata 'k' of the field 'x' is"),
        (pa.schema([("e", Labelled(pa.int64()))]), "the metadata 'ARROW:extension:metadata' of the field 'e' is"),
        (pa.schema([pa.field("s", pa.struct([parametric]))]), "the metadata 'bad' of the field 's.f.item' is"),
    ):
        table = schema.empty_table()
        for attempt in (
            lambda: marquetry.write(table, io.BytesIO()),
            lambda: marquetry.write(table.to_reader(), io.BytesIO()),
            lambda: marquetry.create(io.BytesIO(), schema),
        ):
            with pytest.raises(marquetry.ArgumentError) as error:
                attempt()
            assert named in str(error.value)


def test_pairs_of_a_footer_are_text_and_named_if_they_are_not() -> None:
    table = pa.table({"x": [1]})
    wrong: list[tuple[Any, type[Exception], str]] = [
        ({"a": "x", "k": b"\xff"}, TypeError, "the value of 'k' is bytes, and not str"),
        ({b"k": "x"}, TypeError, "the key b'k' is bytes"),
        ({"k": None}, TypeError, "the value of 'k' is NoneType"),
        ({"k": "\ud800"}, ValueError, "the value of 'k' is not UTF-8"),
    ]
    for pairs, kind, said in wrong:
        with pytest.raises(kind, match=said):
            marquetry.write(table, io.BytesIO(), key_values=pairs)
    out = io.BytesIO()
    marquetry.write(table, out, key_values={"k": "gr\u00fcn"})
    assert theirs.read_metadata(io.BytesIO(out.getvalue())).metadata[b"k"] == "gr\u00fcn".encode()
