//! The encoding `delta_byte_array`: decoded, skipped and encoded again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::delta_byte_array(data));
