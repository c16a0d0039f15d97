//! LZO (3): LZO1X streams in Hadoop's framing, or one stream without framing.
//!
//! An instruction byte says whether literals or a match follow. The meaning of a byte below 16 depends on how many literals came
//! before (the state, 4 for "four or more"). The two low bits of each match are the number of literals, 0 to 3, that follow it.
//!
//! ```text
//! first byte only   18..=255   byte - 17 literals
//! 0000LLLL          state 0    3 + L literals, L = 0: 18 + more
//! 0000DDSS HHHHHHHH state 1-3  2 bytes from (H << 2) + D + 1 back
//! 0000DDSS HHHHHHHH state 4    3 bytes from (H << 2) + D + 2049 back
//! 0001HLLL LE16 D:14 S:2       2 + L bytes, L = 0: 9 + more, from 16384 + (H << 14) + D back; 16384 back: the end
//! 001LLLLL LE16 D:14 S:2       2 + L bytes, L = 0: 33 + more, from D + 1 back
//! 01LDDDSS HHHHHHHH            3 + L bytes from (H << 3) + D + 1 back
//! 1LLDDDSS HHHHHHHH            5 + L bytes from (H << 3) + D + 1 back
//! more: n zero bytes and a byte b > 0 are 255 n + b
//! ```

use crate::codec::Codec;
use crate::hadoop;
use marquetry_base::{ByteCursor, Error, Result};

/// Maximum expansion: each byte of a length field adds at most 255 bytes.
const MAX_EXPANSION: usize = 255;

/// The distance of the match that ends a stream.
const END_DISTANCE: usize = 16384;

pub(crate) fn decompress(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    Codec::Lzo.reserve(input.len(), MAX_EXPANSION, size, output)?;
    output.resize(size, 0);
    // QUIRK: the spec names no framing; the Java writers use Hadoop's. Its sizes must add up to the last byte.
    if hadoop::decompress(input, output, decompress_stream).is_ok() {
        return Ok(());
    }
    let produced = decompress_stream(input, output).map_err(|cause| Codec::Lzo.refused(cause))?;
    Codec::Lzo.check_produced(produced, size)
}

/// Decompresses one LZO1X stream to the front of `output` and returns the number of bytes.
fn decompress_stream(input: &[u8], output: &mut [u8]) -> Result<usize> {
    let mut stream = Stream { input: ByteCursor::new(input), output, at: 0 };
    let mut state = 0;
    if let Some(&first @ 18..) = input.first() {
        stream.input.skip(1)?;
        state = stream.literals(usize::from(first) - 17)?;
    }
    loop {
        let instruction = usize::from(stream.input.u8()?);
        state = match stream.step(instruction, state)? {
            Some(state) => state,
            None => break,
        };
    }
    if !stream.input.is_empty() {
        return Err(Error::corrupt("bytes after the end of an LZO stream"));
    }
    Ok(stream.at)
}

struct Stream<'a> {
    input: ByteCursor<'a>,
    output: &'a mut [u8],
    at: usize,
}

