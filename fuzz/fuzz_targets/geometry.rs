//! A geometry in well-known binary, or none.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::geometry(data));
