//! The sort order that a file is known to have, so that its rows need not be sorted again.

use crate::column_kind::{Kind, kind_of, root_leaf, stores};
use crate::statistics::becomes;
use arrow_array::Array;
use arrow_schema::{Schema, SortOptions};
use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use marquetry_format::SortingColumn;
use std::cmp::Ordering;
use std::sync::Arc;

/// The order of all rows of a file, by columns of the table.
///
/// SPEC: `sorting_columns` is the order of the rows of one row group. Whether row groups follow each other in this
/// order shows in the bounds of the first column only: where two of them share a bound, the columns behind it say
/// nothing.
pub(crate) fn ordering(footer: &ArrowReaderMetadata, table: &Schema) -> Option<LexOrdering> {
    let mut groups = footer.metadata().row_groups();
    let sorting = groups.next()?.sorting_columns();
    if !groups.all(|group| group.sorting_columns() == sorting) {
        return None;
    }
    let mut exprs = Vec::new();
    for column in sorting {
        match sort_expr(footer, table, column) {
            // Files are read in sequence where the bounds of their columns ascend, and bounds say nothing of nulls.
            Some(expr) if has_no_nulls(footer, column) => exprs.push(expr),
            _ => break,
        }
    }
    match follow(footer, sorting.first()?)? {
        true => {}
        false => exprs.truncate(1),
    }
    LexOrdering::new(exprs)
}

fn sort_expr(
    footer: &ArrowReaderMetadata,
    table: &Schema,
    sorting: &SortingColumn,
) -> Option<PhysicalSortExpr> {
    let schema = footer.parquet_schema();
    let leaf = schema.columns().get(usize::try_from(sorting.column_idx).ok()?)?;
    let root = root_leaf(schema, leaf.name()).filter(|root| std::ptr::eq(*root, leaf))?;
    let read_as = footer.schema().field_with_name(root.name()).ok()?.data_type();
    let (index, field) = table.column_with_name(root.name())?;
    let is_same =
        kind_of(read_as) == Some(Kind::Same) && stores(leaf, read_as) && becomes(read_as, field.data_type());
    let options = SortOptions { descending: sorting.descending, nulls_first: sorting.nulls_first };
    is_same.then(|| PhysicalSortExpr::new(Arc::new(Column::new(field.name(), index)), options))
}

/// Whether a column certainly has no nulls in any row group.
fn has_no_nulls(footer: &ArrowReaderMetadata, sorting: &SortingColumn) -> bool {
    let columns = footer.parquet_schema().columns();
    let Some(leaf) = usize::try_from(sorting.column_idx).ok().and_then(|leaf| columns.get(leaf)) else {
        return false;
    };
    if leaf.max_def() == 0 {
        return true;
    }
    let Ok(known) = footer.statistics(leaf.name()) else { return false };
    let counts = known.row_group_null_counts(footer.metadata().row_groups());
    counts.is_ok_and(|counts| counts.null_count() == 0 && counts.values().iter().all(|count| *count == 0))
}

/// Whether each row group begins after the end of the one before, by the first column: `Some(false)` if it may begin
/// with the same value, `None` if that is not known.
fn follow(footer: &ArrowReaderMetadata, first: &SortingColumn) -> Option<bool> {
    let count = footer.metadata().num_row_groups();
    if count < 2 {
        return Some(true);
    }
    let leaf = footer.parquet_schema().columns().get(usize::try_from(first.column_idx).ok()?)?;
    let known = footer.statistics(leaf.name()).ok()?;
    let groups = || footer.metadata().row_groups();
    let (mins, maxes) = (known.row_group_mins(groups()).ok()?, known.row_group_maxes(groups()).ok()?);
    let (ends, begins) = if first.descending { (mins, maxes) } else { (maxes, mins) };
    let wanted = if first.descending { Ordering::Greater } else { Ordering::Less };
    let mut is_strict = true;
    for group in 1..count {
        if ends.is_null(group - 1) || begins.is_null(group) {
            return None;
        }
        let end = ScalarValue::try_from_array(&ends, group - 1).ok()?;
        let begin = ScalarValue::try_from_array(&begins, group).ok()?;
        match end.partial_cmp(&begin)? {
            order if order == wanted => {}
            Ordering::Equal => is_strict = false,
            _ => return None,
        }
    }
    Some(is_strict)
}
