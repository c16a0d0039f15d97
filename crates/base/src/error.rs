//! The error type of all layers: its kind, a message, and a location in the file.
//!
//! Lower layers know *what* is wrong, upper layers know *where*. An error therefore starts with a message and an
//! empty [`ErrorLocation`], and each layer that passes it on fills in what it knows: the page reader the page, the chunk reader
//! the column, the file reader the file. Known parts are never overwritten, because the innermost layer
//! knows best.

use crate::printable::Printable;
use crate::url_secrets::url_without_secrets;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The result of everything in Marquetry that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its kind, a message and its [`ErrorLocation`]; one pointer wide.
///
/// ```
/// use marquetry_base::Error;
/// let error = Error::corrupt("miniblock width 67 > 64").in_page(12).in_column("a.b.c").in_row_group(3).at(1048612);
/// assert_eq!(
///     error.to_string(),
///     "corrupt: miniblock width 67 > 64, in column a.b.c, row group 3, page 12, byte 1048612"
/// );
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    place: ErrorLocation,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What kind of failure an [`Error`] is; decides whether retrying, other settings or another file can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes contradict the format or themselves.
    Corrupt,
    /// The bytes end before they should.
    Truncated,
    /// The bytes are legal, or may be, but this build does not read them.
    Unsupported,
    /// A number in the file exceeds the [`Limits`](crate::Limits) of this read.
    Limit,
    /// The caller asked for something impossible.
    Argument,
    /// The operating system or a store failed.
    Io,
    /// The bytes are encrypted and no key, or a wrong one, was given.
    Key,
}

/// Where in a file something happened. Every part is optional: a layer fills in what it knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorLocation {
    /// The file's name, as the caller gave it.
    pub file: Option<Arc<str>>,
    /// Row group, counted from 0.
    pub row_group: Option<usize>,
    /// Column path, dotted.
    pub column: Option<Arc<str>>,
    /// Page in its column chunk, counted from 0; a dictionary page counts.
    pub page: Option<usize>,
    /// Byte offset from the start of the file.
    pub offset: Option<u64>,
}

impl Error {
    /// An error of `kind` with a message and no location yet.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            place: ErrorLocation::default(),
            source: None,
        }))
    }

    /// The bytes contradict the format or themselves.
    #[cold]
    pub fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Corrupt, message)
    }

    /// The bytes end before they should.
    #[cold]
    pub fn truncated(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Truncated, message)
    }

    /// Legal, but not read by this build.
    #[cold]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Unsupported, message)
    }

    /// A limit is exceeded; the message should say which one and how to raise it.
    #[cold]
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Limit, message)
    }

    /// The caller asked for something impossible.
    #[cold]
    pub fn argument(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Argument, message)
    }

    /// Encrypted bytes without a fitting key.
    #[cold]
    pub fn encrypted(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Key, message)
    }

    /// An error of `kind` that another error caused.
    #[cold]
    pub fn caused_by(
        kind: ErrorKind,
        message: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let mut error = Error::new(kind, message);
        error.0.source = Some(source.into());
        error
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the file causes the error, so that other parts of it may still be read: not, for example, an error of the
    /// source.
    pub fn is_damage(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Corrupt
                | ErrorKind::Truncated
                | ErrorKind::Unsupported
                | ErrorKind::Limit
                | ErrorKind::Key
        )
    }

    /// Adds a hint to the message on how to solve the problem. Kind and location stay.
    ///
    /// ```
    /// # use marquetry_base::Error;
    /// let error = Error::limit("17 columns, the limit is 16").with_help("raise Limits::columns");
    /// assert_eq!(error.message(), "17 columns, the limit is 16; raise Limits::columns");
    /// ```
    #[must_use]
    pub fn with_help(mut self, advice: &str) -> Self {
        let message = self.0.message.to_mut();
        message.push_str("; ");
        message.push_str(advice);
        self
    }

    /// The message, without kind and location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The location in the file, with the parts that are known.
    pub fn place(&self) -> &ErrorLocation {
        &self.0.place
    }

    /// Adds the file name, unless known. Of a URL its [secrets](url_without_secrets) are left out.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<Arc<str>>) -> Self {
        self.0.place.file.get_or_insert_with(|| {
            let file = file.into();
            match url_without_secrets(&file) {
                Cow::Borrowed(_) => file.clone(),
                Cow::Owned(shown) => shown.into(),
            }
        });
        self
    }

    /// Adds the row group, unless known.
    #[must_use]
    pub fn in_row_group(mut self, row_group: usize) -> Self {
        self.0.place.row_group.get_or_insert(row_group);
        self
    }

    /// Adds the column path, unless known.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<Arc<str>>) -> Self {
        self.0.place.column.get_or_insert_with(|| column.into());
        self
    }

    /// Adds the page number, unless known.
    #[must_use]
    pub fn in_page(mut self, page: usize) -> Self {
        self.0.place.page.get_or_insert(page);
        self
    }

    /// Adds the byte offset from the start of the file, unless known.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.place.offset.get_or_insert(offset);
        self
    }

    /// Removes the byte offset, if it is inside decompressed bytes and so no position in the file.
    #[must_use]
    pub fn without_offset(mut self) -> Self {
        self.0.place.offset = None;
        self
    }

    /// Moves a byte offset that was counted from the start of a part to the start of the file.
    #[must_use]
    pub fn offset_by(mut self, base: u64) -> Self {
        if let Some(offset) = &mut self.0.place.offset {
            *offset = offset.saturating_add(base);
        }
        self
    }
}

impl ErrorKind {
    /// The word that an error's text begins with.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::Truncated => "truncated",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Limit => "limit",
            ErrorKind::Argument => "argument",
            ErrorKind::Io => "io",
            ErrorKind::Key => "encrypted",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, place, source } = &*self.0;
        write!(f, "{}: {message}", kind.name())?;
        if let Some(source) = source {
            write!(f, ": {source}")?;
        }
        let mut parts = Vec::new();
        parts.extend(place.file.as_ref().map(|file| format!("file {}", Printable(file))));
        parts.extend(place.column.as_ref().map(|column| format!("column {}", Printable(column))));
        parts.extend(place.row_group.map(|row_group| format!("row group {row_group}")));
        parts.extend(place.page.map(|page| format!("page {page}")));
        parts.extend(place.offset.map(|offset| format!("byte {offset}")));
        if parts.is_empty() { Ok(()) } else { write!(f, ", in {}", parts.join(", ")) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        let kind = if error.kind() == std::io::ErrorKind::UnexpectedEof {
            ErrorKind::Truncated
        } else {
            ErrorKind::Io
        };
        Error::caused_by(kind, "reading or writing failed", error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_one_pointer_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn the_innermost_layer_knows_best() {
        let error = Error::truncated("x").in_page(1).in_page(2).at(7).offset_by(100).at(3);
        assert_eq!(error.place().page, Some(1));
        assert_eq!(error.place().offset, Some(107));
        assert_eq!(error.to_string(), "truncated: x, in page 1, byte 107");
    }
}
