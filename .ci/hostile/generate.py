"""Writes small files that ask their reader for much: python generate.py DIRECTORY [--quick]

Each is made here from nothing, so that nobody has to keep it. What a file asks for stands at its function. With --quick only
those that are made and read in no time."""

import base64
import struct
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from thrift import Repeated, Struct, encode, varint

MIB = 1 << 20
INT32, INT64, BYTES, FIXED = 1, 2, 6, 7
CODECS = {"none": 0, "snappy": 1, "gzip": 2, "brotli": 4, "zstd": 6}
PLAIN, RLE, DELTA_BYTES, RLE_DICTIONARY = 0, 3, 7, 8


def element(name, type_=None, repetition=0, children=None, length=None, converted=None):
    fields = {1: type_, 2: length, 3: repetition, 4: name, 5: children, 6: converted}
    return Struct({k: v for k, v in fields.items() if v is not None})


def root(children):
    return Struct({4: "r", 5: children})


def squeeze(data, codec):
    return data if codec == "none" else pa.compress(data, codec=codec, asbytes=True)


def data_page(body, values, codec="none", encoding=PLAIN, claim=None):
    stored = squeeze(body, codec)
    header = Struct({1: 0, 2: claim or len(body), 3: len(stored), 5: Struct({1: values, 2: encoding, 3: RLE, 4: RLE})})
    return encode(header) + stored


def dictionary_page(body, entries, codec="none"):
    stored = squeeze(body, codec)
    return encode(Struct({1: 2, 2: len(body), 3: len(stored), 7: Struct({1: entries, 2: PLAIN})})) + stored


def chunk(path, type_, values, size, offset, codec="none", dictionary=None, encodings=(PLAIN, RLE), extra=None):
    meta = {1: type_, 2: list(encodings), 3: list(path), 4: CODECS[codec], 5: ("i64", values), 6: ("i64", size)}
    meta |= {7: ("i64", size), 9: ("i64", offset)}
    if dictionary is not None:
        meta[11] = ("i64", dictionary)
    return Struct({2: ("i64", 0), 3: Struct(meta)} | (extra or {}))


def footer(schema, groups, rows, pairs=None):
    fields = {1: 2, 2: schema, 3: ("i64", rows), 4: groups}
    if pairs is not None:
        fields[5] = pairs
    return encode(Struct(fields))


def group(columns, rows, size=0):
    return Struct({1: columns, 2: ("i64", size), 3: ("i64", rows)})


def write(path, body, end):
    path.write_bytes(b"PAR1" + body + end + struct.pack("<I", len(end)) + b"PAR1")


def bombs(folder):
    """Pages of zeros: a few hundred bytes each that decompress to much, of many columns at once."""
    for codec, columns, mib in [("brotli", 40, 256), ("brotli", 40, 63), ("zstd", 40, 63), ("snappy", 4, 63), ("brotli", 400, 63), ("brotli", 1, 1024)]:
        page = data_page(bytes(mib * MIB), 3, codec)
        schema = [root(columns)] + [element(f"c{i}", INT64) for i in range(columns)]
        chunks = [chunk([f"c{i}"], INT64, 3, len(page), 4 + i * len(page), codec) for i in range(columns)]
        write(folder / f"bomb_{codec}_{columns}x{mib}.parquet", page * columns, footer(schema, [group(chunks, 3)], 3))


def long_strings(folder):
    """Legal: 5,000 strings of a mebibyte."""
    schema = pa.schema([("s", pa.string())])
    with pq.ParquetWriter(folder / "long_strings.parquet", schema, compression="zstd", use_dictionary=False) as writer:
        for i in range(10):
            writer.write_table(pa.table({"s": [chr(97 + (i + j) % 26) * 1_050_000 for j in range(500)]}, schema))


def repeated_entry(folder):
    """Legal: a dictionary of one string of a mebibyte, which is in each row."""
    for rows in (1 << 10, 1 << 16):
        entries = dictionary_page(struct.pack("<I", MIB) + b"x" * MIB, 1)
        values = data_page(b"\1" + varint(rows << 1) + b"\0", rows, encoding=RLE_DICTIONARY)
        schema = [root(1), element("s", BYTES, converted=0)]
        one = chunk(["s"], BYTES, rows, len(entries + values), 4 + len(entries), dictionary=4, encodings=(PLAIN, RLE, RLE_DICTIONARY))
        write(folder / f"repeated_entry_{rows}.parquet", entries + values, footer(schema, [group([one], rows)], rows))


