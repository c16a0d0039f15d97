//! Guesses the delimiter of a CSV file.

use super::csv_records::Dialect;

/// Finds the delimiter by which all of the first records have the same number of cells, and more than one. The comma
/// takes precedence, and then the delimiter that separates most cells. Returns the comma if there is none.
pub fn find_delimiter(dialect: Dialect, start: &[u8]) -> u8 {
    let width = |delimiter: u8| {
        let dialect = Dialect { delimiter, ..dialect };
        // The last record may be cut off.
        let seen = match start.get(..SEEN_BYTES) {
            Some(seen) => &seen[..dialect.record_end(seen)?],
            None => start,
        };
        dialect.common_width(seen).filter(|width| *width > 1)
    };
    if width(b',').is_some() {
        return b',';
    }
    let others = OTHERS.iter().filter_map(|other| Some((width(*other)?, *other)));
    // Of several with as many cells, the first.
    others.rev().max_by_key(|(width, _)| *width).map_or(b',', |(_, delimiter)| delimiter)
}

/// The possible delimiters besides the comma.
pub const OTHERS: [u8; 3] = [b';', b'\t', b'|'];

/// Enough for some hundred records.
const SEEN_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::super::csv_records::Ragged;
    use super::*;

    #[test]
    fn all_records_agree_on_it() {
        let dialect =
            Dialect { delimiter: 0, quote: b'"', escape: None, comment: Some(b'#'), ragged: Ragged::Error };
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("# x, y\na\tb\n1;2\t2\n", b'\t'),
            ("a|b|c\n1|\"x;y,z\"|2\n", b'|'),
            ("a;b", b';'),
            // As many cells by commas as by semicolons.
            ("a;b,c\n1;2,3\n", b','),
            // One column, whatever is in it.
            ("note\nx;y\n", b','),
            ("\"a;b\"\n\"x;y\"\n", b','),
            ("a;b\n1\n", b','),
            ("", b','),
        ] {
            assert_eq!(find_delimiter(dialect, text.as_bytes()), expected, "{text:?}");
        }
        let long = "a;b\n".repeat(SEEN_BYTES);
        assert_eq!(find_delimiter(dialect, long.as_bytes()), b';');
    }
}
