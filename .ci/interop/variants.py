"""Shredded variants: DuckDB and pyarrow read ours, we read DuckDB's. Whatever the shape, all values are those of the same rows."""

import decimal
import json
import subprocess

ROWS = 5000
#: Shapes of the rows below: none, one that most rows fit, one that few do, one for single fields, and what we infer.
SHAPES = {
    "none": "none",
    "fitting": "{id: bigint, name: string, price: decimal(9,2), tags: [string], user: {ok: boolean, score: double}}",
    "unfitting": "{id: string, name: bigint, price: decimal(9,1), tags: [int], user: [string], other: {a: date}}",
    "fields": "{id: variant, user: variant, tags: [variant]}",
    "array": "[{k: bigint}]",
    "primitive": "bigint",
    "auto": "auto",
}
#: What DuckDB is asked of each file, and what of the rows is the answer.
QUESTIONS = {
    "count(*) FILTER (v IS NULL)": lambda rows: sum(row is None or row["v"] is None for row in rows),
    "sum(CASE WHEN variant_typeof(v) LIKE 'OBJECT%' THEN TRY_CAST(v.id AS BIGINT) END)": lambda rows: sum(
        row["v"]["id"]
        for row in rows
        if row and isinstance(row["v"], dict) and type(row["v"].get("id")) is int
    ),
}


def text_of(i):
    """The variant of a row as JSON; None where the row has none."""
    if i % 97 == 3:
        return None
    if i % 89 == 5:
        return ["null", "true", "17", '"text"', "{}", "[]", '[{"k": 1}, {"k": null}, {}]', "-0.5", "1e300"][i % 9]
    fields = [f'"id": {i}' if i % 31 else f'"id": "n/a {i}"', f'"name": "näme {i % 50}"']
    if i % 3:
        fields.append(f'"price": {i % 1000}.{i % 90 + 10}')
    if i % 5 == 1:
        fields.append('"price2": null')
    if i % 4:
        fields.append('"tags": ' + json.dumps([f"t{j}" if j % 7 else None for j in range(i % 4)]))
    fields.append(f'"user": {{"ok": {"true" if i % 2 else "false"}, "score": {i}e-3, "rest_{i % 3}": [{i}]}}')
    return "{" + ", ".join(fields) + "}"


def parsed(text):
    """A value of which numbers are compared as numbers."""
    return None if text is None else {"v": json.loads(text, parse_float=decimal.Decimal)}


def run(cli, *arguments):
    done = subprocess.run([cli, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def difference(got, want):
    if len(got) != len(want):
        return f"{len(got)} rows instead of {len(want)}"
    for i, (one, other) in enumerate(zip(got, want)):
        if one != other:
            return f"row {i}: {one!r:.150} instead of {other!r:.150}"
    return None


def duckdb_rows(path):
    import duckdb

    return [parsed(text) for (text,) in duckdb.sql(f"SELECT v::JSON::VARCHAR FROM '{path}' ORDER BY row").fetchall()]


def without_nulls(rows):
    """DuckDB and JSON have one null for rows without a variant, and for variants that are null."""
    return [None if row is None or row["v"] is None else row for row in rows]


def duckdb_answers(path):
    import duckdb

    return duckdb.sql(f"SELECT {', '.join(QUESTIONS)} FROM '{path}'").fetchall()[0]


def our_rows(cli, path):
    lines = [json.loads(line, parse_float=decimal.Decimal) for line in run(cli, "cat", path, "--format", "json").splitlines()]
    lines.sort(key=lambda line: line["row"])
    return [line["v"] for line in lines]


def attempt(work):
    try:
        return work()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:300]


def check(cli, folder, peers):
    folder.mkdir(parents=True, exist_ok=True)
    texts = [text_of(i) for i in range(ROWS)]
    want = [parsed(text) for text in texts]
    lines = [f'{{"row": {i}' + (f', "v": {text}' if text else "") + "}" for i, text in enumerate(texts)]
    source = folder / "rows.jsonl"
    source.write_text("\n".join(lines) + "\n")
    for name, shape in SHAPES.items():
        path, again = folder / f"{name}.parquet", folder / f"{name}_again.parquet"
        case = {"part": "variants", "file": path.name, "shape": shape}
        run(cli, "convert", source, path, "--schema", "row int64, v variant", "--shred", f"v={shape}", "--row-group-rows", 2000)
        # The same out of a file, in place of text.
        run(cli, "rewrite", folder / "none.parquet", again, "--shred", f"v={shape}")
        run(cli, "verify", "--deep", path, again)
        for file in [path, again]:
            if "duckdb" in peers:
                yield "duckdb", case, attempt(lambda: difference(duckdb_rows(file), without_nulls(want)))
                answers = tuple(question(want) for question in QUESTIONS.values())
                yield "duckdb", case, attempt(lambda: difference(duckdb_answers(file), answers))
            if "pyarrow" in peers:
                yield "pyarrow", case, attempt(lambda: pyarrow_storage(file, texts, shape))
    if "duckdb" in peers:
        case = {"part": "variants", "file": "duckdb.parquet", "shape": "that of DuckDB"}
        yield "duckdb", case, attempt(lambda: theirs(cli, source, folder / "duckdb.parquet", want))


def pyarrow_storage(path, texts, shape):
    """The struct that a variant is stored as: its nulls are those of the rows."""
    import pyarrow.parquet as pq

    column = pq.read_table(path).column("v").combine_chunks()
    storage = getattr(column, "storage", column)
    names = [field.name for field in storage.type]
    expected = ["metadata", "value", "typed_value"] if shape != "none" else ["metadata", "value"]
    if names != expected:
        return f"fields {names} instead of {expected}"
    return difference([value.is_valid for value in storage], [text is not None for text in texts])


def theirs(cli, source, path, want):
    """DuckDB shreds by the first row group."""
    import duckdb

    texts = f"SELECT row, v FROM read_json('{source}', columns = {{row: 'BIGINT', v: 'JSON'}})"
    variants = f"SELECT row, v::VARIANT AS v FROM ({texts})"
    duckdb.sql(f"COPY ({variants}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    got = [None if value is None else {"v": value} for value in our_rows(cli, path)]
    return difference(got, without_nulls(want))
