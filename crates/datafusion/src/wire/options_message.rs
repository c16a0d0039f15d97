//! The message of a table's options.

use super::envelope::{required, unreadable};
use crate::options::FormatOptions;
use datafusion::common::config::TableParquetOptions;
use datafusion::error::Result;
use datafusion_proto_common as proto;
use prost::Message;

/// [`FormatOptions`] without encryption keys, which no plan carries.
///
/// DataFusion's own message of these options loses the key-value metadata of a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OptionsMessage {
    #[prost(message, optional, tag = "1")]
    global: Option<proto::ParquetOptions>,
    #[prost(message, repeated, tag = "2")]
    columns: Vec<proto::ParquetColumnSpecificOptions>,
    #[prost(message, repeated, tag = "3")]
    metadata: Vec<Entry>,
    #[prost(string, tag = "4")]
    on_corrupt: String,
    #[prost(bool, optional, tag = "5")]
    pushdown_filters: Option<bool>,
    #[prost(bool, tag = "6")]
    ignore_sorting_columns: bool,
}

/// A key, with or without a value.
#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, optional, tag = "2")]
    value: Option<String>,
}

impl OptionsMessage {
    pub(super) fn new(options: &FormatOptions) -> Result<Self> {
        options.check_encryption()?;
        let message = proto::TableParquetOptions::try_from(&options.parquet)?;
        let metadata = &options.parquet.key_value_metadata;
        let mut metadata: Vec<Entry> =
            metadata.iter().map(|(key, value)| Entry { key: key.clone(), value: value.clone() }).collect();
        // So that the same options give the same bytes.
        metadata.sort_by(|a, b| a.key.cmp(&b.key));
        let mut columns = message.column_specific_options;
        columns.sort_by(|a, b| a.column_name.cmp(&b.column_name));
        Ok(OptionsMessage {
            global: message.global,
            columns,
            metadata,
            on_corrupt: options.on_corrupt_name()?.to_owned(),
            pushdown_filters: options.pushdown_filters,
            ignore_sorting_columns: options.ignore_sorting_columns,
        })
    }

    pub(super) fn options(&self) -> Result<FormatOptions> {
        let mut parquet = TableParquetOptions {
            global: required(self.global.as_ref(), "options")?.try_into()?,
            ..TableParquetOptions::default()
        };
        for column in &self.columns {
            let options = required(column.options.as_ref(), "options of a column")?.try_into()?;
            if parquet.column_specific_options.insert(column.column_name.clone(), options).is_some() {
                return Err(unreadable(format!("it has options of column {} twice", column.column_name)));
            }
        }
        let metadata = self.metadata.iter().map(|entry| (entry.key.clone(), entry.value.clone()));
        parquet.key_value_metadata = metadata.collect();
        let mut options = FormatOptions {
            parquet,
            ignore_sorting_columns: self.ignore_sorting_columns,
            pushdown_filters: self.pushdown_filters,
            ..FormatOptions::default()
        };
        options.set_on_corrupt(&self.on_corrupt)?;
        Ok(options)
    }
}
