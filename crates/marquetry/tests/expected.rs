//! Files of other projects read to the values that another reader finds in them.

mod cells;
mod corpus;

use marquetry::arrow::StringLayout;
use marquetry::errors::Error;
use std::path::Path;

/// The columns' names and cells.
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<String>>,
}

fn read(root: &Path, path: &str, text: StringLayout, verify: bool) -> Result<Table, Error> {
    let file = marquetry::open_bytes(corpus::bytes(root, path))?;
    let mut reader = file.text(text).verify_checksums(verify).batches()?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let mut columns = cells::columns(std::iter::from_fn(|| reader.next_batch()))?;
    columns.resize_with(schema.fields().len(), Vec::new);
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    Ok(Table { names, columns })
}

fn read_expected(root: &Path, path: &str) -> Table {
    let file = std::io::Cursor::new(corpus::bytes(root, path));
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    let schema = reader.schema();
    let mut columns = cells::columns(reader).unwrap();
    columns.resize_with(schema.fields().len(), Vec::new);
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    Table { names, columns }
}

/// The first difference, in words.
fn difference(table: &Table, expected: &Table) -> Option<String> {
    if table.names != expected.names {
        return Some(format!("columns {:?}, expected {:?}", table.names, expected.names));
    }
    let columns = table.columns.iter().zip(&expected.columns).zip(&table.names);
    for ((cells, expected), name) in columns {
        if cells.len() != expected.len() {
            return Some(format!("{name}: {} rows, expected {}", cells.len(), expected.len()));
        }
        if let Some(row) = (0..cells.len()).find(|&row| cells[row] != expected[row]) {
            return Some(format!("{name}, row {row}: {:.200}, expected {:.200}", cells[row], expected[row]));
        }
    }
    None
}

