//! The Arrow schema that is stored in a file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::arrow_schema(data));
