//! The framing that Hadoop puts around its LZ4 and LZO blocks. All numbers are big-endian.
//!
//! ```text
//! ([decompressed size: u32] ([stored size: u32][stored bytes])+)*     a block is cut into chunks
//! ```

use marquetry_base::{ByteCursor, Error, Result};

/// Fills `output` from the blocks of `input`. `chunk` decompresses one chunk and returns the number of bytes it produced.
///
/// Fails unless the blocks fill all of `output` and use all of `input`: that distinguishes this framing from a bare
/// block.
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
        return Err(Error::truncated(format!("Hadoop blocks of {at} bytes, {} expected", output.len())));
    }
    Ok(())
}
