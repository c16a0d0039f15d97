//! Arguments of commands that write Parquet.

use super::checkpoint_step::checkpoint;
use super::chunking::chunking;
use super::shred::{ShredArg, shred};
use clap::{Args as ClapArgs, ValueEnum};
use marquetry_base::{parse_byte_size, unquote};
use marquetry_core::write::{
    BloomFilterProperties, CdcOptions, CheckpointEvery, Compression, EnabledStatistics, Encoding,
};
use marquetry_geo::geoparquet::Version;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// What rows are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// Parquet
    Parquet,
    /// Arrow IPC: the file format, on standard output the stream format
    Arrow,
    /// Comma-separated values with a header line
    Csv,
    /// JSON Lines: one object for each row
    Jsonl,
    /// GeoJSON: a FeatureCollection with a feature for each row
    Geojson,
}

/// How Parquet is written.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Writing Parquet")]
pub(crate) struct WriteArgs {
    /// Codec and level: zstd:3, snappy, gzip:6, brotli, lz4_raw, none; COLUMN=zstd:9 for one column. By default zstd:1, or snappy
    /// with --compat maximum
    #[arg(long, value_name = "[COLUMN=]CODEC", value_parser = of_column::<Compression>)]
    pub(crate) compression: Vec<OfColumn<Compression>>,
    /// Encoding: PLAIN, DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT, .., or auto, the default, which tries them on a sample
    #[arg(long, value_name = "[COLUMN=]ENCODING", value_parser = of_column::<Encoding>)]
    pub(crate) encoding: Vec<OfColumn<Encoding>>,
    /// Whether the writer may use dictionaries
    #[arg(long, value_name = "[COLUMN=]on|off", value_parser = of_column::<Switch>)]
    pub(crate) dictionary: Vec<OfColumn<Switch>>,
    /// Which readers the encodings and the codec are chosen for, where --encoding and --compression do not set them. Default modern
    #[arg(long, value_enum)]
    pub(crate) compat: Option<CompatArg>,
    /// Maximum rows of a row group. Default 1048576
    #[arg(long, value_name = "ROWS")]
    pub(crate) row_group_rows: Option<NonZeroUsize>,
    /// Maximum bytes of a row group, encoded. No limit by default
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(crate) row_group_bytes: Option<usize>,
    /// Bytes after which a data page ends, before compression. Default 1MiB
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(crate) page_size: Option<usize>,
    /// Rows after which a data page ends. Default 20000
    #[arg(long, value_name = "ROWS")]
    pub(crate) page_rows: Option<NonZeroUsize>,
    /// Content-defined chunking: also end data pages where a rolling hash of their values matches, so that an inserted row changes
    /// few pages. Minimum and maximum bytes, and how many bits fewer have to match. Default 256KiB:1MiB:0
    #[arg(long, value_name = "MIN:MAX[:LEVEL]", value_parser = chunking, num_args = 0..=1, require_equals = true,
        default_missing_value = "256KiB:1MiB")]
    pub(crate) content_defined_chunking: Option<CdcOptions>,
    /// Write checkpoints, from which `recover` restores a file whose writer died: every few row groups (1rg), bytes (64MiB) or
    /// seconds (10s), or auto
    #[arg(long, value_name = "STEP", value_parser = checkpoint)]
    pub(crate) checkpoint_every: Option<CheckpointEvery>,
    /// Version of data pages. Default 1
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) page_version: Option<u8>,
    /// Add bloom filters to a column, with a rate of false positives, by default 0.05. May be repeated
    #[arg(long, value_name = "COLUMN[:FPP]", value_parser = Bloom::parse)]
    pub(crate) bloom: Vec<Bloom>,
    /// Statistics: none, of column chunks, or also of pages, the default
    #[arg(long, value_name = "[COLUMN=]none|chunk|page", value_parser = of_column::<EnabledStatistics>)]
    pub(crate) statistics: Vec<OfColumn<EnabledStatistics>>,
    /// Shred VARIANT columns into this shape, or into the shape of most of the first rows if that pays (auto); none unshreds them.
    /// COLUMN=SHAPE for one column
    #[arg(long, value_name = "[COLUMN=]auto|none|SHAPE", value_parser = shred)]
    pub(crate) shred: Vec<ShredArg>,
    /// Write geometries and metadata of this version of GeoParquet: 1.0 and 1.1 store well-known binary in byte columns, 2.0 stores
    /// GEOMETRY and GEOGRAPHY. By default as in the input
    #[arg(long, value_enum, value_name = "VERSION")]
    pub(crate) geoparquet: Option<GeoVersion>,
    /// GeoParquet 1.1 and 2.0: add covering columns, the bounding box of each geometry, by which readers skip pages. They are
    /// encrypted with the geometries' key, if these have one of their own, and the metadata has no bounding box then
    #[arg(long)]
    pub(crate) covering: bool,
    /// Write pages without checksums
    #[arg(long)]
    pub(crate) no_checksums: bool,
    /// How to store dates in milliseconds (Arrow's date64)
    #[arg(long, value_enum, value_name = "TYPE", default_value_t = Date64Arg::Date)]
    pub(crate) date64: Date64Arg,
    /// Do not store the Arrow schema. Types that Parquet lacks are read back as what they are stored as: a duration as a number, a
    /// timestamp with a time zone as one in UTC
    #[arg(long)]
    pub(crate) no_arrow_schema: bool,
    /// Add an entry to the file's key-value metadata
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) metadata: Vec<(String, String)>,
    /// The writer's name in the footer
    #[arg(long, value_name = "TEXT")]
    pub(crate) created_by: Option<String>,
    /// Threads that encode columns. Default: the number of processors
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// How to print the report of sizes after writing. Default: as --format
    #[arg(long, value_enum)]
    pub(crate) report: Option<Report>,
}

