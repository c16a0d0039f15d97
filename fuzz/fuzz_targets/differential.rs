//! A whole file, read here and by the `parquet` crate.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::differential(data));
