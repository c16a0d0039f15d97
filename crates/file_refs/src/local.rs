//! URIs of local files, which must stay within directories.

use marquetry_base::{Error, Printable, Result};
use marquetry_core::io::LocalFile;
use marquetry_core::source::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The allowed directories, and the base of relative URIs.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalAccess {
    /// Canonical paths, without symbolic links.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) base: Option<PathBuf>,
}

impl LocalAccess {
    /// Returns the path of a `file:` URI or of a relative one, or `None` for other schemes.
    pub(crate) fn path_of(&self, uri: &str) -> Result<Option<PathBuf>> {
        let wrong = |why: &str| Error::corrupt(format!("FILE: {}: {why}", Printable(uri)));
        let (scheme, rest) = match uri.split_once(':') {
            // A colon behind a slash is part of a name.
            Some((scheme, rest)) if !scheme.contains('/') => (Some(scheme), rest),
            _ => (None, uri),
        };
        if scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("file")) {
            return Ok(None);
        }
        if rest.contains(['?', '#']) {
            return Err(wrong("a query or a fragment is part of no file"));
        }
        let path = match rest.strip_prefix("//") {
            Some(rest) => {
                let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
                if scheme.is_none() || !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                    return Err(wrong("another machine"));
                }
                path
            }
            None => rest,
        };
        let path = PathBuf::from(decoded(path).ok_or_else(|| wrong("no path"))?);
        match (&self.base, path.is_absolute()) {
            (_, true) => Ok(Some(path)),
            (Some(base), false) if scheme.is_none() => Ok(Some(base.join(path))),
            (_, false) => Err(wrong("relative to nothing")),
        }
    }

    /// Opens a regular file that is below an allowed directory after all symbolic links are resolved.
    pub(crate) fn open(&self, path: &Path, uri: &str) -> Result<Arc<dyn Source>> {
        let shown = Printable(uri);
        let refused = || Error::unsupported(format!("FILE: {shown} is not allowed"));
        if self.directories.is_empty() {
            return Err(refused());
        }
        // For places that are not allowed, the error does not reveal whether a file exists.
        let found = path.canonicalize().map_err(|_| self.missing(path, uri))?;
        if !self.directories.iter().any(|directory| found.starts_with(directory)) {
            return Err(refused());
        }
        // A pipe would block forever, and a device has no end.
        let metadata = found.metadata().map_err(|error| Error::io(format!("FILE: {shown}"), error))?;
        if !metadata.is_file() {
            return Err(Error::unsupported(format!("FILE: {shown} is not a plain file")));
        }
        Ok(Arc::new(LocalFile::open(&found)?))
    }

    fn missing(&self, path: &Path, uri: &str) -> Error {
        let shown = Printable(uri);
        // The nearest existing ancestor decides whether the error may reveal that the file is missing.
        let parent = path.ancestors().skip(1).find_map(|parent| parent.canonicalize().ok());
        let is_allowed = parent
            .is_some_and(|parent| self.directories.iter().any(|directory| parent.starts_with(directory)));
        match is_allowed {
            true => Error::unsupported(format!("FILE: {shown} is not there")),
            false => Error::unsupported(format!("FILE: {shown} is not allowed")),
        }
    }
}

/// Decodes the percent escapes of a path, `%41` to `A`. Returns `None` if an escape is invalid, or if the path is
/// empty, is not UTF-8, or has a zero byte.
fn decoded(path: &str) -> Option<String> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        if *first == b'%' {
            let [high, low, behind @ ..] = behind else { return None };
            let digit = |byte: u8| char::from(byte).to_digit(16);
            out.push((digit(*high)? * 16 + digit(*low)?) as u8);
            rest = behind;
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(out).ok().filter(|path| !path.is_empty() && !path.contains('\0'))
}