/// A version of GeoParquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GeoVersion {
    /// Well-known binary in columns of bytes
    #[value(name = "1.0")]
    V1_0,
    /// Well-known binary in columns of bytes, with covering columns on request
    #[value(name = "1.1")]
    V1_1,
    /// GEOMETRY and GEOGRAPHY
    #[value(name = "2.0")]
    V2_0,
}

impl GeoVersion {
    pub(crate) fn version(self) -> Version {
        match self {
            GeoVersion::V1_0 => Version::V1_0,
            GeoVersion::V1_1 => Version::V1_1,
            GeoVersion::V2_0 => Version::V2_0,
        }
    }
}

/// What Arrow's date64 is stored as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Date64Arg {
    /// As DATE, which all readers know; a value that is not a whole day is an error
    Date,
    /// As INT64, milliseconds that only the stored Arrow schema calls a date
    Int64,
}

/// How the report after writing is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    /// A table
    Text,
    /// One JSON object on a line
    Json,
    /// No report
    None,
}

/// Which readers must be able to read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompatArg {
    /// Readers of the last ten years: PLAIN, dictionaries, SNAPPY
    Maximum,
    /// Current readers: PLAIN, dictionaries
    Modern,
    /// Readers of the format's current version: also DELTA encodings and BYTE_STREAM_SPLIT
    Latest,
}

/// A setting of the columns that match a pattern, or of all. A name in double quotes is not a pattern.
#[derive(Debug, Clone)]
pub(crate) struct OfColumn<T> {
    pub(crate) column: Option<String>,
    pub(crate) value: T,
}

fn of_column<T: FromStr>(text: &str) -> Result<OfColumn<T>, String>
where
    T::Err: ToString,
{
    // A column's name may contain `=`, the value does not.
    let (column, value) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("there is no column before the =".to_owned()),
        Some((column, value)) => (Some(column.to_owned()), value),
        None => (None, text),
    };
    let value = value.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(OfColumn { column, value })
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switch(pub(crate) bool);

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" | "true" | "yes" => Ok(Switch(true)),
            "off" | "false" | "no" => Ok(Switch(false)),
            _ => Err("say on or off".to_owned()),
        }
    }
}

/// Bloom filters of a column. A name in double quotes is not a pattern, and a colon in it is part of the name.
#[derive(Debug, Clone)]
pub(crate) struct Bloom {
    pub(crate) column: String,
    /// The rate of false positives.
    pub(crate) fpp: Option<f64>,
}

impl Bloom {
    pub(crate) fn properties(&self) -> BloomFilterProperties {
        let filter = BloomFilterProperties::builder();
        self.fpp.map_or(filter, |fpp| filter.with_fpp(fpp)).build()
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some((_, "")) = unquote(text, '"') {
            return Ok(Bloom { column: text.to_owned(), fpp: None });
        }
        match text.rsplit_once(':') {
            Some((column, fpp)) => match fpp.parse::<f64>() {
                Ok(fpp) if fpp > 0.0 && fpp < 1.0 => Ok(Bloom { column: column.to_owned(), fpp: Some(fpp) }),
                Ok(_) => Err("the rate of false positives must be between 0 and 1".to_owned()),
                // The colon belongs to the name.
                Err(_) => Ok(Bloom { column: text.to_owned(), fpp: None }),
            },
            None => Ok(Bloom { column: text.to_owned(), fpp: None }),
        }
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some(("ARROW:schema", _)) => {
            Err("the Arrow schema is made of the columns; --no-arrow-schema leaves it out".to_owned())
        }
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("say KEY=VALUE".to_owned()),
    }
}
