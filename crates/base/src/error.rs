//! The error type of all layers: its kind, a message, and a location in the file.
//!
//! Lower layers know *what* is wrong, upper layers know *where*. An error therefore starts with a message and an
//! empty [`ErrorLocation`], and each layer that passes it on fills in what it knows: the page reader the page, the chunk reader
//! the column, the file reader the file. Known parts are never overwritten, because the innermost layer
//! knows best.

use crate::error_kind::ErrorKind;
use crate::printable::Printable;
use crate::url_secrets::url_without_secrets;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The result of every operation of Marquetry that can fail.
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
    source: Option<Cause>,
    /// Whether retrying is useless although it may help for other errors of this kind.
    is_permanent: bool,
}

/// The cause of an error.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Where in a file an error happened. Every part is optional: a layer fills in what it knows.
///
/// ```
/// use marquetry_base::ErrorLocation;
/// let place = ErrorLocation::default().with_row_group(2).with_column("a.b");
/// assert_eq!((place.row_group, place.page), (Some(2), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorLocation {
    /// The name of the file, as the caller gave it.
    pub file: Option<Arc<str>>,
    /// The row group, counted from 0.
    pub row_group: Option<usize>,
    /// The dotted path of the column.
    pub column: Option<Arc<str>>,
    /// The page in its column chunk, counted from 0; a dictionary page counts.
    pub page: Option<usize>,
    /// The byte offset from the start of the file.
    pub offset: Option<u64>,
    /// The character in the text of a predicate, counted from 1. The message contains it, too.
    pub character: Option<usize>,
}

