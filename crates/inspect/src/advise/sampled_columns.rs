//! Which columns are tried together.

use super::advice::Advice;
use super::query::AskedColumn;
use crate::reencode::ColumnSource;
use marquetry_core::schema::Schema;
use marquetry_encoding::PhysicalType;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Root columns that are tried together, each with all columns below it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SampledColumns {
    /// Their indexes, ascending.
    pub(super) roots: Vec<usize>,
    /// Their share of the file's columns.
    pub(super) share: f64,
    /// How many bytes of the file one byte of each stands for. `None` if they are all columns.
    pub(super) weights: Option<Vec<f64>>,
}

/// The columns of a table in lots, those with most to gain first.
#[derive(Debug)]
pub(super) struct Lots {
    /// The lot that is tried as a table: all columns or, if there are very many, some with most bytes, and others that
    /// are spread evenly and stand for the rest.
    pub(super) first: SampledColumns,
    /// Lots of columns that may get another type and are not in the first one.
    pub(super) others: Vec<SampledColumns>,
    /// Root columns with so many columns below them that they are not tried.
    pub(super) too_wide: Vec<usize>,
}

impl SampledColumns {
    /// Returns all columns of a table.
    pub(super) fn all(schema: &Schema) -> Self {
        SampledColumns { roots: (0..schema.fields().len()).collect(), share: 1.0, weights: None }
    }
}

impl Lots {
    /// Divides the columns of a file, whose sizes are known, and which queries use like this.
    pub(super) fn of(input: &ColumnSource, asked: &BTreeMap<String, AskedColumn>, advice: &Advice) -> Self {
        let schema = input.metadata.schema();
        let roots = 0..schema.fields().len();
        if schema.num_columns() <= MOST_COLUMNS {
            return Lots { first: SampledColumns::all(schema), others: Vec::new(), too_wide: Vec::new() };
        }
        let mut bytes = vec![0u64; schema.num_columns()];
        advice.columns.iter().for_each(|column| bytes[column.leaf] = column.predicted);
        let bytes = |root: usize| bytes[schema.columns_of(root)].iter().copied().fold(0, u64::saturating_add);
        let is_asked = |root: usize| {
            schema.columns_of(root).any(|leaf| asked.contains_key(&**schema.column(leaf).dotted()))
        };
        let (too_wide, mut narrow): (Vec<usize>, Vec<usize>) =
            roots.partition(|root| schema.columns_of(*root).len() > MOST_COLUMNS);
        narrow.sort_by_key(|root| Reverse((is_asked(*root), bytes(*root), Reverse(*root))));
        let asked_for = narrow.iter().filter(|root| is_asked(**root)).count();
        let leading = counted(schema, &narrow, LOT_COLUMNS / 2).max(asked_for);
        let (leading, rest) = narrow.split_at(leading);
        let spread = spread(schema, rest);
        let (of_rest, of_spread) = (sum(rest, bytes), sum(&spread, bytes));
        let weight = of_rest as f64 / of_spread.max(1) as f64;
        let mut weighed: Vec<(usize, f64)> = leading.iter().map(|root| (*root, 1.0)).collect();
        weighed.extend(spread.iter().map(|root| (*root, weight)));
        weighed.sort_by_key(|(root, _)| *root);
        let (first, weights): (Vec<usize>, Vec<f64>) = weighed.into_iter().unzip();
        let first = SampledColumns { share: share(schema, &first), roots: first, weights: Some(weights) };
        let may_change = |root: &usize| may_have_another_type(schema, schema.columns_of(*root));
        let mut left: Vec<usize> =
            rest.iter().copied().filter(|root| !spread.contains(root)).filter(may_change).collect();
        let mut others = Vec::new();
        while !left.is_empty() {
            let behind = left.split_off(counted(schema, &left, LOT_COLUMNS));
            left.sort_unstable();
            others.push(SampledColumns { share: share(schema, &left), roots: left, weights: None });
            left = behind;
        }
        Lots { first, others, too_wide }
    }
}

/// Returns how many of the first roots have up to `most` columns, but at least one.
fn counted(schema: &Schema, roots: &[usize], most: usize) -> usize {
    let mut columns = 0;
    let fits = |root: &&usize| {
        columns += schema.columns_of(**root).len();
        columns <= most
    };
    roots.iter().take_while(fits).count().max(1).min(roots.len())
}

