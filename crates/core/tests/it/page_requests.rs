//! How much of a file is asked for, and in how many pieces: pages once, and not those that are skipped.

use crate::chunk::file::{Counted, File, Reading, reader};
use crate::chunk::{Column, Layout, PLAIN};
use crate::pages::v1;
use marquetry_core::page::PageBufferPool;
use marquetry_core::source::Source;
use marquetry_encoding::Values;
use std::sync::Arc;

/// Pages of `len` bytes each, read front to back in batches as one of so many columns: the lengths of the reads, and bytes
/// read for each byte of the chunk.
fn reads_of(len: usize, pages: usize, columns: usize) -> (Vec<usize>, f64) {
    let column = Column::ints((0..len / 4 * pages).map(|i| i as u32));
    let layout = Layout { cuts: vec![len / 4; pages], encoding: PLAIN, checksums: false, ..v1() };
    let file = File::flat(&column, &layout);
    let source = Counted::new(file.finish());
    let mut reader = reader(source.clone() as Arc<dyn Source>, &Reading::default())
        .with_buffer_pool(Arc::new(PageBufferPool::for_columns(columns)));
    source.take();
    for start in (0..column.len()).step_by(8_192) {
        let n = (column.len() - start).min(8_192);
        let values = (start..start + n).map(|i| i as u32).collect();
        assert_eq!(reader.read(n).unwrap().values, Values::W32(values));
    }
    let reads: Vec<usize> = source.take().into_iter().map(|(_, len)| len).collect();
    let bytes: usize = reads.iter().sum();
    (reads, bytes as f64 / file.bytes.len() as f64)
}

#[test]
fn bytes_are_read_once_and_in_large_pieces() {
    for (len, pages, most_reads) in [
        (1_000, 20, 1),
        (8_000, 1_000, 9),
        (64 << 10, 100, 8),
        (100_000, 80, 9),
        (400_000, 20, 21),
        (600_000, 3, 1),
        (1 << 20, 10, 11),
        (1_100_000, 10, 11),
        (5_000_000, 3, 4),
    ] {
        let (reads, ratio) = reads_of(len, pages, 1);
        assert!(reads.len() <= most_reads, "{} reads of {pages} pages of {len} bytes", reads.len());
        assert!(ratio < 1.2, "{ratio:.2} times the bytes of {pages} pages of {len} bytes");
    }
}

#[test]
fn columns_that_are_read_side_by_side_share_what_is_read_ahead() {
    for (len, pages, columns, longest) in
        [(8_000, 1_000, 100, 400 << 10), (64 << 10, 50, 100, 400 << 10), (1_000, 5_000, 100_000, 17 << 10)]
    {
        let (reads, ratio) = reads_of(len, pages, columns);
        assert!(reads.iter().all(|read| *read <= longest), "{reads:?} of pages of {len} bytes");
        assert!(ratio < 1.2, "{ratio:.2} times the bytes of {pages} pages of {len} bytes");
    }
}

#[test]
fn pages_that_are_skipped_are_not_read() {
    let column = Column::ints(0..3_000_000);
    let file = File::flat(&column, &Layout { cuts: vec![1_000_000; 3], ..v1() });
    let source = Counted::new(file.finish());
    let mut reader = reader(source.clone() as Arc<dyn Source>, &Reading::default());
    source.take();
    reader.skip(2_999_999).unwrap();
    assert_eq!(reader.read(1).unwrap().values, Values::W32(vec![2_999_999]));
    let bytes: usize = source.take().iter().map(|(_, len)| len).sum();
    assert!(bytes < 8 << 20, "{bytes} of 12 MB");
}
