//! Split block bloom filters: whether a value may be among those of a column chunk, or is not for sure.
//!
//! Spec: BloomFilter.md.
//!
//! ```text
//! filter := header bits       header: Thrift BloomFilterHeader; bits: numBytes
//! bits   := block*            block: 8 words of 32 bits, little-endian
//! ```
//!
//! The upper half of a value's hash chooses a block, the lower half one bit in each of its words.

use crate::sort_order::plain_value;
use marquetry_base::{Error, Result};
use marquetry_encoding::Values;
use marquetry_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader, Reader, Writer,
};
use std::ops::Range;
use twox_hash::XxHash64;

/// A bloom filter of one column chunk.
///
/// ```
/// use marquetry_core::statistics::BloomFilter;
/// let mut filter = BloomFilter::new(1_000, 0.01);
/// filter.insert_hash(BloomFilter::hash(b"hello"));
/// assert!(filter.might_contain(b"hello"));
/// assert!(!filter.might_contain(b"world"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomFilter {
    /// INVARIANT: 1 to [`MOST_BLOCKS`].
    blocks: Vec<[u32; 8]>,
}

impl BloomFilter {
    /// An empty filter for `ndv` distinct values: the smallest whose false positive probability is at most `fpp` once they are inserted. Its
    /// size is a power of two, from 32 bytes to 128 MiB.
    pub fn new(ndv: u64, fpp: f64) -> Self {
        // SPEC: "Sizing an SBBF" has only examples; this is the exact probability that they are of.
        let powers = (0..=MOST_BLOCKS.ilog2()).map(|power| 1usize << power);
        let enough = |blocks: &usize| false_positives(ndv as f64 / *blocks as f64) <= fpp;
        BloomFilter { blocks: vec![[0; 8]; powers.clone().find(enough).unwrap_or(MOST_BLOCKS)] }
    }

    /// Inserts the values in `range`.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn insert(&mut self, values: &Values, range: Range<usize>) {
        Self::each_hash(values, range, |hash| self.insert_hash(hash));
    }

    /// Gives the [`hash`](Self::hash) of each value in `range` to `take`.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn each_hash(values: &Values, range: Range<usize>, mut take: impl FnMut(u64)) {
        let mut scratch = [0; 8];
        match values {
            Values::W32(words) => words[range].iter().for_each(|word| take(Self::hash(&word.to_le_bytes()))),
            Values::W64(words) => words[range].iter().for_each(|word| take(Self::hash(&word.to_le_bytes()))),
            _ => range.for_each(|i| take(Self::hash(plain_value(values, i, &mut scratch)))),
        }
    }

    /// Inserts the value of this [`hash`](Self::hash).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        let block = self.block_of(hash);
        let mask = mask(hash as u32);
        self.blocks[block].iter_mut().zip(mask).for_each(|(word, bit)| *word |= bit);
    }

    /// The hash of a value: xxHash64 with seed 0. The value is PLAIN, byte strings without their length.
    #[inline]
    pub fn hash(value: &[u8]) -> u64 {
        XxHash64::oneshot(0, value)
    }

    /// Whether a value may have been inserted. `false` is certain, `true` is not. The value is PLAIN-encoded, byte strings without their
    /// length prefix. Floats are compared by their bits: to look for zero, ask for -0.0 and for 0.0.
    pub fn might_contain(&self, value: &[u8]) -> bool {
        self.might_contain_hash(Self::hash(value))
    }

    /// Whether the value of this [`hash`](Self::hash) may have been inserted.
    pub fn might_contain_hash(&self, hash: u64) -> bool {
        let block = &self.blocks[self.block_of(hash)];
        block.iter().zip(mask(hash as u32)).all(|(word, bit)| word & bit != 0)
    }

    /// How many bytes the bits have.
    pub fn num_bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Halves the filter as long as its false positive probability stays at most `fpp`. So the number of distinct values need not be known in
    /// advance: make the filter for more values than there are, then shrink it.
    pub fn shrink(&mut self, fpp: f64) {
        while self.blocks.len().is_multiple_of(2) {
            let halved: Vec<[u32; 8]> = self
                .blocks
                .as_chunks::<2>()
                .0
                .iter()
                .map(|[a, b]| std::array::from_fn(|word| a[word] | b[word]))
                .collect();
            // Block `i` of 2n takes the hashes that block `i / 2` of n does: the filter is what it were if all values
            // had been inserted into it.
            if share_of_maybe(&halved) > fpp {
                return;
            }
            self.blocks = halved;
        }
    }

    /// Appends header and bits.
    pub fn write(&self, out: &mut Vec<u8>) {
        let header = BloomFilterHeader {
            num_bytes: self.num_bytes() as i32,
            algorithm: BloomFilterAlgorithm::Block,
            hash: BloomFilterHash::XxHash,
            compression: BloomFilterCompression::Uncompressed,
        };
        let mut writer = Writer::new();
        header.write(&mut writer);
        out.extend_from_slice(&writer.finish());
        out.reserve(self.num_bytes());
        self.blocks.as_flattened().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    /// Reads header and bits from the start of `bytes`, which may go on behind them.
    ///
    /// Fails if the header is damaged, if the filter is of another kind or larger than 128 MiB, or if bits are missing.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let head = BloomFilterHead::read(bytes)?;
        let (rest, num_bytes) = (&bytes[head.bits..], head.blocks * BLOCK_BYTES);
        let Some(bits) = rest.get(..num_bytes) else {
            return Err(Error::truncated(format!("bloom filter of {num_bytes} bytes, {} left", rest.len()))
                .at(head.bits as u64));
        };
        Ok(BloomFilter { blocks: bits.as_chunks::<BLOCK_BYTES>().0.iter().map(words).collect() })
    }

    #[inline]
    fn block_of(&self, hash: u64) -> usize {
        block_of(hash, self.blocks.len())
    }
}

