"""Values of FILE, and readers of what they refer to."""

import pyarrow as pa
import pytest

import marquetry


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
