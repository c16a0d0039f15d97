//! Settings of columns: who may change what, and who has the last word.

use super::choices::BloomFilterProperties;
use super::selector::{Selector, Subject};
use super::{Compression, EnabledStatistics, Encoding};

/// One setting for some columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) selector: Selector,
    pub(super) change: Change,
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    Compression(Compression),
    Encoding(Encoding),
    Dictionary(bool),
    DictionaryPageBytes(usize),
    PaddedBytes(usize),
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
    /// Applies the rules that fit, those that fit more closely later, else in their order.
    pub(super) fn of(rules: &[Rule], subject: &Subject<'_>) -> Self {
        let fitting = rules.iter().filter_map(|rule| Some((rule.selector.fit(subject)?, rule.change)));
        let mut fitting: Vec<_> = fitting.collect();
        fitting.sort_by_key(|(fit, _)| *fit);
        let mut asked = Asked::default();
        fitting.into_iter().for_each(|(_, change)| asked.apply(change));
        asked
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Compression(compression) => self.compression = Some(compression),
            Change::Encoding(encoding) => self.encoding = Some(encoding),
            Change::Dictionary(dictionary) => self.dictionary = Some(dictionary),
            Change::DictionaryPageBytes(bytes) => self.dictionary_page_bytes = Some(bytes),
            Change::PaddedBytes(bytes) => self.page_bytes = Some(bytes),
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
