//! Prints the metrics of reading and writing on standard error.

use crate::failure::Failure;
use crate::file_name::{shown, shown_on_line};
use crate::output::Output;
use clap::Args as ClapArgs;
use marquetry::metrics::{Pruned, ReadMetrics, WriteMetrics};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

/// Whether metrics are told.
#[derive(Debug, Clone, Copy, Default, ClapArgs)]
pub(crate) struct MetricsArgs {
    /// Tell on standard error what reading and writing cost: requests, bytes, pages, what was skipped and why, times, memory;
    /// with --format json as one object a line
    #[arg(long)]
    metrics: bool,
}

impl MetricsArgs {
    /// Reports the cost of reading `path`, if wanted.
    pub(crate) fn tell_read(
        self,
        path: &Path,
        metrics: &ReadMetrics,
        output: &mut Output,
    ) -> Result<(), Failure> {
        self.tell(path, "read", || of_reading(metrics), output)
    }

    /// Reports the cost of writing `path`, if wanted.
    pub(crate) fn tell_written(
        self,
        path: &Path,
        metrics: &WriteMetrics,
        output: &mut Output,
    ) -> Result<(), Failure> {
        self.tell(path, "write", || of_writing(metrics), output)
    }

    fn tell(
        self,
        path: &Path,
        what: &str,
        counted: impl FnOnce() -> Vec<(&'static str, Counted)>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if !self.metrics {
            return Ok(());
        }
        let text = match output.is_json() {
            true => {
                let members: Map<String, Value> = counted().into_iter().map(member).collect();
                format!("{}\n", json!({"file": shown(path), what: members}))
            }
            false => {
                let mut text = format!("{}: {what}\n", shown_on_line(path));
                for (name, counted) in counted() {
                    let _ = writeln!(text, "  {name:<24} {}", counted.text());
                }
                text
            }
        };
        // On a terminal, metrics follow the rows.
        output.flush()?;
        // There is nowhere left to report that this failed.
        let _ = io::stderr().write_all(text.as_bytes());
        Ok(())
    }
}

/// A metric.
enum Counted {
    Count(u64),
    Time(Duration),
    Pruned(Pruned),
}

impl Counted {
    fn text(&self) -> String {
        match self {
            Counted::Count(count) => count.to_string(),
            Counted::Time(time) => format!("{:.6} s", time.as_secs_f64()),
            Counted::Pruned(Pruned { row_groups, rows, .. }) => format!("{rows} ({row_groups} row groups)"),
        }
    }
}

/// A member of a JSON object; names of times end in `_seconds`.
fn member((name, counted): (&str, Counted)) -> (String, Value) {
    let name = name.replace(' ', "_");
    match counted {
        Counted::Count(count) => (name, json!(count)),
        Counted::Time(time) => (format!("{name}_seconds"), json!(time.as_secs_f64())),
        Counted::Pruned(Pruned { row_groups, rows, .. }) => {
            (name, json!({"row_groups": row_groups, "rows": rows}))
        }
    }
}

fn of_reading(metrics: &ReadMetrics) -> Vec<(&'static str, Counted)> {
    use Counted::{Count, Pruned, Time};
    vec![
        ("requests", Count(metrics.requests)),
        ("bytes fetched", Count(metrics.bytes_fetched)),
        ("fetch", Time(metrics.fetch_time)),
        ("row groups", Count(metrics.row_groups)),
        ("pruned by statistics", Pruned(metrics.statistics)),
        ("pruned by bloom filters", Pruned(metrics.bloom_filters)),
        ("pruned by dictionaries", Pruned(metrics.dictionaries)),
        ("pruned by page index", Pruned(metrics.page_index)),
        ("pages", Count(metrics.pages)),
        ("pages skipped", Count(metrics.pages_skipped)),
        ("decompressed bytes", Count(metrics.decompressed_bytes)),
        ("decompress", Time(metrics.decompress_time)),
        ("filtered rows", Count(metrics.filtered_rows)),
        ("filter", Time(metrics.filter_time)),
        ("decode", Time(metrics.decode_time)),
        ("rows", Count(metrics.rows)),
        ("batches", Count(metrics.batches)),
    ]
}

fn of_writing(metrics: &WriteMetrics) -> Vec<(&'static str, Counted)> {
    use Counted::{Count, Time};
    vec![
        ("rows", Count(metrics.rows)),
        ("row groups", Count(metrics.row_groups)),
        ("pages", Count(metrics.pages)),
        ("uncompressed bytes", Count(metrics.uncompressed_bytes)),
        ("compressed bytes", Count(metrics.compressed_bytes)),
        ("dictionaries", Count(metrics.dictionaries)),
        ("dictionaries given up", Count(metrics.dictionaries_given_up)),
        ("encode", Time(metrics.encode_time)),
        ("compress", Time(metrics.compress_time)),
        ("spilled bytes", Count(metrics.spilled_bytes)),
        ("spill", Time(metrics.spill_time)),
        ("bytes written", Count(metrics.bytes_written)),
        ("sink", Time(metrics.sink_time)),
        ("sync", Time(metrics.sync_time)),
        ("peak memory", Count(metrics.peak_memory)),
    ]
}
