//! mimalloc in place of the system's allocator.
//!
//! A table that is dropped leaves its pages to the next one. The system's allocator gives them back, and the kernel has to clear
//! them again: a quarter of the time to read lists of structs. pyarrow and polars bring an allocator for the same reason.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;
