//! Time zone names: offsets, and the zones of the IANA database.

/// Whether a name is an offset, or a zone in IANA's database.
pub(crate) fn is_zone(name: &str) -> bool {
    // Other spellings of UTC are in use.
    name.is_empty()
        || ["UTC", "GMT", "Z"].iter().any(|utc| utc.eq_ignore_ascii_case(name))
        || is_offset(name)
        || NAMES.lines().any(|zone| zone == name)
}

/// Whether a name is an offset such as `+02`, `+0200` or `+02:00`, or the same with `-`.
fn is_offset(name: &str) -> bool {
    let Some(digits) = name.strip_prefix(['+', '-']) else { return false };
    let (hours, minutes) = digits.split_at_checked(2).unwrap_or((digits, ""));
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    let below = |text: &str, most: u8| {
        let is_number = text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_digit());
        is_number && text.parse::<u8>().is_ok_and(|number| number < most)
    };
    below(hours, 24) && (minutes.is_empty() && digits.len() == 2 || below(minutes, 60))
}

/// The names of IANA's time zone database, including older ones. It is in the public domain.
const NAMES: &str = include_str!("time_zones.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_letter_makes_no_zone() {
        for zone in [
            "UTC",
            "utc",
            "",
            "Europe/Berlin",
            "America/Port-au-Prince",
            "Etc/GMT+5",
            "EST5EDT",
            "+02:00",
            "-0330",
            "+14",
        ] {
            assert!(is_zone(zone), "{zone}");
        }
        for wrong in [
            "Europe/Berlhn",
            "UTS",
            "europe/Berlin",
            "+2",
            "+25:00",
            "+02:",
            "+02:60",
            "02:00",
            "+0a:00",
            "+02:0",
            "\u{fc}",
        ] {
            assert!(!is_zone(wrong), "{wrong}");
        }
    }

    /// Of one bit of a name hardly any makes another name.
    #[test]
    fn a_bit_makes_no_zone() {
        let mut unnoticed = 0;
        for zone in NAMES.lines() {
            for bit in 0..zone.len() * 8 {
                let mut bytes = zone.as_bytes().to_vec();
                bytes[bit / 8] ^= 1 << (bit % 8);
                unnoticed += usize::from(String::from_utf8(bytes).is_ok_and(|name| is_zone(&name)));
            }
        }
        assert!(unnoticed < 100, "{unnoticed}");
    }
}
