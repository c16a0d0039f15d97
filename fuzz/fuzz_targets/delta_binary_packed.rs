//! The encoding `delta_binary_packed`: decoded, skipped and encoded again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::delta_binary_packed(data));
