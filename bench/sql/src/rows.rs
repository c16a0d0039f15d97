//! The rows of a result, for comparison.

use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};

/// All rows as text, sorted.
pub(crate) fn sorted_rows(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>> {
    let options = FormatOptions::default().with_null("null");
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|column| column.value(row).to_string()).collect());
        }
    }
    rows.sort();
    Ok(rows)
}

/// Whether rows are the same; floats may differ by the order of additions.
pub(crate) fn is_same(some: &[Vec<String>], other: &[Vec<String>]) -> bool {
    let is_near = |some: &str, other: &str| match (some.parse::<f64>(), other.parse::<f64>()) {
        (Ok(some), Ok(other)) => (some - other).abs() <= 1e-9 * some.abs().max(other.abs()),
        _ => false,
    };
    some.len() == other.len()
        && some.iter().zip(other).all(|(some, other)| {
            some.len() == other.len()
                && some.iter().zip(other).all(|(some, other)| {
                    some == other || ((some.contains('.') || some.contains('e')) && is_near(some, other))
                })
        })
}
