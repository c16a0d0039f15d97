//! The encoding `bit_packed`: decoded, skipped and encoded again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::bit_packed(data));
