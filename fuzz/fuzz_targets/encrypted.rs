//! Encrypted files with their keys, changed in places: an error, or the values that were written.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::encrypted(data));