impl ErrorLocation {
    /// Sets [`file`](Self::file).
    #[must_use]
    pub fn with_file(mut self, file: impl Into<Arc<str>>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Sets [`row_group`](Self::row_group).
    #[must_use]
    pub fn with_row_group(mut self, row_group: usize) -> Self {
        self.row_group = Some(row_group);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: impl Into<Arc<str>>) -> Self {
        self.column = Some(column.into());
        self
    }

    /// Sets [`page`](Self::page).
    #[must_use]
    pub fn with_page(mut self, page: usize) -> Self {
        self.page = Some(page);
        self
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }
}

impl Error {
    /// Creates an error of `kind` with a message and no location yet.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            place: ErrorLocation::default(),
            source: None,
            is_permanent: false,
        }))
    }

    /// Creates a [`Corrupt`](ErrorKind::Corrupt) error: the bytes contradict the format or themselves.
    #[cold]
    pub fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Corrupt, message)
    }

    /// Creates a [`Truncated`](ErrorKind::Truncated) error: the bytes end before they should.
    #[cold]
    pub fn truncated(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Truncated, message)
    }

    /// Creates an [`Unsupported`](ErrorKind::Unsupported) error: the bytes are legal, but this build does not read them.
    #[cold]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Unsupported, message)
    }

    /// Creates a [`Limit`](ErrorKind::Limit) error: a limit is exceeded. The message should name the limit and how to raise it.
    #[cold]
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Limit, message)
    }

    /// Creates a [`Memory`](ErrorKind::Memory) error: there is not enough memory now. The message should name what it was needed for.
    #[cold]
    pub fn memory(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Memory, message)
    }

    /// Creates an [`Argument`](ErrorKind::Argument) error: the caller asked for something impossible.
    #[cold]
    pub fn argument(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Argument, message)
    }

    /// Creates a [`Key`](ErrorKind::Key) error: the bytes are encrypted and there is no fitting key.
    #[cold]
    pub fn encrypted(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Key, message)
    }

    /// Creates an error of `kind` that another error caused.
    #[cold]
    pub fn caused_by(
        kind: ErrorKind,
        message: impl Into<Cow<'static, str>>,
        source: impl Into<Cause>,
    ) -> Self {
        let mut error = Error::new(kind, message);
        error.0.source = Some(source.into());
        error
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Creates an error from an error of the operating system. `message` describes the operation that failed. The kind
    /// is [`NotFound`](ErrorKind::NotFound), [`Memory`](ErrorKind::Memory) or [`Truncated`](ErrorKind::Truncated) (for
    /// an unexpected end) if the system's error is of that kind, and [`Io`](ErrorKind::Io) otherwise.
    ///
    /// ```
    /// # use marquetry_base::{Error, ErrorKind};
    /// let missing = std::fs::File::open("no/such/file").unwrap_err();
    /// assert_eq!(Error::io("cannot open the file", missing).kind(), ErrorKind::NotFound);
    /// ```
    #[cold]
    pub fn io(message: impl Into<Cow<'static, str>>, source: std::io::Error) -> Self {
        Error::caused_by(ErrorKind::of_io(source.kind()), message, source)
    }

    /// Whether other parts of the file may still be readable after this error in one part. True for errors of the
    /// file's contents, and for a part that does not fit in memory; false for errors of the source and of the caller.
    pub fn is_damage(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Corrupt
                | ErrorKind::Truncated
                | ErrorKind::Unsupported
                | ErrorKind::Limit
                | ErrorKind::Memory
                | ErrorKind::Key
        )
    }

    /// Whether no more of the file can be read: the source failed, or the caller cancelled.
    pub fn stops_reading(&self) -> bool {
        matches!(self.kind(), ErrorKind::Io | ErrorKind::NotFound | ErrorKind::Changed | ErrorKind::Cancelled)
    }

    /// Whether the same operation may succeed later. True for errors of the operating system, a store or a network that
    /// may pass, for a lack of memory that others may give back, and for a changed file, which must be opened anew.
    /// Never true for damage, a missing file, a wrong argument or a cancelled read.
    ///
    /// ```
    /// # use marquetry_base::{Error, ErrorKind};
    /// assert!(Error::new(ErrorKind::Io, "the store failed").is_retryable());
    /// assert!(!Error::new(ErrorKind::Io, "the store knows no such user").permanent().is_retryable());
    /// assert!(!Error::corrupt("no footer").is_retryable());
    /// ```
    pub fn is_retryable(&self) -> bool {
        let may_pass = match self.kind() {
            ErrorKind::Memory | ErrorKind::Changed => true,
            ErrorKind::Io => self.io_cause().is_none_or(|cause| may_pass(cause.kind())),
            _ => false,
        };
        may_pass && !self.0.is_permanent
    }

    /// Marks an error as permanent: retrying is useless, see [`is_retryable`](Self::is_retryable).
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.0.is_permanent = true;
        self
    }

    /// The error that caused this one. Its text is part of this error's text, so [`source`](std::error::Error::source)
    /// continues with the cause of *that* error, as [`std::io::Error`] does.
    ///
    /// ```
    /// # use marquetry_base::Error;
    /// let error = Error::from(std::io::Error::other("the cable is out"));
    /// assert_eq!(error.to_string(), "io: reading or writing failed: the cable is out");
    /// assert!(error.get_ref().is_some_and(|cause| cause.is::<std::io::Error>()));
    /// ```
    pub fn get_ref(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// The cause, if it is an error of the operating system.
    pub(crate) fn io_cause(&self) -> Option<&std::io::Error> {
        self.get_ref().and_then(|cause| cause.downcast_ref())
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

    /// Puts the name of what was read or done before the message. Kind, location and cause stay.
    ///
    /// ```
    /// # use marquetry_base::Error;
    /// let error = Error::corrupt("Thrift type 15").with_context("page header").at(4);
    /// assert_eq!(error.to_string(), "corrupt: page header: Thrift type 15, in byte 4");
    /// ```
    #[must_use]
    pub fn with_context(mut self, what: &str) -> Self {
        let message = format!("{what}: {}", self.0.message);
        self.0.message = message.into();
        self
    }

    /// The message, without kind and location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The location in the file, as far as it is known.
    pub fn place(&self) -> &ErrorLocation {
        &self.0.place
    }

    /// Adds the file name, unless known. The [secrets](url_without_secrets) of a URL are left out.
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

    /// Adds the character of a predicate's text, counted from 1, unless known. It is not a place in a file, so it goes into the message.
    ///
    /// ```
    /// # use marquetry_base::Error;
    /// let error = Error::argument("no column b").in_predicate(7).in_predicate(1);
    /// assert_eq!(error.to_string(), "argument: predicate, character 7: no column b");
    /// ```
    #[must_use]
    pub fn in_predicate(mut self, character: usize) -> Self {
        if self.0.place.character.is_some() {
            return self;
        }
        self.0.place.character = Some(character);
        self.with_context(&format!("predicate, character {character}"))
    }

    /// Removes the byte offset. For offsets in decompressed bytes, which are not positions in the file.
    #[must_use]
    pub fn without_offset(mut self) -> Self {
        self.0.place.offset = None;
        self
    }

    /// Converts a byte offset that was counted from `base` to one counted from the start of the file.
    #[must_use]
    pub fn offset_by(mut self, base: u64) -> Self {
        if let Some(offset) = &mut self.0.place.offset {
            *offset = offset.saturating_add(base);
        }
        self
    }
}

/// Formats the known parts: `file a.parquet, column b, row group 3, page 4, byte 5`. Empty if none is known.
impl fmt::Display for ErrorLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.file.as_ref().map(|file| format!("file {}", Printable(file))));
        parts.extend(self.column.as_ref().map(|column| format!("column {}", Printable(column))));
        parts.extend(self.row_group.map(|row_group| format!("row group {row_group}")));
        parts.extend(self.page.map(|page| format!("page {page}")));
        parts.extend(self.offset.map(|offset| format!("byte {offset}")));
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, place, source, .. } = &*self.0;
        write!(f, "{}: {message}", kind.name())?;
        if let Some(source) = source {
            write!(f, ": {source}")?;
        }
        let place = place.to_string();
        if place.is_empty() { Ok(()) } else { write!(f, ", in {place}") }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text names the cause once, so `source` continues with the cause of the cause.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.get_ref().and_then(|cause| cause.source())
    }
}

