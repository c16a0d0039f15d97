//! The files of a table and the choice of what to read of them, as far as it is known without opening any.

use super::data_file::DataFile;
use crate::arrow_reader::{ArrowReaderOptions, Int96Unit};
use crate::evolution::{Evolution, MatchBy};
use crate::schema::StringLayout;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::predicate::Predicate;
use std::collections::HashMap;

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
    /// How many bytes of row groups are fetched ahead, for asynchronous sources.
    #[cfg(feature = "async")]
    pub(super) prefetch: u64,
}

impl Choice {
    /// Chooses all rows of these files.
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
}
