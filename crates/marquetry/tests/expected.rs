//! Files of other projects read to the values that another reader finds in them.

mod cells;
mod corpus;

use marquetry::arrow::Text;
use marquetry::errors::Error;
use std::path::Path;

/// The columns' names and cells.
#[derive(PartialEq)]
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<String>>,
}

fn read(root: &Path, path: &str, text: Text) -> Result<Table, Error> {
    let mut reader = marquetry::open_bytes(corpus::bytes(root, path))?.text(text).batches()?;
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

/// Holds files against their expectations, both layouts of text; fails at the end with all that differ.
fn compare(root: &Path, pairs: impl IntoIterator<Item = (String, String)>) -> usize {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, expected) in pairs {
        count += 1;
        if !root.join(&expected).exists() {
            wrong.push(format!("{path}: no expectation"));
            continue;
        }
        let expected = read_expected(root, &expected);
        for text in [Text::Utf8View, Text::Utf8] {
            match read(root, &path, text) {
                Ok(table) => {
                    wrong.extend(difference(&table, &expected).map(|words| format!("{path}: {words}")))
                }
                Err(error) => wrong.push(format!("{path}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    count
}

/// `parquet-testing/a/b.parquet` has its expectation in `expected/a_b.parquet.arrow`.
fn expected_of(path: &str) -> Option<String> {
    let below = path.strip_prefix("parquet-testing/")?;
    Some(format!("expected/{}.arrow", below.replace('/', "_")))
}

#[test]
fn files_of_parquet_testing() {
    let Some(root) = corpus::root() else { return };
    let mut files = corpus::files(&root, "parquet-testing/data");
    files.extend(corpus::files(&root, "parquet-testing/shredded_variant"));
    files.retain(|path| path.ends_with(".parquet"));
    let pairs = files.into_iter().map(|path| {
        let expected = expected_of(&path).unwrap();
        (path, expected)
    });
    println!("{} files agree", compare(&root, pairs));
}

#[test]
fn files_of_other_repositories() {
    let Some(root) = corpus::root() else { return };
    let pairs = corpus::files(&root, "expected/corpus").into_iter().map(|expected| {
        let path = expected.strip_prefix("expected/").and_then(|path| path.strip_suffix(".arrow"));
        (path.unwrap().to_owned(), expected)
    });
    println!("{} files agree", compare(&root, pairs));
}