def delta(first, rest, count):
    """DELTA_BINARY_PACKED: `first`, then `count - 1` times `rest`."""
    def zz(n):
        return varint(n << 1 if n >= 0 else (-n << 1) - 1)

    out = varint(128) + varint(4) + varint(count) + zz(first)
    left = count - 1
    before = first
    while left > 0:
        # Of a block, the first delta may differ: it gets a block with widths of its own.
        deltas = [rest - before] + [0] * (min(left, 128) - 1)
        before = rest
        least = min(deltas)
        widths, packed = bytearray(), bytearray()
        for at in range(0, 128, 32):
            part = [d - least for d in deltas[at : at + 32]]
            width = max(part, default=0).bit_length()
            widths.append(width)
            if width:
                bits = sum(d << width * i for i, d in enumerate(part))
                packed += bits.to_bytes(4 * width, "little")
        out += zz(least) + bytes(widths) + bytes(packed)
        left -= 128
    return out


def repeated_prefix(folder):
    """DELTA_BYTE_ARRAY: 100,000 values that share a prefix of a mebibyte."""
    n = 100_000
    body = delta(0, MIB, n) + delta(MIB, 1, n) + b"x" * (MIB + n - 1)
    page = data_page(body, n, "zstd", DELTA_BYTES)
    schema = [root(1), element("s", BYTES)]
    one = chunk(["s"], BYTES, n, len(page), 4, "zstd", encodings=(DELTA_BYTES, RLE))
    write(folder / "repeated_prefix.parquet", page, footer(schema, [group([one], n)], n))


def one_list(folder, entries):
    """One row, which is a list."""
    # Repetition: a 0 and then ones; definition: all ones; values: indices of no bits.
    rep = varint(1 << 1) + b"\0" + varint((entries - 1) << 1) + b"\1"
    level = varint(entries << 1) + b"\1"
    values = b"\0" + varint(entries << 1)
    body = struct.pack("<I", len(rep)) + rep + struct.pack("<I", len(level)) + level + values
    first = dictionary_page(bytes(8), 1)
    page = data_page(body, entries, encoding=RLE_DICTIONARY)
    schema = [root(1), element("l", repetition=0, children=1, converted=3), element("list", repetition=2, children=1), element("a", INT64)]
    one = chunk(["l", "list", "a"], INT64, entries, len(first + page), 4 + len(first), dictionary=4, encodings=(PLAIN, RLE, RLE_DICTIONARY))
    write(folder / f"one_list_{entries}.parquet", first + page, footer(schema, [group([one], 1)], 1))


def one_long_list(folder):
    """A list of 2^26 entries."""
    one_list(folder, 1 << 26)


def longest_list(folder):
    """A list of 2^31 - 1 entries, twice: half a minute each, where little is optimised."""
    one_list(folder, (1 << 31) - 1)
    text = (
        "UEFSMRUEFRAVEEwVAhUAAAAHAAAAAAAAABUAFToVOiwV/v///w8VEBUGFQYAAAgAAAACAPz///8PAQYAAAD+////DwMB/v///w8AFQIZTEgBchUCADUC"
        "GAFsFQIVBgA1BBgEbGlzdBUCABUEJQIYAWEAFgIZHBkcJgAcFQQZJQAGGTgBbARsaXN0AWEVABb+////DxaOARaOASYyJggAABaOARYCACgBeABfAAAA"
        "UEFSMQ=="
    )
    (folder / "one_list_178_bytes.parquet").write_bytes(base64.b64decode(text))


def entries_of_no_bytes(folder):
    """A dictionary of 2^31 - 1 values of FIXED_LEN_BYTE_ARRAY(0)."""
    text = (
        "UEFSMRUEFQAVAEwV/v///w8VAAAAFQAVDBUMLBUGFRAVBhUGAAAgBgUAAAAVAhksSAFyFQIAFQ4VABUAGAFhABYGGRwZHCYAHBUOGSUABhkYAWEVABYG"
        "FlAWUCYqJggAABZQFgYAKAF4AD4AAABQQVIx"
    )
    (folder / "entries_of_no_bytes.parquet").write_bytes(base64.b64decode(text))


