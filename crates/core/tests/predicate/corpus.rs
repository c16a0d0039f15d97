//! Files of other writers: whatever their statistics and indexes say, no row is lost. They stand beside the repository, or
//! where `MARQUETRY_CORPUS` says; without them this passes and says so.

use crate::sample::{leaf_values, read};
use crate::soundness::{every_option, is_sound};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_base::datetime_text::Moment;
use marquetry_core::io::read_metadata;
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::{Comparison, Literal, Number, Predicate, col};
use marquetry_core::prune::{PruneReport, RowGroupMatch, prune_row_group};
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::plain_value;
use marquetry_core::source::Source;
use marquetry_encoding::{PhysicalType, Values};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Row groups with more rows take too long.
const MOST_ROWS: u64 = 20_000;
/// Row groups and columns of a file that are looked at.
const MOST_ROW_GROUPS: usize = 4;
const MOST_COLUMNS: usize = 60;

#[test]
fn no_row_of_real_files_is_lost() {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    if !root.join("parquet-testing/data").is_dir() {
        assert!(std::env::var_os("CI").is_none(), "no corpus at {}", root.display());
        return println!("skipped: no corpus at {}", root.display());
    }
    let mut paths = Vec::new();
    files(&root.join("corpus"), &mut paths);
    files(&root.join("parquet-testing"), &mut paths);
    let mut seen = Seen::default();
    for path in &paths {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let source: Arc<dyn Source> = Arc::new(Bytes::from(bytes));
        let Ok(found) = read_metadata(&*source, &Limits::default()) else { continue };
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        file(&source, &Arc::new(found.metadata), &name, &mut seen);
    }
    println!("{seen:?}");
    assert!(
        seen.lost.is_empty(),
        "{} of {} questions:\n{}",
        seen.lost.len(),
        seen.asked,
        seen.lost.join("\n")
    );
    assert!(seen.columns > 1_000 && seen.none * 10 > seen.asked && seen.all > 1_000, "{seen:?}");
}

#[derive(Debug, Default)]
struct Seen {
    columns: usize,
    asked: usize,
    none: usize,
    all: usize,
    some: usize,
    lost: Vec<String>,
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            files(&path, found);
        } else if name.contains(".parquet") && !name.ends_with(".json") {
            found.push(path);
        }
    }
}

fn file(source: &Arc<dyn Source>, metadata: &Arc<ParquetMetaData>, name: &str, seen: &mut Seen) {
    for group in metadata.row_groups().filter(|group| group.num_rows() <= MOST_ROWS).take(MOST_ROW_GROUPS) {
        for (column, leaf) in metadata.schema().columns().iter().enumerate().take(MOST_COLUMNS) {
            if leaf.max_rep() > 0 || metadata.schema().find(leaf.dotted()) != Some(column) {
                continue;
            }
            // What cannot be read, a predicate cannot either.
            let Ok(batch) = read(source, metadata, group.index(), column, false) else { continue };
            seen.columns += 1;
            for predicate in questions(leaf, &batch) {
                ask(source, metadata, (group.index(), column), &batch, &predicate, name, seen);
            }
        }
    }
}

fn ask(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    (row_group, column): (usize, usize),
    batch: &ColumnBatch,
    predicate: &Predicate,
    name: &str,
    seen: &mut Seen,
) {
    let Ok(bound) = predicate.bind(metadata.schema()) else { return };
    let rows = batch.values.len();
    let found = bound.evaluate(rows, &[(column, leaf_values(batch))]).unwrap();
    let truth: Vec<bool> = (0..rows).map(|row| found.get(row)).collect();
    for (stage, options) in every_option() {
        let mut report = PruneReport::default();
        let kept = prune_row_group(&**source, metadata, row_group, &bound, &options, &mut report).unwrap();
        seen.asked += 1;
        match &kept {
            RowGroupMatch::None => seen.none += 1,
            RowGroupMatch::All => seen.all += 1,
            RowGroupMatch::Some(_) => seen.some += 1,
        }
        let what = || format!("{name}, row group {row_group}, {stage}: {predicate}");
        if std::panic::catch_unwind(|| is_sound(&kept, &truth, what)).is_err() {
            let writer = metadata.created_by().unwrap_or_default();
            seen.lost.push(format!("{} by {writer}: {kept:?} of {rows}", what()));
        }
    }
}

