//! Options of content-defined chunking.

/// Sizes that decide where content-defined chunking ends pages; see
/// [`set_content_defined_chunking`](super::WriterPropertiesBuilder::set_content_defined_chunking).
///
/// Sizes are those of values and levels before encoding: the bytes of a string, the width of a number, and a byte for
/// each level.
///
/// ```
/// use marquetry_core::write::{CdcOptions, WriterProperties};
/// let options = CdcOptions { min_chunk_size: 64 << 10, max_chunk_size: 256 << 10, ..CdcOptions::default() };
/// let properties = WriterProperties::builder().set_content_defined_chunking(Some(options)).build();
/// assert_eq!(properties.content_defined_chunking(), Some(&options));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CdcOptions {
    /// Minimum size of a page in bytes, except for the last page and for pages that are full earlier. Default: 256 KiB.
    pub min_chunk_size: usize,
    /// Size in bytes at which a page ends, after the row in which it is reached. Default: 1 MiB.
    pub max_chunk_size: usize,
    /// By how many bits fewer the hash has to match. Higher values make more and smaller pages, of which fewer bytes
    /// change; negative values make larger pages. Default: 0. Useful values are -3 to 3.
    pub norm_level: i32,
}

impl Default for CdcOptions {
    fn default() -> Self {
        CdcOptions { min_chunk_size: 256 << 10, max_chunk_size: 1 << 20, norm_level: 0 }
    }
}
