//! The row groups that are left of a file, to be written as a new one.

use super::null_chunk;
use super::report::Report;
use crate::metadata::ParquetMetaData;
use crate::source::Source;
use crate::write::copy::{CopySettings, copy_chunk, forget_bounds};
use crate::write::{FileSettings, FileWriter};
use marquetry_base::{Error, Limits, Result};
use marquetry_format as format;
use std::io::Write;
use std::sync::Arc;

/// What is left of a file.
pub struct Recovery {
    pub(super) schema: Vec<format::SchemaElement>,
    pub(super) column_orders: Option<Vec<format::ColumnOrder>>,
    pub(super) key_values: Vec<format::KeyValue>,
    pub(super) groups: Vec<KeptGroup>,
    pub(super) report: Report,
    pub(super) limits: Arc<Limits>,
}

/// A row group that is kept.
pub(super) struct KeptGroup {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) index: usize,
    /// Of each column: whether it is lost.
    pub(super) is_lost: Vec<bool>,
}

impl Recovery {
    /// What was found, kept and lost.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The schema as the footer of the new file has it; empty if there is none.
    pub fn schema(&self) -> &[format::SchemaElement] {
        &self.schema
    }

    /// Writes the new file and gives the sink back. `created_by` is the name of who writes it.
    ///
    /// Fails if there is no schema, if the broken file cannot be read again, or if the sink fails.
    pub fn write<W: Write>(&self, sink: W, created_by: Option<String>) -> Result<W> {
        if self.schema.is_empty() {
            return Err(Error::argument("nothing was found that could be written"));
        }
        let settings = FileSettings {
            created_by,
            column_orders: self.column_orders.clone(),
            key_values: self.key_values.clone(),
            ..FileSettings::default()
        };
        let mut writer = FileWriter::new(sink, self.schema.clone(), settings)?;
        let copy = CopySettings {
            checksums: true,
            offset_index: true,
            verify_checksums: true,
            limits: self.limits.clone(),
            ..CopySettings::default()
        };
        for group in &self.groups {
            let (metadata, row_group) = (&group.metadata, group.metadata.row_group(group.index));
            let has_order = metadata.column_orders() == self.column_orders.as_deref();
            let mut chunks = Vec::new();
            for (column, is_lost) in group.is_lost.iter().enumerate() {
                let leaf = metadata.schema().column(column);
                if *is_lost {
                    chunks.push(null_chunk::chunk(leaf, row_group.num_rows())?);
                    continue;
                }
                let mut chunk = copy_chunk(&group.source, metadata, group.index, column, &copy)?.chunk;
                if !has_order {
                    forget_bounds(&mut chunk);
                }
                chunks.push(chunk);
            }
            let is_whole = !group.is_lost.contains(&true);
            let sorting = is_whole.then(|| row_group.sorting_columns().to_vec());
            writer.write_row_group(row_group.num_rows(), chunks, sorting)?;
        }
        Ok(writer.finish()?.0)
    }
}
