//! What is left of a file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::recover(data));
