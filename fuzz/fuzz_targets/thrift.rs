//! Page headers, indexes, bloom filter headers: written again they are the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| marquetry_fuzz::thrift(data));
