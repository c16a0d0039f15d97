//! Setting rules: which columns each one is for, and which wins where several apply.

use super::by_path::ByPath;
use super::choices::BloomFilterProperties;
use super::selector::{ColumnPath, Selector, Subject};
use super::{Compression, EnabledStatistics, Encoding};
use crate::schema::Leaf;

/// One setting for some columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) selector: Selector,
    pub(super) change: Change,
}

/// Settings for columns, in the order in which they were made.
///
/// Files have thousands of columns, each with rules of its own: those for paths are found by the path.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    /// Those for paths.
    of_paths: ByPath,
    /// The others, each of which has to be asked whether it fits.
    others: Vec<usize>,
    asks_for_pages: bool,
}

impl Rules {
    pub(super) fn push(&mut self, rule: Rule) {
        match &rule.selector {
            Selector::Column(path) => self.of_paths.insert(path, self.rules.len()),
            _ => self.others.push(self.rules.len()),
        }
        self.asks_for_pages |= rule.change == Change::Statistics(EnabledStatistics::Page);
        self.rules.push(rule);
    }

    /// Whether one of them asks for statistics of pages.
    pub(super) fn asks_for_pages(&self) -> bool {
        self.asks_for_pages
    }

    /// The first path that is none of a column, nor of a group around one.
    pub(super) fn unknown_path(&self, columns: &[Leaf]) -> Option<&ColumnPath> {
        let path = |number: usize| match &self.rules.get(number)?.selector {
            Selector::Column(path) => Some(path),
            _ => None,
        };
        path(self.of_paths.first_for_none(columns, path)?)
    }

    /// Applies the rules that fit, those that fit more closely later, else in their order.
    pub(super) fn asked(&self, subject: &Subject<'_>) -> Asked {
        let at = self.others.iter().copied().chain(self.of_paths.at_or_above(subject.dotted));
        let mut fitting: Vec<_> =
            at.filter_map(|index| Some((self.rules[index].selector.fit(subject)?, index))).collect();
        fitting.sort_unstable();
        let mut asked = Asked::default();
        fitting.into_iter().for_each(|(_, index)| asked.apply(self.rules[index].change));
        asked
    }

    /// What those for all columns ask for.
    pub(super) fn asked_for_all(&self) -> Asked {
        let mut asked = Asked::default();
        let for_all = self.others.iter().map(|&index| &self.rules[index]);
        for_all.filter(|rule| rule.selector == Selector::All).for_each(|rule| asked.apply(rule.change));
        asked
    }
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    Compression(Compression),
    Encoding(Encoding),
    Dictionary(bool),
    DictionaryPageBytes(usize),
    DataPageBytes(usize),
    PageRows(usize),
    Statistics(EnabledStatistics),
    PageHeaderStatistics(bool),
    Bloom(bool),
    BloomFpp(f64),
    BloomNdv(u64),
    BloomBoth(BloomFilterProperties),
}

/// What was asked for one column; `None` where nothing was.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Asked {
    pub(super) compression: Option<Compression>,
    pub(super) encoding: Option<Encoding>,
    pub(super) dictionary: Option<bool>,
    pub(super) dictionary_page_bytes: Option<usize>,
    pub(super) page_bytes: Option<usize>,
    pub(super) page_rows: Option<usize>,
    pub(super) statistics: Option<EnabledStatistics>,
    pub(super) page_header_statistics: Option<bool>,
    bloom: bool,
    bloom_fpp: Option<f64>,
    bloom_ndv: Option<u64>,
}

impl Asked {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Compression(compression) => self.compression = Some(compression),
            Change::Encoding(encoding) => self.encoding = Some(encoding),
            Change::Dictionary(dictionary) => self.dictionary = Some(dictionary),
            Change::DictionaryPageBytes(bytes) => self.dictionary_page_bytes = Some(bytes),
            Change::DataPageBytes(bytes) => self.page_bytes = Some(bytes),
            Change::PageRows(rows) => self.page_rows = Some(rows),
            Change::Statistics(statistics) => self.statistics = Some(statistics),
            Change::PageHeaderStatistics(wanted) => self.page_header_statistics = Some(wanted),
            Change::Bloom(wanted) => self.bloom = wanted,
            Change::BloomFpp(fpp) => (self.bloom, self.bloom_fpp) = (true, Some(fpp)),
            Change::BloomNdv(ndv) => (self.bloom, self.bloom_ndv) = (true, Some(ndv)),
            Change::BloomBoth(both) => {
                (self.bloom, self.bloom_fpp, self.bloom_ndv) = (true, Some(both.fpp()), both.ndv());
            }
        }
    }

    /// The bloom filter, if one is wanted.
    pub(super) fn bloom(&self) -> Option<BloomFilterProperties> {
        self.bloom.then(|| BloomFilterProperties::new(self.bloom_fpp, self.bloom_ndv))
    }
}
