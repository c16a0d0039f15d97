//! Applies a predicate to a file: what can be skipped, and how many rows match.

use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ChunkReader, bind_in_file, prunable_predicate};
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::predicate::{BoundPredicate, Predicate};
use marquetry::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use marquetry_core::source::Source;
use std::sync::Arc;

/// A file, with a predicate bound to it.
pub(super) struct Matching {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) bound: BoundPredicate,
    /// Whether the pruning predicate is equivalent to the row filter.
    is_exact: bool,
    /// The file with only the rows that match.
    filtered: OpenFile,
}

impl Matching {
    /// Fails if the predicate does not fit the file's schema.
    pub(super) fn new(file: &OpenFile, predicate: &Predicate) -> Result<Self, Error> {
        let metadata = file.metadata().clone();
        let (prunable, is_exact) = prunable_predicate(predicate, &metadata)?;
        let bound = bind_in_file(&prunable, &metadata)?;
        let filtered = file.clone().columns(Vec::<String>::new()).filter(predicate.clone());
        Ok(Matching { source: file.clone().into_source()?, metadata, bound, is_exact, filtered })
    }

    /// Whether a column is encrypted and its key is missing, so that nothing is known of it.
    pub(super) fn is_sealed(&self, leaf: usize) -> bool {
        self.metadata.row_groups().any(|group| match group.column(leaf) {
            Ok(chunk) => chunk.lacks_key(),
            Err(error) => error.kind() == ErrorKind::Key,
        })
    }

    /// The rows of each row group that may match.
    pub(super) fn prune(
        &self,
        options: &PruneOptions,
        report: &mut PruneReport,
    ) -> Result<Vec<RowGroupMatch>, Error> {
        let each = 0..self.metadata.num_row_groups();
        each.map(|row_group| {
            prune_row_group(&*self.source, &self.metadata, row_group, &self.bound, options, report)
        })
        .collect()
    }

    /// The number of matching rows in each row group; `kept` are the rows that may match.
    pub(super) fn count(&self, kept: &[RowGroupMatch]) -> Result<Vec<u64>, Error> {
        let each = kept.iter().enumerate();
        each.map(|(row_group, kept)| match kept {
            RowGroupMatch::None => Ok(0),
            RowGroupMatch::All if self.is_exact => Ok(self.metadata.row_group(row_group).num_rows()),
            _ => {
                let (mut rows, mut reader) = (0, self.filtered.clone().row_groups([row_group]).batches()?);
                while let Some(batch) = reader.next_batch() {
                    rows += batch?.num_rows() as u64;
                }
                Ok(rows)
            }
        })
        .collect()
    }
}
