//! Spans of `tracing`, for observers of readers and writers. A build without the feature of that name has `span_off.rs` in its place.

use tracing::{Instrument, debug_span, trace_span};

/// A span: an operation that takes a while. All spans have the target `marquetry`.
///
/// ```
/// use marquetry_base::Span;
/// let rows = Span::batch().in_scope(|| 100);
/// assert_eq!(rows, 100);
/// ```
#[derive(Debug, Clone)]
pub struct Span(tracing::Span);

impl Span {
    /// The span of opening a file, which reads its footer.
    pub fn open() -> Self {
        Span(debug_span!(target: "marquetry", "open"))
    }

    /// The span of fetching byte ranges from an asynchronous source.
    pub fn fetch(requests: usize, bytes: u64) -> Self {
        Span(debug_span!(target: "marquetry", "fetch", requests, bytes))
    }

    /// The span of reading bytes from a blocking source.
    pub fn read() -> Self {
        Span(trace_span!(target: "marquetry", "read"))
    }

    /// The span of starting a row group: pruning it, and finding the rows that a filter selects.
    pub fn row_group(index: usize) -> Self {
        Span(debug_span!(target: "marquetry", "row_group", index))
    }

    /// The span of producing the next batch.
    pub fn batch() -> Self {
        Span(trace_span!(target: "marquetry", "batch"))
    }

    /// The span of encoding rows.
    pub fn encode(rows: usize) -> Self {
        Span(trace_span!(target: "marquetry", "encode", rows))
    }

    /// The span of finishing a row group and passing it to the sink.
    pub fn write_row_group(index: usize, rows: u64) -> Self {
        Span(debug_span!(target: "marquetry", "write_row_group", index, rows))
    }

    /// The span of writing the end of a file.
    pub fn finish() -> Self {
        Span(debug_span!(target: "marquetry", "finish"))
    }

    /// The span that the caller is in.
    pub fn current() -> Self {
        Span(tracing::Span::current())
    }

    /// Does `work` inside the span.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Wraps a future so that it is inside the span whenever it is polled.
    pub fn instrument<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        future.instrument(self.0)
    }
}
