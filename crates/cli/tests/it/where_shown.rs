//! A law: what is shown of a value is taken for it after `--where`. Every column of real files, and of random arrays, is asked for values
//! drawn from its own rows as they are printed, in lists, structs and maps, too. The files stand beside the repository, or where
//! `MARQUETRY_CORPUS` says; without them only the arrays are asked.

use crate::random_arrays::{Random, random_array, scalar_types};
use arrow_array::{
    ArrayRef, IntervalMonthDayNanoArray, ListArray, RecordBatch, StructArray, TimestampSecondArray,
};
use arrow_buffer::{IntervalMonthDayNano, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use marquetry::predicate::Predicate;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files whose bounds or offset indexes lie, and are believed.
const ODD: [&str; 3] = ["fuzzing", "parquet-tools/testdata/retype", "fruits-bloomfilter"];
const MOST_BYTES: u64 = 1 << 18;
const MOST_ROWS: usize = 2_000;
const VALUES_PER_COLUMN: usize = 2;

/// A column of values, and how it is named.
struct Asked {
    /// Names, and whether the value of each is a list.
    steps: Vec<(String, bool)>,
    data_type: DataType,
}

impl Asked {
    fn condition(&self, text: &str) -> String {
        let names = self.steps.iter().map(|(name, _)| format!("\"{}\"", name.replace('"', "\"\"")));
        let path = names.collect::<Vec<_>>().join(".");
        let path = if self.steps.iter().any(|(_, is_list)| *is_list) { format!("any({path})") } else { path };
        format!("{path} = '{}'", text.replace('\'', "''"))
    }

    /// The texts of a row's values.
    fn texts(&self, row: &Value) -> Vec<String> {
        let mut found = vec![row];
        for (name, is_list) in &self.steps {
            found = found.into_iter().filter_map(|value| value.get(name)).collect();
            if *is_list {
                found = found.into_iter().filter_map(Value::as_array).flatten().collect();
            }
        }
        found.into_iter().filter_map(|value| self.text(value)).collect()
    }

    /// The value as it is compared: both zeros are the same. `None` for nulls, nested values, and values that equal
    /// nothing.
    fn text(&self, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        match self.data_type {
            _ if text == "NaN" && self.data_type.is_floating() => None,
            DataType::Float16 | DataType::Float32 | DataType::Float64 if text == "-0.0" => {
                Some("0.0".to_owned())
            }
            _ => Some(text),
        }
    }
}

/// The columns below some fields that a predicate can ask for a value.
fn asked(fields: &Fields, above: &[(String, bool)], out: &mut Vec<Asked>) {
    for field in fields {
        let step = |is_list| [above, &[(field.name().clone(), is_list)]].concat();
        // Geometries and variants have a text that is not a literal.
        if field.metadata().contains_key("ARROW:extension:name") && !is_uuid(field) {
            continue;
        }
        match field.data_type() {
            DataType::Struct(fields) => asked(fields, &step(false), out),
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                match item.data_type() {
                    DataType::Struct(fields) => asked(fields, &step(true), out),
                    data_type if !data_type.is_nested() => {
                        out.push(Asked { steps: step(true), data_type: data_type.clone() });
                    }
                    _ => {}
                }
            }
            data_type if !data_type.is_nested() => {
                out.push(Asked { steps: step(false), data_type: data_type.clone() });
            }
            _ => {}
        }
    }
}

fn is_uuid(field: &Field) -> bool {
    field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.uuid")
}

type Rows = (Vec<Value>, Arc<Schema>);

/// The rows as `cat --format json` prints them, and their schema; `None` if they cannot be read, or are too many.
fn rows(path: &Path, condition: Option<&str>) -> Result<Option<Rows>, String> {
    let shown = |error: marquetry::errors::Error| error.to_string();
    let mut file = marquetry::open(path).map_err(shown)?;
    if let Some(condition) = condition {
        file = file.filter(Predicate::parse(condition).map_err(shown)?);
    }
    let (mut schema, mut lines, mut count) = (None, String::new(), 0);
    for batch in file.batches().map_err(shown)? {
        let batch = batch.map_err(|error| error.to_string())?;
        count += batch.num_rows();
        if count > MOST_ROWS {
            return Ok(None);
        }
        marquetry_text::format::json::write_lines(&batch, &mut lines).map_err(shown)?;
        schema = Some(batch.schema());
    }
    let rows = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    Ok(Some((rows, schema.unwrap_or_else(|| Arc::new(Schema::empty())))))
}

