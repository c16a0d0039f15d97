//! Stores that fail, give too little or change, and streams that are given up.

use super::store::{Faults, Store};
use super::{collect, file, one, rows};
use arrow_array::RecordBatch;
use bytes::Bytes;
use futures::task::noop_waker;
use futures::{FutureExt, StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::async_reader::{
    CoalesceOptions, ParquetRecordBatchStream, ParquetRecordBatchStreamBuilder,
};
use marquetry_base::{ErrorKind, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

/// Rows whose file is larger than what is read first.
fn large() -> (RecordBatch, Bytes) {
    let rows = rows(40_000);
    let file = file(&rows, 10_000, 1000);
    assert!(file.len() > 200_000);
    (rows, file)
}

fn stream(store: &Store) -> Result<ParquetRecordBatchStream<Store>> {
    let metadata = block_on(ArrowReaderMetadata::load_async(store, ArrowReaderOptions::new()))?;
    ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata)
        .with_request_cost(CoalesceOptions::new(0, 20_000))
        .with_prefetch(150_000)
        .build()
}

/// Rows of the row group that was read are lost: the next poll says so, and the stream is over.
#[test]
fn a_stream_whose_source_panicked_says_so() {
    let (_, file) = large();
    let store = Store::new(file.clone());
    collect(stream(&store).unwrap()).unwrap();
    // The first call is that of the footer.
    for call in 1..store.calls() {
        let store = Store::with(file.clone(), Faults { panics: Some(call), ..Faults::default() });
        let mut stream = stream(&store).unwrap();
        let mut next = || catch_unwind(AssertUnwindSafe(|| block_on(stream.next())));
        let panicked = loop {
            match next() {
                Ok(Some(Ok(_))) => {}
                Ok(_) => break false,
                Err(_) => break true,
            }
        };
        assert!(panicked, "call {call}");
        let error = next().unwrap().unwrap().unwrap_err();
        assert!(error.message().contains("reading panicked before"), "{error}");
        assert!(next().unwrap().is_none());
    }
}

/// So does the next row group of such a stream.
#[test]
fn a_row_group_whose_source_panicked_says_so() {
    let (_, file) = large();
    let groups = |stream: &mut ParquetRecordBatchStream<Store>| {
        let mut next = || catch_unwind(AssertUnwindSafe(|| block_on(stream.next_row_group())));
        loop {
            match next() {
                Ok(Ok(Some(_))) => {}
                Ok(Ok(None)) => return false,
                Ok(Err(error)) => panic!("{error}"),
                Err(_) => break,
            }
        }
        let error = next().unwrap().map(|_| ()).unwrap_err();
        assert!(error.message().contains("reading panicked before"), "{error}");
        assert!(next().unwrap().unwrap().is_none());
        true
    };
    let store = Store::new(file.clone());
    assert!(!groups(&mut stream(&store).unwrap()));
    // The first call is that of the footer.
    for call in 1..store.calls() {
        let store = Store::with(file.clone(), Faults { panics: Some(call), ..Faults::default() });
        assert!(groups(&mut stream(&store).unwrap()), "call {call}");
    }
}

#[test]
fn every_failure_is_an_error_and_the_end() {
    let (_, file) = large();
    let calls = {
        let store = Store::new(file.clone());
        collect(stream(&store).unwrap()).unwrap();
        store.calls()
    };
    assert!(calls >= 4, "{calls}");
    for call in 0..calls {
        let call = Some(call);
        let faults = [
            (Faults { fails: call, ..Faults::default() }, "out of order"),
            (Faults { short: call, ..Faults::default() }, ""),
            (Faults { fewer: call, latency: 1, ..Faults::default() }, "ranges of the file"),
            (Faults { changes: call, latency: 2, ..Faults::default() }, "has changed"),
        ];
        for (fault, message) in faults {
            let store = Store::with(file.clone(), fault);
            let read = stream(&store).and_then(collect);
            if call == Some(0) && (fault.fewer.is_some() || fault.changes.is_some()) {
                // The first call gives no parts, and a file that is another one from there on is one file.
                assert!(read.is_ok());
                continue;
            }
            let error = read.unwrap_err();
            assert!(error.message().contains(message), "{fault:?}: {error}");
            assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Corrupt), "{fault:?}: {error}");
            assert_eq!(store.running(), 0);
        }
    }
}

#[test]
fn metadata_of_another_version_is_refused() {
    let (_, file) = large();
    let store = Store::with(file, Faults { changes: Some(1), ..Faults::default() });
    let metadata = block_on(ArrowReaderMetadata::load_async(&store, ArrowReaderOptions::new())).unwrap();
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store, metadata).build().unwrap();
    assert!(collect(stream).unwrap_err().message().contains("has changed"));
}

/// A future of the next batch may be dropped at each wait; the stream goes on where it was.
#[test]
fn futures_that_are_given_up_lose_nothing() {
    let (rows, file) = large();
    let store = Store::with(file, Faults { latency: 3, ..Faults::default() });
    let mut stream = stream(&store).unwrap();
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let (mut batches, mut given_up) = (Vec::new(), 0);
    loop {
        // Polled once, then dropped.
        match stream.next().poll_unpin(&mut cx) {
            Poll::Ready(Some(batch)) => batches.push(batch.unwrap()),
            Poll::Ready(None) => break,
            Poll::Pending => given_up += 1,
        }
    }
    assert!(given_up >= 3, "{given_up}");
    assert_eq!(one(stream.schema(), &batches), rows);
}

/// A stream may be dropped at each wait: whatever was asked for is given up.
#[test]
fn streams_that_are_dropped_leave_nothing_running() {
    let (_, file) = large();
    let waker = noop_waker();
    for polls in 0..40 {
        let store = Store::with(file.clone(), Faults { latency: 3, ..Faults::default() });
        let mut stream = stream(&store).unwrap();
        let mut cx = Context::from_waker(&waker);
        for _ in 0..polls {
            let _ = stream.poll_next_unpin(&mut cx);
        }
        drop(stream);
        assert_eq!(store.running(), 0);
        // So may what opens a file.
        let mut opening = Box::pin(ParquetRecordBatchStreamBuilder::new(store.clone()));
        let _ = opening.poll_unpin(&mut cx);
        drop(opening);
        assert_eq!(store.running(), 0);
    }
}
