//! What needs each different value of a chunk once: the bloom filter, and where geometries are.

use super::settings::{BloomSettings, ColumnSettings};
use crate::schema::Leaf;
use crate::stats::{BloomFilter, GeoBounds};
use marquetry_encoding::Values;
use marquetry_format::GeospatialStatistics;

/// What the values seen so far have come to.
pub(super) struct ValuesSeen {
    bloom: Option<(BloomFilter, BloomSettings)>,
    geo: Option<GeoBounds>,
}

impl ValuesSeen {
    pub(super) fn new(leaf: &Leaf, settings: &ColumnSettings) -> Self {
        let bloom = settings
            .bloom
            .map(|bloom| (BloomFilter::new(bloom.ndv.unwrap_or(UNKNOWN_NDV), bloom.fpp), bloom));
        ValuesSeen { bloom, geo: GeoBounds::of(leaf.logical()) }
    }

    /// Takes values; those that occur again need not be given again.
    pub(super) fn note(&mut self, values: &Values) {
        let all = 0..values.len();
        if let Some((filter, _)) = &mut self.bloom {
            filter.insert(values, all.clone());
        }
        if let Some(geo) = &mut self.geo {
            geo.update(values, all);
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.bloom.as_ref().map_or(0, |(filter, _)| filter.num_bytes())
    }

    /// The bloom filter as it is in the file, and the geospatial statistics.
    pub(super) fn finish(self) -> (Option<Vec<u8>>, Option<GeospatialStatistics>) {
        let filter = self.bloom.map(|(mut filter, settings)| {
            if settings.ndv.is_none() {
                filter.shrink(settings.fpp);
            }
            let mut bytes = Vec::new();
            filter.write(&mut bytes);
            bytes
        });
        (filter, self.geo.and_then(|geo| geo.finish()))
    }
}

/// The number of different values that a filter is made for before it is known; afterwards the filter shrinks. It is the
/// number of rows of a full row group.
const UNKNOWN_NDV: u64 = 1 << 20;