/// Asks for values of all columns of a file. Returns how many questions that were, and what was answered wrongly.
fn ask(path: &Path, wrong: &mut Vec<String>) -> usize {
    let Ok(Some((all, schema))) = rows(path, None) else { return 0 };
    let (mut columns, mut count) = (Vec::new(), 0);
    asked(schema.fields(), &[], &mut columns);
    for column in columns {
        let texts: Vec<Vec<String>> = all.iter().map(|row| column.texts(row)).collect();
        let distinct: BTreeSet<&String> = texts.iter().flatten().collect();
        let step = distinct.len().div_ceil(VALUES_PER_COLUMN).max(1);
        for text in distinct.into_iter().step_by(step) {
            let condition = column.condition(text);
            let expected: Vec<&Value> = all
                .iter()
                .zip(&texts)
                .filter(|(_, texts)| texts.contains(text))
                .map(|(row, _)| row)
                .collect();
            count += 1;
            match rows(path, Some(&condition)) {
                // A column whose name is another's, too.
                Err(error) if error.contains("several columns") => {}
                Err(error) => wrong.push(format!("{}: {condition}: {error}", path.display())),
                Ok(found) => {
                    let found = found.map_or(Vec::new(), |(rows, _)| rows);
                    if found.iter().collect::<Vec<_>>() != expected {
                        let (found, expected) = (found.len(), expected.len());
                        let name = path.display();
                        let of = &column.data_type;
                        wrong.push(format!("{name}: {condition} ({of}): {found} rows, {expected} show it"));
                    }
                }
            }
        }
    }
    count
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        match path.is_dir() {
            true => files(&path, out),
            false if path.metadata().is_ok_and(|data| data.len() <= MOST_BYTES) => out.push(path),
            false => {}
        }
    }
}

#[test]
fn rows_of_real_files_are_found_by_what_is_shown_of_them() {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    if !root.join("corpus").is_dir() {
        println!("skipped: no {}", root.display());
        return;
    }
    let mut paths = Vec::new();
    ["corpus", "parquet-testing"].into_iter().for_each(|folder| files(&root.join(folder), &mut paths));
    let (mut count, mut wrong) = (0, Vec::new());
    for path in paths {
        if !ODD.iter().any(|name| path.to_string_lossy().contains(name)) {
            count += ask(&path, &mut wrong);
        }
    }
    println!("{count} questions");
    assert!(wrong.is_empty(), "{} of {count} questions:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 2_000, "{count}");
}

/// Random values of all types, those of types that Parquet stores in another unit as far as it has them.
fn random_batch(random: &mut Random) -> RecordBatch {
    let columns = scalar_types().into_iter().enumerate().map(|(i, of)| {
        let array: ArrayRef = match &of.plain {
            DataType::Interval(_) => {
                let mut part = || random.below(1 << 20) as i32;
                let values = (0..ROWS)
                    .map(|_| IntervalMonthDayNano::new(part(), part(), i64::from(part()) * 1_000_000));
                Arc::new(IntervalMonthDayNanoArray::from_iter_values(values))
            }
            DataType::Timestamp(TimeUnit::Second, zone) => {
                let values = (0..ROWS).map(|_| random.below(1 << 40) as i64 - (1 << 39));
                Arc::new(TimestampSecondArray::from_iter_values(values).with_timezone_opt(zone.clone()))
            }
            plain => random_array(plain, ROWS, true, random),
        };
        (Arc::new(Field::new(format!("c{i}"), of.plain, true)), array)
    });
    let flat = StructArray::from(columns.collect::<Vec<_>>());
    let each =
        flat.fields().iter().zip(flat.columns()).map(|(field, array)| (field.name().clone(), array.clone()));
    let each: Vec<(String, ArrayRef)> = each.collect();
    let nested: ArrayRef = Arc::new(flat);
    let lists = OffsetBuffer::from_lengths([2; ROWS / 2].into_iter().chain([0; ROWS / 2]));
    let item = Arc::new(Field::new("item", nested.data_type().clone(), true));
    let lists: ArrayRef = Arc::new(ListArray::new(item, lists, nested.clone(), None));
    RecordBatch::try_from_iter(
        each.into_iter().chain([("a.b".to_owned(), nested), ("lists".to_owned(), lists)]),
    )
    .expect("columns")
}

const ROWS: usize = 20;

#[test]
fn rows_of_all_types_are_found_by_what_is_shown_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for seed in 0..4 {
        let path = folder.path().join(format!("{seed}.parquet"));
        let batch = random_batch(&mut Random::new(seed));
        let mut file = marquetry::create(&path, batch.schema()).expect("a file");
        file.write(&batch).expect("rows");
        file.close().expect("a file");
        assert!(ask(&path, &mut wrong) > 50);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
