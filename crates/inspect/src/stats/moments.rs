//! Mean and deviation of what numbers differ from one of them, with a scale: squares of floats need not be floats.

/// What is known of some numbers: by how much their mean is greater than an origin, and the sum of squares of what they differ from
/// the mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) count: u64,
    /// Times `scale`.
    pub(super) mean_offset: f64,
    /// Times `scale`, twice.
    pub(super) squares: f64,
    /// A power of two, so that nothing is rounded: one of three.
    pub(super) scale: f64,
}

/// Of no numbers.
impl Default for Moments {
    fn default() -> Self {
        Moments { count: 0, mean_offset: 0.0, squares: 0.0, scale: UP }
    }
}

/// The scale for numbers that are no farther than this from an origin.
pub(super) fn scale_of(farthest: f64) -> f64 {
    match farthest {
        ..SMALL => UP,
        ..=LARGE => 1.0,
        // Also what overflows, and NaN.
        _ => DOWN,
    }
}

impl Moments {
    /// Chan's way to have the deviation of two parts.
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

    /// Makes the scale this one, which is not greater.
    pub(super) fn rescale(&mut self, scale: f64) {
        if scale != self.scale {
            // Not twice at once: the square of the quotient need not be a float.
            let by = scale / self.scale;
            self.mean_offset *= by;
            self.squares = self.squares * by * by;
            self.scale = scale;
        }
    }

    /// The standard deviation of a sample.
    pub(super) fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt() / self.scale)
    }
}

/// 2^600 and its inverse. The differences of floats are less than 2^1025: the squares of 2^64 of them, made smaller twice, are floats.
const UP: f64 = f64::from_bits((1023 + 600) << 52);
const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
/// 2^440, and its inverse: between them squares of 2^64 numbers are floats with all their digits.
const LARGE: f64 = f64::from_bits((1023 + 440) << 52);
const SMALL: f64 = f64::from_bits((1023 - 440) << 52);
