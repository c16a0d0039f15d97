//! Bounds that are cut still bound, and stay what they are.

use marquetry_core::statistics::truncate::{lower, upper};
use proptest::prelude::*;

fn upper_text(value: &str, n: usize) -> Option<String> {
    upper(value.as_bytes(), n, true).map(|bound| String::from_utf8(bound).unwrap())
}

#[test]
fn the_example_of_parquet_thrift() {
    assert_eq!(lower(b"Blart Versenwald III", 1, true), b"B");
    assert_eq!(upper_text("Blart Versenwald III", 1), Some("C".into()));
}

#[test]
fn what_is_short_enough_is_kept() {
    assert_eq!(lower(b"abc", 3, true), b"abc");
    assert_eq!(upper(b"abc", 3, false).unwrap(), b"abc");
    assert_eq!(upper(b"\xff\xff", 2, false).unwrap(), b"\xff\xff");
    assert_eq!((lower(b"", 0, true), upper(b"", 0, true)), (&b""[..], Some(vec![])));
}

#[test]
fn binary_increments_the_last_byte_that_can_be() {
    assert_eq!(upper(b"ab\xff\xffz", 4, false).unwrap(), b"ac");
    assert_eq!(upper(b"\xff\xff\xff", 2, false), None);
    assert_eq!(upper(b"abc", 0, false), None);
}

#[test]
fn text_is_cut_between_characters() {
    assert_eq!(lower("aé".as_bytes(), 2, true), b"a");
    assert_eq!(upper_text("aéb", 2), Some("b".into()));
    assert_eq!(upper_text("aéb", 3), Some("aê".into()));
    assert_eq!((lower("éa".as_bytes(), 1, true), upper_text("éa", 1)), (&b""[..], None));
}

#[test]
fn surrogates_are_passed_over() {
    assert_eq!(upper_text("\u{d7ff}x", 3), Some("\u{e000}".into()));
}

#[test]
fn the_last_code_point_cannot_be_incremented() {
    assert_eq!(upper_text("a\u{10ffff}\u{10ffff}x", 9), Some("b".into()));
    assert_eq!(upper_text("\u{10ffff}x", 4), None);
}

#[test]
fn a_bound_gets_no_longer_by_incrementing() {
    // The next character of one byte has two.
    assert_eq!(upper_text("a\u{7f}b", 2), Some("b".into()));
    assert_eq!(upper_text("a\u{7f}bc", 3), Some("a\u{7f}c".into()));
    assert_eq!(upper_text("a\u{7f}\u{7f}c", 3), Some("a\u{80}".into()));
    assert_eq!(upper_text("\u{7f}b", 1), None);
}

#[test]
fn what_is_no_text_is_cut_as_bytes() {
    assert_eq!(lower(b"\xff\xffz", 1, true), b"\xff");
    assert_eq!(upper(b"a\xffz", 2, true).unwrap(), b"b");
}

proptest! {
    #[test]
    fn cut_text_bounds_and_stays_text(value in "[a\\x7f\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10ffff}z]{0,8}", n in 0usize..12) {
        let bytes = value.as_bytes();
        let low = lower(bytes, n, true);
        prop_assert!(low <= bytes && low.len() <= n && str::from_utf8(low).is_ok());
        if let Some(high) = upper(bytes, n, true) {
            prop_assert!(&high[..] >= bytes && high.len() <= n && String::from_utf8(high).is_ok());
        }
    }

    #[test]
    fn cut_bytes_bound(value in proptest::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 0..8), n in 0usize..8) {
        let low = lower(&value, n, false);
        prop_assert!(low <= &value[..] && low.len() <= n);
        match upper(&value, n, false) {
            Some(high) => prop_assert!(high >= value && high.len() <= n),
            None => prop_assert!(value[..n].iter().all(|byte| *byte == 0xff)),
        }
    }
}
