//! Shredded columns: what lists, structs and nulls look like on the way into a file.

use marquetry_encoding::{Bits, Values};
use std::sync::Arc;

/// Some rows of one column, as levels and values: what shredding makes, and what a column writer takes.
///
/// An entry is what has a pair of levels: a value, a null, or a list that is empty or null. There is one value for each
/// entry whose definition level is the column's largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Shredded {
    /// How many rows.
    pub rows: usize,
    /// How many entries; as many as rows in a column that is in no list.
    pub entries: usize,
    /// The definition level of each entry.
    pub def: Definition,
    /// The repetition level of each entry; empty in a column that is in no list.
    pub rep: Vec<u8>,
    /// The values that are there, in order.
    pub values: Present,
}

/// The definition levels of some entries, in the cheapest form that tells them.
#[derive(Debug, Clone, PartialEq)]
pub enum Definition {
    /// All entries are values.
    Max,
    /// In a column whose largest level is 1: whether each entry is a value.
    Bits(Bits),
    /// The level of each entry.
    Levels(Vec<u8>),
}

/// The values of some entries.
#[derive(Debug, Clone, PartialEq)]
pub enum Present {
    /// The values themselves.
    Values(Values),
    /// Where each value is in a dictionary: input that has a dictionary keeps it.
    Keys {
        /// One key for each value, less than the number of values in the dictionary.
        keys: Vec<u32>,
        /// What the keys mean. It may hold values that no key names, and values twice. Batches that share a dictionary
        /// share the `Arc`.
        dictionary: Arc<Values>,
    },
}

impl Present {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Present::Values(values) => values.len(),
            Present::Keys { keys, .. } => keys.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
