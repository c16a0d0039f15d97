//! One file of a dataset: its path, its partitions, and which of its row groups are in the dataset.

use super::partition;
use marquetry_base::{Error, Result};
use marquetry_core::metadata::{ParquetMetaData, RowGroup};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// One of the files.
#[derive(Debug, Clone)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    /// Keys and values of the partitions it is in.
    pub(super) partitions: Vec<(String, Option<String>)>,
    /// Its row groups, if a summary says which.
    groups: Option<Vec<RowGroupId>>,
}

impl DataFile {
    pub(super) fn new(path: PathBuf, groups: Option<Vec<RowGroupId>>) -> Self {
        DataFile { partitions: partition::pairs(&path), path, groups }
    }

    pub(super) fn name(&self) -> Arc<str> {
        self.path.display().to_string().into()
    }

    /// Its value of a key; the inner `None` is null.
    pub(super) fn partition(&self, key: &str) -> Option<Option<&str>> {
        let pair = self.partitions.iter().rfind(|(name, _)| name == key);
        pair.map(|(_, value)| value.as_deref())
    }

    /// Its row groups that are in the table, if not all are.
    pub(super) fn row_groups(&self, metadata: &ParquetMetaData) -> Result<Option<Vec<usize>>> {
        self.groups.as_ref().map(|groups| row_groups(metadata, groups)).transpose()
    }
}

/// What a summary and a file's own footer both say of a row group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RowGroupId {
    rows: u64,
    /// Where the data pages of the first column begin.
    first_page: Option<i64>,
}

impl RowGroupId {
    pub(super) fn of(row_group: RowGroup<'_>) -> Result<Self> {
        let first = row_group.columns().next().transpose()?;
        Ok(RowGroupId { rows: row_group.num_rows(), first_page: first.map(|chunk| chunk.data_page_offset()) })
    }
}

/// Which row groups of the file those of the summary are. Fails if one is not there: the summary is old.
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