/// Whether an error of the operating system may be gone at the next attempt.
fn may_pass(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind;
    !matches!(
        kind,
        ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
            | ErrorKind::Unsupported
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::StorageFull
            | ErrorKind::FileTooLarge
    )
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

    /// Formats an error and all its sources as `anyhow` does with `{:#}`.
    fn chain(error: &dyn std::error::Error) -> String {
        let sources = std::iter::successors(error.source(), |error| error.source());
        std::iter::once(error.to_string())
            .chain(sources.map(ToString::to_string))
            .collect::<Vec<_>>()
            .join(": ")
    }

    #[test]
    fn a_chain_names_each_cause_once() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the store is lost")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let cause = Outer(std::io::Error::other("the cable is out"));
        let error = Error::caused_by(ErrorKind::Io, "cannot read", cause).in_file("a");
        assert_eq!(error.to_string(), "io: cannot read: the store is lost, in file a");
        assert_eq!(chain(&error), "io: cannot read: the store is lost, in file a: the cable is out");
        let flat = Error::from(std::io::Error::other("the cable is out"));
        assert_eq!(chain(&flat), "io: reading or writing failed: the cable is out");
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        use std::io::ErrorKind as Io;
        let io = |kind| Error::io("cannot read", std::io::Error::from(kind));
        for kind in [Io::TimedOut, Io::ConnectionReset, Io::Interrupted, Io::OutOfMemory, Io::Other] {
            assert!(io(kind).is_retryable(), "{kind}");
        }
        for kind in [Io::PermissionDenied, Io::NotFound, Io::UnexpectedEof, Io::StorageFull] {
            assert!(!io(kind).is_retryable(), "{kind}");
        }
        assert!(Error::new(ErrorKind::Changed, "x").is_retryable());
        for kind in [ErrorKind::Cancelled, ErrorKind::Argument, ErrorKind::Limit, ErrorKind::Key] {
            assert!(!Error::new(kind, "x").is_retryable(), "{}", kind.name());
        }
        assert!(Error::memory("x").is_retryable() && !Error::memory("x").permanent().is_retryable());
    }
}
