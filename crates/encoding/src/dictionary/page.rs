//! Reads a dictionary page.

use super::entries::Dictionary;
use crate::plain;
use crate::shape::PhysicalType;
use crate::traits::{Decode, EncodedPage};
use crate::values::Values;
use marquetry_base::{Error, MemoryBudget, PaddedBytes, Result};

impl Dictionary {
    /// Reads a dictionary page of `n` PLAIN values.
    pub fn read(bytes: PaddedBytes, physical: PhysicalType, n: usize) -> Result<Self> {
        if physical == PhysicalType::Boolean {
            return Err(Error::corrupt("a dictionary of BOOLEAN values"));
        }
        let mut values = Values::empty(physical.shape());
        let page =
            EncodedPage { bytes, max_values: n, physical, dictionary: None, memory: MemoryBudget::default() };
        plain::Decoder::new(&page).decode(n, &mut values)?;
        Ok(Dictionary::with_page(values, page.bytes))
    }
}
