//! The message of a [`FolderTable`].

use super::envelope::required;
use super::options_message::OptionsMessage;
use super::partition_column::{partition_columns, partition_types};
use crate::folder_table::FolderTable;
use crate::format::MarquetryFormat;
use arrow_schema::Schema;
use datafusion::error::Result;
use datafusion_proto::protobuf::PartitionColumn;
use datafusion_proto_common as proto;
use prost::Message;
use std::sync::Arc;

/// A folder or a pattern. The process that plans the query lists its files.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FolderMessage {
    #[prost(message, optional, tag = "1")]
    options: Option<OptionsMessage>,
    #[prost(string, tag = "2")]
    url: String,
    /// Number of leading directories that are never partition keys.
    #[prost(uint64, tag = "3")]
    skipped_dirs: u64,
    /// The schema without partition columns.
    #[prost(message, optional, tag = "4")]
    file_schema: Option<proto::Schema>,
    #[prost(message, repeated, tag = "5")]
    partition_columns: Vec<PartitionColumn>,
}

impl FolderMessage {
    pub(super) fn new(table: &FolderTable) -> Result<Self> {
        let keys = table.keys().iter().map(|key| (key.name(), key.data_type()));
        Ok(FolderMessage {
            options: Some(OptionsMessage::new(table.format().options())?),
            url: table.url().to_owned(),
            skipped_dirs: table.skipped_dirs() as u64,
            file_schema: Some(table.written().as_ref().try_into()?),
            partition_columns: partition_columns(keys)?,
        })
    }

    pub(super) fn table(self) -> Result<FolderTable> {
        let options = required(self.options, "options")?.options()?;
        let written: Schema = required(self.file_schema.as_ref(), "columns")?.try_into()?;
        let keys = partition_types(&self.partition_columns)?;
        let skipped_dirs = usize::try_from(self.skipped_dirs).unwrap_or(usize::MAX);
        Ok(FolderTable::new(self.url, skipped_dirs, Arc::new(written), &keys, MarquetryFormat::new(options)))
    }
}
