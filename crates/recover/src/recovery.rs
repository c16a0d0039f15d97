//! The kept row groups of a broken file, ready to be written as a new file.

use crate::beside_pages::BesidePages;
use crate::null_chunk::null_chunk;
use crate::report::Report;
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_core::write::copy::{CopySettings, copy_chunk, drop_bounds};
use marquetry_core::write::{FileSettings, FileWriter};
use marquetry_format as format;
use std::io::Write;
use std::sync::Arc;

/// The kept row groups of a broken file, and the report on them.
pub struct Recovery {
    pub(crate) schema: Vec<format::SchemaElement>,
    pub(crate) column_orders: Option<Vec<format::ColumnOrder>>,
    pub(crate) key_values: Vec<format::KeyValue>,
    pub(crate) groups: Vec<KeptGroup>,
    pub(crate) report: Report,
    pub(crate) limits: Arc<Limits>,
}

/// A row group that is kept.
pub(crate) struct KeptGroup {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) index: usize,
    /// Whether each column is lost.
    pub(crate) is_lost: Vec<bool>,
    /// What is left behind of each column.
    pub(crate) left_out: Vec<Vec<BesidePages>>,
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

    /// Writes the new file and returns the sink. `created_by` names the writing application in the footer.
    ///
    /// Fails if there is no schema, if the broken file cannot be read again, or if the sink fails.
    pub fn write<W: Write>(&self, sink: W, created_by: Option<String>) -> Result<W> {
        if self.schema.is_empty() {
            return Err(Error::argument("nothing was found that could be written"));
        }
        let settings = FileSettings::default()
            .with_created_by(created_by.map(format::ThriftString::from))
            .with_column_orders(self.column_orders.clone())
            .with_key_values(self.key_values.clone());
        let mut writer = FileWriter::new(sink, self.schema.clone(), settings)?;
        let copy = CopySettings::default()
            .with_checksums(true)
            .with_offset_index(true)
            .with_verify_checksums(true)
            .with_limits(self.limits.clone());
        for group in &self.groups {
            let (metadata, row_group) = (&group.metadata, group.metadata.row_group(group.index));
            let has_order = metadata.column_orders() == self.column_orders.as_deref();
            let mut chunks = Vec::new();
            for (column, (is_lost, left_out)) in group.is_lost.iter().zip(&group.left_out).enumerate() {
                let leaf = metadata.schema().column(column);
                if *is_lost {
                    chunks.push(null_chunk(leaf, row_group.num_rows())?);
                    continue;
                }
                let copy = copy
                    .clone()
                    .with_ignore_offset_index(left_out.contains(&BesidePages::OffsetIndex))
                    .with_drop_page_statistics(left_out.contains(&BesidePages::PageStatistics));
                let mut chunk = copy_chunk(&group.source, metadata, group.index, column, &copy)?.chunk;
                left_out.iter().for_each(|what| what.remove_from(&mut chunk));
                if !has_order {
                    drop_bounds(&mut chunk);
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