/// Returns some of these roots, spread evenly.
fn spread(schema: &Schema, roots: &[usize]) -> Vec<usize> {
    let columns: usize = roots.iter().map(|root| schema.columns_of(*root).len()).sum();
    let step = columns.div_ceil(LOT_COLUMNS / 2).max(1);
    roots.iter().copied().step_by(step).collect()
}

fn sum(roots: &[usize], bytes: impl Fn(usize) -> u64) -> u64 {
    roots.iter().map(|root| bytes(*root)).fold(0, u64::saturating_add)
}

fn share(schema: &Schema, roots: &[usize]) -> f64 {
    let columns: usize = roots.iter().map(|root| schema.columns_of(*root).len()).sum();
    columns as f64 / schema.num_columns().max(1) as f64
}

/// Whether a column may be too wide, a list of one, or VARIANT. With very many columns, the others are skipped.
fn may_have_another_type(schema: &Schema, mut leaves: Range<usize>) -> bool {
    leaves.any(|leaf| {
        let leaf = schema.column(leaf);
        leaf.path().len() > 1 || matches!(leaf.physical(), PhysicalType::Int64 | PhysicalType::ByteArray)
    })
}

/// Maximum number of columns of a table that is tried as a whole: each of its readers and writers would take a large
/// part of the budget.
const MOST_COLUMNS: usize = 1_000;
/// Number of columns of a lot in larger tables.
const LOT_COLUMNS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::advice::ColumnAdvice;
    use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
    use bytes::Bytes;
    use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
    use marquetry_arrow::arrow_writer::ArrowWriter;
    use std::sync::Arc;

    /// A row of so many columns, of which every third is a boolean.
    fn table(columns: usize) -> ColumnSource {
        let column = |at: usize| -> (String, ArrayRef) {
            let array: ArrayRef = match at % 3 {
                0 => Arc::new(BooleanArray::from(vec![true])),
                _ => Arc::new(Int64Array::from(vec![1])),
            };
            (format!("c{at}"), array)
        };
        let batch = RecordBatch::try_from_iter((0..columns).map(column)).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let source: Arc<dyn marquetry_core::source::Source> =
            Arc::new(Bytes::from(writer.into_inner().unwrap()));
        let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new()).unwrap();
        ColumnSource::new(source, metadata.metadata().clone())
    }

    fn lots(columns: usize, asked: &str) -> Lots {
        let input = table(columns);
        let advice = |leaf: usize| ColumnAdvice {
            leaf,
            column: format!("c{leaf}"),
            bytes: 2 * leaf as u64,
            predicted: leaf as u64,
            choice: None,
            measured: 1.0,
            error: 0.0,
        };
        let advice = Advice {
            file_bytes: 0,
            predicted_bytes: 0,
            columns: (0..columns).map(advice).collect(),
            findings: Vec::new(),
            not_measured: Vec::new(),
        };
        Lots::of(&input, &BTreeMap::from([(asked.to_owned(), AskedColumn::default())]), &advice)
    }

    #[test]
    fn few_columns_are_one_lot() {
        let lots = lots(1_000, "c0");
        assert!(lots.first.roots.iter().copied().eq(0..1_000) && lots.others.is_empty());
        assert_eq!((lots.first.share, lots.first.weights), (1.0, None));
    }

    #[test]
    fn of_many_the_first_lot_stands_for_all() {
        let lots = lots(3_000, "c0");
        let weights = lots.first.weights.unwrap();
        let weighed: f64 =
            lots.first.roots.iter().zip(&weights).map(|(root, weight)| *root as f64 * weight).sum();
        assert!((weighed / (2_999.0 * 1_500.0) - 1.0).abs() < 0.001, "{weighed}");
        assert!(lots.first.roots.windows(2).all(|pair| pair[0] < pair[1]));
        // What is asked for, and the largest.
        assert!(lots.first.roots.contains(&0) && (2_900..3_000).all(|root| lots.first.roots.contains(&root)));
        assert!(lots.first.roots.len() <= LOT_COLUMNS + 1);
        let mut others: Vec<usize> = lots.others.iter().flat_map(|lot| lot.roots.clone()).collect();
        assert!(others.iter().all(|root| root % 3 != 0 && !lots.first.roots.contains(root)));
        assert!(lots.others[0].roots.iter().min() > lots.others[1].roots.iter().max());
        others.extend(lots.first.roots.iter().filter(|root| *root % 3 != 0));
        assert_eq!(others.len(), 2_000);
    }
}
