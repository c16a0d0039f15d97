//! Gathers the statistics of numbers: bounds, mean, quantiles, frequent ones.

use super::moments::{Moments, scale_of};
use super::quantile_sketch::{QuantileSketch, RANK_ERROR};
use super::value::{Number, Sum, sort_by_number};
use super::value_counts::{Frequent, ValueCounts};
use std::cmp::Ordering;

/// The numbers of a column. NaN are only counted.
pub(crate) struct Numbers<T: Number> {
    pub(crate) count: u64,
    pub(crate) nans: u64,
    pub(crate) bounds: Option<(T, T)>,
    sum: T::Sum,
    /// One of the numbers. Large numbers that differ little have their deviation in digits that floats of their size do
    /// not have.
    origin: Option<T>,
    /// The moments of the differences from `origin`.
    moments: Moments,
    counts: ValueCounts<T>,
    /// Set once there are too many distinct numbers for `counts` to have each.
    sketch: Option<QuantileSketch<T>>,
}

impl<T: Number> Numbers<T> {
    pub(crate) fn new() -> Self {
        Numbers {
            count: 0,
            nans: 0,
            bounds: None,
            sum: T::Sum::default(),
            origin: None,
            moments: Moments::default(),
            counts: ValueCounts::new(),
            sketch: None,
        }
    }

    /// Adds numbers of a batch or a dictionary, each as often as its count.
    pub(crate) fn add(&mut self, numbers: impl Iterator<Item = (T, u64)> + Clone) {
        let present = numbers.clone().filter(|(number, _)| !number.is_nan());
        self.nans += numbers.filter(|(number, _)| number.is_nan()).map(|(_, times)| times).sum::<u64>();
        self.add_moments(present.clone());
        match &mut self.sketch {
            None => {
                present.for_each(|(number, times)| self.counts.add(number.hash(), times, || number));
                if self.counts.is_full() {
                    self.be_approximate();
                }
            }
            Some(sketch) => {
                for (number, times) in present {
                    self.counts.add(number.hash(), times, || number);
                    sketch.add_times(number, times);
                }
            }
        }
    }

    /// Adds to bounds, sum and deviation.
    fn add_moments(&mut self, numbers: impl Iterator<Item = (T, u64)> + Clone) {
        let Some((origin, _)) = numbers.clone().next() else { return };
        let origin = *self.origin.get_or_insert(origin);
        let (mut count, mut sum, mut offsets, mut farthest) = (0u64, T::Sum::default(), 0.0, 0f64);
        let mut bounds = self.bounds;
        for (number, times) in numbers.clone() {
            count += times;
            T::add(&mut sum, number, times);
            let offset = number.minus(origin);
            farthest = farthest.max(offset.abs());
            offsets += offset * times as f64;
            let (least, greatest) = bounds.get_or_insert((number, number));
            if number.order(*least) == Ordering::Less {
                *least = number;
            }
            if number.order(*greatest) == Ordering::Greater {
                *greatest = number;
            }
        }
        self.bounds = bounds;
        if count == 0 {
            return;
        }
        let scale = scale_of(farthest);
        if scale != 1.0 {
            let offset = |(number, times): (T, u64)| number.scaled_minus(origin, scale) * times as f64;
            offsets = numbers.clone().map(offset).sum();
        }
        let mean_offset = offsets / count as f64;
        let from_mean = |number: T| number.scaled_minus(origin, scale) - mean_offset;
        let squares = numbers.map(|(number, times)| from_mean(number).powi(2) * times as f64).sum();
        self.moments.merge(Moments { count, mean_offset, squares, scale });
        self.count += count;
        self.sum.merge(sum);
    }

    fn be_approximate(&mut self) {
        if self.sketch.is_none() {
            let mut sketch = QuantileSketch::new();
            // In order, so that the same numbers result in the same sketch.
            let mut entries: Vec<_> = self.counts.entries().map(|(number, count)| (*number, count)).collect();
            sort_by_number(&mut entries);
            entries.into_iter().for_each(|(number, count)| sketch.add_times(number, count));
            self.sketch = Some(sketch);
            self.counts.be_approximate();
        }
    }

    /// Adds the numbers of another part of the column.
    pub(crate) fn merge(&mut self, mut other: Numbers<T>) {
        self.nans += other.nans;
        if let Some(origin) = other.origin.filter(|_| other.count > 0) {
            let before = *self.origin.get_or_insert(origin);
            let mut moments = other.moments;
            let scale = moments.scale.min(scale_of(origin.minus(before).abs()));
            moments.rescale(scale);
            moments.mean_offset += origin.scaled_minus(before, scale);
            self.moments.merge(moments);
            self.count += other.count;
            self.sum.merge(other.sum);
        }
        self.bounds = match (self.bounds, other.bounds) {
            (Some((a, b)), Some((c, d))) => Some((
                if c.order(a) == Ordering::Less { c } else { a },
                if d.order(b) == Ordering::Greater { d } else { b },
            )),
            (mine, others) => mine.or(others),
        };
        if self.sketch.is_some() || other.sketch.is_some() {
            self.be_approximate();
            other.be_approximate();
        }
        self.counts.merge(other.counts);
        if let (Some(sketch), Some(others)) = (&mut self.sketch, other.sketch) {
            sketch.merge(others);
        }
        if self.counts.is_full() {
            self.be_approximate();
        }
    }

