//! The report of `convert`: bytes of each column before and after, its encodings, and why they were chosen.

use crate::failure::Failure;
use crate::file_name;
use crate::output::Output;
use crate::printable::printable;
use crate::shred_plan;
use crate::text_table::{TextTable, percent};
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use marquetry::internals::format::PageType;
use marquetry::metrics::WriteMetrics;
use marquetry::schema::{Leaf, Schema};
use marquetry::variant::InferredShredding;
use marquetry_base::counted;
use marquetry_core::write::CheckpointCost;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The sizes of columns before.
pub(crate) enum Before {
    /// In another Parquet file: paths and bytes.
    InFile(Vec<(Arc<str>, u64)>),
    /// In memory.
    InMemory(Vec<u64>),
}

impl Before {
    /// Bytes of the columns of a Parquet file.
    pub(super) fn of_file(metadata: &ParquetMetaData) -> Self {
        let mut columns: Vec<(Arc<str>, u64)> =
            metadata.schema().columns().iter().map(|leaf| (leaf.dotted().clone(), 0)).collect();
        for row_group in metadata.row_groups() {
            for (column, chunk) in columns.iter_mut().zip(row_group.columns()) {
                column.1 += chunk.map_or(0, |chunk| size(chunk.compressed_size()));
            }
        }
        Before::InFile(columns)
    }

    /// Bytes of the columns of a Parquet file whose VARIANTs are shredded differently now. Columns that no longer exist
    /// count with the binary values, into which they went.
    pub(crate) fn of_other_columns(metadata: &ParquetMetaData, schema: &Schema) -> Self {
        let Before::InFile(old) = Before::of_file(metadata) else { return Before::InFile(Vec::new()) };
        let mut columns: Vec<(Arc<str>, u64)> =
            schema.columns().iter().map(|leaf| (leaf.dotted().clone(), 0)).collect();
        for (path, bytes) in old {
            let is_it = |known: &Arc<str>| *known == path;
            let of_variant = || {
                let (column, _) = path.split_once(".typed_value")?;
                columns.iter().position(|(known, _)| **known == *format!("{column}.value"))
            };
            let at = columns.iter().position(|(known, _)| is_it(known)).or_else(of_variant);
            if let Some(column) = at.and_then(|at| columns.get_mut(at)) {
                column.1 += bytes;
            }
        }
        Before::InFile(columns)
    }

    /// The bytes of each of these columns.
    fn of(&self, leaves: &[Leaf]) -> Vec<Option<u64>> {
        let columns = match self {
            Before::InFile(columns) => columns,
            Before::InMemory(bytes) => return (0..leaves.len()).map(|i| bytes.get(i).copied()).collect(),
        };
        let mut by_path = HashMap::new();
        for (path, bytes) in columns {
            by_path.entry(&**path).or_insert(*bytes);
        }
        // Other writers name the parts of lists and maps differently; columns are then matched by position.
        let of = |(i, leaf): (usize, &Leaf)| {
            by_path.get(&**leaf.dotted()).or_else(|| columns.get(i).map(|(_, bytes)| bytes)).copied()
        };
        leaves.iter().enumerate().map(of).collect()
    }
}

/// A report on the file that was written.
pub(crate) struct SizeReport {
    rows: u64,
    row_groups: usize,
    is_before_parquet: bool,
    columns: Vec<ColumnSize>,
    /// Set if checkpoints were asked for.
    checkpoints: Option<CheckpointCost>,
    /// The shapes that were inferred for VARIANT columns.
    shreddings: Vec<InferredShredding>,
    metrics: WriteMetrics,
}

/// A report on a column that was written.
struct ColumnSize {
    path: Arc<str>,
    values: u64,
    before: Option<u64>,
    after: u64,
    uncompressed: u64,
    codec: String,
    encodings: Vec<EncodingSize>,
    /// How the encoding of the last chunk was chosen.
    reason: String,
}

/// The number of data pages with an encoding; not all writers record it.
struct EncodingSize {
    encoding: String,
    pages: Option<u64>,
}

impl SizeReport {
    /// A report on the file with this footer. `reasons` has an element for each column.
    pub(crate) fn new(
        metadata: &ParquetMetaData,
        before: Before,
        reasons: Vec<String>,
    ) -> Result<Self, Failure> {
        let leaves = metadata.schema().columns();
        let mut columns: Vec<ColumnSize> = leaves
            .iter()
            .zip(before.of(leaves))
            .enumerate()
            .map(|(i, (leaf, before))| ColumnSize {
                path: leaf.dotted().clone(),
                values: 0,
                before,
                after: 0,
                uncompressed: 0,
                codec: String::new(),
                encodings: Vec::new(),
                reason: reasons.get(i).cloned().unwrap_or_default(),
            })
            .collect();
        for row_group in metadata.row_groups() {
            for (column, chunk) in columns.iter_mut().zip(row_group.columns()) {
                column.add(chunk?);
            }
        }
        let is_before_parquet = matches!(before, Before::InFile(_));
        let (rows, row_groups) = (metadata.num_rows(), metadata.num_row_groups());
        Ok(SizeReport {
            rows,
            row_groups,
            is_before_parquet,
            columns,
            checkpoints: None,
            shreddings: Vec::new(),
            metrics: WriteMetrics::default(),
        })
    }

