//! Decodes dictionaries and pages, and checks values against the schema.

use crate::bloom::Filter;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{CancelToken, Error, ErrorLocation, Limits, MemoryBudget, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::page::{DataPage, LocatedHeader};
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::{SortOrder, plain_value};
use marquetry_core::statistics::{
    BloomFilter, GeoBounds, LegalValues, MinMaxStats, display_bytes, display_value,
};
use marquetry_encoding::dictionary::{Dictionary, IndexDecoder, check_indices, look_up};
use marquetry_encoding::{Decode, EncodedPage, PhysicalType, Values, plain, registry};
use marquetry_format::Encoding;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

const UNREADABLE: Rule = rule(
    "value-unreadable",
    Severity::Corrupt,
    Level::Deep,
    "The values of a page can be decoded, as many as its levels say",
    "Encodings.md",
);
const INDEX: Rule = rule(
    "dictionary-index",
    Severity::Corrupt,
    Level::Deep,
    "Dictionary indices are inside the dictionary",
    "Encodings.md, Dictionary Encoding",
);
const DICTIONARY: Rule = rule(
    "dictionary-unreadable",
    Severity::Corrupt,
    Level::Deep,
    "Dictionary pages can be decoded, and have as many values as their header says, and nothing behind them",
    "parquet.thrift, DictionaryPageHeader; Encodings.md, Dictionary Encoding",
);
const SORTED: Rule = rule(
    "dictionary-sorted",
    Severity::Invalid,
    Level::Deep,
    "A dictionary that is declared sorted is sorted",
    "parquet.thrift, DictionaryPageHeader.is_sorted",
);
const LENGTHS: Rule = rule(
    "value-lengths",
    Severity::Invalid,
    Level::Deep,
    "Values of FIXED_LEN_BYTE_ARRAY have no lengths before them: some readers take these for values",
    "Encodings.md, Plain",
);
const TEXT: Rule = rule(
    "value-utf8",
    Severity::Invalid,
    Level::Deep,
    "Values of STRING, ENUM and JSON are UTF-8",
    "LogicalTypes.md, STRING, ENUM, JSON",
);
const DECIMAL: Rule = rule(
    "value-decimal",
    Severity::Invalid,
    Level::Deep,
    "Decimals have no more digits than their precision",
    "LogicalTypes.md, DECIMAL",
);
const INTEGER: Rule = rule(
    "value-integer",
    Severity::Invalid,
    Level::Deep,
    "Integers of 8 and 16 bits are in their range",
    "LogicalTypes.md, INT",
);
const TIME: Rule = rule(
    "value-time",
    Severity::Invalid,
    Level::Deep,
    "Times are between midnight and midnight",
    "LogicalTypes.md, TIME",
);
const NULL: Rule = rule(
    "value-unknown",
    Severity::Invalid,
    Level::Deep,
    "A column annotated as UNKNOWN has no values",
    "LogicalTypes.md, UNKNOWN (always null)",
);
const GEOMETRY: Rule = rule(
    "value-geometry",
    Severity::Invalid,
    Level::Deep,
    "Values of GEOMETRY and GEOGRAPHY are well-known binary",
    "Geospatial.md, Well-Known Binary",
);

pub(crate) const RULES: &[Rule] =
    &[UNREADABLE, INDEX, DICTIONARY, SORTED, LENGTHS, TEXT, DECIMAL, INTEGER, TIME, NULL, GEOMETRY];

/// A decoder of the values of a chunk, page by page.
pub(crate) struct ValueReader<'a> {
    leaf: &'a Leaf,
    order: SortOrder,
    legal: LegalValues,
    dictionary: Option<std::sync::Arc<Dictionary>>,
    /// Whether each entry of the dictionary occurs.
    used: Vec<bool>,
    filter: Option<Filter>,
    /// Hashes of values outside of the dictionary. `None` if distinct values are not counted, or are too many.
    distinct: Option<HashSet<u64>>,
    pub(crate) geo: Option<GeoBounds>,
    is_geo_valid: bool,
    keys: Values,
    out: Values,
    memory: MemoryBudget,
    cancel: CancelToken,
}

/// The result of decoding the values of a page.
pub(crate) struct Decoded {
    pub(crate) bounds: MinMaxStats,
    pub(crate) bytes: u64,
}

impl<'a> ValueReader<'a> {
    /// Creates a reader. `order` is the order of the bounds to check; `wants_distinct` counts distinct values.
    pub(crate) fn new(
        leaf: &'a Leaf,
        order: Option<SortOrder>,
        filter: Option<Filter>,
        wants_distinct: bool,
        limits: &Limits,
    ) -> Self {
        ValueReader {
            memory: limits.memory.clone(),
            cancel: limits.cancel.clone(),
            leaf,
            order: order.or(SortOrder::for_deprecated(leaf)).unwrap_or(SortOrder::Undefined),
            legal: LegalValues::of(leaf.logical()),
            dictionary: None,
            used: Vec::new(),
            filter,
            distinct: wants_distinct.then(HashSet::new),
            geo: GeoBounds::of(leaf.logical()),
            is_geo_valid: true,
            keys: Values::W32(Vec::new()),
            out: leaf.physical().shape().empty(),
        }
    }

