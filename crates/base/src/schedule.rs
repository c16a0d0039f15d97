//! Schedules items of unequal weight on workers: in order, except that an item that would end last is started early.

use std::cmp::Reverse;

/// The items that were not started, by their numbers.
pub(crate) struct Schedule {
    weights: Vec<u64>,
    is_begun: Vec<bool>,
    /// All items before this one were started.
    first: usize,
    /// The items, the heaviest first. All before position `next_heaviest` were started.
    by_weight: Vec<usize>,
    next_heaviest: usize,
    /// Total weight of the items that were not started.
    left: u64,
}

impl Schedule {
    pub(crate) fn new(weights: Vec<u64>) -> Self {
        let mut by_weight: Vec<usize> = (0..weights.len()).collect();
        by_weight.sort_by_key(|&i| Reverse(weights[i]));
        Schedule {
            is_begun: vec![false; weights.len()],
            left: weights.iter().copied().fold(0, u64::saturating_add),
            weights,
            first: 0,
            by_weight,
            next_heaviest: 0,
        }
    }

    /// Starts the first item; or the heaviest, if it is so heavy that one of `workers` workers would otherwise be the last one at work.
    pub(crate) fn begin(&mut self, workers: usize) -> Option<usize> {
        let heaviest = self.heaviest()?;
        // Weights are estimates, so the heaviest item is started from 80 % of a worker's share on: too early is better than too late.
        if self.weights[heaviest] > self.left.saturating_mul(4) / (5 * workers.max(1) as u64) {
            return Some(self.note(heaviest));
        }
        while self.is_begun[self.first] {
            self.first += 1;
        }
        Some(self.note(self.first))
    }

    fn heaviest(&mut self) -> Option<usize> {
        while self.is_begun[*self.by_weight.get(self.next_heaviest)?] {
            self.next_heaviest += 1;
        }
        Some(self.by_weight[self.next_heaviest])
    }

    fn note(&mut self, i: usize) -> usize {
        self.left = self.left.saturating_sub(self.weights[i]);
        self.is_begun[i] = true;
        i
    }

    /// Drops all items that were not started.
    pub(crate) fn end(&mut self) {
        *self = Schedule::new(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_next_unless_the_heaviest_would_be_late() {
        // The total is 134 for two workers. 50 is at most four fifths of half of it, so the first items are next.
        let mut schedule = Schedule::new(vec![1, 50, 1, 50, 2, 30]);
        assert_eq!((schedule.begin(2), schedule.begin(2)), (Some(0), Some(1)));
        // 83 are left: 50 is more than four fifths of half of it, as is 30 of the remaining 33, and then 2 of 3.
        assert_eq!((schedule.begin(2), schedule.begin(2)), (Some(3), Some(5)));
        assert_eq!((schedule.begin(2), schedule.begin(1), schedule.begin(2)), (Some(4), Some(2), None));
        let mut even = Schedule::new(vec![5, 7, 6, 5, 8]);
        assert_eq!(
            [2, 2, 2, 2, 2, 2].map(|workers| even.begin(workers)),
            [Some(0), Some(1), Some(4), Some(2), Some(3), None]
        );
        even = Schedule::new(vec![0; 3]);
        even.end();
        assert_eq!(even.begin(2), None);
    }
}