def wide_null_lists(folder):
    """A null list that the stored Arrow schema says has 2^26 elements of a mebibyte."""
    body = struct.pack("<I", 2) + varint(1 << 1) + b"\0" + struct.pack("<I", 2) + varint(1 << 1) + b"\0"
    page = data_page(body, 1)
    schema = [root(1), element("l", repetition=1, children=1, converted=3), element("list", repetition=2, children=1), element("element", FIXED, 1, length=MIB)]
    one = chunk(["l", "list", "element"], FIXED, 1, len(page), 4)
    type_ = pa.list_(pa.field("element", pa.binary(MIB)), 1 << 26)
    stored = base64.b64encode(struct.pack("<Ii", 0xFFFFFFFF, len(m := pa.schema([("l", type_)]).serialize().to_pybytes()[8:])) + m)
    pairs = [Struct({1: "ARROW:schema", 2: stored})]
    write(folder / "wide_null_lists.parquet", page, footer(schema, [group([one], 1)], 1, pairs))


def many_pages(folder):
    """Half a million pages of one value."""
    n = 500_000
    pages = data_page(bytes(8), 1) * n
    one = chunk(["a"], INT64, n, len(pages), 4)
    write(folder / "many_pages.parquet", pages, footer([root(1), element("a", INT64)], [group([one], n)], n))


def lost_pages(folder):
    """Half a million pages of one value, the first of which the footer tells of in the wrong place."""
    n = 500_000
    pages = data_page(bytes(8), 1) * n
    one = chunk(["a"], INT64, n, len(pages) - 1, 5)
    write(folder / "many_pages_lost.parquet", pages, footer([root(1), element("a", INT64)], [group([one], n)], n))


def pages_of_no_rows(folder):
    """Nothing but empty data pages, or dictionary pages, with a footer and without one; and pages of kinds that hold no rows."""
    empty, dictionary = data_page(b"", 0), dictionary_page(bytes(8), 1)
    for n in (10_000, 100_000, 500_000):
        for name, page in (("empty", empty), ("dictionary", dictionary)):
            # The page that counts stands behind them.
            pages = page * n + data_page(bytes(8), 1)
            one = chunk(["a"], INT64, 1, len(pages), 4)
            end = footer([root(1), element("a", INT64)], [group([one], 1)], 1)
            write(folder / f"{name}_pages_{n}.parquet", pages, end)
            (folder / f"{name}_pages_{n}_cut.parquet").write_bytes(b"PAR1" + pages)
    n = 200_000
    for name, kind in (("index", 1), ("unknown", 9)):
        pages = encode(Struct({1: kind, 2: 0, 3: 0})) * n + data_page(bytes(8), 1)
        one = chunk(["a"], INT64, 1, len(pages), 4)
        write(folder / f"{name}_pages_{n}.parquet", pages, footer([root(1), element("a", INT64)], [group([one], 1)], 1))


def long_entries(folder):
    """A dictionary of one string of 256 MiB of zeros, and one of a FIXED_LEN_BYTE_ARRAY(16 MiB) which is in each of 2^20 rows."""
    size = 256 * MIB
    body = struct.pack("<I", size - 4) + bytes(size - 4)
    entries = dictionary_page(body, 1, "zstd")
    values = data_page(b"\0" + varint(3 << 1), 3, "zstd", RLE_DICTIONARY)
    schema = [root(1), element("s", BYTES)]
    parts = (PLAIN, RLE, RLE_DICTIONARY)
    one = chunk(["s"], BYTES, 3, len(entries + values), 4 + len(entries), "zstd", dictionary=4, encodings=parts)
    write(folder / "long_entry.parquet", entries + values, footer(schema, [group([one], 3)], 3))
    entries, rows = dictionary_page(bytes(16 * MIB), 1, "zstd"), 1 << 20
    values = data_page(b"\0" + varint(rows << 1), rows, "zstd", RLE_DICTIONARY)
    schema = [root(1), element("f", FIXED, length=16 * MIB)]
    one = chunk(["f"], FIXED, rows, len(entries + values), 4 + len(entries), "zstd", dictionary=4, encodings=parts)
    write(folder / "wide_entry.parquet", entries + values, footer(schema, [group([one], rows)], rows))


def one_string(folder):
    """A string of 256 MiB in each of three columns of maps."""
    size = 256 * MIB
    page = data_page(struct.pack("<I", size - 4) + b"x" * (size - 4), 1, "brotli")
    schema = [root(3)] + [element(f"s{i}", BYTES, converted=0) for i in range(3)]
    chunks = [chunk([f"s{i}"], BYTES, 1, len(page), 4, "brotli") for i in range(3)]
    write(folder / "one_string.parquet", page, footer(schema, [group(chunks, 1)], 1))