    /// Returns empty bounds in the order of the column.
    pub(crate) fn bounds(&self) -> MinMaxStats {
        MinMaxStats::new(self.order)
    }

    /// Checks the dictionary and keeps it, or reports why it cannot be read.
    pub(crate) fn set_dictionary(
        &mut self,
        start: &LocatedHeader,
        dictionary: Result<Dictionary>,
        place: &ErrorLocation,
        findings: &mut Findings,
    ) {
        let dictionary = match dictionary {
            Ok(dictionary) => dictionary,
            Err(error) => {
                findings.add_error(&DICTIONARY, place.clone(), error);
                return;
            }
        };
        let values = dictionary.values();
        let n = values.len();
        let body = usize::try_from(start.header.uncompressed_page_size).unwrap_or(0);
        if dictionary.had_lengths() {
            add_lengths("dictionary entry", place, findings);
        } else if let Some(rest) = body.checked_sub(plain_len(values)).filter(|rest| *rest > 0) {
            findings.add(&DICTIONARY, place.clone(), || {
                format!("{rest} of {body} bytes are left behind the {n} values that its header says")
            });
        }
        check_legal(&self.legal, self.leaf, values, 0..n, "dictionary entry", place, findings);
        let header = start.header.dictionary_page_header.as_ref();
        let order = SortOrder::of(self.leaf);
        if header.is_some_and(|header| header.is_sorted == Some(true))
            && let Some(at) = (1..n).find(|i| order.compare_at(values, i - 1, *i) == Some(Ordering::Greater))
        {
            findings.add(&SORTED, place.clone(), || format!("entry {at} is less than the one before"));
        }
        self.used = vec![false; n];
        self.dictionary = Some(std::sync::Arc::new(dictionary));
    }

