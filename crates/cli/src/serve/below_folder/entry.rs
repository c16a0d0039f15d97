//! The entries of a folder: files and other folders.

/// A folder or a file.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_folder: bool,
    /// In bytes.
    pub(crate) size: u64,
}

/// Entries of a folder.
pub(crate) struct Entries {
    pub(crate) list: Vec<Entry>,
    /// Whether the list is complete.
    pub(crate) are_all: bool,
}
