//! A whole file, read in spite of damage.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::salvage(data));
