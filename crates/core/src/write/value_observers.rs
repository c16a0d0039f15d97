//! Observers of distinct values: the bloom filter and geospatial statistics need each value of a chunk only once.

use super::settings::{BloomSettings, ColumnSettings};
use crate::schema::Leaf;
use crate::statistics::{BloomFilter, GeoBounds};
use marquetry_encoding::Values;
use marquetry_format::GeospatialStatistics;

/// The bloom filter and the geospatial statistics of the values so far.
pub(super) struct ValueObservers {
    bloom: Option<(Filter, BloomSettings)>,
    geo: Option<GeoBounds>,
}

/// A bloom filter, or the hashes for it.
enum Filter {
    /// The number of values is unknown, and small so far: their hashes, perhaps with duplicates.
    Few(Vec<u64>),
    Bitmap(BloomFilter),
}

impl ValueObservers {
    pub(super) fn new(leaf: &Leaf, settings: &ColumnSettings) -> Self {
        let bloom = settings.bloom.map(|bloom| {
            let known = bloom.ndv.map(|ndv| Filter::Bitmap(BloomFilter::new(ndv, bloom.fpp)));
            (known.unwrap_or_else(|| Filter::Few(Vec::new())), bloom)
        });
        ValueObservers { bloom, geo: GeoBounds::of(leaf.logical()) }
    }

    /// Adds values; repeated ones need not be added again.
    pub(super) fn note(&mut self, values: &Values) {
        let all = 0..values.len();
        if let Some((filter, settings)) = &mut self.bloom {
            filter.insert(values, settings.fpp);
        }
        if let Some(geo) = &mut self.geo {
            geo.update(values, all);
        }
    }

    pub(super) fn memory(&self) -> usize {
        match &self.bloom {
            Some((Filter::Few(hashes), _)) => hashes.capacity() * size_of::<u64>(),
            Some((Filter::Bitmap(filter), _)) => filter.num_bytes(),
            None => 0,
        }
    }

    /// Returns the bloom filter as it is stored in the file, and the geospatial statistics.
    pub(super) fn finish(self) -> (Option<Vec<u8>>, Option<GeospatialStatistics>) {
        let filter = self.bloom.map(|(filter, settings)| {
            let filter = match filter {
                Filter::Few(mut hashes) => {
                    hashes.sort_unstable();
                    hashes.dedup();
                    filter_of(&hashes, hashes.len() as u64, settings.fpp)
                }
                Filter::Bitmap(mut filter) => {
                    if settings.ndv.is_none() {
                        filter.shrink(settings.fpp);
                    }
                    filter
                }
            };
            let mut bytes = Vec::new();
            filter.write(&mut bytes);
            bytes
        });
        (filter, self.geo.and_then(|geo| geo.finish()))
    }
}

impl Filter {
    fn insert(&mut self, values: &Values, fpp: f64) {
        match self {
            Filter::Bitmap(filter) => filter.insert(values, 0..values.len()),
            Filter::Few(hashes) => {
                BloomFilter::each_hash(values, 0..values.len(), |hash| hashes.push(hash));
                if hashes.len() > FEW {
                    hashes.sort_unstable();
                    hashes.dedup();
                    if hashes.len() > FEW / 2 {
                        *self = Filter::Bitmap(filter_of(hashes, UNKNOWN_NDV, fpp));
                    }
                }
            }
        }
    }
}

fn filter_of(hashes: &[u64], ndv: u64, fpp: f64) -> BloomFilter {
    let mut filter = BloomFilter::new(ndv, fpp);
    hashes.iter().for_each(|&hash| filter.insert_hash(hash));
    filter
}

/// Number of hashes to keep before a filter is made. PERF: a filter for many values takes megabytes, too much for a
/// chunk with few values.
const FEW: usize = 64 << 10;
/// The number of distinct values that a filter is made for if it is unknown; afterwards the filter shrinks. It is the
/// number of rows of a full row group.
const UNKNOWN_NDV: u64 = 1 << 20;
