//! What references may open: ranges of the file itself, directories, URLs below a prefix.

use crate::checksum::{Algorithm, Hasher};
use crate::local::LocalAccess;
use crate::reader::FileReader;
use crate::reference::{FileRef, Location};
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_core::source::Source;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The sources that FILE values may refer to. By default, only bytes that are stored inline in the values can be read.
///
/// Values are untrusted: anybody may have written the file. So the symbolic links of a path are resolved before it is
/// compared with the allowed directories, only regular files are opened, and URLs must begin with an allowed prefix and
/// have no `.` or `..` steps.
#[derive(Clone, Default)]
pub struct FileAccess {
    own_file: Option<Arc<dyn Source>>,
    pub(crate) local: LocalAccess,
    openers: Vec<(String, Opener)>,
    without_checksums: bool,
}

/// A function that opens a URL.
type Opener = Arc<dyn Fn(&str) -> Result<Arc<dyn Source>> + Send + Sync>;

impl FileAccess {
    /// Allows only bytes that are stored inline in the values.
    pub fn none() -> Self {
        Self::default()
    }

    /// Allows ranges of the Parquet file that contains the values.
    pub fn with_own_file(mut self, file: Arc<dyn Source>) -> Self {
        self.own_file = Some(file);
        self
    }

    /// Allows URLs that begin with this prefix, which `open` opens. The prefix must have a scheme and a host with a
    /// slash behind it: `s3://bucket/` or `https://example.com/images/`.
    ///
    /// # Errors
    ///
    /// If `prefix` is not such a prefix.
    pub fn with_urls(
        mut self,
        prefix: &str,
        open: impl Fn(&str) -> Result<Arc<dyn Source>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let rest = prefix.split_once("://").map(|(_, rest)| rest);
        if !rest.is_some_and(|rest| rest.contains('/') && !rest.starts_with('/')) || !is_plain_url(prefix) {
            let message = format!("{prefix} is not a beginning of URLs, such as s3://bucket/folder/");
            return Err(Error::argument(message));
        }
        // A folder, so that /images does not allow /images-of-others.
        let prefix = if prefix.ends_with('/') { prefix.to_owned() } else { format!("{prefix}/") };
        self.openers.push((prefix, Arc::new(open)));
        Ok(self)
    }

    /// Turns off the comparison of checksums.
    pub fn without_checksums(mut self) -> Self {
        self.without_checksums = true;
        self
    }

    /// Opens the bytes that a value refers to, for reading from front to back. The checksum is compared when the last
    /// bytes are read. ETags, and checksums of algorithms that the format does not define, are not compared.
    ///
    /// # Errors
    ///
    /// If the value is invalid, if its target is not allowed or cannot be opened, or if the target is shorter than the
    /// range.
    pub fn open(&self, reference: &FileRef<'_>) -> Result<FileReader> {
        let (source, range): (Arc<dyn Source>, Option<Range<u64>>) = match reference.location()? {
            Location::Inline(bytes) => (Arc::new(Bytes::copy_from_slice(bytes)), None),
            Location::OwnFile(range) => {
                let own = self.own_file.clone();
                let refused = || Error::unsupported("FILE: ranges of the file itself are not allowed");
                (own.ok_or_else(refused)?, Some(range))
            }
            Location::Uri { uri, range } => (self.source(uri)?, range),
        };
        let len = source.len();
        let range = range.unwrap_or(0..len);
        if range.end > len {
            let Range { start, end } = range;
            return Err(Error::corrupt(format!("FILE: bytes {start} to {end} of a file of {len} bytes")));
        }
        let checksum = reference.checksum()?.filter(|_| !self.without_checksums);
        let checksum = checksum.and_then(|checksum| {
            let algorithm: Algorithm = checksum.algorithm?;
            Some((algorithm, Hasher::new(algorithm)?, checksum.digest.to_owned()))
        });
        Ok(FileReader::new(source, range, checksum))
    }

    fn source(&self, uri: &str) -> Result<Arc<dyn Source>> {
        let shown = marquetry_base::Printable(uri);
        if let Some((_, open)) = self.openers.iter().find(|(prefix, _)| uri.starts_with(prefix.as_str())) {
            if !is_plain_url(uri) {
                return Err(Error::unsupported(format!("FILE: {shown} may lead out of what is allowed")));
            }
            return open(uri);
        }
        if let Some(path) = self.local.path_of(uri)? {
            return self.local.open(&path, uri);
        }
        Err(Error::unsupported(format!("FILE: {shown} is not allowed")))
    }
}

/// Whether a URL has no `.` or `..` steps in any spelling, no user, and no characters that parsers disagree about.
fn is_plain_url(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let lower = rest.to_ascii_lowercase();
    let is_step = |part: &str| matches!(part.replace("%2e", ".").as_str(), "." | "..");
    !host.contains('@')
        && !rest.contains(['\\', '?', '#'])
        && !rest.chars().any(|char| char.is_control() || char.is_whitespace())
        && !lower.contains("%2f")
        && !lower.contains("%5c")
        && !lower.contains("%00")
        && !lower.split('/').any(is_step)
}

impl fmt::Debug for FileAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<&str> = self.openers.iter().map(|(prefix, _)| prefix.as_str()).collect();
        let mut out = f.debug_struct("FileAccess");
        out.field("own_file", &self.own_file.is_some()).field("urls", &urls);
        out.field("local", &self.local);
        out.finish_non_exhaustive()
    }
}
