//! Metadata and a value of VARIANT.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::variant_value(data));
