//! The encoding `byte_stream_split`: decoded, skipped and encoded again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::byte_stream_split(data));
