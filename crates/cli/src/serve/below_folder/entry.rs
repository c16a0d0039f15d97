//! What a folder has.

/// A folder or a file.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_folder: bool,
    /// In bytes.
    pub(crate) size: u64,
}
