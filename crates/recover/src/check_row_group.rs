//! Checks the chunks of a row group, each by itself and then against the others.

use crate::beside_pages::CheckedChunk;
use crate::parallel::Workers;
use crate::report::Confidence;
use crate::window::Window;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{LeafShape, disagreeing, leaf_shapes};
use marquetry_core::source::Source;
use std::sync::Arc;

/// A check of a chunk of a row group: it decodes the chunk, or compares its metadata with its values.
pub(crate) type CheckOneChunk =
    fn(&Arc<dyn Source>, &ParquetMetaData, &LeafShape, (usize, usize), &Arc<Limits>) -> Result<CheckedChunk>;

/// Runs `check` on each chunk of a row group of `stored` bytes. A damaged chunk does not stop the validation of the
/// others.
pub(crate) fn check_row_group(
    workers: &Workers,
    window: &Window,
    metadata: &Arc<ParquetMetaData>,
    index: usize,
    stored: u64,
    check: CheckOneChunk,
) -> Result<Vec<Result<CheckedChunk>>> {
    let (source, limits) = (window.source.clone(), window.limits.clone());
    let (footer, shapes) = (metadata.clone(), leaf_shapes(metadata.schema()));
    let checked = workers.ordered_map(stored, metadata.schema().num_columns(), move |column| {
        let checked = check(&source, &footer, &shapes[column], (index, column), &limits)
            .map_err(|error| error.in_column(footer.schema().column(column).dotted().clone()));
        match checked {
            Err(error) if error.stops_reading() || error.kind() == ErrorKind::Key => Err(error),
            checked => Ok(checked),
        }
    });
    let mut checked: Vec<Result<CheckedChunk>> = checked.into_iter().collect::<Result<_>>()?;
    let signatures = checked.iter_mut().enumerate().filter_map(|(column, chunk)| {
        let chunk = chunk.as_mut().ok()?;
        Some((column, std::mem::take(&mut chunk.signatures)))
    });
    let wrong = disagreeing(signatures.collect::<Vec<_>>());
    for (column, other) in wrong {
        let [column_name, other_name] = [column, other].map(|i| metadata.schema().column(i).dotted().clone());
        // It is unknown which of the two is damaged. Without its group, neither is kept.
        let error = Error::corrupt(format!("not nested as column {other_name} in the same group"));
        checked[column] = Err(error.in_column(column_name));
    }
    Ok(checked)
}

/// Returns how a row group of a footer was found, and how certain it is, as far as its pages show.
pub(crate) fn trusted_so_far(chunks: &[Result<CheckedChunk>]) -> (String, Confidence) {
    let is_proven = chunks.iter().flatten().all(|chunk| chunk.is_proven);
    let why = format!("a row group of the footer, {}, all values decoded", checksums(is_proven));
    (why, if is_proven { Confidence::Exact } else { Confidence::High })
}

/// Returns what the report says of checksums.
pub(crate) fn checksums(is_proven: bool) -> &'static str {
    if is_proven { "with right checksums" } else { "not all with checksums" }
}
