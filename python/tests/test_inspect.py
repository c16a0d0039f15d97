"""Statistics of columns beside those of pyarrow, and differences that were planted."""

import datetime
import decimal
import pathlib
import random
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import marquetry

TABLE = pa.table(
    {
        "id": pa.array(range(1000), pa.int64()),
        "name": pa.array([None if i % 7 == 0 else f"name {i % 100}" for i in range(1000)]),
        "score": pa.array([float("nan") if i % 11 == 0 else i / 3 for i in range(1000)]),
        "price": pa.array([decimal.Decimal(i) / 100 for i in range(1000)], pa.decimal128(9, 2)),
        "day": pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(i % 50) for i in range(1000)]),
        "tags": pa.array([[str(i)] * (i % 3) for i in range(1000)]),
        "ok": pa.array([i % 3 == 0 for i in range(1000)]),
    }
)


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    path = str(tmp_path / "t.parquet")
    pq.write_table(TABLE, path, row_group_size=300)
    return path


def test_statistics_are_those_of_pyarrow(path: str) -> None:
    statistics = marquetry.stats(path)
    assert statistics.rows == 1000
    for name in ("id", "name", "price", "day", "ok"):
        ours, column = statistics[name], TABLE[name]
        assert ours.nulls == column.null_count and ours.values == len(column) - column.null_count
        assert (ours.min, ours.max) == tuple(pc.min_max(column).as_py().values())
        assert (ours.distinct, ours.distinct_error) == (pc.count_distinct(column).as_py(), 0.0)
    score = [value for value in TABLE["score"].to_pylist() if value == value]
    assert statistics["score"].nans == 1000 - len(score)
    assert statistics["score"].mean == pytest.approx(sum(score) / len(score))
    assert statistics["price"].mean == pytest.approx(4.995)
    assert statistics["ok"].common == [(False, 666, 666), (True, 334, 334)]
    assert statistics["tags.list.element"].list_length == (0, pytest.approx(0.999), 2)
    assert "1000 rows" in str(statistics) and "<table>" in statistics._repr_html_()
    with pytest.raises(KeyError):
        statistics["absent"]


def test_quick_and_chosen_columns(path: str) -> None:
    quick = marquetry.stats(path, quick=True, columns=["id"])
    assert [column.column for column in quick.columns] == ["id"]
    assert (quick["id"].min, quick["id"].max, quick["id"].mean) == (0, 999, None)
    with pytest.raises(marquetry.ColumnError):
        marquetry.stats(path, columns=["absent"])
    with open(path, "rb") as file:
        assert marquetry.stats(file.read(), columns=["id"])["id"].quartiles == [249, 499, 749]


def test_differences(path: str, tmp_path: pathlib.Path) -> None:
    other = str(tmp_path / "other.parquet")
    pq.write_table(TABLE, other, compression="zstd", row_group_size=77)
    assert marquetry.diff(path, other, rows=True).same
    assert not marquetry.diff(path, other).same
    rows = TABLE.to_pylist()
    rows[500]["name"] = "another"
    pq.write_table(pa.Table.from_pylist(rows, TABLE.schema), other)
    found = marquetry.diff(path, other, rows=True)
    assert found.rows is not None and not found.same
    assert (found.rows.changed, found.rows.changed_rows, found.rows.changed_columns) == (1, [(500, 500)], [("name", 1)])
    del rows[500]
    pq.write_table(pa.Table.from_pylist(rows, TABLE.schema), other)
    for options in ({"rows": True}, {"key": "id"}, {"key": ["id"], "columns": ["id", "name"]}):
        found = marquetry.diff(path, other, **options)
        assert found.rows is not None and (found.rows.removed, found.rows.removed_rows, found.rows.added) == (1, [500], 0)
    pq.write_table(TABLE.drop_columns(["score"]).replace_schema_metadata({"who": "me"}), other)
    found = marquetry.diff(path, other, rows=True)
    assert ("metadata", "who", "value", None, "me") in found.differences
    assert any(fact.aspect == "schema" and fact.of == "score" and fact.right is None for fact in found.differences)
    assert found.rows is not None and found.rows.not_compared == ["score"]
    with pytest.raises(marquetry.Error):
        marquetry.diff(path, b"no file")


