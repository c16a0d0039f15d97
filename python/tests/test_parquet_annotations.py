"""What the schema says of columns, as `pyarrow.parquet` has it, whatever the writer has left out."""

from __future__ import annotations

import io
import struct

import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours

# A footer without rows. Two columns have no older annotation beside their logical type, one says not how often it is there, one has
# what parquet-cpp once wrote of nulls.
FOOTER = bytes.fromhex(
    "15 04"  # version 2
    "19 5c"  # schema: 5 elements
    "48 04 726f6f74 15 08 00"  # name root, 4 children
    "15 02 25 02 18 04 74696e79"  # INT32, OPTIONAL, tiny
    "6c ac 13 08 11 00 00 00"  # logical type INTEGER: 8 bits, signed
    "15 0c 38 04 6f6e6365 00"  # BYTE_ARRAY, once
    "15 04 25 00 18 04 7768656e"  # INT64, REQUIRED, when
    "6c 8c 11 1c 2c 00 00 00 00 00"  # logical type TIMESTAMP: UTC, microseconds
    "15 02 25 02 18 04 6e6f6e65 25 30 00"  # INT32, OPTIONAL, none, converted type 24
    "16 00"  # 0 rows
    "19 0c"  # no row groups
    "00"
)
FILE = b"PAR1" + FOOTER + struct.pack("<I", len(FOOTER)) + b"PAR1"


def test_annotations_that_are_left_out() -> None:
    found, expected = (module.ParquetFile(pa.py_buffer(FILE)).schema for module in (ours, theirs))
    assert [column.converted_type for column in found] == ["INT_8", "NONE", "TIMESTAMP_MICROS", "UNKNOWN"]
    assert [column.max_definition_level for column in found] == [1, 0, 0, 1]
    for i in range(4):
        assert repr(found[i]) == repr(expected.column(i))
    assert repr(found).split("\n")[1:] == repr(expected).split("\n")[1:]


def test_files_are_put_together_whatever_older_annotations_they_have() -> None:
    schema = pa.schema(
        [("tiny", pa.int8()), pa.field("once", pa.binary(), False), pa.field("when", pa.timestamp("us", "UTC"), False), ("none", pa.null())]
    )
    for module in (ours, theirs):
        file = io.BytesIO()
        module.write_metadata(schema, file)
        metadata, other = module.read_metadata(pa.py_buffer(FILE)), module.read_metadata(file)
        # All but the column of nulls.
        assert [metadata.schema.column(i).equals(other.schema.column(i)) for i in range(4)] == [True, True, True, False]


@pytest.mark.parametrize("column", [pa.array(['{"a":1}'], pa.json_()), pa.array(["a"]), pa.array([b"a"])], ids=["json", "text", "bytes"])
def test_bounds_of_text_alone_are_text(column: pa.Array) -> None:
    file = io.BytesIO()
    theirs.write_table(pa.table({"c": column}), file)
    found, expected = (module.read_metadata(file).row_group(0).column(0).statistics for module in (ours, theirs))
    assert found.to_dict() == expected.to_dict()


GEO = {"planar": "{}", "spherical": '{"edges":"spherical"}', "named": '{"crs":"EPSG:3857"}', "geodesic": '{"edges":"vincenty"}'}


@pytest.mark.parametrize("name", GEO)
def test_types_and_extents_of_geometries(name: str) -> None:
    field = pa.field("g", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": GEO[name]})
    multi = struct.pack("<BII", 1, 4, 1) + struct.pack("<BIdd", 1, 1, 3.0, 4.0)
    file = io.BytesIO()
    marquetry.write(pa.table([[multi, struct.pack("<BIdd", 1, 1, 1.0, 2.0)]], schema=pa.schema([field])), file)
    said = []
    for module in (ours, theirs):
        metadata = module.read_metadata(file)
        logical, chunk = metadata.schema.column(0).logical_type, metadata.row_group(0).column(0)
        said.append((str(logical), logical.to_json(), chunk.geo_statistics.to_dict()))
    assert said[0] == said[1]
    assert said[0][2]["geospatial_types"] == [1, 4]


def test_columns_to_sort_by_are_numbers() -> None:
    for module in (ours, theirs):
        assert module.SortingColumn(1, 1, 0).to_dict() == {"column_index": 1, "descending": True, "nulls_first": False}
        for column in ("x", None):
            with pytest.raises(TypeError):
                module.SortingColumn(column)
