//! Mean and deviation of the differences between numbers and one of them, with a scale: squares of floats need not be
//! floats.

/// The moments of some numbers: the difference of their mean from an origin, and the sum of squares of their
/// differences from the mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) count: u64,
    /// The difference of the mean from the origin, times `scale`.
    pub(super) mean_offset: f64,
    /// The sum of squares, times `scale` squared.
    pub(super) squares: f64,
    /// One of three powers of two, so that scaling rounds nothing.
    pub(super) scale: f64,
}

/// The moments of no numbers.
impl Default for Moments {
    fn default() -> Self {
        Moments { count: 0, mean_offset: 0.0, squares: 0.0, scale: UP }
    }
}

/// Returns the scale for numbers that are no farther than this from an origin.
pub(super) fn scale_of(farthest: f64) -> f64 {
    match farthest {
        ..SMALL => UP,
        ..=LARGE => 1.0,
        // Overflows and NaN, too.
        _ => DOWN,
    }
}

impl Moments {
    /// Merges two parts, by Chan's method.
    pub(super) fn merge(&mut self, mut other: Moments) {
        if other.count == 0 {
            return;
        }
        let scale = self.scale.min(other.scale);
        self.rescale(scale);
        other.rescale(scale);
        let (before, count) = (self.count as f64, other.count as f64);
        let total = (self.count + other.count) as f64;
        let difference = other.mean_offset - self.mean_offset;
        self.squares += other.squares + difference * difference * before * count / total;
        self.mean_offset += difference * count / total;
        self.count += other.count;
    }

    /// Changes the scale to this one, which is not greater.
    pub(super) fn rescale(&mut self, scale: f64) {
        if scale != self.scale {
            // Not in one step: the square of the quotient need not be a float.
            let by = scale / self.scale;
            self.mean_offset *= by;
            self.squares = self.squares * by * by;
            self.scale = scale;
        }
    }

    /// Returns the standard deviation of a sample.
    pub(super) fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt() / self.scale)
    }
}

/// 2^600 and its inverse. Differences of floats are less than 2^1025: the squares of 2^64 of them, scaled down twice,
/// are floats.
const UP: f64 = f64::from_bits((1023 + 600) << 52);
const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
/// 2^440 and its inverse: between them, squares of 2^64 numbers are floats with all their digits.
const LARGE: f64 = f64::from_bits((1023 + 440) << 52);
const SMALL: f64 = f64::from_bits((1023 - 440) << 52);
