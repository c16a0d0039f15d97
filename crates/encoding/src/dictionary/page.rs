//! Reads a dictionary page.

use super::entries::Dictionary;
use crate::lengths_of_fixed;
use crate::plain;
use crate::shape::PhysicalType;
use crate::traits::Decode;
use crate::values::Values;
use marquetry_base::{Error, PaddedBytes, Result};

impl Dictionary {
    /// Reads a dictionary page of `n` PLAIN values. Fails for BOOLEAN.
    pub fn read(bytes: PaddedBytes, physical: PhysicalType, n: usize) -> Result<Self> {
        if physical == PhysicalType::Boolean {
            return Err(Error::corrupt("a dictionary of BOOLEAN values"));
        }
        let mut values = Values::empty(physical.shape());
        let without_lengths = lengths_of_fixed::of_exactly(&bytes, physical, n);
        let had_lengths = without_lengths.is_some();
        let bytes = without_lengths.unwrap_or(bytes);
        plain::Decoder::of_dictionary(&bytes, physical.shape()).decode(n, &mut values)?;
        Ok(Dictionary::with_page(values, bytes).with_lengths(had_lengths))
    }
}
