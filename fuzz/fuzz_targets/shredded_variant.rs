//! The groups of a shredded column of VARIANT.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::shredded_variant(data));