impl Stream<'_> {
    /// Carries out one instruction. Returns the next state, or `None` at the end.
    fn step(&mut self, instruction: usize, state: usize) -> Result<Option<usize>> {
        let (distance, length, following) = match instruction {
            0..16 if state == 0 => {
                let length = self.length(instruction, 15)?;
                return self.literals(length.saturating_add(3)).map(Some);
            }
            0..16 => {
                let near = (self.byte()? << 2) + (instruction >> 2);
                match state {
                    4 => (near + 2049, 3, instruction),
                    _ => (near + 1, 2, instruction),
                }
            }
            16..32 => {
                let length = self.length(instruction & 7, 7)?;
                let low = usize::from(self.input.u16_le()?);
                let distance = END_DISTANCE + ((instruction & 8) << 11) + (low >> 2);
                if distance == END_DISTANCE {
                    return Ok(None);
                }
                (distance, length.saturating_add(2), low)
            }
            32..64 => {
                let length = self.length(instruction & 31, 31)?;
                let low = usize::from(self.input.u16_le()?);
                ((low >> 2) + 1, length.saturating_add(2), low)
            }
            _ => {
                let distance = (self.byte()? << 3) + (instruction >> 2 & 7) + 1;
                (distance, (instruction >> 5) + 1, instruction)
            }
        };
        self.copy(distance, length)?;
        self.literals(following & 3).map(Some)
    }

    fn byte(&mut self) -> Result<usize> {
        self.input.u8().map(usize::from)
    }

    /// Reads a length: `bits`, or if these are 0, `longest` plus what the following bytes add.
    fn length(&mut self, bits: usize, longest: usize) -> Result<usize> {
        if bits > 0 {
            return Ok(bits);
        }
        let mut length = longest;
        loop {
            match self.byte()? {
                0 => length = length.saturating_add(255),
                last => return Ok(length.saturating_add(last)),
            }
        }
    }

    /// Copies `n` bytes of the input. Returns the state after them.
    fn literals(&mut self, n: usize) -> Result<usize> {
        let bytes = self.input.take(n)?;
        self.room(n)?.copy_from_slice(bytes);
        self.at += n;
        Ok(n.min(4))
    }

    /// Copies `n` bytes of the output. The source may overlap the bytes being written.
    fn copy(&mut self, distance: usize, n: usize) -> Result<()> {
        if distance > self.at {
            return Err(Error::corrupt(format!("an LZO match from {distance} bytes back after {}", self.at)));
        }
        self.room(n)?;
        let (start, end) = (self.at - distance, self.at + n);
        // PERF: the bytes written so far repeat with the period `distance`, so each round can copy twice as many.
        while self.at < end {
            let part = (self.at - start).min(end - self.at);
            self.output.copy_within(start..start + part, self.at);
            self.at += part;
        }
        Ok(())
    }

    fn room(&mut self, n: usize) -> Result<&mut [u8]> {
        let left = self.output.len() - self.at;
        self.output
            .get_mut(self.at..self.at.saturating_add(n))
            .ok_or_else(|| Error::corrupt(format!("{n} bytes of an LZO stream where {left} are left")))
    }
}

#[cfg(test)]
#[allow(clippy::unusual_byte_groupings)] // grouped by the fields of an instruction
mod tests {
    use super::*;

    fn read(page: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut output = Vec::new();
        decompress(page, size, &mut output).map(|()| output)
    }

    const LITERALS: &[u8] = &[
        17 + 5, // 5 literals
        b'h',
        b'e',
        b'l',
        b'l',
        b'o', //
        0x11,
        0,
        0, // end
    ];

    const MATCHES: &[u8] = &[
        17 + 4, // 4 literals, state 4
        b'a',
        b'b',
        b'c',
        b'd', //
        0b1_11_011_01,
        0,    // 5 + 3 bytes from 4 back: abcdabcd; 1 literal
        b'x', //
        0b0000_00_00,
        0,           // state 1: 2 bytes from 1 back: xx
        0b0000_0001, // state 0: 3 + 1 literals
        b'1',
        b'2',
        b'3',
        b'4', //
        0b01_1_011_00,
        0, // 3 + 1 bytes from 4 back: 1234
        0b001_00000,
        0,
        2, // 33 + 255 + 2 bytes
        0,
        0, //   from 1 back: 4
        0x11,
        0,
        0, // end
    ];

    #[test]
    fn literals_only() {
        assert_eq!(read(LITERALS, 5).unwrap(), b"hello");
        assert_eq!(read(&[0x11, 0, 0], 0).unwrap(), b"");
        assert!(read(LITERALS, 4).is_err());
        assert!(read(LITERALS, 6).is_err());
        assert!(read(&LITERALS[..6], 5).is_err());
    }

    #[test]
    fn matches_of_all_lengths() {
        let mut wanted = b"abcdabcdabcdxxx12341234".to_vec();
        wanted.extend([b'4'; 290]);
        assert_eq!(read(MATCHES, wanted.len()).unwrap(), wanted);
    }

    #[test]
    fn hadoop_blocks_of_several_chunks() {
        let page = [
            &[0, 0, 0, 10][..], // block 0: 10 bytes
            &[0, 0, 0, 9],      //   chunk 0: 9 stored
            LITERALS,           //
            &[0, 0, 0, 9],      //   chunk 1: 9 stored
            LITERALS,           //
            &[0, 0, 0, 5],      // block 1: 5 bytes
            &[0, 0, 0, 9],      //   chunk 0: 9 stored
            LITERALS,
        ]
        .concat();
        assert_eq!(read(&page, 15).unwrap(), b"hellohellohello");
        assert!(read(&page, 14).is_err());
        assert!(read(&page, 16).is_err());
    }

    #[test]
    fn a_match_cannot_reach_before_the_start() {
        let page = [
            17 + 4, // 4 literals
            b'a',
            b'b',
            b'c',
            b'd', //
            0b1_00_100_00,
            0, // 5 bytes from 5 back
            0x11,
            0,
            0, // end
        ];
        assert!(read(&page, 9).is_err());
    }
}