    /// Adds the metrics of the writer.
    pub(super) fn with_metrics(mut self, metrics: WriteMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// The cost of writing, which the printed report leaves out.
    pub(crate) fn metrics(&self) -> &WriteMetrics {
        &self.metrics
    }

    /// Adds the cost of checkpoints.
    pub(super) fn with_checkpoints(mut self, cost: CheckpointCost) -> Self {
        self.checkpoints = Some(cost);
        self
    }

    /// Adds how the shapes of VARIANTs were chosen.
    pub(crate) fn with_shreddings(mut self, inferred: Vec<InferredShredding>) -> Self {
        self.shreddings = inferred;
        self
    }

    /// Prints the report as a table. `path` is the file, which has `size` bytes.
    pub(crate) fn print(&self, path: &Path, size: u64, output: &mut Output) -> std::io::Result<()> {
        let before = if self.is_before_parquet { ">before" } else { ">in memory" };
        let headings = ["column", ">values", before, ">after", ">ratio", "codec", "encoding", "why"];
        let path = file_name::shown_on_line(path);
        let (rows, row_groups) = (counted(self.rows, "row"), counted(self.row_groups, "row group"));
        output.line(format!("{path}: {rows}, {row_groups}, {}", counted(size, "byte")))?;
        let mut table = TextTable::new(&headings).fitted();
        for column in &self.columns {
            let encodings: Vec<String> = column.encodings.iter().map(EncodingSize::text).collect();
            let cells = [
                column.path.to_string(),
                column.values.to_string(),
                column.before.map(|bytes| bytes.to_string()).unwrap_or_default(),
                column.after.to_string(),
                column.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
                column.codec.clone(),
                encodings.join(", "),
                column.reason.clone(),
            ];
            table.stream(cells, output)?;
        }
        let before: Option<u64> = self.columns.iter().map(|column| column.before).sum();
        let after: u64 = self.columns.iter().map(|column| column.after).sum();
        table.row([
            "total".to_owned(),
            String::new(),
            before.map(|bytes| bytes.to_string()).unwrap_or_default(),
            after.to_string(),
            ratio(before, after).map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            String::new(),
            String::new(),
            String::new(),
        ]);
        table.print(output)?;
        for inferred in &self.shreddings {
            output.line(printable(&shred_plan::told(inferred)))?;
        }
        self.checkpoints.map_or(Ok(()), |cost| output.line(checkpoints_line(cost, size)))
    }

    /// The report as JSON.
    pub(crate) fn json(&self, path: &Path, size: u64) -> Value {
        json!({
            "file": file_name::shown(path),
            "rows": self.rows,
            "row_groups": self.row_groups,
            "size": size,
            "before": if self.is_before_parquet { "parquet" } else { "memory" },
            "checkpoints": self.checkpoints.map(|cost| {
                json!({"count": cost.count, "bytes": cost.bytes, "seconds": cost.time.as_secs_f64()})
            }),
            "shredding": self.shreddings.iter().map(shred_plan::json_of).collect::<Vec<_>>(),
            "columns": self.columns.iter().map(ColumnSize::json).collect::<Vec<_>>(),
        })
    }
}

impl ColumnSize {
    fn add(&mut self, chunk: ColumnChunk<'_>) {
        self.values += size(chunk.num_values());
        self.after += size(chunk.compressed_size());
        self.uncompressed += size(chunk.uncompressed_size());
        self.codec = chunk.compression().to_string();
        for (encoding, pages) in encodings(chunk) {
            match self.encodings.iter_mut().find(|known| known.encoding == encoding) {
                Some(known) => known.pages = known.pages.zip(pages).map(|(a, b)| a + b),
                None => self.encodings.push(EncodingSize { encoding, pages }),
            }
        }
    }

    /// Bytes before divided by bytes after.
    fn ratio(&self) -> Option<f64> {
        ratio(self.before, self.after)
    }

    fn json(&self) -> Value {
        let encodings = self
            .encodings
            .iter()
            .map(|encoding| json!({"encoding": encoding.encoding, "pages": encoding.pages}));
        json!({
            "column": &*self.path,
            "values": self.values,
            "before": self.before,
            "after": self.after,
            "uncompressed": self.uncompressed,
            "ratio": self.ratio(),
            "codec": self.codec,
            "encodings": encodings.collect::<Vec<_>>(),
            "reason": self.reason,
        })
    }
}

impl EncodingSize {
    fn text(&self) -> String {
        match self.pages {
            Some(pages) => format!("{} ({pages})", self.encoding),
            None => self.encoding.clone(),
        }
    }
}

/// The encodings of a chunk's data pages, with their number of pages.
fn encodings(chunk: ColumnChunk<'_>) -> Vec<(String, Option<u64>)> {
    match chunk.encoding_stats() {
        Some(stats) => {
            let data = stats.iter().filter(|stats| stats.page_type != PageType::DICTIONARY_PAGE);
            data.map(|stats| (stats.encoding.to_string(), Some(size(stats.count.into())))).collect()
        }
        None => chunk.encodings().iter().map(|encoding| (encoding.to_string(), None)).collect(),
    }
}

/// The cost of checkpoints in a file of `size` bytes.
fn checkpoints_line(cost: CheckpointCost, size: u64) -> String {
    let CheckpointCost { count, bytes, time, .. } = cost;
    let share = percent(Some(bytes as f64 / size.max(1) as f64));
    format!("checkpoints: {count}, of {bytes} bytes, {share}, took {:.3} s", time.as_secs_f64())
}

fn ratio(before: Option<u64>, after: u64) -> Option<f64> {
    before.filter(|_| after > 0).map(|before| before as f64 / after as f64)
}

/// Invalid sizes count as zero.
fn size(size: i64) -> u64 {
    u64::try_from(size).unwrap_or(0)
}
