//! Predicates over paths into VARIANT.
//!
//! Each part of a predicate that names such a path becomes two. The first is a predicate over the columns of the file,
//! which prunes and filters rows: it is true of at least the rows of which the part is true. The second is an
//! [`ArrowPredicate`], which decides: it makes the columns that the paths denote, and evaluates a predicate bound to
//! them.
//!
//! **What a typed column proves.** Let a path be shredded, and let its typed column `t` have exactly the compared type.
//! A row's value is in `t`, or in one of the `value` columns on the way, the residuals. If `t` is not null, the value
//! is there, because neither a value that is not an object, nor a field, may be in both. So for any condition that is false
//! of NULL:
//!
//! ```text
//! condition(path)  implies  condition(t)  or  (t is null and some residual is not null)
//! path is null     implies  t is null
//! path is missing  implies  t is null
//! ```
//!
//! The right side has all properties of predicates over plain columns: for row groups, pages, bloom filters and
//! dictionaries. Bounds of `t` alone would lose rows whose values have another type, and so are in `value`. A field
//! that is not shredded has no `t`, so only the second half remains: some residual is not null. If the footer shows
//! that all residuals are null in the whole file, the right side is equivalent to the condition, and no arrays are
//! made.
//!
//! The compared type is that of the cast. Without a cast it is the literal's: text, a number (DOUBLE), a boolean, a
//! date, a time, a timestamp, bytes. A value of another type compares as NULL does.

mod path_columns;
mod path_target;
mod weaker;

pub(crate) use path_target::is_variant_path;

use super::filter::ArrowPredicate;
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::Predicate;

/// A predicate with paths into VARIANT, split up for a file.
pub(crate) struct VariantFilter {
    /// A predicate over columns of the file. It is true of at least the rows that match.
    pub(crate) weaker: Predicate,
    /// Filters over arrays that decide for the remaining rows.
    pub(crate) filters: Vec<Box<dyn ArrowPredicate>>,
}

/// Splits a predicate; returns `None` if it has no path into a VARIANT.
///
/// Fails if such a path does not fit the file.
pub(crate) fn variant_filter(
    predicate: &Predicate,
    metadata: &ParquetMetaData,
) -> Result<Option<VariantFilter>> {
    let is_path = |path: &&str| is_variant_path(metadata.schema(), path);
    if !predicate.columns().iter().any(is_path) {
        return Ok(None);
    }
    let (mut weaker, mut filters) = (Vec::new(), Vec::new());
    for part in conjuncts(predicate) {
        if !part.columns().iter().any(is_path) {
            weaker.push(part.clone());
            continue;
        }
        let locate = |error| match part.column_paths().first() {
            Some(path) => path.locate(error),
            None => error,
        };
        let found = weaker::weaker(part, false, metadata).map_err(locate)?;
        if !found.is_exact {
            filters.push(path_columns::filter(part, metadata).map_err(locate)?);
        }
        weaker.push(found.predicate);
    }
    Ok(Some(VariantFilter { weaker: Predicate::And(weaker), filters }))
}
/// Returns a predicate over the columns of a file to [prune](marquetry_core::prune) row groups and pages by.
///
/// It is true of at least the rows of which `predicate` is true. Also returns whether the two are equivalent, as when
/// there is no path into a VARIANT.
///
/// # Errors
///
/// If a path into a VARIANT does not fit the file.
///
/// ```
/// use marquetry_arrow::arrow_reader::prunable_predicate;
/// use marquetry_core::predicate::Predicate;
/// # use marquetry_core::io::read_metadata;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let file = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = read_metadata(&file, &Default::default())?.metadata;
/// let predicate = Predicate::parse("year > 2000")?;
/// assert_eq!(prunable_predicate(&predicate, &metadata)?, (predicate, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prunable_predicate(predicate: &Predicate, metadata: &ParquetMetaData) -> Result<(Predicate, bool)> {
    Ok(match variant_filter(predicate, metadata)? {
        Some(found) => (found.weaker.in_file(metadata), found.filters.is_empty()),
        None => (predicate.in_file(metadata), true),
    })
}

fn conjuncts(predicate: &Predicate) -> Vec<&Predicate> {
    match predicate {
        Predicate::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}
