//! Failures of commands: the line on standard error, and the exit code.

use crate::file_name;
use crate::other_format;
use crate::printable::printable;
use arrow_schema::ArrowError;
use marquetry::dataset::is_helped_by_union;
use marquetry::errors::{Error, ErrorKind};
use marquetry_base::text_without_secrets;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

/// Why a command stops, or skips a file.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Our output was closed: not an error.
    ClosedPipe,
    /// The caller asked for something impossible.
    Usage(String),
    /// The caller named a file that is not suitable for what was asked.
    UsageOf(PathBuf, String),
    /// The file is bad, or a check failed.
    File(Error),
    /// A check of the file failed.
    Check(String),
    /// A check of one of several files failed.
    CheckOf(PathBuf, String),
    /// Output cannot be written.
    Write(io::Error),
}

impl Failure {
    /// The failure of a file that is not suitable for what the caller named it for.
    pub(crate) fn usage_of(file: &Path, message: impl Into<String>) -> Self {
        Failure::UsageOf(file.to_owned(), message.into())
    }

    /// The file that the failure names, or else `path`.
    pub(crate) fn file(&self, path: &Path) -> PathBuf {
        self.named_file().unwrap_or_else(|| path.to_owned())
    }

    /// The failure, which names `path` if it named no file before.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            Failure::Check(message) => Failure::CheckOf(path.to_owned(), message),
            other => other,
        }
    }

    fn named_file(&self) -> Option<PathBuf> {
        match self {
            Failure::File(error) => error.place().file.as_ref().map(|name| PathBuf::from(&**name)),
            Failure::UsageOf(file, _) | Failure::CheckOf(file, _) => Some(file.clone()),
            _ => None,
        }
    }
}

impl Failure {
    /// The error that a calling program gets.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Failure::File(error) => error,
            Failure::Usage(message) => Error::argument(message),
            Failure::UsageOf(file, message) => Error::argument(message).in_file(file_name::shown(&file)),
            Failure::Check(message) => Error::unsupported(message),
            Failure::CheckOf(file, message) => Error::unsupported(message).in_file(file_name::shown(&file)),
            Failure::Write(error) => Error::io("cannot write", error),
            Failure::ClosedPipe => Error::io("cannot write", io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// The failures so far.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    bad_files: bool,
    wrong_usage: bool,
}

impl Outcome {
    pub(crate) fn new() -> Self {
        Outcome::default()
    }

    /// Writes the failure's line to standard error and remembers it.
    pub(crate) fn report(&mut self, file: Option<&Path>, failure: &Failure) {
        match failure {
            Failure::Usage(_) | Failure::UsageOf(..) => self.wrong_usage = true,
            Failure::File(error) if error.kind() == ErrorKind::Argument => self.wrong_usage = true,
            _ => self.bad_files = true,
        }
        use io::Write;
        let named = failure.named_file();
        let file = match failure {
            Failure::UsageOf(file, _) | Failure::CheckOf(file, _) => Some(&**file),
            _ => file.or(named.as_deref()),
        };
        let said = match (failure, file) {
            (Failure::File(error), Some(file)) if error.is_damage() => other_format::told(file, error),
            _ => None,
        };
        let line = said.map_or_else(|| line(file, failure), |said| line(file, said));
        // There is nowhere left to report that this failed.
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// Remembers that files differ: not a failure, but it has the exit code of a bad file.
    pub(crate) fn differs(&mut self) {
        self.bad_files = true;
    }

    /// Reports a failure because of which nothing can be said of the files: the exit code is 2.
    pub(crate) fn cannot_tell(&mut self, failure: &Failure) {
        self.report(None, failure);
        (self.bad_files, self.wrong_usage) = (false, true);
    }

    /// Whether anything was reported.
    pub(crate) fn has_failed(&self) -> bool {
        self.exit_code() != 0
    }

    /// 1 if a file is bad, 2 if only the usage was wrong, else 0.
    pub(crate) fn exit_code(&self) -> u8 {
        match (self.bad_files, self.wrong_usage) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        }
    }
}

/// One line for standard error: names are made printable, and secrets of URLs left out.
pub(crate) fn line(file: Option<&Path>, message: impl Display) -> String {
    let message = message.to_string();
    let message = text_without_secrets(&message);
    printable(&match file {
        Some(file) => format!("marquetry: {}: {message}", file_name::shown(file)),
        None => format!("marquetry: {message}"),
    })
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::ClosedPipe => f.write_str("the output was closed"),
            Failure::Usage(message)
            | Failure::UsageOf(_, message)
            | Failure::Check(message)
            | Failure::CheckOf(_, message) => f.write_str(message),
            Failure::File(error) => write_error(error, f),
            Failure::Write(error) => write!(f, "cannot write: {error}"),
        }
    }
}

/// Writes the text of the error without the file, with which the line begins already.
fn write_error(error: &Error, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{}: {}", error.kind().name(), error.message())?;
    if let Some(source) = error.get_ref() {
        write!(f, ": {source}")?;
    }
    f.write_str(what_helps(error))?;
    let place = error.place();
    let mut parts = Vec::new();
    parts.extend(place.column.as_ref().map(|column| format!("column {column}")));
    parts.extend(place.row_group.map(|row_group| format!("row group {row_group}")));
    parts.extend(place.page.map(|page| format!("page {page}")));
    parts.extend(place.offset.map(|offset| format!("byte {offset}")));
    if parts.is_empty() { Ok(()) } else { write!(f, ", in {}", parts.join(", ")) }
}

/// Names the option that helps with an error: the library does not know what it is called here.
fn what_helps(error: &Error) -> &'static str {
    if is_helped_by_union(error) {
        return "; --union-by-name makes it one";
    }
    let is_url = || error.place().file.as_ref().is_some_and(|file| file.starts_with("file:"));
    if error.kind() == ErrorKind::NotFound && is_url() {
        return "; files of this machine are named by their paths, not by file: URLs";
    }
    match error.kind() == ErrorKind::Key && error.message().ends_with("the file is not encrypted") {
        true => "; --plain-inputs reads such files, too",
        false => "",
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::File(error)
    }
}

/// I/O errors that are not inside an [`Error`] come from writing.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            // An error of ours names the file that is written.
            _ => error.downcast::<Error>().map_or_else(Failure::Write, Failure::File),
        }
    }
}

/// Arrow errors come from writing, too: reading has errors of its own.
impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => error.into(),
            other => Failure::Write(io::Error::other(other)),
        }
    }
}
