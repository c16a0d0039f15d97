//! The first rows of a column, buffered until there are enough of them to choose its encoding.

use super::levels::{HeldLevels, Levels};
use crate::nesting::ColumnValues;
use marquetry_base::Result;
use marquetry_encoding::{Shape, Values, dictionary};

/// Values and levels, in the order in which they came.
pub(super) struct SampleBuffer {
    pub(super) values: Values,
    pub(super) levels: HeldLevels,
    /// Bytes of the values.
    pub(super) bytes: usize,
}

impl SampleBuffer {
    pub(super) fn new(shape: Shape) -> Self {
        SampleBuffer { values: shape.empty(), levels: HeldLevels::default(), bytes: 0 }
    }

    pub(super) fn push(&mut self, levels: Levels<'_>, entries: usize, present: &ColumnValues) -> Result<()> {
        let before = self.values.len();
        match present {
            ColumnValues::Values(new) => self.values.push_range(new, 0..new.len())?,
            ColumnValues::Keys { keys, dictionary } => {
                dictionary::look_up(dictionary, keys, &mut self.values)?
            }
        }
        self.bytes += self.values.data_bytes(before..self.values.len());
        self.levels.push(levels, 0..entries);
        Ok(())
    }

    pub(super) fn memory(&self) -> usize {
        let views = if self.values.shape() == Shape::Bytes { 16 * self.values.len() } else { 0 };
        self.bytes + views + self.levels.memory()
    }
}
