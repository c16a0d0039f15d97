//! The strings of a dictionary, as they are copied from when they are wanted end to end.

use crate::StringViews;
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels::{Entry, view_len};

/// A PLAIN dictionary page, and where each of its strings is.
///
/// PERF: by way of views, each string would first be asked whether it is in its view; and the page has slack behind it, so
/// that a copy can take more than the string.
#[derive(Debug, Clone)]
pub(crate) struct Strings {
    pub(crate) page: PaddedBytes,
    pub(crate) entries: Vec<Entry>,
}

impl Strings {
    /// The strings of `views`, as `page` has them, of which they were read; without one, as it would have them.
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
        Ok(Strings { entries: entries.collect(), page })
    }
}
