//! Hashes a word of 64 bits.

/// Spreads the bits of a word over all of them (the finalizer of MurmurHash3). Different words have different hashes.
pub(crate) fn spread(word: u64) -> u64 {
    let word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}
