//! The state of a list: which row is chosen, and which rows are on the screen.

/// The place in a list.
#[derive(Debug, Default)]
pub(crate) struct ListState {
    /// The chosen row.
    pub(crate) chosen: usize,
    /// The first that is seen.
    pub(crate) first: usize,
    /// Columns to the left that are not seen.
    pub(crate) left: usize,
    /// Rows that pass the filter, if there is one.
    pub(crate) filter: Option<Vec<usize>>,
}

impl ListState {
    /// Keeps the chosen row in a list of `len` rows, and on a screen of `height`.
    pub(crate) fn keep_in(&mut self, len: usize, height: usize) {
        self.chosen = self.chosen.min(len.saturating_sub(1));
        let height = height.max(1);
        self.first = self.first.min(self.chosen).max((self.chosen + 1).saturating_sub(height));
        // No room is left empty that rows before could have.
        self.first = self.first.min(len.saturating_sub(height));
    }

    /// The number of the row that stands at a place.
    pub(crate) fn row_at(&self, place: usize) -> Option<usize> {
        match &self.filter {
            Some(rows) => rows.get(place).copied(),
            None => Some(place),
        }
    }
}