/// What can be asked of a column, with some of its own values.
fn questions(leaf: &Leaf, batch: &ColumnBatch) -> Vec<Predicate> {
    let path = || col(&**leaf.dotted());
    let mut out = vec![path().is_null(), path().is_not_null()];
    let is_valid = |row: &usize| batch.validity.as_ref().is_none_or(|bits| bits.get(*row));
    let valid: Vec<usize> = (0..batch.values.len()).filter(is_valid).collect();
    let mut literals = Vec::new();
    for row in [0, valid.len() / 3, valid.len() / 2, valid.len().saturating_sub(1)] {
        let Some(row) = valid.get(row) else { break };
        literals.extend(literal(leaf, &batch.values, *row));
    }
    for literal in &literals {
        use Comparison::*;
        out.extend([Eq, Ne, Lt, Le, Gt, Ge].map(|is| path().compare(is, literal.clone())));
        if let Literal::Bytes(bytes) = literal {
            out.push(path().starts_with(&bytes[..bytes.len().min(3)]));
            out.push(!path().starts_with(&bytes[..bytes.len() / 2]));
            out.push(path().eq([bytes.as_slice(), b"x"].concat()));
        }
    }
    out.push(path().is_in(literals.clone()));
    out.push(!path().is_in(literals));
    out
}

/// A literal that is a value; none for what is not comparable.
fn literal(leaf: &Leaf, values: &Values, row: usize) -> Option<Literal> {
    let scratch = &mut [0; 8];
    let value = plain_value(values, row, scratch);
    let is_signed = !matches!(leaf.logical(), Some(LogicalType::Integer { signed: false, .. }));
    let word = || {
        let is_negative = is_signed && value.last().is_some_and(|last| last & 0x80 != 0);
        let mut bytes = [if is_negative { 0xff } else { 0 }; 16];
        bytes[..value.len()].copy_from_slice(value);
        i128::from_le_bytes(bytes)
    };
    let moment = |nanos: i128| {
        let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
        let nanos = nanos.rem_euclid(1_000_000_000) as u32;
        Some(Literal::Timestamp(Moment { seconds, nanos, digits: 9, has_offset: false }))
    };
    let per = |unit: TimeUnit| match unit {
        TimeUnit::Millis => 1_000_000,
        TimeUnit::Micros => 1_000,
        TimeUnit::Nanos => 1,
    };
    match (leaf.logical(), leaf.physical()) {
        (Some(LogicalType::Date), _) => Some(Literal::Date(i32::try_from(word()).ok()?)),
        (Some(LogicalType::Time { unit, .. }), _) => {
            Some(Literal::Time(i64::try_from(word() * per(*unit)).ok()?))
        }
        (Some(LogicalType::Timestamp { unit, .. }), _) => moment(word() * per(*unit)),
        (Some(LogicalType::Decimal { scale, .. }), physical) => {
            let unscaled = match physical {
                PhysicalType::Int32 | PhysicalType::Int64 => word(),
                _ => {
                    let sign = if value.first()? & 0x80 != 0 { 0xff } else { 0 };
                    let mut bytes = [sign; 16];
                    bytes.get_mut(16usize.checked_sub(value.len())?..)?.copy_from_slice(value);
                    i128::from_be_bytes(bytes)
                }
            };
            Number::parse(&format!("{unscaled}e{}", -scale)).map(Literal::Number)
        }
        (Some(LogicalType::Float16), _) => {
            Some(crate::kinds::half(u16::from_le_bytes(value.try_into().ok()?)).into())
        }
        (_, PhysicalType::Boolean) => Some(Literal::Bool(value[0] != 0)),
        (_, PhysicalType::Int32 | PhysicalType::Int64) => Some(word().into()),
        (_, PhysicalType::Float) => Some(f32::from_le_bytes(value.try_into().ok()?).into()),
        (_, PhysicalType::Double) => Some(f64::from_le_bytes(value.try_into().ok()?).into()),
        (_, PhysicalType::Int96) => {
            let nanos = i64::from_le_bytes(value[..8].try_into().ok()?);
            let day = i32::from_le_bytes(value[8..].try_into().ok()?);
            moment((i128::from(day) - 2_440_588) * 86_400_000_000_000 + i128::from(nanos))
        }
        (_, PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_)) => {
            Some(Literal::Bytes(value.to_vec()))
        }
    }
}
