//! Which files a table has, and what is to be read of them: what is known without opening any.

use super::filter::{Rest, rest};
use super::schema::Plan;
use super::table_types::TableTypes;
use super::{partition, summary};
use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96Unit};
use crate::evolution::{Evolution, MatchBy};
use crate::schema::StringLayout;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::Predicate;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Choice {
    pub(super) files: Vec<DataFile>,
    pub(super) options: ArrowReaderOptions,
    pub(super) has_partitions: bool,
    pub(super) partition_types: HashMap<String, DataType>,
    pub(super) columns: Option<Vec<String>>,
    pub(super) union: bool,
    pub(super) by: MatchBy,
    pub(super) evolution: Option<Evolution>,
    pub(super) predicate: Option<Predicate>,
    pub(super) batch_size: Option<usize>,
    pub(super) limit: Option<usize>,
    pub(super) offset: usize,
    /// Bytes of row groups that are fetched ahead, where bytes come late.
    #[cfg(feature = "async")]
    pub(super) prefetch: u64,
}

/// One of the files.
#[derive(Debug, Clone)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    /// Keys and values of the partitions it is in.
    pub(super) partitions: Vec<(String, Option<String>)>,
    /// Its row groups, if a summary says which.
    groups: Option<Vec<summary::Group>>,
}

impl DataFile {
    pub(super) fn new(path: PathBuf, groups: Option<Vec<summary::Group>>) -> Self {
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
        self.groups.as_ref().map(|groups| summary::row_groups(metadata, groups)).transpose()
    }
}

impl Choice {
    /// All of these files.
    pub(super) fn new(files: Vec<DataFile>) -> Result<Self> {
        if files.is_empty() {
            return Err(Error::argument("no files to read"));
        }
        Ok(Choice {
            files,
            options: ArrowReaderOptions::new().with_text(StringLayout::Utf8View).with_int96(Int96Unit::Auto),
            has_partitions: true,
            partition_types: HashMap::new(),
            columns: None,
            union: false,
            by: MatchBy::default(),
            evolution: None,
            predicate: None,
            batch_size: None,
            limit: None,
            offset: 0,
            #[cfg(feature = "async")]
            prefetch: crate::async_reader::PREFETCH,
        })
    }

    /// What the filter needs of a file, by its partitions.
    pub(super) fn rest(&self, plan: &Plan, file: &DataFile) -> Result<Rest> {
        match &self.predicate {
            Some(predicate) => rest(predicate, &|name| plan.partition(file, name)),
            None => Ok(Rest::All),
        }
    }
}

impl Rest {
    /// What is left of it in a file with these columns, as a predicate of the file's own types.
    pub(super) fn in_file(self, plan: &Plan, metadata: &ArrowReaderMetadata) -> Result<Rest> {
        let Rest::Some(predicate) = self else { return Ok(self) };
        let schema = metadata.parquet_schema();
        match rest(&predicate, &|name| Ok(plan.missing(schema, name)))? {
            Rest::Some(predicate) => {
                let types = TableTypes { table: &plan.predicate_types, file: metadata.schema().fields() };
                types.predicate_of_file(&predicate).map(Rest::Some)
            }
            other => Ok(other),
        }
    }
}
