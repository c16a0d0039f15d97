"""Comparisons of narrow floats with numbers that they cannot represent.

A predicate rounds such a number to the nearest float. pyarrow compares with the number itself, in double precision: no 32-bit float
equals 0.1.
"""

from __future__ import annotations

import decimal
import math
import re
import struct
from typing import Any

from ._literals import is_nested, literal, number_of

# Formats of `struct` for floats, and for integers of the same number of bits.
_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}

_OF_PYARROW = {"halffloat": 16, "float": 32, "double": 64}


def float_bits(type_text: str | None) -> int | None:
    """Returns the width of a column's floats in bits, by the text of its type; ``None`` if it has no floats.

    >>> float_bits("Float32"), float_bits("Dictionary(Int32, Float16)"), float_bits("double"), float_bits("Int64"), float_bits(None)
    (32, 16, 64, None, None)
    """
    if type_text is None or is_nested(type_text):
        return None
    found = re.search(r"\bFloat(16|32|64)\b", type_text)
    return int(found[1]) if found else _OF_PYARROW.get(type_text)


def comparison(column: str, sign: str, value: Any, bits: int) -> str | None:
    """Rewrites a comparison with a number that is not a float of this width to the adjacent floats; ``None`` if that is not needed.

    >>> comparison("x", "<=", 0.5, 32), comparison("x", "<=", 0.1, 32), comparison("x", ">", 0.1, 32)
    (None, 'x <= 0.09999999403953552', 'x >= 0.10000000149011612')
    >>> comparison("x", "=", 0.1, 32), comparison("x", ">", 1e300, 32), comparison("x", "<", 2**53 + 1, 64)
    ('(x < 0 and x > 0)', 'x >= inf', 'x <= 9007199254740992.0')
    """
    if isinstance(value, decimal.Decimal) and value.is_finite():
        # pyarrow compares it as a double.
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value in (float("inf"), float("-inf")):
        return None
    beside = _beside(value, bits)
    if beside is None:
        return None
    if sign in ("=", "!="):
        never = f"({column} < 0 and {column} > 0)"
        return never if sign == "=" else f"(not {never})"
    return f"{column} <= {literal(beside[0])}" if sign in ("<", "<=") else f"{column} >= {literal(beside[1])}"


def in_list(value: Any, bits: int) -> Any:
    """Returns a value of a list, which a predicate rounds to the nearest float. A number beyond the range of floats becomes infinity.

    >>> in_list(1e300, 32), in_list(1e300, 64), in_list(0.1, 32), in_list("a", 32)
    (inf, 1e+300, 0.1, 'a')
    """
    number = number_of(value)
    if isinstance(number, float):
        try:
            struct.pack(_FORMATS[bits][0], number)
        except OverflowError:
            return math.copysign(math.inf, number)
    return value


def _beside(value: int | float, bits: int) -> tuple[float, float] | None:
    """Returns the floats directly below and above a number; ``None`` if it is one itself."""
    of_float, of_integer = _FORMATS[bits]
    sign, infinity = 1 << bits - 1, struct.unpack(of_integer, struct.pack(of_float, float("inf")))[0]

    def at(place: int) -> float:
        """Returns the float at a position in the order of all floats, in which 0 is at 0."""
        return float(struct.unpack(of_float, struct.pack(of_integer, place if place >= 0 else sign | -place))[0])

    try:
        (integer,) = struct.unpack(of_integer, struct.pack(of_float, value))
        place = integer if integer < sign else -(integer - sign)
    except OverflowError:
        place = infinity if value > 0 else -infinity
    nearest = at(place)
    if nearest == value:
        return None
    return (nearest, at(place + 1)) if nearest < value else (at(place - 1), nearest)
