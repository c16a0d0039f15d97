//! Two ways to read some rows of a block: those alone, or all of them, and then thinned out.
//!
//! To leave rows out while a page is decoded pays where few are wanted, or many of them together. Where it does not is told by
//! neither the number nor the place of the rows alone, but by encodings and types too: so both ways are tried in each row
//! group, column by column, and the one that took less time for a row is kept to.

use std::time::Duration;

/// How rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Only those that are wanted.
    RowGroupMatch,
    /// All of them, those that are not wanted being dropped afterwards.
    Whole,
}

/// What the ways cost in the row group that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Ways {
    kept: Cost,
    whole: Cost,
    /// Blocks since both were known.
    blocks: u32,
}

impl Ways {
    /// The way to read a block in which `kept` of `rows` rows are wanted.
    pub(super) fn choose(&mut self, kept: usize, rows: usize) -> Way {
        if kept * FEW <= rows {
            return Way::RowGroupMatch;
        }
        let (Some(of_kept), Some(of_whole)) = (self.kept.least(), self.whole.least()) else {
            return if self.kept.least().is_none() { Way::RowGroupMatch } else { Way::Whole };
        };
        self.blocks += 1;
        let is_whole_less = of_whole < of_kept;
        // What lost is tried again now and then: pages change.
        let is_other = self.blocks.is_multiple_of(AGAIN);
        if is_whole_less != is_other { Way::Whole } else { Way::RowGroupMatch }
    }

    /// Takes note of what a block of `rows` rows took.
    pub(super) fn measure(&mut self, way: Way, rows: usize, time: Duration) {
        let cost = match way {
            Way::RowGroupMatch => &mut self.kept,
            Way::Whole => &mut self.whole,
        };
        cost.last[cost.seen % TRIES] = time.as_secs_f64() / rows.max(1) as f64;
        cost.seen += 1;
    }
}

/// Seconds for a row of a block, wanted or not, of the last blocks that were read one way.
#[derive(Debug, Clone, Default)]
struct Cost {
    last: [f64; TRIES],
    seen: usize,
}

impl Cost {
    /// The least of them: blocks with which a page begins cost more than others. `None` before there were enough.
    fn least(&self) -> Option<f64> {
        (self.seen >= TRIES).then(|| self.last.iter().copied().fold(f64::INFINITY, f64::min))
    }
}

/// Where no more than one row of so many is wanted, nobody need try to read them all.
const FEW: usize = 8;
/// Blocks that are read one way before it is known what it costs.
const TRIES: usize = 3;
/// The other way is tried once in so many blocks.
const AGAIN: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 1000;

    fn chosen(ways: &mut Ways, kept: u64, whole: u64) -> Way {
        let way = ways.choose(ROWS / 2, ROWS);
        let micros = if way == Way::RowGroupMatch { kept } else { whole };
        ways.measure(way, ROWS, Duration::from_micros(micros));
        way
    }

    #[test]
    fn the_cheaper_way_is_kept_to_and_left_when_it_loses() {
        let mut ways = Ways::default();
        let mut wholes = |blocks: u32, kept, whole| {
            (0..blocks).filter(|_| chosen(&mut ways, kept, whole) == Way::Whole).count()
        };
        assert_eq!([wholes(TRIES as u32, 5, 9), wholes(TRIES as u32, 5, 9)], [0, TRIES]);
        assert_eq!(wholes(4 * AGAIN, 5, 9), 4);
        // Now the other one takes less, and in some time that is noticed.
        assert!(wholes(4 * AGAIN, 9, 5) > 0);
        assert_eq!(wholes(4 * AGAIN, 9, 5), 4 * AGAIN as usize - 4);
    }

    #[test]
    fn few_rows_are_read_alone() {
        let mut ways = Ways::default();
        for _ in 0..3 {
            assert_eq!(ways.choose(ROWS / FEW, ROWS), Way::RowGroupMatch);
            ways.measure(Way::RowGroupMatch, ROWS, Duration::from_micros(1));
        }
    }
}
