//! Conditions on times that are stored as bare integers, for which Parquet has no annotation: only the stored Arrow
//! schema states their unit.

use std::fmt;

/// The meaning of a column of bare integers. Literals that are not numbers are compared with it: see
/// [`Predicate::bind_with_times`](super::Predicate::bind_with_times).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BareTime {
    /// Units since midnight.
    TimeOfDay {
        /// Nanoseconds per unit.
        unit: u64,
    },
    /// Units since 1970-01-01T00:00:00.
    Timestamp {
        /// Nanoseconds per unit.
        unit: u64,
        /// Whether it is a point in time, instead of a reading of calendar and clock.
        utc: bool,
    },
    /// A duration in units.
    Duration {
        /// Nanoseconds per unit.
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

/// Returns the meaning of a column of bare integers by its number; `None` if they are only integers.
pub(super) type BareTimes<'a> = &'a dyn Fn(usize) -> Option<BareTime>;
