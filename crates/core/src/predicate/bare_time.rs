//! Conditions on times that are stored as bare integers: only the stored Arrow schema says what they count, as Parquet has no annotation for it.

use std::fmt;

/// What the bare integers of a column count. Literals that are no numbers are compared with it: see
/// [`Predicate::bind_with_times`](super::Predicate::bind_with_times).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BareTime {
    /// Units since midnight.
    TimeOfDay {
        /// How many nanoseconds a unit is.
        unit: u64,
    },
    /// Units since 1970-01-01T00:00:00.
    Timestamp {
        /// How many nanoseconds a unit is.
        unit: u64,
        /// Whether it is a point in time, and not a reading of calendar and clock.
        utc: bool,
    },
    /// Units that something takes.
    Duration {
        /// How many nanoseconds a unit is.
        unit: u64,
    },
}

impl fmt::Display for BareTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BareTime::TimeOfDay { .. } => "times of day",
            BareTime::Timestamp { utc: true, .. } => "timestamps",
            BareTime::Timestamp { utc: false, .. } => "timestamps without a zone",
            BareTime::Duration { .. } => "durations",
        })
    }
}

/// What is known of the columns of a file, by their numbers; `None` of those that are nothing but integers.
pub(super) type BareTimes<'a> = &'a dyn Fn(usize) -> Option<BareTime>;
