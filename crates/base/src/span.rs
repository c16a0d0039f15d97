//! Spans of `tracing`, for who watches what readers and writers do. A build without the feature of that name has `span_off.rs` in
//! its place.

use tracing::{Instrument, debug_span, trace_span};

/// Something that takes a while. All have the target `marquetry`.
///
/// ```
/// use marquetry_base::Span;
/// let rows = Span::batch().in_scope(|| 100);
/// assert_eq!(rows, 100);
/// ```
#[derive(Debug, Clone)]
pub struct Span(tracing::Span);

impl Span {
    /// Opening a file: reading its footer.
    pub fn open() -> Self {
        Span(debug_span!(target: "marquetry", "open"))
    }

    /// Fetching byte ranges from where they come late.
    pub fn fetch(requests: usize, bytes: u64) -> Self {
        Span(debug_span!(target: "marquetry", "fetch", requests, bytes))
    }

    /// Reading bytes from where they are at hand.
    pub fn read() -> Self {
        Span(trace_span!(target: "marquetry", "read"))
    }

    /// Beginning to read a row group: pruning, and finding the rows that a filter wants.
    pub fn row_group(index: usize) -> Self {
        Span(debug_span!(target: "marquetry", "row_group", index))
    }

    /// Making the next batch.
    pub fn batch() -> Self {
        Span(trace_span!(target: "marquetry", "batch"))
    }

    /// Encoding rows.
    pub fn encode(rows: usize) -> Self {
        Span(trace_span!(target: "marquetry", "encode", rows))
    }

    /// Ending a row group, and giving it to the sink.
    pub fn write_row_group(index: usize, rows: u64) -> Self {
        Span(debug_span!(target: "marquetry", "write_row_group", index, rows))
    }

    /// Writing the end of a file.
    pub fn finish() -> Self {
        Span(debug_span!(target: "marquetry", "finish"))
    }

    /// The one that the caller is in.
    pub fn current() -> Self {
        Span(tracing::Span::current())
    }

    /// Does `work` in it.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// The same future, in it whenever it is polled.
    pub fn instrument<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        future.instrument(self.0)
    }
}
