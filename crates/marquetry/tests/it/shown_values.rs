//! A predicate finds the rows that show its literal: every flat column of real files is filtered by values drawn from its own
//! rows. The files stand beside the repository, or where `MARQUETRY_CORPUS` says; without them this passes and says so.

use crate::corpus;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use bytes::Bytes;
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use marquetry::errors::Result;
use marquetry::predicate::Predicate;

/// Larger files take too long.
const MOST_BYTES: usize = 1 << 20;
const MOST_ROWS: usize = 20_000;
const MOST_COLUMNS: usize = 24;
const VALUES_PER_COLUMN: usize = 3;

#[test]
fn filters_of_shown_values_find_the_rows_that_show_them() {
    let Some(root) = corpus::root() else { return };
    let names = ["corpus", "parquet-testing"].into_iter().flat_map(|folder| corpus::files(&root, folder));
    let (mut asked, mut wrong) = (0, Vec::new());
    for name in names {
        // Bounds of mutated files are wrong, and are trusted.
        if name.contains("fuzzing") {
            continue;
        }
        let bytes = corpus::bytes(&root, &name);
        if bytes.len() > MOST_BYTES {
            continue;
        }
        let options = ArrowReaderOptions::new().with_text(StringLayout::Utf8View);
        let Ok(metadata) = ArrowReaderMetadata::load(bytes.clone(), options) else { continue };
        let schema = metadata.parquet_schema();
        let flat = schema.columns().iter().filter(|leaf| leaf.path().len() == 1 && leaf.max_rep() == 0);
        for leaf in flat.take(MOST_COLUMNS) {
            let column = leaf.path()[0].to_string();
            let read = |filter: Option<Predicate>| read(&bytes, &metadata, &column, filter);
            // Files that cannot be read are for other tests.
            let Ok(Some(all)) = read(None) else { continue };
            for literal in literals(&all) {
                for (is, differs) in [("=", false), ("!=", true)] {
                    let question = format!("\"{}\" {is} {}", column.replace('"', "\"\""), literal.text);
                    asked += 1;
                    let expected =
                        (0..all.len()).filter(|i| !all.is_null(*i) && literal.is_at(&all, *i) != differs);
                    let expected: Vec<String> = expected.map(|i| shown(&all, i)).collect();
                    let found = Predicate::parse(&question).and_then(|predicate| read(Some(predicate)));
                    match found {
                        // A column whose name is another's, too.
                        Err(error) if error.to_string().contains("several columns") => {}
                        Err(error) => wrong.push(format!("{name}: {question}: {error}")),
                        Ok(found) => {
                            let found = found.map_or(Vec::new(), |found| {
                                (0..found.len()).map(|i| shown(&found, i)).collect()
                            });
                            if found != expected {
                                let (found, expected) = (found.len(), expected.len());
                                wrong.push(format!("{name}: {question}: {found} rows, {expected} show it"));
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{asked} questions");
    assert!(wrong.is_empty(), "{} of {asked} questions:\n{}", wrong.len(), wrong.join("\n"));
    assert!(asked > 5_000, "{asked}");
}

/// The rows of one column; `None` if there are too many, or none.
fn read(
    bytes: &Bytes,
    metadata: &ArrowReaderMetadata,
    column: &str,
    filter: Option<Predicate>,
) -> Result<Option<ArrayRef>> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata.clone());
    let mut builder = builder.with_columns([column])?.with_batch_size(MOST_ROWS);
    if let Some(filter) = filter {
        builder = builder.with_predicate(filter);
    }
    let mut reader = builder.build()?;
    let batches = std::iter::from_fn(|| reader.next_batch()).collect::<Result<Vec<RecordBatch>>>()?;
    let columns: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(0).as_ref()).collect();
    let rows: usize = columns.iter().map(|column| column.len()).sum();
    if !(1..=MOST_ROWS).contains(&rows) {
        return Ok(None);
    }
    let column = arrow_select::concat::concat(&columns).unwrap();
    // Time zone names are not known here. Predicates take a timestamp without a zone as UTC.
    Ok(Some(match column.data_type() {
        DataType::Timestamp(unit, Some(_)) => {
            let data_type = DataType::Timestamp(*unit, None);
            column.to_data().into_builder().data_type(data_type).build().map(arrow_array::make_array).unwrap()
        }
        _ => column,
    }))
}

struct Literal {
    text: String,
    shown: String,
    number: Option<f64>,
}

impl Literal {
    fn is_at(&self, column: &ArrayRef, row: usize) -> bool {
        match self.number {
            Some(number) => as_f64(column, row) == Some(number),
            None => shown(column, row) == self.shown,
        }
    }
}

fn shown(column: &ArrayRef, row: usize) -> String {
    array_value_to_string(column, row).unwrap_or_else(|error| error.to_string())
}

fn as_f64(column: &ArrayRef, row: usize) -> Option<f64> {
    use arrow_array::types::{Float16Type, Float32Type, Float64Type};
    match column.data_type() {
        DataType::Float16 => Some(column.as_primitive::<Float16Type>().value(row).to_f64()),
        DataType::Float32 => Some(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Some(column.as_primitive::<Float64Type>().value(row)),
        _ => None,
    }
}

/// Some values of a column as they are written in a predicate; none of types that cannot be.
fn literals(column: &ArrayRef) -> Vec<Literal> {
    let rows: Vec<usize> = (0..column.len()).filter(|row| !column.is_null(*row)).collect();
    let step = (rows.len() / VALUES_PER_COLUMN).max(1);
    let literal = |row: usize| {
        let (shown, number) = (shown(column, row), as_f64(column, row));
        let text = match column.data_type() {
            _ if number.is_some_and(|number| number.is_nan()) => return None,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => format!("{:?}", number?),
            DataType::Utf8View => format!("'{}'", shown.replace('\'', "''")),
            DataType::BinaryView | DataType::FixedSizeBinary(_) => format!("X'{shown}'"),
            // The command's tests cover years of other than four digits.
            DataType::Date32 if shown.starts_with(['+', '-']) => return None,
            DataType::Date32 => format!("date '{shown}'"),
            DataType::Time32(_) | DataType::Time64(_) => format!("time '{shown}'"),
            DataType::Timestamp(..) => format!("timestamp '{shown}'"),
            DataType::Boolean => shown.clone(),
            data_type if data_type.is_integer() || data_type.is_decimal() => shown.clone(),
            _ => return None,
        };
        Some(Literal { text, shown, number })
    };
    rows.into_iter().step_by(step).filter_map(literal).take(VALUES_PER_COLUMN).collect()
}
