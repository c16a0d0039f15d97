//! How content-defined chunking cuts pages.

/// How content-defined chunking cuts pages; see
/// [`set_content_defined_chunking`](super::WriterPropertiesBuilder::set_content_defined_chunking).
///
/// Sizes are those of values and levels before they are encoded: of a string its bytes, of a number its width, of each level a byte.
///
/// ```
/// use marquetry_core::write::{CdcOptions, WriterProperties};
/// let options = CdcOptions { min_chunk_size: 64 << 10, max_chunk_size: 256 << 10, ..CdcOptions::default() };
/// let properties = WriterProperties::builder().set_content_defined_chunking(Some(options)).build();
/// assert_eq!(properties.content_defined_chunking(), Some(&options));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CdcOptions {
    /// A page has at least so many bytes, but for the last, and for pages that are full before. Default: 256 KiB.
    pub min_chunk_size: usize,
    /// A page ends behind the row in which it comes to so many bytes. Default: 1 MiB.
    pub max_chunk_size: usize,
    /// By how many bits fewer the hash has to match: more and smaller pages, of which fewer bytes change; negative for larger ones.
    /// Default: 0. From -3 to 3 makes sense.
    pub norm_level: i32,
}

impl Default for CdcOptions {
    fn default() -> Self {
        CdcOptions { min_chunk_size: 256 << 10, max_chunk_size: 1 << 20, norm_level: 0 }
    }
}
