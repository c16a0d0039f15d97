//! What readers can skip of a file for a predicate, row group by row group.

use marquetry_arrow::arrow_reader::bind_in_file;
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::Predicate;
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage, prune_row_group};
use marquetry_core::source::Source;

/// The rows of a file that a predicate lets readers skip.
#[derive(Debug, Clone)]
pub struct SkippedRows {
    pub(crate) predicate: String,
    /// The rows that remain in each row group.
    pub(crate) kept: Vec<RowGroupMatch>,
    /// The stage that ruled out each row group as a whole, if one did.
    pub(crate) by: Vec<Option<&'static str>>,
}

impl SkippedRows {
    /// Prunes as readers do: by statistics, bloom filters, dictionaries and page indexes, in their order.
    ///
    /// Fails if the predicate does not fit the file's schema, or if the source fails. Damaged parts skip nothing.
    pub fn of(source: &dyn Source, metadata: &ParquetMetaData, predicate: &Predicate) -> Result<Self> {
        let bound = bind_in_file(&predicate.in_file(metadata), metadata)?;
        let groups = metadata.num_row_groups();
        let (mut kept, mut by) = (vec![RowGroupMatch::All; groups], vec![None; groups]);
        let mut options = PruneOptions::none();
        for &stage in Stage::ALL {
            options = options.with_stage(stage);
            for group in 0..groups {
                if kept[group] == RowGroupMatch::None {
                    continue;
                }
                let report = &mut PruneReport::default();
                kept[group] = prune_row_group(source, metadata, group, &bound, &options, report)?;
                if kept[group] == RowGroupMatch::None {
                    by[group] = Some(stage.name());
                }
            }
        }
        Ok(SkippedRows { predicate: predicate.to_string(), kept, by })
    }

    /// Returns the number of rows that remain.
    pub(crate) fn rows_left(&self, metadata: &ParquetMetaData) -> u64 {
        let rows = |(group, kept): (usize, &RowGroupMatch)| match kept {
            RowGroupMatch::None => 0,
            RowGroupMatch::All => metadata.row_group(group).num_rows(),
            RowGroupMatch::Some(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
        };
        self.kept.iter().enumerate().map(rows).fold(0, u64::saturating_add)
    }
}
