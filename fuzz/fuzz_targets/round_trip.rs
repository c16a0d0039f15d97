//! Rows of a file, written and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::round_trip(data));
