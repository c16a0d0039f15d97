//! A column chunk of a few pages: whole, in splits, and with rows skipped.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::page(data));