def false_claims(folder):
    """Headers and runs that claim more than there is: of values, of rows, of bytes; levels that contradict each other."""
    schema = [root(1), element("a", INT64)]

    def file(name, page, values=3, columns=schema, path=("a",), rows=None):
        one = chunk(list(path), INT64, values, len(page), 4, encodings=(PLAIN, RLE, RLE_DICTIONARY))
        write(folder / f"claims_{name}.parquet", page, footer(columns, [group([one], rows or values)], rows or values))

    def page(fields, body=bytes(24), size=None, stored=None):
        return encode(Struct({1: 0, 2: size if size is not None else len(body), 3: stored if stored is not None else len(body)} | fields)) + body

    most = (1 << 31) - 1
    v1 = lambda n: {5: Struct({1: n, 2: PLAIN, 3: RLE, 4: RLE})}
    v2 = lambda n, nulls, rows: {1: 3, 8: Struct({1: n, 2: nulls, 3: rows, 4: PLAIN, 5: 0, 6: 0})}
    file("values", page(v1(most)))
    file("negative_values", page(v1(-1)))
    file("rows", page(v2(3, 0, most)))
    file("negative_rows", page(v2(3, 0, -7)))
    file("nulls", page(v2(3, most, 3)))
    file("bytes", page(v1(3), size=most))
    file("stored_bytes", page(v1(3), stored=most))
    file("negative_bytes", page(v1(3), size=-1, stored=-1))
    optional = [root(1), element("a", INT64, repetition=1)]
    for name, run in (("long_run", varint(1 << 41) + b"\1"), ("packed_run", varint((1 << 61) | 1)), ("endless_run", b"\xff" * 9 + b"\1\1")):
        body = struct.pack("<I", len(run)) + run + bytes(24)
        file(name, page(v1(3), body), columns=optional)
    listed = [root(1), element("l", repetition=1, children=1, converted=3), element("list", repetition=2, children=1), element("e", INT64)]
    rep, level = varint(1 << 1) + b"\0" + varint(2 << 1) + b"\1", varint(3 << 1) + b"\0"
    body = struct.pack("<I", len(rep)) + rep + struct.pack("<I", len(level)) + level
    file("levels", page(v1(3), body), columns=listed, path=("l", "list", "e"), rows=1)
    one = data_page(bytes(8), 1)
    for name, rows in (("many_rows", 1 << 62), ("fewer_rows", -(1 << 62))):
        end = footer(schema, [group([chunk(["a"], INT64, 1, len(one), 4)], rows)], rows)
        write(folder / f"claims_{name}.parquet", one, end)
    for name, offset, size in (("offset", 1 << 62, 8), ("negative_offset", -5, 8), ("size", 4, 1 << 62)):
        end = footer(schema, [group([chunk(["a"], INT64, 1, size, offset)], 1)], 1)
        write(folder / f"claims_{name}.parquet", one, end)
    beside = {4: ("i64", 1 << 60), 5: most, 6: ("i64", 4), 7: most}
    end = footer(schema, [group([chunk(["a"], INT64, 1, len(one), 4, extra=beside)], 1)], 1)
    write(folder / "claims_indexes.parquet", one, end)
    other = Struct({1: "../other.parquet"} | dict(chunk(["a"], INT64, 1, len(one), 4)))
    write(folder / "claims_other_file.parquet", one, footer(schema, [group([other], 1)], 1))


