//! Two strategies to read some rows of a block: decode only those, or decode all rows and filter them afterwards.
//!
//! Skipping rows inside a page pays off when few rows are selected or when they form long runs. The number and place of the
//! rows do not decide alone; encodings and types matter as well. So both strategies are timed in each row group, column by
//! column, and the faster one is used.

use std::time::Duration;

/// How rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkipStrategy {
    /// Decodes only the selected rows.
    Selective,
    /// Decodes all rows, then drops those that are not selected.
    DecodeThenFilter,
}

/// Measures both strategies in the current row group.
#[derive(Debug, Clone, Default)]
pub(super) struct StrategyTuner {
    kept: Cost,
    whole: Cost,
    /// Number of blocks since both costs were known.
    blocks: u32,
}

impl StrategyTuner {
    /// Returns the strategy for a block in which `kept` of `rows` rows are selected.
    pub(super) fn choose(&mut self, kept: usize, rows: usize) -> SkipStrategy {
        if kept * ROWS_PER_SELECTED <= rows {
            return SkipStrategy::Selective;
        }
        let (Some(of_kept), Some(of_whole)) = (self.kept.least(), self.whole.least()) else {
            return if self.kept.least().is_none() {
                SkipStrategy::Selective
            } else {
                SkipStrategy::DecodeThenFilter
            };
        };
        self.blocks += 1;
        let is_whole_less = of_whole < of_kept;
        // The slower one is timed again now and then, because pages change.
        let is_other = self.blocks.is_multiple_of(BLOCKS_PER_RETRY);
        if is_whole_less != is_other { SkipStrategy::DecodeThenFilter } else { SkipStrategy::Selective }
    }

    /// Records the time that a block of `rows` rows took.
    pub(super) fn measure(&mut self, strategy: SkipStrategy, rows: usize, time: Duration) {
        let cost = match strategy {
            SkipStrategy::Selective => &mut self.kept,
            SkipStrategy::DecodeThenFilter => &mut self.whole,
        };
        cost.last[cost.seen % TIMED_BLOCKS] = time.as_secs_f64() / rows.max(1) as f64;
        cost.seen += 1;
    }
}

/// Seconds per row of a block, selected or not, for the last blocks that were read with one strategy.
#[derive(Debug, Clone, Default)]
struct Cost {
    last: [f64; TIMED_BLOCKS],
    seen: usize,
}

impl Cost {
    /// Returns the least cost, because blocks at the start of a page cost more than others. `None` before enough blocks were timed.
    fn least(&self) -> Option<f64> {
        (self.seen >= TIMED_BLOCKS).then(|| self.last.iter().copied().fold(f64::INFINITY, f64::min))
    }
}

/// Skips without measuring at or below one selected row in eight.
const ROWS_PER_SELECTED: usize = 8;
/// Blocks to time with a strategy before its cost is known.
const TIMED_BLOCKS: usize = 3;
/// The slower strategy is timed again once in this many blocks.
const BLOCKS_PER_RETRY: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 1000;

    fn chosen(tuner: &mut StrategyTuner, kept: u64, whole: u64) -> SkipStrategy {
        let strategy = tuner.choose(ROWS / 2, ROWS);
        let micros = if strategy == SkipStrategy::Selective { kept } else { whole };
        tuner.measure(strategy, ROWS, Duration::from_micros(micros));
        strategy
    }

    #[test]
    fn the_cheaper_way_is_kept_to_and_left_when_it_loses() {
        let mut tuner = StrategyTuner::default();
        let mut wholes = |blocks: u32, kept, whole| {
            (0..blocks).filter(|_| chosen(&mut tuner, kept, whole) == SkipStrategy::DecodeThenFilter).count()
        };
        assert_eq!([wholes(TIMED_BLOCKS as u32, 5, 9), wholes(TIMED_BLOCKS as u32, 5, 9)], [0, TIMED_BLOCKS]);
        assert_eq!(wholes(4 * BLOCKS_PER_RETRY, 5, 9), 4);
        // Now the other strategy is faster, which is noticed after some time.
        assert!(wholes(4 * BLOCKS_PER_RETRY, 9, 5) > 0);
        assert_eq!(wholes(4 * BLOCKS_PER_RETRY, 9, 5), 4 * BLOCKS_PER_RETRY as usize - 4);
    }

    #[test]
    fn few_rows_are_read_alone() {
        let mut tuner = StrategyTuner::default();
        for _ in 0..3 {
            assert_eq!(tuner.choose(ROWS / ROWS_PER_SELECTED, ROWS), SkipStrategy::Selective);
            tuner.measure(SkipStrategy::Selective, ROWS, Duration::from_micros(1));
        }
    }
}
