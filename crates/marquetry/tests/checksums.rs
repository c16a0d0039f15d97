//! Wrong checksums are found, and say where; who does not want to know reads the values all the same.

mod cells;
mod corpus;

use marquetry::errors::{Error, Kind};

fn read(bytes: bytes::Bytes, verify: bool) -> Result<Vec<Vec<String>>, Error> {
    let mut reader = marquetry::open_bytes(bytes)?.verify_checksums(verify).batches()?;
    cells::columns(std::iter::from_fn(|| reader.next_batch()))
}