# So many days, in no order, that dates are smaller than their text, whatever encodes and compresses them: a test cannot count on what is
# faster.
DAYS = random.Random(7).choices([f"{datetime.date(1980, 1, 1) + datetime.timedelta(i)}" for i in range(15_000)], k=20_000)
CARELESS = pa.table({"day": DAYS, "n": [i * 7919 % 1000 for i in range(20_000)]}).replace_schema_metadata({"who": "tests"})


@pytest.fixture
def careless(tmp_path: pathlib.Path) -> str:
    """A file that was written without care."""
    path = str(tmp_path / "careless.parquet")
    pq.write_table(CARELESS, path, row_group_size=500, use_dictionary=False, compression="none")
    return path


def test_advice_is_measured(careless: str, tmp_path: pathlib.Path) -> None:
    advice = marquetry.advise(careless, budget=60, where="n = 5")
    kinds = {found.kind: found for found in advice.findings}
    assert {"encoding", "row-groups", "type"} <= set(kinds) and advice.not_measured == []
    assert kinds["encoding"].bytes is not None and kinds["encoding"].bytes.after < kinds["encoding"].bytes.before
    assert kinds["type"].confidence == 1.0 and "date" in kinds["type"].what or "int32" in kinds["type"].what
    assert "1. " in repr(advice) and "<table>" in advice._repr_html_()
    lines = tmp_path / "queries.sql"
    lines.write_text("# of yesterday\n120\tselect * from t where n = 5\nday = '2024-01-05'\n")
    for options in ({"queries": lines}, {"queries": lines.read_text().splitlines()}, {"where": [[("n", "=", 5)], "day > 'a'"]}):
        found = [found for found in marquetry.advise(careless, for_="filter", budget=60, **options).findings if found.skipped is not None]
        assert found and all(0 <= it.skipped.before <= it.skipped.after <= 1 for it in found if it.skipped is not None)
    with pytest.raises(ValueError):
        marquetry.advise(careless, for_="speed")  # type: ignore[arg-type]
    with pytest.raises(marquetry.Error):
        marquetry.advise(careless, queries=["n = = 5"])
    with pytest.raises(marquetry.ArgumentError):
        marquetry.advise(careless, where=("absent = 5",))
    with pytest.raises(FileNotFoundError):
        marquetry.advise(careless, queries="absent.sql")


