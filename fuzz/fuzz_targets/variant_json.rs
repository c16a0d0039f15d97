//! JSON as a VARIANT.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::variant_json(data));