def false_footers(folder):
    """Footers that are cut, nested without end, or longer than the file; files of a few bytes; names that steer a terminal."""
    for n in range(13):
        (folder / f"footer_{n}_bytes.parquet").write_bytes(b"PAR1PAR1PAR1"[:n])
    whole = lambda end: b"PAR1" + end + struct.pack("<I", len(end)) + b"PAR1"
    (folder / "footer_nested.parquet").write_bytes(whole(b"\x1c" * 2_000_000))
    (folder / "footer_lists.parquet").write_bytes(whole(b"\x15\x04\x19" + b"\xf9" + varint(1 << 62) + b"\x19" * 1000))
    (folder / "footer_long_list.parquet").write_bytes(whole(b"\x15\x04\x19\xfc" + varint((1 << 31) - 1)))
    (folder / "footer_long.parquet").write_bytes(b"PAR1" + bytes(100) + struct.pack("<I", 0xFFFFFFF0) + b"PAR1")
    deep = [root(1)] + [element("g", children=1) for _ in range(100_000)] + [element("a", INT64)]
    write(folder / "footer_deep.parquet", b"", footer(deep, [], 0))
    for name, children in (("children", (1 << 31) - 1), ("negative_children", -3)):
        write(folder / f"footer_{name}.parquet", b"", footer([root(children), element("a", INT64)], [], 0))
    page = data_page(bytes(8), 1)
    name = "col\x1b[31mRED\x1b]0;PWN\x07\u202e\u2066\u009b31m\r\n\0\b"
    end = footer([root(1), element(name, INT64)], [group([chunk([name], INT64, 1, len(page), 4)], 1)], 1)
    write(folder / "footer_escapes.parquet", page, end)
    with open(folder / "sparse_terabyte.parquet", "wb") as file:
        file.truncate(1 << 40)
        file.seek(0)
        file.write(b"PAR1")
        file.seek((1 << 40) - 8)
        file.write(struct.pack("<I", 500) + b"PAR1")


def many_row_groups(folder):
    """300,000 row groups, all of the same page."""
    page, n = data_page(bytes(8), 1), 300_000
    groups = Repeated(group([chunk(["a"], INT64, 1, len(page), 4)], 1), n)
    write(folder / "many_row_groups.parquet", page, footer([root(1), element("a", INT64)], groups, n))
    groups = Repeated(group([], 0), 1_000_000)
    write(folder / "row_groups_without_columns.parquet", b"", footer([root(1), element("a", INT64)], groups, 0))


def many_locations(folder):
    """An offset index of a million pages, of which there is one."""
    page = data_page(bytes(8), 1)
    locations = encode(Struct({1: Repeated(Struct({1: ("i64", 4), 2: len(page), 3: ("i64", 0)}), 1_000_000)}))
    one = chunk(["a"], INT64, 1, len(page), 4, extra={4: ("i64", 4 + len(page)), 5: len(locations)})
    write(folder / "many_locations.parquet", page + locations, footer([root(1), element("a", INT64)], [group([one], 1)], 1))


def many_pairs(folder):
    """A million pairs of metadata."""
    page = data_page(bytes(8), 1)
    pairs = Repeated(Struct({1: "k", 2: "v"}), 1_000_000)
    write(folder / "many_pairs.parquet", page, footer([root(1), element("a", INT64)], [group([chunk(["a"], INT64, 1, len(page), 4)], 1)], 1, pairs))


def long_names(folder):
    """A group whose name has 100 kB above 2,000 columns."""
    page, n, name = data_page(bytes(8), 1), 2_000, "n" * 100_000
    schema = [root(1), element(name, children=n)] + [element(f"c{i}", INT64) for i in range(n)]
    chunks = [chunk(["x"], INT64, 1, len(page), 4) for _ in range(n)]
    write(folder / "long_names.parquet", page, footer(schema, [group(chunks, 1)], 1))


def many_columns(folder):
    """Many columns: of three rows, of none, and all of the same page."""
    page = data_page(bytes(24), 3)
    for n in (5_000, 10_000, 20_000, 100_000):
        schema = [root(n)] + [element(f"c{i}", INT64) for i in range(n)]
        chunks = [chunk([f"c{i}"], INT64, 3, len(page), 4) for i in range(n)]
        write(folder / f"columns_{n}.parquet", page, footer(schema, [group(chunks, 3)], 3))
    schema = [root(900_000)] + [element(f"c{i}", INT64) for i in range(900_000)]
    write(folder / "columns_without_row_groups.parquet", b"", footer(schema, [], 0))
    page = data_page(bytes(range(256)) * 3125, 100_000)
    schema = [root(2_000)] + [element(f"c{i}", INT64) for i in range(2_000)]
    chunks = [chunk([f"c{i}"], INT64, 100_000, len(page), 4) for i in range(2_000)]
    write(folder / "columns_of_one_page.parquet", page, footer(schema, [group(chunks, 100_000)], 100_000))


SMALL = [one_long_list, entries_of_no_bytes, repeated_prefix, wide_null_lists, false_claims, false_footers]
LARGE = [longest_list, bombs, long_strings, repeated_entry, long_entries, one_string, many_pages, lost_pages, pages_of_no_rows, many_row_groups]
LARGE += [many_locations, many_pairs, long_names, many_columns]

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in SMALL if "--quick" in sys.argv else SMALL + LARGE:
        make(folder)