def test_folders(path: str, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for part in range(6):
        pq.write_table(TABLE.slice(part * 100, 100), folder / f"{part}.parquet")
    pq.write_table(TABLE.slice(600), folder / "last.parquet")
    together = marquetry.stats(folder)
    assert together.rows == 1000 and together["id"].max == 999 and together["id"].distinct == 1000
    assert together["name"].nulls == TABLE["name"].null_count and together["name"].values == marquetry.stats(path)["name"].values
    assert marquetry.stats([path, path], columns=["id"])["id"].values == 2000
    advice = marquetry.advise(folder, budget=20)
    assert advice.file is not None and advice.file.endswith("last.parquet") and advice.findings[0].kind == "small-files"
    assert "7 files" in advice.findings[0].what and "last.parquet: " in repr(advice)
    with pytest.raises(ValueError):
        marquetry.stats(folder, quick=True)
    with pytest.raises(marquetry.MissingFileError, match="absent"):
        marquetry.stats([path, str(tmp_path / "absent.parquet")])


def test_files_are_optimized(careless: str, tmp_path: pathlib.Path) -> None:
    target = str(tmp_path / "small.parquet")
    done = marquetry.optimize(careless, target, budget=60)
    assert not done.copied and done.got == pathlib.Path(target).stat().st_size < done.before == pathlib.Path(careless).stat().st_size
    assert abs(done.predicted - done.got) < 0.1 * done.got
    assert done.also == ["row-groups"] and {column.column for column in done.columns} == {"day", "n"}
    assert all(column.got < column.before for column in done.columns)
    assert f"got: {done.got}; also: row-groups" in repr(done) and "predicted" in repr(done) and "<table>" in done._repr_html_()
    assert pq.read_table(target).equals(CARELESS) and pq.read_schema(target).metadata[b"who"] == b"tests"
    with pytest.raises(FileExistsError):
        marquetry.optimize(careless, target)
    with pytest.raises(marquetry.ArgumentError):
        marquetry.optimize(target, target, overwrite=True)
    again = str(tmp_path / "again.parquet")
    twice = marquetry.optimize(target, again, budget=60)
    assert twice.got <= done.got and pq.read_table(again).equals(CARELESS)
    assert [entry for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_rows_and_types_change_on_request(careless: str, tmp_path: pathlib.Path) -> None:
    target = str(tmp_path / "other.parquet")
    sorted_ = marquetry.optimize(careless, target, budget=60, sort=True)
    assert "sort-order" in sorted_.also and sorted_.got < sorted_.before
    rows, by = pq.read_table(target), [("day", "ascending"), ("n", "ascending")]
    assert not rows.equals(CARELESS) and rows.sort_by(by).equals(CARELESS.sort_by(by))
    typed = marquetry.optimize(careless, target, budget=60, types=True, overwrite=True)
    assert "type" in typed.also and pq.read_table(target).schema.field("day").type == pa.date32()
    assert pq.read_table(target).cast(CARELESS.schema).equals(CARELESS)


def test_what_queries_ask_can_be_skipped(tmp_path: pathlib.Path) -> None:
    path, target = str(tmp_path / "t.parquet"), str(tmp_path / "filtered.parquet")
    table = pa.table({"key": [f"{i * 7919 % 60_013:08}" for i in range(60_000)], "n": pa.array(range(60_000))})
    pq.write_table(table, path, row_group_size=5_000, write_statistics=False, compression="none", use_dictionary=False)
    where = [("key", "=", f"{7919 * 3 % 60_013:08}")]
    done = marquetry.optimize(path, target, for_="filter", where=where, budget=60)
    assert done.got < done.before and {"indexes", "bloom-filter"} & set(done.also)
    assert marquetry.explain(target, where).rows_left < marquetry.explain(path, where).rows_left == 60_000
    assert pq.read_table(target).equals(table)


def test_optimizing_ends_early(careless: str, tmp_path: pathlib.Path) -> None:
    script = f"""
import _thread, threading, marquetry, sys
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    marquetry.optimize({careless!r}, {str(tmp_path / 'never.parquet')!r}, budget=3600, sort=True)
except KeyboardInterrupt:
    sys.exit(7)
"""
    # Whether it is done by then or not: it ends, and leaves no part of a file. An interrupt that comes when the file has
    # just been put in place is raised all the same.
    ended = subprocess.run([sys.executable, "-c", script], timeout=120, check=False)
    assert ended.returncode in (0, 7)
    assert {entry.name for entry in tmp_path.iterdir()} <= {"careless.parquet", "never.parquet"}
    target = tmp_path / "never.parquet"
    assert target.exists() or ended.returncode == 7
    if target.exists():
        assert pq.read_table(target).num_rows == pq.read_table(careless).num_rows
        assert not marquetry.verify(target).fails


def test_house_rules(path: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = tmp_path / "house.toml"
    house.write_text("fail = 'invalid'\n[severity]\nhouse-columns = 'suspicious'\n[limits]\ncolumns = { max = 3 }\n")
    report = marquetry.lint(path, house)
    assert [(found.rule, found.severity) for found in report.findings if found.rule.startswith("house")] == [("house-columns", "suspicious")]
    assert not report.fails and report.worst == "suspicious" and "house-columns" in str(report)
    (tmp_path / ".marquetry.toml").write_text("[limits]\nrow-group-rows = { min = 1000 }\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    found = marquetry.lint(path)
    assert found.fails and {"house-row-group-rows"} <= {it.rule for it in found.findings}
    assert not marquetry.verify(path).fails and marquetry.verify(b"no file").fails
    house.write_text("levl = 'deep'")
    with pytest.raises(marquetry.ArgumentError, match="levl"):
        marquetry.lint(path, house)
