//! The encoding `plain`: decoded, skipped and encoded again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::plain(data));