/// The header of a filter of which only some blocks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BloomFilterHead {
    /// Where the bits begin.
    bits: usize,
    /// INVARIANT: 1 to [`MOST_BLOCKS`].
    blocks: usize,
}

impl BloomFilterHead {
    /// Reads the header at the start of `bytes`.
    ///
    /// Fails if it is damaged, or if the filter is of another kind or larger than 128 MiB.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let header = BloomFilterHeader::read(&mut reader)?;
        let kind = (header.algorithm, header.hash, header.compression);
        if kind
            != (BloomFilterAlgorithm::Block, BloomFilterHash::XxHash, BloomFilterCompression::Uncompressed)
        {
            return Err(Error::unsupported(format!("bloom filter of kind {kind:?}")));
        }
        let num_bytes = usize::try_from(header.num_bytes).unwrap_or(0);
        if num_bytes == 0 || !num_bytes.is_multiple_of(BLOCK_BYTES) {
            return Err(Error::corrupt(format!("bloom filter of {} bytes", header.num_bytes)));
        }
        if num_bytes > MOST_BLOCKS * BLOCK_BYTES {
            return Err(Error::limit(format!("bloom filter of {num_bytes} bytes; 128 MiB are read at most")));
        }
        Ok(BloomFilterHead { bits: reader.position(), blocks: num_bytes / BLOCK_BYTES })
    }

    /// How many bytes the bits have.
    pub fn num_bytes(self) -> usize {
        self.blocks * BLOCK_BYTES
    }

    /// How many bytes the header has.
    pub fn header_bytes(self) -> usize {
        self.bits
    }

    /// How many bytes header and bits have.
    pub fn total_bytes(self) -> usize {
        self.bits + self.blocks * BLOCK_BYTES
    }

    /// Where, counted from the header's first byte, the block is that a value of this [`hash`](BloomFilter::hash) is in.
    pub fn block_of(self, hash: u64) -> Range<usize> {
        let start = self.bits + block_of(hash, self.blocks) * BLOCK_BYTES;
        start..start + BLOCK_BYTES
    }

    /// Whether a block of 32 bytes may have the value of this hash.
    pub fn might_contain(block: &[u8], hash: u64) -> bool {
        match block.as_chunks::<BLOCK_BYTES>().0 {
            [block] => words(block).iter().zip(mask(hash as u32)).all(|(word, bit)| word & bit != 0),
            _ => true,
        }
    }
}

#[inline]
fn block_of(hash: u64, blocks: usize) -> usize {
    // At most the number of blocks, less one.
    (((hash >> 32) * blocks as u64) >> 32) as usize
}

fn words(block: &[u8; BLOCK_BYTES]) -> [u32; 8] {
    let words = block.as_chunks::<4>().0;
    std::array::from_fn(|word| u32::from_le_bytes(words[word]))
}

#[inline]
fn mask(key: u32) -> [u32; 8] {
    SALT.map(|salt| 1 << (key.wrapping_mul(salt) >> 27))
}

/// How likely it is that a value is found that was not inserted, where a block has `load` values on average: each block
/// has a number of values that is distributed as Poisson has it, and each value sets one bit of each word.
fn false_positives(load: f64) -> f64 {
    if load > FULL {
        return 1.0;
    }
    let mut of_n = (-load).exp();
    let mut sum = 0.0;
    for n in 1..=(load + 12.0 * load.sqrt() + 16.0) as u32 {
        of_n *= load / f64::from(n);
        let is_set = 1.0 - (31.0f64 / 32.0).powf(f64::from(n));
        sum += of_n * is_set.powi(8);
    }
    sum
}

/// The same for blocks that are there: the share of bits that are set, multiplied over the words of a block.
fn share_of_maybe(blocks: &[[u32; 8]]) -> f64 {
    let of_block =
        |block: &[u32; 8]| block.iter().map(|word| f64::from(word.count_ones()) / 32.0).product::<f64>();
    blocks.iter().map(of_block).sum::<f64>() / blocks.len() as f64
}

const BLOCK_BYTES: usize = 32;
/// 128 MiB: what other readers take.
const MOST_BLOCKS: usize = (128 << 20) / BLOCK_BYTES;
/// So many values set every bit of a block, as good as always.
const FULL: f64 = 600.0;
/// SPEC: "eight odd unsigned 32-bit integer constants called the salt".
const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];