    /// Returns the mean and the standard deviation of a sample.
    pub(crate) fn mean_and_deviation(&self) -> (Option<f64>, Option<f64>) {
        let mean = || self.sum.mean(self.count);
        ((self.count > 0).then(mean), self.moments.deviation())
    }

    /// Returns the number of distinct values, with NaN as one of them, and its relative error.
    pub(crate) fn distinct(&self) -> (u64, f64) {
        let (distinct, error) = self.counts.distinct();
        (distinct + u64::from(self.nans > 0), error)
    }

    pub(crate) fn frequent(&self, n: usize) -> Vec<Frequent<T>> {
        self.counts.frequent(n, |a, b| a.order(*b))
    }

    /// Returns all distinct numbers in order with their counts, or samples that stand for them, and the maximum error
    /// of a rank as a share of all numbers.
    pub(crate) fn weighted(&self) -> (Vec<(T, u64)>, f64) {
        match &self.sketch {
            Some(sketch) => (sketch.weighted(), RANK_ERROR),
            None => {
                let mut entries: Vec<_> =
                    self.counts.entries().map(|(number, count)| (*number, count)).collect();
                sort_by_number(&mut entries);
                (entries, 0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A float next to 2^62 is 1,024 from the next one.
    #[test]
    fn large_integers_that_differ_little_have_a_deviation() {
        let far = 1i64 << 62;
        let mut all = Numbers::new();
        let mut parts = [Numbers::new(), Numbers::new()];
        for i in 0..1_000 {
            let number = [(far + i % 7, 1)].into_iter();
            all.add(number.clone());
            parts[(i % 2) as usize].add(number);
        }
        let [mut merged, other] = parts;
        merged.merge(other);
        for numbers in [all, merged] {
            let (mean, deviation) = numbers.mean_and_deviation();
            assert_eq!(mean, Some(far as f64));
            assert!((deviation.unwrap() - 2.0).abs() < 0.01, "{deviation:?}");
        }
        let mut ends = Numbers::new();
        ends.add([(i64::MIN, 1), (i64::MAX, 1)].into_iter());
        let deviation = ends.mean_and_deviation().1.unwrap();
        assert!((deviation / (2f64.powi(64) / 2f64.sqrt()) - 1.0).abs() < 1e-12, "{deviation}");
    }

    /// Squares of such floats are greater than any float, or less.
    #[test]
    fn very_large_and_very_small_floats_have_a_deviation() {
        fn of(numbers: &[f64]) -> impl Iterator<Item = (f64, u64)> + Clone {
            numbers.iter().map(|number| (*number, 1))
        }
        for size in [1.0, 1e-300, 1e-160, 1e150, 1e160, 1e307] {
            let numbers: Vec<f64> = (1..=9).map(|i| f64::from(i) * size).collect();
            for at in 0..=numbers.len() {
                let [mut all, mut batches, mut rest] = [Numbers::new(), Numbers::new(), Numbers::new()];
                all.add(of(&numbers));
                batches.add(of(&numbers[..at]));
                rest.add(of(&numbers[at..]));
                batches.merge(rest);
                batches.add(of(&[f64::NAN]));
                for numbers in [all, batches] {
                    let deviation = numbers.mean_and_deviation().1.unwrap();
                    assert!((deviation / size / 7.5f64.sqrt() - 1.0).abs() < 1e-12, "{size}: {deviation}");
                }
            }
        }
        let deviation = |numbers: &[&[f64]]| {
            let mut all = Numbers::new();
            numbers.iter().for_each(|batch| all.add(batch.iter().map(|number| (*number, 1))));
            all.mean_and_deviation().1.unwrap()
        };
        // Both sizes, and both signs, in one batch and in two.
        assert_eq!(deviation(&[&[1e-200, 1.0]]), deviation(&[&[1e-200], &[1.0]]));
        let large = 1e300 * 2f64.sqrt();
        for numbers in [&[&[1e300, -1e300][..]][..], &[&[1e300], &[-1e300]], &[&[1e-300, 1e300], &[-1e300]]] {
            assert!(deviation(numbers) / large > 0.7 && deviation(numbers) / large < 1.01, "{numbers:?}");
        }
        assert!(deviation(&[&[1.5e308, -1.5e308, 0.0, 0.0]]).is_finite());
        assert!(!deviation(&[&[1.0, f64::INFINITY]]).is_finite());
    }
}
