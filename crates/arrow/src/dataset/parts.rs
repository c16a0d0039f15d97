//! A table in parts, for engines that read several at once.

use super::Dataset;
use crate::arrow_reader::OnCorrupt;
use marquetry_base::{Error, Result};
use marquetry_core::predicate::Predicate;

impl Dataset {
    /// The table as at most so many tables, each of some of the files, in their order: all have the schema of this one, and their
    /// rows together are its rows. Fails as [`schema`](Dataset::schema) does, and if there is a limit or an offset, which parts
    /// would have to share.
    pub fn split(&self, parts: usize) -> Result<Vec<Dataset>> {
        if self.choice.limit.is_some() || self.choice.offset > 0 {
            return Err(Error::argument("a table with a limit or an offset has no parts"));
        }
        let evolution = self.plan()?.evolution;
        let files = &self.choice.files;
        let each = files.len().div_ceil(parts.max(1));
        let part = |files: &[super::data_file::DataFile]| {
            let mut part = self.clone();
            part.choice.files = files.to_vec();
            // Types are those that the keys have in all files.
            part.choice.partition_types.clear();
            part.evolve(evolution.clone())
        };
        Ok(files.chunks(each).map(part).collect())
    }

    /// Only rows for which `predicate` is true, too: what [`filter`](Dataset::filter) asks for stays.
    #[must_use]
    pub fn also_filter(mut self, predicate: Predicate) -> Self {
        self.choice.predicate = Some(match self.choice.predicate.take() {
            Some(first) => first.and(predicate),
            None => predicate,
        });
        self
    }

    /// How many rows [`batches`](Dataset::batches) will give, if footers tell, which are all read: `None` if there is a filter, or
    /// if what is corrupt may be left out.
    pub fn exact_num_rows(&self) -> Result<Option<u64>> {
        let choice = &self.choice;
        if choice.predicate.is_some() || choice.options.on_corrupt != OnCorrupt::Fail {
            return Ok(None);
        }
        let offset = u64::try_from(choice.offset).unwrap_or(u64::MAX);
        let limit = choice.limit.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(u64::MAX);
        Ok(Some(self.num_rows()?.saturating_sub(offset).min(limit)))
    }
}
