//! A store in memory that can be slow, fail, give too little, and change its file.

use bytes::Bytes;
use futures::future::BoxFuture;
use marquetry_arrow::async_reader::{AsyncSource, FileVersion, Tail};
use marquetry_base::{Error, ErrorKind, Result};
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// A file in a store; clones are the same file.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    file: Bytes,
    faults: Faults,
    calls: AtomicUsize,
    /// What was fetched, in order: the end of the file and ranges.
    requests: Mutex<Vec<Range<u64>>>,
    /// Calls that were begun and neither answered nor given up.
    running: AtomicUsize,
}

/// What goes wrong. Calls are counted from 0; the first one asks for the end of the file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// How often a call is polled before it has its answer.
    pub(crate) latency: usize,
    /// The first calls take longer than those after them.
    pub(crate) first_is_slow: bool,
    /// This call fails.
    pub(crate) fails: Option<usize>,
    /// This call gives a byte less than it should.
    pub(crate) short: Option<usize>,
    /// This call gives a part less than it should.
    pub(crate) fewer: Option<usize>,
    /// From this call on the file is another one.
    pub(crate) changes: Option<usize>,
    /// This call panics.
    pub(crate) panics: Option<usize>,
}

impl Store {
    pub(crate) fn new(file: impl Into<Bytes>) -> Self {
        Store::with(file, Faults::default())
    }

    pub(crate) fn with(file: impl Into<Bytes>, faults: Faults) -> Self {
        let (calls, requests, running) = Default::default();
        Store(Arc::new(Inner { file: file.into(), faults, calls, requests, running }))
    }

    /// The requests since this was last asked.
    pub(crate) fn take_requests(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.0.requests.lock().unwrap())
    }

    pub(crate) fn calls(&self) -> usize {
        self.0.calls.load(SeqCst)
    }

    pub(crate) fn running(&self) -> usize {
        self.0.running.load(SeqCst)
    }

    /// Answers after the latency, wakes its task in the meantime.
    fn answer<T: Send + 'static>(
        &self,
        answer: impl FnOnce(&Inner, usize) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let inner = self.0.clone();
        let call = inner.calls.fetch_add(1, SeqCst);
        inner.running.fetch_add(1, SeqCst);
        let running = Running(inner.clone());
        Box::pin(async move {
            let running = running;
            let times = if inner.faults.first_is_slow { 20usize.saturating_sub(call) } else { 1 };
            Later(inner.faults.latency * times).await;
            assert!(inner.faults.panics != Some(call), "a store that panics");
            if inner.faults.fails == Some(call) {
                return Err(Error::new(ErrorKind::Io, "the store is out of order"));
            }
            let answer = answer(&inner, call);
            drop(running);
            answer
        })
    }
}

impl Inner {
    fn version(&self, call: usize) -> FileVersion {
        let tag = if self.faults.changes.is_some_and(|changes| call >= changes) { "new" } else { "old" };
        FileVersion::new(self.file.len() as u64, Some(tag.into()))
    }

    fn read(&self, range: Range<u64>) -> Bytes {
        self.requests.lock().unwrap().push(range.clone());
        self.file.slice(range.start as usize..range.end as usize)
    }
}

impl AsyncSource for Store {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        self.answer(move |inner, call| {
            let end = inner.file.len();
            let mut bytes = inner.read(end.saturating_sub(len) as u64..end as u64);
            if inner.faults.short == Some(call) {
                bytes.truncate(bytes.len() - 1);
            }
            Ok(Tail::new(inner.version(call), bytes))
        })
    }

    fn read_ranges<'a>(
        &'a self,
        version: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        let version = version.clone();
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
        assert!(ranges.iter().all(|range| range.start < range.end && range.end <= version.len), "{ranges:?}");
        self.answer(move |inner, call| {
            if inner.version(call) != version {
                return Err(Error::new(ErrorKind::Io, "the file has changed"));
            }
            let mut parts: Vec<Bytes> = ranges.into_iter().map(|range| inner.read(range)).collect();
            if inner.faults.short == Some(call) {
                let last = parts.last_mut().unwrap();
                last.truncate(last.len() - 1);
            }
            if inner.faults.fewer == Some(call) {
                parts.pop();
            }
            Ok(parts)
        })
    }
}

struct Running(Arc<Inner>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, SeqCst);
    }
}

struct Later(usize);

impl Future for Later {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
