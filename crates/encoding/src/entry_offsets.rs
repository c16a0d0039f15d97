//! The positions of the strings of a dictionary in its page, for copies into the offset layout.

use crate::string_views::StringViews;
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels::{Entries, Entry, view_len};

/// A PLAIN dictionary page and the positions of its strings.
///
/// PERF: copying through views would have to check whether each string is inline. Besides, the page is padded, so that
/// a copy may read past the end of a string.
#[derive(Debug, Clone)]
pub(crate) struct EntryOffsets {
    pub(crate) page: PaddedBytes,
    pub(crate) entries: Entries,
}

impl EntryOffsets {
    /// Finds the strings of `views` in `page`, the PLAIN page that they were decoded from. If it is `None`, a new page is written.
    pub(crate) fn new(views: &StringViews, page: Option<&PaddedBytes>) -> Result<Self> {
        let page = page.cloned().unwrap_or_else(|| {
            let mut page = Vec::new();
            views.write_plain(0..views.len(), &mut page);
            PaddedBytes::from(page)
        });
        if u32::try_from(page.len()).is_err() {
            return Err(Error::limit("a dictionary of over 4 GiB of byte strings"));
        }
        let mut end = 0;
        let entries = views.views().iter().map(|&view| {
            let entry = Entry { start: end + 4, len: view_len(view) };
            end = entry.start + entry.len;
            entry
        });
        Ok(EntryOffsets { entries: entries.collect(), page })
    }
}