/// Compares files with their expectations, in both layouts of text. Fails at the end with all that differ.
fn compare(root: &Path, pairs: impl IntoIterator<Item = (String, String)>) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, expected) in pairs {
        let deviation = DEVIATIONS.iter().find(|(file, ..)| path.ends_with(file)).map(|(_, kind, _)| kind);
        if let Some(Deviation::Elsewhere) = deviation {
            continue;
        }
        let expected = read_expected(root, &expected);
        for text in [StringLayout::Utf8View, StringLayout::Utf8] {
            let mut table = read(root, &path, text, !matches!(deviation, Some(Deviation::Checksum)));
            if let (Some(Deviation::Int96), Ok(table)) = (deviation, &mut table) {
                table.columns.iter_mut().flatten().for_each(wrap);
            }
            let words = match table {
                Ok(table) => difference(&table, &expected),
                Err(error) => Some(error.to_string()),
            };
            wrong.extend(words.map(|words| format!("{path}: {words}")));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{count} files agree");
}

/// The reasons why the expectation of a file is not what reading it should result in.
enum Deviation {
    /// The file has wrong checksums, which the other reader did not verify. Without verification the values are right.
    Checksum,
    /// The file has INT96 timestamps beyond 64-bit nanoseconds, which the other reader wrapped around.
    Int96,
    /// The file has a test of its own.
    Elsewhere,
}

/// The files, by the end of their path, and why.
const DEVIATIONS: [(&str, Deviation, &str); 16] = [
    ("data/datapage_v1-corrupt-checksum.parquet", Deviation::Checksum, "on purpose"),
    ("data/rle-dict-uncompressed-corrupt-checksum.parquet", Deviation::Checksum, "on purpose"),
    ("test-data/delta_length_byte_array.parquet", Deviation::Checksum, "made by hand, checksum and all"),
    ("data/incorrect_map_schema.parquet", Deviation::Elsewhere, "the other reader refuses optional keys"),
    ("data/large_string_map.brotli.parquet", Deviation::Elsewhere, "the other reader ran out of memory"),
    ("data/int96_from_spark.parquet", Deviation::Elsewhere, "years 9999 and 290000"),
    ("before_1582_timestamp_int96_dict_v2_4_5.snappy.parquet", Deviation::Int96, "year 1001"),
    ("before_1582_timestamp_int96_dict_v2_4_6.snappy.parquet", Deviation::Int96, "year 1001"),
    ("before_1582_timestamp_int96_dict_v3_2_0.snappy.parquet", Deviation::Int96, "year 1001"),
    ("before_1582_timestamp_int96_plain_v2_4_5.snappy.parquet", Deviation::Int96, "year 1001"),
    ("before_1582_timestamp_int96_plain_v2_4_6.snappy.parquet", Deviation::Int96, "year 1001"),
    ("before_1582_timestamp_int96_plain_v3_2_0.snappy.parquet", Deviation::Int96, "year 1001"),
    (
        "iceberg/tests/examples/three_groups.parquet",
        Deviation::Int96,
        "milliseconds taken for seconds: year 53247",
    ),
    ("tests/examples/varbinary_flba.parquet", Deviation::Elsewhere, "INT96 of zeros, which is not a date"),
    ("testdata/unknown-type.parquet", Deviation::Elsewhere, "a value in a column of nulls only"),
    ("testdata/high-compression.parquet", Deviation::Elsewhere, "2,000,000 rows that are all the same"),
];

/// Wraps a timestamp around, as readers with 64-bit nanoseconds do.
fn wrap(cell: &mut String) {
    if let Some(nanoseconds) = cell.strip_prefix("ts:") {
        let nanoseconds: i128 = nanoseconds.parse().unwrap();
        *cell = format!("ts:{}", nanoseconds as i64);
    }
}

#[test]
fn files_of_parquet_testing() {
    let Some(root) = corpus::root() else { return };
    let folders = ["parquet-testing/data", "parquet-testing/shredded_variant"];
    let files = folders.into_iter().flat_map(|folder| corpus::files(&root, folder));
    // `a/b.parquet` has its expectation in `a_b.parquet.arrow`.
    let pairs = files.filter(|path| path.ends_with(".parquet")).map(|path| {
        let name = path.strip_prefix("parquet-testing/").unwrap().replace('/', "_");
        (path, format!("expected/{name}.arrow"))
    });
    compare(&root, pairs);
}

#[test]
fn files_of_other_repositories() {
    let Some(root) = corpus::root() else { return };
    let pairs = corpus::files(&root, "expected/corpus").into_iter().map(|expected| {
        let path = expected.strip_prefix("expected/").and_then(|path| path.strip_suffix(".arrow")).unwrap();
        (path.to_owned(), expected)
    });
    compare(&root, pairs);
}

/// Compares the number of rows. The values are compared elsewhere, see `CONTRIBUTING.md`.
#[test]
fn files_that_several_readers_agree_on() {
    let Some(root) = corpus::root() else { return };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in corpus::expectations(&root) {
        let Some(expected) = line.rows.filter(|_| line.expect == "read") else { continue };
        let checksums = !DEVIATIONS.iter().any(|(file, ..)| line.path.ends_with(file));
        let file =
            marquetry::open_bytes(corpus::bytes(&root, &line.path)).map(|f| f.verify_checksums(checksums));
        let rows = file.and_then(|file| {
            let mut reader = file.batches()?;
            std::iter::from_fn(|| reader.next_batch()).try_fold(0, |rows, batch| Ok(rows + batch?.num_rows()))
        });
        match rows {
            Ok(rows) if rows as u64 == expected => count += 1,
            Ok(rows) => wrong.push(format!("{}: {rows} rows, expected {expected}", line.path)),
            Err(error) => wrong.push(format!("{}: {error}", line.path)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{count} files agree");
}

#[test]
fn files_without_an_expectation() {
    let Some(root) = corpus::root() else { return };
    let columns = |path: &str| read(&root, path, StringLayout::Utf8View, true).unwrap().columns;

    let cells = columns("parquet-testing/data/incorrect_map_schema.parquet");
    assert_eq!(cells, [[r#"[{"parent","another"},{"name","report"}]"#]]);

    let velox = "corpus/facebookincubator__velox/velox/dwio/parquet/tests/examples";
    let cells = columns(&format!("{velox}/row_map_array.parquet"));
    assert_eq!(cells, [[r#"{1,[{"a",[1]},{"b",[2,null]}]}"#]]);

    let cells = columns(&format!("{velox}/lzo.parquet"));
    assert_eq!(cells[0].len(), 23_547);
    let first = [r#"{1,["0","1"]}"#, r#"{3,["2","3"]}"#, r#"{5,["4","5"]}"#, "{7,[]}", "{11,null}"];
    assert_eq!(cells[0][..5], first);

    let cells = columns("corpus/hangxie__parquet-tools/testdata/list-of-list.parquet");
    let lists = [
        "[]",
        "[[]]",
        r#"[[],["3-2-1"]]"#,
        r#"[[],["4-2-1"],["4-3-1","4-3-2"]]"#,
        r#"[[],["5-2-1"],["5-3-1","5-3-2"],["5-4-1","5-4-2","5-4-3"]]"#,
    ];
    assert_eq!(cells, [lists]);

    let cells = columns(&format!("{velox}/varbinary_flba.parquet"));
    // Day 0 of the Julian calendar, as the format defines it; others read it as 1970.
    assert!(cells[7].iter().all(|cell| cell == "ts:-210866803200000000000"));
}

/// A column of type UNKNOWN has nulls only, says the format. One that has values is not read as if it had none.
#[test]
fn values_in_a_column_of_nulls() {
    let Some(root) = corpus::root() else { return };
    let path = "corpus/hangxie__parquet-tools/testdata/unknown-type.parquet";
    let error = read(&root, path, StringLayout::Utf8View, true).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), marquetry::errors::ErrorKind::Corrupt);
    assert_eq!(error.place().column.as_deref(), Some("unknown_col"), "{error}");
    let file = marquetry::open_bytes(corpus::bytes(&root, path)).unwrap().columns(["id", "name"]);
    let mut reader = file.batches().unwrap();
    let cells = cells::columns(std::iter::from_fn(|| reader.next_batch())).unwrap();
    assert_eq!(cells[1], [r#""alice""#, r#""bob""#, r#""charlie""#]);
}

/// The values of `int96_from_spark.md`.
#[test]
fn int96_beyond_64_bit_nanoseconds() {
    let Some(root) = corpus::root() else { return };
    let table =
        read(&root, "parquet-testing/data/int96_from_spark.parquet", StringLayout::Utf8View, true).unwrap();
    let expected = [
        "ts:1704141296123456000",
        "ts:1704070800000000000",
        "ts:253402225200000000000",
        "ts:1735599600000000000",
        "null",
        "ts:9089380393200000000000",
    ];
    assert_eq!(table.columns, [expected]);
}

/// Two strings of 1 GiB in one column chunk, from 4 KiB of file. One at a time, because that is enough memory.
#[test]
fn strings_of_more_than_2_gib_in_all() {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    let Some(root) = corpus::root() else { return };
    let bytes = corpus::bytes(&root, "parquet-testing/data/large_string_map.brotli.parquet");
    let mut reader = marquetry::open_bytes(bytes).unwrap().batch_size(1).batches().unwrap();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch() {
        let batch = batch.unwrap();
        let map = batch.column(0).as_map();
        assert_eq!((batch.num_rows(), map.entries().len()), (1, 1));
        assert_eq!(cells::of(map.values()), ["1"]);
        let key = map.keys().as_string_view().value(0);
        assert!(key.len() == 1 << 30 && key.bytes().all(|byte| byte == b'a'));
        rows += 1;
    }
    assert_eq!(rows, 2);
}

/// One page of 17 kB that decompresses to 162 MB.
#[test]
fn rows_that_are_all_the_same() {
    use arrow_array::cast::AsArray;
    let Some(root) = corpus::root() else { return };
    let bytes = corpus::bytes(&root, "corpus/hangxie__parquet-tools/testdata/high-compression.parquet");
    let mut reader = marquetry::open_bytes(bytes).unwrap().batches().unwrap();
    let text = "this is a repeated value that appears in every single row of the parquet file";
    let mut rows = 0;
    while let Some(batch) = reader.next_batch() {
        let batch = batch.unwrap();
        assert!(batch.column(0).as_string_view().iter().all(|value| value == Some(text)));
        rows += batch.num_rows();
    }
    assert_eq!(rows, 2_000_000);
}
