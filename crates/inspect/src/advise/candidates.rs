//! Encodings and codecs that a column may get.

use super::options::{AdviseOptions, Goal};
use marquetry_base::Result;
use marquetry_codec::Codec;
use marquetry_core::schema::Leaf;
use marquetry_core::write::{ColumnSettings, Compression, Encoding, WriterProperties, ZstdLevel};
use marquetry_encoding::PhysicalType;

/// An encoding and a codec.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The encoding. [`Encoding::Auto`] leaves it to the writer, which tries a dictionary and PLAIN in each chunk.
    pub encoding: Encoding,
    /// The codec and its level.
    pub compression: Compression,
}

impl Choice {
    /// Returns the settings that write a column with this choice.
    pub(super) fn settings(self, leaf: &Leaf) -> Result<ColumnSettings> {
        let properties =
            WriterProperties::builder().set_compression(self.compression).set_encoding(self.encoding);
        properties.build().column_settings(leaf)
    }
}

/// Returns all choices for a column whose pages have `codec`.
pub(super) fn candidates(physical: PhysicalType, codec: Codec, options: &AdviseOptions) -> Vec<Choice> {
    let codecs = codecs(codec, options.goal);
    let choice = |encoding, compression| Choice { encoding, compression };
    // Encodings that the writer would not try by itself, or would decide on by a smaller sample.
    let each = options.compat.encodings(physical).iter().filter_map(|code| Encoding::from_code(*code));
    let encodings = std::iter::once(Encoding::Auto).chain(each);
    encodings.flat_map(|encoding| codecs.iter().map(move |codec| choice(encoding, *codec))).collect()
}

fn codecs(codec: Codec, goal: Goal) -> Vec<Compression> {
    let zstd = |level| ZstdLevel::try_new(level).map(Compression::ZSTD);
    let all = [
        Ok(Compression::UNCOMPRESSED),
        Ok(Compression::LZ4_RAW),
        Ok(Compression::SNAPPY),
        zstd(1),
        zstd(3),
        zstd(9),
    ];
    let all = all.into_iter().flatten();
    match goal {
        Goal::Size | Goal::Filter => {
            all.filter(|compression| slowness(compression.codec()) >= slowness(Codec::Zstd)).collect()
        }
        Goal::Scan => all.filter(|compression| slowness(compression.codec()) <= slowness(codec)).collect(),
    }
}

/// Returns the choice to try first on a column whose pages have `codec`: the one that suits most columns.
pub(super) fn likely(codec: Codec, goal: Goal) -> Choice {
    let zstd = ZstdLevel::try_new(1).map(Compression::ZSTD).unwrap_or(Compression::UNCOMPRESSED);
    let compression = match (goal, codec) {
        (Goal::Scan, Codec::Uncompressed) => Compression::UNCOMPRESSED,
        (Goal::Scan, Codec::Lz4 | Codec::Lz4Raw) => Compression::LZ4_RAW,
        (Goal::Scan, Codec::Snappy | Codec::Lzo) => Compression::SNAPPY,
        _ => zstd,
    };
    Choice { encoding: Encoding::Auto, compression }
}

/// Returns the usual share of bytes that columns with a codec save, for choosing which to examine first when only the
/// footer is known.
pub(super) fn usual_saving(codec: Codec, is_plain: bool, goal: Goal) -> f64 {
    let by_codec = match (goal, slowness(codec)) {
        (Goal::Scan, _) => 0.05,
        (_, 0) => 0.5,
        (_, 1 | 2) => 0.25,
        (_, 3) => 0.05,
        _ => 0.1,
    };
    let by_encoding = if is_plain { 0.2 } else { 0.0 };
    by_codec + by_encoding
}

/// Returns the rank of a codec by its decompression time.
fn slowness(codec: Codec) -> u8 {
    match codec {
        Codec::Uncompressed => 0,
        Codec::Lz4 | Codec::Lz4Raw => 1,
        Codec::Snappy | Codec::Lzo => 2,
        Codec::Zstd => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_core::write::Compat;

    #[test]
    fn a_scan_gets_no_slower_codec() {
        let of = |codec| codecs(codec, Goal::Scan);
        assert_eq!(of(Codec::Uncompressed), [Compression::UNCOMPRESSED]);
        assert_eq!(of(Codec::Snappy).last(), Some(&Compression::SNAPPY));
        assert_eq!(of(Codec::Gzip).len(), 6);
    }

    #[test]
    fn what_is_likely_is_a_candidate() {
        for goal in [Goal::Size, Goal::Scan, Goal::Filter] {
            for codec in [Codec::Uncompressed, Codec::Lz4, Codec::Snappy, Codec::Gzip, Codec::Zstd] {
                let all = candidates(PhysicalType::Int64, codec, &AdviseOptions::default().with_goal(goal));
                assert!(all.contains(&likely(codec, goal)), "{goal:?} {codec:?}");
            }
        }
        assert!(usual_saving(Codec::Snappy, true, Goal::Size) > usual_saving(Codec::Zstd, true, Goal::Size));
    }

    #[test]
    fn only_who_asks_gets_encodings_that_few_read() {
        let of = |compat| {
            let options = AdviseOptions::default().with_compat(compat);
            candidates(PhysicalType::Int64, Codec::Zstd, &options).into_iter().map(|choice| choice.encoding)
        };
        let delta = Encoding::DELTA_BINARY_PACKED;
        assert!(of(Compat::Modern).all(|encoding| encoding != delta));
        assert!(of(Compat::Latest).any(|encoding| encoding == delta));
    }
}
