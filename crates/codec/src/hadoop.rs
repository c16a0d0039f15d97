//! The framing that Hadoop puts around its LZ4 and LZO blocks; all numbers big-endian.
//!
//! ```text
//! ([decompressed size: u32] ([stored size: u32][stored bytes])+)*     a block is cut into chunks
//! ```

use marquetry_base::{ByteCursor, Error, Result};

/// Fills `output` from the blocks of `input`; `chunk` decompresses one chunk and tells how many bytes it made.
///
/// Fails unless the blocks fill `output` to the last byte and use `input` to the last byte: that is what tells this
/// framing from a bare block.
pub(crate) fn decompress(
    input: &[u8],
    output: &mut [u8],
    chunk: impl Fn(&[u8], &mut [u8]) -> Result<usize>,
) -> Result<()> {
    let mut cursor = ByteCursor::new(input);
    let mut at = 0;
    while !cursor.is_empty() {
        let block = cursor.u32_le()?.swap_bytes() as usize;
        if block > output.len() - at {
            return Err(Error::corrupt(format!(
                "a Hadoop block of {block} bytes where {} are left",
                output.len() - at
            )));
        }
        let end = at + block;
        while at < end {
            let stored = cursor.u32_le()?.swap_bytes() as usize;
            at += chunk(cursor.take(stored)?, &mut output[at..end])?;
        }
    }
    if at < output.len() {
        return Err(Error::truncated(format!("Hadoop blocks of {at} bytes, {} wanted", output.len())));
    }
    Ok(())
}
