//! Splits a table into parts, for engines that read several at once.

use super::Dataset;
use crate::arrow_reader::OnCorrupt;
use crate::evolution::Evolution;
use marquetry_base::{Error, Result};
use marquetry_core::predicate::Predicate;

impl Dataset {
    /// Splits the table into at most `parts` tables, each of some of the files. All have the schema of this one, and
    /// together they have its rows.
    ///
    /// Files are dealt out in turn, so that files of one partition key, which a filter may select alone, go to
    /// different parts. Each part, even if it is the whole table, has an [`evolution`](Dataset::evolution), so that no
    /// footer is read again to find its schema.
    ///
    /// Fails as [`schema`](Dataset::schema) does. Also fails if there is a limit or an offset, which the parts would have to share.
    pub fn split(&self, parts: usize) -> Result<Vec<Dataset>> {
        self.check_parts()?;
        self.parts_of(&self.plan()?.evolution, parts)
    }

    /// Returns how many rows [`batches`](Dataset::batches) will return, if footers suffice to know it. Reads all of
    /// them. Returns `None` if there is a filter, or if damaged rows may be left out.
    pub fn exact_num_rows(&self) -> Result<Option<u64>> {
        if !self.do_footers_tell_rows() {
            return Ok(None);
        }
        Ok(Some(self.chosen_of(self.num_rows()?)))
    }
}

impl<S: ?Sized> Dataset<S> {
    /// Adds `predicate` to the [`filter`](Dataset::filter): both must be true of a row.
    #[must_use]
    pub fn also_filter(mut self, predicate: Predicate) -> Self {
        self.choice.predicate = Some(match self.choice.predicate.take() {
            Some(first) => first.and(predicate),
            None => predicate,
        });
        self
    }

    pub(super) fn check_parts(&self) -> Result<()> {
        match self.choice.limit.is_some() || self.choice.offset > 0 {
            true => Err(Error::argument("a table with a limit or an offset has no parts")),
            false => Ok(()),
        }
    }

    pub(super) fn parts_of(&self, evolution: &Evolution, parts: usize) -> Result<Vec<Self>> {
        let files = &self.choice.files;
        let types = self.choice.key_types(evolution)?;
        let parts = parts.clamp(1, files.len());
        let part = |first: usize| {
            let mut part = self.clone();
            part.choice.files = files.iter().skip(first).step_by(parts).cloned().collect();
            // The types that the keys have in all files: from fewer files, others might be guessed.
            let has_key = |key: &String| part.choice.files.iter().any(|file| file.partition(key).is_some());
            part.choice.partition_types = types
                .iter()
                .filter(|(key, _)| has_key(key))
                .map(|(key, of)| (key.clone(), of.clone()))
                .collect();
            part.evolve(evolution.clone())
        };
        Ok((0..parts).map(part).collect())
    }

    pub(super) fn do_footers_tell_rows(&self) -> bool {
        self.choice.predicate.is_none() && self.choice.options.on_corrupt == OnCorrupt::Fail
    }

    /// Returns how many of `rows` rows offset and limit leave.
    pub(super) fn chosen_of(&self, rows: u64) -> u64 {
        let offset = u64::try_from(self.choice.offset).unwrap_or(u64::MAX);
        let limit = self.choice.limit.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(u64::MAX);
        rows.saturating_sub(offset).min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn files_are_dealt_out_in_turn() {
        let wines = || bytes::Bytes::from_static(include_bytes!("../../../../examples/wines.parquet"));
        let names = ["k=1/a", "k=1/b", "k=2/c", "k=2/d", "k=3/e"];
        let dataset = Dataset::from_files(names, move |_| Ok(std::sync::Arc::new(wines()) as _)).unwrap();
        let parts = |parts| {
            let parts = dataset.split(parts).unwrap();
            let files = |part: &Dataset| part.files().map(Path::to_path_buf).collect::<Vec<_>>();
            assert_eq!(parts.iter().map(|part| part.num_rows().unwrap()).sum::<u64>(), 1000);
            parts.iter().map(files).collect::<Vec<_>>()
        };
        assert_eq!(
            parts(2),
            [vec![names[0], names[2], names[4]], vec![names[1], names[3]]]
                .map(|part| { part.into_iter().map(std::path::PathBuf::from).collect::<Vec<_>>() })
        );
        assert_eq!((parts(4).len(), parts(9).len(), parts(0).len()), (4, 5, 1));
    }
}
