//! INT96: the deprecated timestamp of Hive, Impala and Spark.
//!
//! ```text
//! 8 bytes   nanoseconds since midnight, little-endian
//! 4 bytes   Julian day number, little-endian; day 2,440,588 is 1970-01-01
//! ```
//!
//! QUIRK: old writers store the nanoseconds of several days. The instant is that of day and nanoseconds together.
//!
//! QUIRK: a negative Julian day, before 4713 BC, is the result of Spark for a time so far in the future that its
//! microseconds overflow 64 bits in the conversion to days. Modulo 2^64 the microseconds are correct.

/// The Julian day number of 1970-01-01.
pub const JULIAN_DAY_OF_1970: i32 = 2_440_588;

/// Nanoseconds in a day.
pub const NANOS_PER_DAY: i64 = 86_400_000_000_000;

const MICROS_PER_DAY: i64 = NANOS_PER_DAY / 1000;

/// Returns the sort key. SPEC: "compare the last 4 bytes (days) as a little-endian 32-bit signed integer; if equal last
/// 4 bytes, compare the first 8 bytes as a little-endian 64-bit signed integer (nanos)".
#[inline]
pub(crate) fn key(bytes: [u8; 12]) -> (i32, i64) {
    let [n0, n1, n2, n3, n4, n5, n6, n7, days @ ..] = bytes;
    (i32::from_le_bytes(days), i64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]))
}

/// Whether the order of the key may differ from that of the time: if nanoseconds are beyond a day, or the day wrapped
/// around.
pub(crate) fn is_odd((day, nanos): (i32, i64)) -> bool {
    day < 0 || !(0..NANOS_PER_DAY).contains(&nanos)
}

/// Returns the stored numbers: days since 1970, and nanoseconds, which may be negative or more than a day's.
#[inline]
pub fn stored(bytes: [u8; 12]) -> (i64, i64) {
    let (julian, nanos) = key(bytes);
    (i64::from(julian) - i64::from(JULIAN_DAY_OF_1970), nanos)
}

/// Returns the bytes of a Julian day and nanoseconds.
#[inline]
pub fn to_bytes(julian: i32, nanos: i64) -> [u8; 12] {
    let ([n0, n1, n2, n3, n4, n5, n6, n7], [d0, d1, d2, d3]) = (nanos.to_le_bytes(), julian.to_le_bytes());
    [n0, n1, n2, n3, n4, n5, n6, n7, d0, d1, d2, d3]
}

/// Returns the time that is meant: days since 1970, and nanoseconds of that day.
pub fn instant(bytes: [u8; 12]) -> (i64, i64) {
    let (days, nanos) = stored(bytes);
    if key(bytes).0 < 0 {
        let micros = days.wrapping_mul(MICROS_PER_DAY).wrapping_add(nanos.div_euclid(1000));
        return (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY) * 1000);
    }
    (days + nanos.div_euclid(NANOS_PER_DAY), nanos.rem_euclid(NANOS_PER_DAY))
}

/// Returns the same time with nanoseconds within a day, and a day that has the order of times. A day that is out of
/// range stays as it is.
pub(crate) fn normalized(bytes: [u8; 12]) -> [u8; 12] {
    if !is_odd(key(bytes)) {
        return bytes;
    }
    let (days, nanos) = instant(bytes);
    let julian = i32::try_from(days + i64::from(JULIAN_DAY_OF_1970));
    julian.map_or(bytes, |julian| to_bytes(julian, nanos))
}

#[cfg(test)]
mod tests {
    use super::to_bytes as bytes;
    use super::*;

    #[test]
    fn times_are_those_of_day_and_nanoseconds() {
        assert_eq!(instant(bytes(JULIAN_DAY_OF_1970 + 1, 5)), (1, 5));
        assert_eq!(instant(bytes(JULIAN_DAY_OF_1970, -1)), (-1, NANOS_PER_DAY - 1));
        assert_eq!(
            normalized(bytes(JULIAN_DAY_OF_1970, NANOS_PER_DAY + 7)),
            bytes(JULIAN_DAY_OF_1970 + 1, 7)
        );
        assert_eq!(instant(bytes(0, -1)), (-i64::from(JULIAN_DAY_OF_1970) - 1, NANOS_PER_DAY - 1));
    }

    #[test]
    fn days_that_wrapped_are_in_the_future() {
        // The largest time of 64 bits in microseconds, written as Spark does.
        let most = i64::MAX.wrapping_add(i64::from(JULIAN_DAY_OF_1970) * MICROS_PER_DAY);
        let day = i32::try_from(most.div_euclid(MICROS_PER_DAY)).expect("a day");
        let wrapped = bytes(day, most.rem_euclid(MICROS_PER_DAY) * 1000);
        assert!(day < 0);
        let (days, nanos) = instant(wrapped);
        assert_eq!((days, nanos), (i64::MAX / MICROS_PER_DAY, i64::MAX % MICROS_PER_DAY * 1000));
        let normalized = normalized(wrapped);
        assert!(key(normalized).0 > JULIAN_DAY_OF_1970);
        assert_eq!(instant(normalized), (days, nanos));
        // A day before 4713 BC whose microseconds fit into 64 bits did not wrap around.
        assert_eq!(instant(bytes(-1, 1000)), (-1 - i64::from(JULIAN_DAY_OF_1970), 1000));
    }
}