    /// Decodes the `n` values of a page, and reports what is wrong. Returns `None` if not all could be decoded.
    pub(crate) fn read(
        &mut self,
        page: DataPage,
        n: usize,
        place: &ErrorLocation,
        findings: &mut Findings,
    ) -> Option<Decoded> {
        let mut decoded = Decoded { bounds: self.bounds(), bytes: 0 };
        // A missing or damaged dictionary has findings of its own.
        let is_indices =
            matches!(Encoding(page.encoding), Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
        if is_indices && n > 0 && self.dictionary.is_none() {
            return None;
        }
        match self.decode(page, n, is_indices, &mut decoded, place, findings) {
            Ok(()) => Some(decoded),
            Err((rule, error)) => {
                findings.add_error(rule, place.clone(), error.without_offset());
                None
            }
        }
    }

    fn decode(
        &mut self,
        page: DataPage,
        n: usize,
        is_indices: bool,
        decoded: &mut Decoded,
        place: &ErrorLocation,
        findings: &mut Findings,
    ) -> Result<(), (&'static Rule, Error)> {
        let unreadable = |error| (&UNREADABLE, error);
        let mut decoder = self.decoder(page, is_indices, place, findings).map_err(unreadable)?;
        let first = match self.leaf.physical() {
            PhysicalType::FixedLenByteArray(width) => BLOCK_BYTES / width.max(1),
            _ => FIRST_BLOCK_VALUES,
        };
        let (mut done, mut block) = (0, first.clamp(1, FIRST_BLOCK_VALUES));
        while done < n {
            self.cancel.check().map_err(unreadable)?;
            let take = block.min(n - done);
            self.out.clear();
            match (&self.dictionary, is_indices) {
                (Some(dictionary), true) => {
                    self.keys.clear();
                    decoder.decode(take, &mut self.keys).map_err(unreadable)?;
                    let Values::W32(keys) = &self.keys else { return Ok(()) };
                    check_indices(keys, dictionary.values().len()).map_err(|error| (&INDEX, error))?;
                    keys.iter().for_each(|key| self.used[*key as usize] = true);
                    if let PhysicalType::FixedLenByteArray(width @ WIDE..) = self.leaf.physical() {
                        let distinct: BTreeSet<usize> = keys.iter().map(|key| *key as usize).collect();
                        decoded.bounds.update_at(dictionary.values(), distinct.into_iter());
                        decoded.bytes += width as u64 * take as u64;
                        (done, block) = (done + take, BLOCK_VALUES);
                        continue;
                    }
                    look_up(dictionary.values(), keys, &mut self.out).map_err(unreadable)?;
                }
                _ => decoder.decode(take, &mut self.out).map_err(unreadable)?,
            }
            let bytes = self.out.data_bytes(0..take);
            decoded.bytes += bytes as u64;
            decoded.bounds.update(&self.out, 0..take);
            if !is_indices {
                check_legal(&self.legal, self.leaf, &self.out, 0..take, "a value", place, findings);
                self.check_each(take, place, findings);
            }
            self.add_geometries(take, place, findings);
            done += take;
            // Values may be long, and long prefixes repeated, so the bytes of a block are limited, too.
            block = (BLOCK_BYTES / (bytes / take).max(1)).clamp(1, BLOCK_VALUES);
        }
        Ok(())
    }

    fn decoder(
        &self,
        page: DataPage,
        is_indices: bool,
        place: &ErrorLocation,
        findings: &mut Findings,
    ) -> Result<Box<dyn Decode>> {
        if is_indices {
            return Ok(Box::new(IndexDecoder::new(&page.values)?));
        }
        // QUIRK: a page of nulls may have no value bytes, even in encodings with a header.
        let encoding = if page.values.is_empty() { Encoding::PLAIN.0 } else { page.encoding };
        let encoded = EncodedPage {
            bytes: page.values,
            max_values: page.max_values,
            physical: self.leaf.physical(),
            dictionary: None,
            memory: self.memory.clone(),
        };
        if encoding == Encoding::PLAIN.0 && plain::has_lengths(&encoded) {
            add_lengths("value", place, findings);
        }
        registry::decoder(encoding, &encoded)
    }

    /// Looks values up in the bloom filter, and counts distinct ones.
    fn check_each(&mut self, n: usize, place: &ErrorLocation, findings: &mut Findings) {
        if self.filter.is_none() && self.distinct.is_none() {
            return;
        }
        let mut scratch = [0; 8];
        for i in 0..n {
            let value = plain_value(&self.out, i, &mut scratch);
            if let Some(filter) = &mut self.filter {
                filter.check(self.leaf, value, place, findings);
            }
            if let Some(distinct) = &mut self.distinct {
                distinct.insert(BloomFilter::hash(value));
                if distinct.len() > MAX_DISTINCT {
                    self.distinct = None;
                }
            }
        }
    }

    fn add_geometries(&mut self, n: usize, place: &ErrorLocation, findings: &mut Findings) {
        let Some(geo) = self.geo.as_mut().filter(|_| n > 0 && self.is_geo_valid) else {
            return;
        };
        geo.update(&self.out, 0..n);
        // Geometries that can be read have statistics.
        if geo.finish().is_none() {
            self.is_geo_valid = false;
            findings.add(&GEOMETRY, place.clone(), || "a value is not well-known binary".to_owned());
        }
    }

    /// Checks the dictionary entries that occur, after the last page. Returns the number of distinct values, if they
    /// were counted.
    pub(crate) fn finish(&mut self, place: &ErrorLocation, findings: &mut Findings) -> Option<u64> {
        if let Some(dictionary) = self.dictionary.clone() {
            let mut scratch = [0; 8];
            for i in (0..self.used.len()).filter(|i| self.used[*i]) {
                let value = plain_value(dictionary.values(), i, &mut scratch);
                if let Some(filter) = &mut self.filter {
                    filter.check(self.leaf, value, place, findings);
                }
                if let Some(distinct) = &mut self.distinct {
                    distinct.insert(BloomFilter::hash(value));
                }
            }
        }
        self.distinct.as_ref().map(|distinct| distinct.len() as u64)
    }
}

/// QUIRK: arrow-rs (parquet 55 to 59) stores dictionaries of FixedSizeBinary like this.
fn add_lengths(what: &str, place: &ErrorLocation, findings: &mut Findings) {
    findings.add(&LENGTHS, place.clone(), || {
        format!(
            "each {what} has a length before it, as arrow-rs before 60 writes dictionaries of FixedSizeBinary"
        )
    });
}

/// Reports the first value in `range` that the logical type does not allow.
fn check_legal(
    legal: &LegalValues,
    leaf: &Leaf,
    values: &Values,
    range: Range<usize>,
    what: &str,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let Some(at) = legal.first_illegal(values, range) else { return };
    let rule = match leaf.logical() {
        Some(LogicalType::Decimal { .. }) => &DECIMAL,
        Some(LogicalType::Integer { .. }) => &INTEGER,
        Some(LogicalType::Time { .. }) => &TIME,
        Some(LogicalType::Null) => &NULL,
        _ => &TEXT,
    };
    let mut scratch = [0; 8];
    let value = plain_value(values, at, &mut scratch);
    findings.add(rule, place.clone(), || match leaf.logical().is_some_and(LogicalType::is_text) {
        true => format!("{what} is {}", display_bytes(value)),
        false => format!("{what} is {}", display_value(leaf, value)),
    });
}

/// Returns the bytes of PLAIN values of any type but BOOLEAN.
fn plain_len(values: &Values) -> usize {
    let lengths = if matches!(values, Values::Bytes(_)) { 4 * values.len() } else { 0 };
    values.data_bytes(0..values.len()) + lengths
}

/// Number of values decoded at a time, at first and at most, and maximum bytes of a block.
const FIRST_BLOCK_VALUES: usize = 256;
const BLOCK_VALUES: usize = 4096;
const BLOCK_BYTES: usize = 1 << 20;
/// Fixed width in bytes from which on dictionary entries are not copied for each value.
const WIDE: usize = 4 << 10;
/// Maximum number of distinct values that are counted: 16 MiB of hashes.
const MAX_DISTINCT: usize = 1 << 20;
