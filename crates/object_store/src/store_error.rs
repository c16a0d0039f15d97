//! What a store says of a failure, fit to be shown.

use marquetry_base::{ErrorKind, text_without_secrets};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The texts of an error and of its causes: without the secrets of URLs, and cut.
#[derive(Debug)]
pub(crate) struct StoreError(String);

impl StoreError {
    pub(crate) fn new(error: &dyn Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let more = error.to_string();
            // Most errors have their causes in their own text.
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        let shown = text_without_secrets(&text);
        let cut = shown.char_indices().nth(MOST_CHARACTERS).map(|(at, _)| at);
        StoreError(match cut {
            Some(at) => format!("{}...", &shown[..at]),
            None => shown.into_owned(),
        })
    }
}

impl Display for StoreError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for StoreError {}

/// An error of a store. What the store will say again, however often it is asked, is permanent.
#[cold]
pub(crate) fn store_failed(error: &object_store::Error) -> marquetry_base::Error {
    use object_store::Error as Store;
    let failed = marquetry_base::Error::caused_by(ErrorKind::Io, "the store failed", StoreError::new(error));
    match error {
        Store::Precondition { .. } => {
            marquetry_base::Error::new(ErrorKind::Changed, "the file has changed since it was opened")
        }
        Store::NotFound { path, .. } => {
            marquetry_base::Error::new(ErrorKind::NotFound, format!("there is no object {path}"))
        }
        Store::PermissionDenied { .. }
        | Store::Unauthenticated { .. }
        | Store::NotSupported { .. }
        | Store::NotImplemented { .. }
        | Store::InvalidPath { .. }
        | Store::AlreadyExists { .. }
        | Store::UnknownConfigurationKey { .. } => failed.permanent(),
        _ => failed,
    }
}

/// Of what a server sends.
const MOST_CHARACTERS: usize = 600;
