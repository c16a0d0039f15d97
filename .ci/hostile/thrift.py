"""Thrift's compact protocol, as far as Parquet's footers and page headers need it."""


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    return varint(-2 * n - 1 if n < 0 else 2 * n)


class Struct(dict):
    """Field id -> value: an int (i32), ("i64", n), ("i16", n), a bool, bytes or text, a list, or a Struct."""


def kind(value):
    if isinstance(value, bool):
        return 1 if value else 2
    if isinstance(value, int):
        return 5
    if isinstance(value, tuple):
        return {"i64": 6, "i16": 4}[value[0]]
    if isinstance(value, (bytes, str)):
        return 8
    if isinstance(value, (list, Repeated)):
        return 9
    return 12


class Repeated:
    """A list of `count` structs that are the same bytes."""

    def __init__(self, struct, count):
        self.bytes, self.count = encode(struct) * count, count


def value_bytes(value):
    if isinstance(value, int):
        return zigzag(value)
    if isinstance(value, tuple):
        return zigzag(value[1])
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(len(value)) + value
    if isinstance(value, Repeated):
        return list_header(value.count, 12) + value.bytes
    if isinstance(value, list):
        element = 12 if not value else kind(value[0])
        if element in (1, 2):
            return list_header(len(value), 1) + b"".join(b"\1" if v else b"\2" for v in value)
        return list_header(len(value), element) + b"".join(map(value_bytes, value))
    return encode(value)


def list_header(n, element):
    return bytes([n << 4 | element]) if n < 15 else bytes([0xF0 | element]) + varint(n)


def encode(struct):
    """The bytes of a struct."""
    out, last = bytearray(), 0
    for field, value in sorted(struct.items()):
        delta, type_ = field - last, kind(value)
        out += bytes([delta << 4 | type_]) if delta < 16 else bytes([type_]) + zigzag(field)
        if type_ not in (1, 2):
            out += value_bytes(value)
        last = field
    return bytes(out + b"\0")
