//! One file of a dataset: its path, its partitions, and which of its row groups are in the dataset.

use super::partition;
use marquetry_base::{Error, Result};
use marquetry_core::metadata::{ParquetMetaData, RowGroup};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A file of the dataset.
#[derive(Debug, Clone)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    /// Keys and values of the partitions that it is in.
    pub(super) partitions: Vec<(String, Option<String>)>,
    /// Its row groups in the dataset, if a summary lists them.
    groups: Option<Vec<RowGroupId>>,
}

impl DataFile {
    pub(super) fn new(path: PathBuf, groups: Option<Vec<RowGroupId>>) -> Self {
        DataFile { partitions: partition::pairs(&path), path, groups }
    }

    pub(super) fn name(&self) -> Arc<str> {
        self.path.display().to_string().into()
    }

    /// Returns its value of a partition key. The inner `None` is null.
    pub(super) fn partition(&self, key: &str) -> Option<Option<&str>> {
        let pair = self.partitions.iter().rfind(|(name, _)| name == key);
        pair.map(|(_, value)| value.as_deref())
    }

    /// Returns its row groups in the table, if not all are.
    pub(super) fn row_groups(&self, metadata: &ParquetMetaData) -> Result<Option<Vec<usize>>> {
        self.groups.as_ref().map(|groups| row_groups(metadata, groups)).transpose()
    }
}

/// Identifies a row group by what both a summary and the file's own footer say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RowGroupId {
    rows: u64,
    /// Offset of the first column's data pages in the file.
    first_page: Option<i64>,
}

impl RowGroupId {
    pub(super) fn of(row_group: RowGroup<'_>) -> Result<Self> {
        let first = row_group.columns().next().transpose()?;
        Ok(RowGroupId { rows: row_group.num_rows(), first_page: first.map(|chunk| chunk.data_page_offset()) })
    }
}

/// Returns the file's row groups that the summary lists. Fails if one is missing: then the summary is outdated.
fn row_groups(metadata: &ParquetMetaData, wanted: &[RowGroupId]) -> Result<Vec<usize>> {
    let mut there = HashMap::new();
    for group in metadata.row_groups() {
        there.entry(RowGroupId::of(group)?).or_insert(group.index());
    }
    let find = |group| there.get(group).copied();
    wanted.iter().map(find).collect::<Option<_>>().ok_or_else(|| {
        Error::corrupt("the summary has row groups that the file does not have: it is older than the file")
    })
}
