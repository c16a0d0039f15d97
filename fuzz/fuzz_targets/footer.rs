//! A footer: every struct in it, the schema, and the Arrow schema made of it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::footer(data));
