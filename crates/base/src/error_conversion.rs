//! Converts errors of the standard library and of Arrow to ours, and back, without loss.

use crate::{Error, ErrorKind};
use std::io;

/// Converts an error of the operating system. One of our errors inside it comes back unchanged.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Error>() {
            Ok(ours) => ours,
            Err(error) => Error::io("reading or writing failed", error),
        }
    }
}

/// Converts to the nearest kind, with the whole error inside.
///
/// ```
/// use marquetry_base::{Error, ErrorKind};
/// let error = std::io::Error::from(Error::corrupt("no footer").in_file("a.parquet"));
/// assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
/// assert_eq!(error.to_string(), "corrupt: no footer, in file a.parquet");
/// assert_eq!(Error::from(error).kind(), ErrorKind::Corrupt);
/// ```
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let of_cause = error.io_cause().map(io::Error::kind);
        // Callers that see `Interrupted` retry at once.
        let of_cause = of_cause.filter(|kind| *kind != io::ErrorKind::Interrupted);
        let kind = match error.kind() {
            ErrorKind::Io => of_cause.unwrap_or(io::ErrorKind::Other),
            kind => kind.to_io(),
        };
        io::Error::new(kind, error)
    }
}

/// The whole error is inside, as an `ArrowError::ExternalError`.
#[cfg(feature = "arrow")]
impl From<Error> for arrow_schema::ArrowError {
    fn from(error: Error) -> Self {
        arrow_schema::ArrowError::ExternalError(Box::new(error))
    }
}

/// Converts an error of Arrow. One of our errors inside it comes back unchanged. I/O errors, memory errors and
/// unimplemented features keep their kind; all others are [arguments](ErrorKind::Argument) that Arrow refuses.
#[cfg(feature = "arrow")]
impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        use arrow_schema::ArrowError;
        match error {
            ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
                Ok(ours) => *ours,
                Err(inner) => refused(ErrorKind::Argument, ArrowError::ExternalError(inner)),
            },
            ArrowError::IoError(_, error) => error.into(),
            ArrowError::MemoryError(_) => refused(ErrorKind::Memory, error),
            ArrowError::NotYetImplemented(_) => refused(ErrorKind::Unsupported, error),
            error => refused(ErrorKind::Argument, error),
        }
    }
}

#[cfg(feature = "arrow")]
#[cold]
fn refused(kind: ErrorKind, error: arrow_schema::ArrowError) -> Error {
    Error::caused_by(kind, "Arrow refuses", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_nothing_is_lost() {
        let kinds = [
            (ErrorKind::Corrupt, io::ErrorKind::InvalidData),
            (ErrorKind::Truncated, io::ErrorKind::UnexpectedEof),
            (ErrorKind::Unsupported, io::ErrorKind::Unsupported),
            (ErrorKind::Limit, io::ErrorKind::InvalidData),
            (ErrorKind::Memory, io::ErrorKind::OutOfMemory),
            (ErrorKind::Argument, io::ErrorKind::InvalidInput),
            (ErrorKind::Io, io::ErrorKind::Other),
            (ErrorKind::NotFound, io::ErrorKind::NotFound),
            (ErrorKind::Changed, io::ErrorKind::Other),
            (ErrorKind::Cancelled, io::ErrorKind::Other),
            (ErrorKind::Key, io::ErrorKind::PermissionDenied),
        ];
        for (kind, expected) in kinds {
            let theirs = io::Error::from(Error::new(kind, "x").in_column("a"));
            assert_eq!(theirs.kind(), expected, "{}", kind.name());
            let ours = Error::from(theirs);
            assert_eq!((ours.kind(), ours.to_string()), (kind, format!("{}: x, in column a", kind.name())));
        }
    }

    #[test]
    fn an_error_of_the_system_keeps_its_kind_unless_that_means_again() {
        for kind in [io::ErrorKind::TimedOut, io::ErrorKind::PermissionDenied, io::ErrorKind::StorageFull] {
            assert_eq!(io::Error::from(Error::from(io::Error::from(kind))).kind(), kind);
        }
        let error = io::Error::from(Error::from(io::Error::from(io::ErrorKind::Interrupted)));
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }

    #[cfg(feature = "arrow")]
    #[test]
    fn arrow_errors_come_back_as_they_were() {
        use arrow_schema::ArrowError;
        let theirs = ArrowError::from(Error::memory("x").in_page(3));
        assert_eq!(theirs.to_string(), "External error: memory: x, in page 3");
        assert_eq!(Error::from(theirs).place().page, Some(3));
        let io = ArrowError::IoError("x".to_owned(), io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(Error::from(io).kind(), ErrorKind::NotFound);
        assert_eq!(Error::from(ArrowError::MemoryError("x".to_owned())).kind(), ErrorKind::Memory);
        let error = Error::from(ArrowError::SchemaError("x".to_owned()));
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::Argument, "argument: Arrow refuses: Schema error: x".to_owned())
        );
    }
}
