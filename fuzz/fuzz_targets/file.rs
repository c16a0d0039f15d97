//! A whole file: every batch, in several ways.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::file(data));
