//! The state of a list: which row is chosen, and which rows are on the screen.

/// The position in a list.
#[derive(Debug, Default)]
pub(crate) struct ListState {
    /// The chosen row.
    pub(crate) chosen: usize,
    /// The first visible row.
    pub(crate) first: usize,
    /// Number of columns scrolled out to the left.
    pub(crate) left: usize,
    /// The rows that pass the filter, if there is one.
    pub(crate) filter: Option<Vec<usize>>,
}

impl ListState {
    /// Keeps the chosen row in a list of `len` rows, and within `height` lines of the screen.
    pub(crate) fn keep_in(&mut self, len: usize, height: usize) {
        self.chosen = self.chosen.min(len.saturating_sub(1));
        let height = height.max(1);
        self.first = self.first.min(self.chosen).max((self.chosen + 1).saturating_sub(height));
        // No lines stay empty while there are rows above.
        self.first = self.first.min(len.saturating_sub(height));
    }

    /// The index of the row at a position of the filtered list.
    pub(crate) fn row_at(&self, place: usize) -> Option<usize> {
        match &self.filter {
            Some(rows) => rows.get(place).copied(),
            None => Some(place),
        }
    }
}
