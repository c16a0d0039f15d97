//! Collects errors of damaged parts, which are reported after the rest was printed.

use crate::failure::{Failure, Outcome};
use marquetry::errors::Error;
use std::path::{Path, PathBuf};

/// Errors of parts, which do not hide other parts.
#[derive(Default)]
pub(super) struct Damaged {
    errors: Vec<(PathBuf, Error)>,
    /// The number of those beyond [`MOST`].
    more: u64,
}

impl Damaged {
    pub(super) fn push(&mut self, path: &Path, error: Error) {
        match self.errors.len() < MOST {
            true => self.errors.push((path.to_owned(), error)),
            false => self.more += 1,
        }
    }

    pub(super) fn report(self, outcome: &mut Outcome) {
        for (path, error) in self.errors {
            outcome.report(Some(&path), &Failure::File(error));
        }
        if self.more > 0 {
            outcome.report(None, &Failure::Check(format!("and {} more errors", self.more)));
        }
    }
}

/// Errors that are reported one by one.
const MOST: usize = 1_000;
