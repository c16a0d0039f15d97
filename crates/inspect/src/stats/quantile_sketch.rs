//! Quantiles of more values than are kept: a KLL sketch.
//!
//! Levels of samples, of which one on level `i` stands for `2^i` values. A level that is full is sorted, and every
//! other sample goes up. A generator with a fixed seed decides whether these are the first or the second of each pair:
//! the same values in the same order result in the same sketch, on any machine.
//!
//! Source: Karnin, Lang, Liberty: Optimal Quantile Approximation in Streams (2016).

use super::value::{Number, sort_by_number};

/// Samples of values with their weights.
pub(crate) struct QuantileSketch<T> {
    levels: Vec<Vec<T>>,
    coin: u64,
    /// Number of values since the last sample, and which value of the block is the sample.
    block: usize,
    chosen: usize,
    /// Whether a level has as many samples as the highest may have.
    is_full: bool,
}

impl<T: Number> QuantileSketch<T> {
    pub(crate) fn new() -> Self {
        QuantileSketch {
            levels: vec![Vec::new(); BLOCK_LEVEL + 1],
            coin: SEED,
            block: 0,
            chosen: 0,
            is_full: false,
        }
    }

    /// Adds one value. One value in eight is kept as a sample of all eight.
    #[inline]
    pub(crate) fn add(&mut self, value: T) {
        if self.block == self.chosen {
            self.levels[BLOCK_LEVEL].push(value);
        }
        self.block += 1;
        if self.block == 1 << BLOCK_LEVEL {
            self.block = 0;
            self.chosen = (self.random() >> (64 - BLOCK_LEVEL)) as usize;
            if self.levels[BLOCK_LEVEL].len() >= TOP_SAMPLES {
                self.compress();
            }
        }
    }

    /// Adds a value `times` times.
    pub(crate) fn add_times(&mut self, value: T, times: u64) {
        if times == 1 {
            return self.add(value);
        }
        let mut rest = times;
        while rest > 0 {
            let level = rest.trailing_zeros() as usize;
            self.level(level).push(value);
            rest &= rest - 1;
            self.is_full |= self.levels[level].len() >= TOP_SAMPLES;
        }
        if self.is_full {
            self.is_full = false;
            self.compress();
        }
    }

    /// Adds the samples of another sketch.
    pub(crate) fn merge(&mut self, other: QuantileSketch<T>) {
        for (level, samples) in other.levels.into_iter().enumerate() {
            self.level(level).extend(samples);
        }
        self.compress();
    }

    /// Returns all samples in order, each with the number of values that it stands for.
    pub(crate) fn weighted(&self) -> Vec<(T, u64)> {
        let weigh = |(level, samples): (usize, &Vec<T>)| -> Vec<(T, u64)> {
            samples.iter().map(|sample| (*sample, 1 << level)).collect()
        };
        let mut all: Vec<_> = self.levels.iter().enumerate().flat_map(weigh).collect();
        sort_by_number(&mut all);
        all
    }

    fn level(&mut self, level: usize) -> &mut Vec<T> {
        if level >= self.levels.len() {
            self.levels.resize(level + 1, Vec::new());
        }
        &mut self.levels[level]
    }

    /// Moves samples up, from the lowest level on, until no level has too many.
    fn compress(&mut self) {
        let mut level = 0;
        while level < self.levels.len() {
            if self.levels[level].len() > self.capacity(level) {
                let is_second = (self.random() >> 63) as usize;
                let mut samples = std::mem::take(&mut self.levels[level]);
                samples.sort_unstable_by(|a, b| a.order(*b));
                // If their number is odd, the last one stays.
                let pairs = samples.len() / 2 * 2;
                let above = self.level(level + 1);
                above.extend(samples[..pairs].iter().skip(is_second).step_by(2));
                samples.drain(..pairs);
                self.levels[level] = samples;
            }
            level += 1;
        }
    }

    /// Returns the maximum number of samples of a level. Lower levels have fewer, as their samples stand for less.
    fn capacity(&self, level: usize) -> usize {
        let below = (self.levels.len() - 1 - level) as i32;
        ((TOP_SAMPLES as f64 * 0.7f64.powi(below)) as usize).max(8)
    }

    /// Returns a random number (xorshift).
    fn random(&mut self) -> u64 {
        self.coin ^= self.coin << 13;
        self.coin ^= self.coin >> 7;
        self.coin ^= self.coin << 17;
        self.coin.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Maximum number of samples of the highest level. Ranks are then wrong by less than 1 % of all values, in nearly all
/// cases.
const TOP_SAMPLES: usize = 512;
/// Maximum error of a rank, as a share of all values.
pub(crate) const RANK_ERROR: f64 = 0.01;
/// The level of values that are added one by one, one in eight of which is a sample.
const BLOCK_LEVEL: usize = 3;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error of a rank, as a part of all values, among those of every hundredth.
    fn worst(values: &[i64], sketch: &QuantileSketch<i64>) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let weighted = sketch.weighted();
        let total: u64 = weighted.iter().map(|(_, weight)| weight).sum();
        let mut worst = 0f64;
        let (mut below, mut i) = (0u64, 0);
        for percent in 1..100 {
            let wanted = total * percent / 100;
            while below + weighted[i].1 < wanted {
                below += weighted[i].1;
                i += 1;
            }
            let rank = sorted.partition_point(|value| *value < weighted[i].0) as f64 / sorted.len() as f64;
            worst = worst.max((rank - percent as f64 / 100.0).abs());
        }
        worst
    }

    #[test]
    fn ranks_are_nearly_right() {
        let n = 1_000_000i64;
        let scrambled: Vec<i64> = (0..n).map(|i| i * 7_368_787 % n).collect();
        let ascending: Vec<i64> = (0..n).collect();
        let periodic: Vec<i64> = (0..n).map(|i| i % 8 * 1000 + i / 1000).collect();
        for values in [scrambled, ascending, periodic] {
            let mut whole = QuantileSketch::new();
            values.iter().for_each(|value| whole.add(*value));
            assert!(worst(&values, &whole) < RANK_ERROR, "{}", worst(&values, &whole));
            let mut merged = QuantileSketch::new();
            for part in values.chunks(70_000) {
                let mut sketch = QuantileSketch::new();
                part.iter().for_each(|value| sketch.add(*value));
                merged.merge(sketch);
            }
            assert!(worst(&values, &merged) < RANK_ERROR, "{}", worst(&values, &merged));
            assert!(merged.levels.iter().map(Vec::len).sum::<usize>() < 4 * TOP_SAMPLES);
        }
    }

    #[test]
    fn weights_count() {
        let mut sketch = QuantileSketch::new();
        sketch.add_times(1i64, 1_000_000);
        sketch.add_times(2, 3_000_001);
        let weighted = sketch.weighted();
        let ones: u64 = weighted.iter().filter(|(value, _)| *value == 1).map(|(_, weight)| weight).sum();
        let total: u64 = weighted.iter().map(|(_, weight)| weight).sum();
        assert!((ones as f64 / total as f64 - 0.25).abs() < 0.01);
    }
}
