//! The arguments of `rewrite`.

use crate::args::{Bloom, GeoVersion, ShredArg, shred};
use crate::column_list::{ColumnList, column_list};
use crate::keys::EncryptArgs;
use crate::metrics::MetricsArgs;
use crate::rewrite::{AskedCodec, OfColumn, of_column, rename};
use clap::Args as ClapArgs;
use marquetry_base::parse_byte_size;
use marquetry_core::write::Encoding;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
pub(crate) struct RewriteArgs {
    /// The Parquet file
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT", value_parser = crate::remote::local())]
    pub(super) output: PathBuf,
    /// Replace OUT if it exists
    #[arg(long)]
    pub(super) overwrite: bool,
    /// Only these columns with all their children: dotted paths separated by commas
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    pub(super) columns: Option<Vec<ColumnList>>,
    /// All columns but these and their children
    #[arg(long, value_name = "A,B.C", value_parser = column_list, conflicts_with = "columns")]
    pub(super) drop: Option<Vec<ColumnList>>,
    /// Rename a field, given by its dotted path. Other options use the names in IN
    #[arg(long, value_name = "PATH=NAME", value_parser = rename)]
    pub(super) rename: Vec<(String, String)>,
    /// Codec and level: zstd:3, snappy, gzip:6, brotli, lz4_raw, none; COLUMN=zstd:9 for one column
    #[arg(long, value_name = "[COLUMN=]CODEC", value_parser = of_column::<AskedCodec>)]
    pub(super) compression: Vec<OfColumn<AskedCodec>>,
    /// Encoding: PLAIN, DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT, .., or auto
    #[arg(long, value_name = "[COLUMN=]ENCODING", value_parser = of_column::<Encoding>)]
    pub(super) encoding: Vec<OfColumn<Encoding>>,
    /// Bytes after which a data page ends, before compression
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(super) page_size: Option<usize>,
    /// Rows after which a data page ends
    #[arg(long, value_name = "ROWS")]
    pub(super) page_rows: Option<NonZeroUsize>,
    /// Rows of each row group but the last
    #[arg(long, value_name = "ROWS")]
    pub(super) row_group_rows: Option<NonZeroUsize>,
    /// Add checksums to pages without one. This is the default
    #[arg(long, overrides_with = "no_checksums")]
    pub(super) add_checksums: bool,
    /// Add no checksums
    #[arg(long)]
    pub(super) no_checksums: bool,
    /// Add missing column indexes. Missing offset indexes are always added
    #[arg(long)]
    pub(super) add_index: bool,
    /// Add missing statistics
    #[arg(long)]
    pub(super) statistics: bool,
    /// Add missing bloom filters to a column, with a rate of false positives, by default 0.05
    #[arg(long, value_name = "COLUMN[:FPP]", value_parser = Bloom::parse, value_delimiter = ',')]
    pub(super) bloom: Vec<Bloom>,
    /// Shred VARIANT columns into this shape, or into the shape of most of the first rows if that pays (auto); none unshreds them.
    /// COLUMN=SHAPE for one column. Other columns are copied
    #[arg(long, value_name = "[COLUMN=]auto|none|SHAPE", value_parser = shred, conflicts_with_all = NOT_WITH_SHRED)]
    pub(super) shred: Vec<ShredArg>,
    /// Write geometries and metadata of this version of GeoParquet: 1.0 and 1.1 store well-known binary in byte columns, 2.0 stores
    /// GEOMETRY and GEOGRAPHY, with statistics if they are missing. Other columns are copied
    #[arg(long, value_enum, value_name = "VERSION", conflicts_with_all = NOT_WITH_GEOPARQUET)]
    pub(super) geoparquet: Option<GeoVersion>,
    /// Drop all key-value metadata, including the stored Arrow schema
    #[arg(long)]
    pub(super) strip_metadata: bool,
    /// Also copy pages whose checksum is wrong; the checksum stays wrong
    #[arg(long)]
    pub(super) no_verify: bool,
    #[command(flatten)]
    pub(crate) encrypt: EncryptArgs,
    #[command(flatten)]
    pub(super) metrics: MetricsArgs,
}

/// Options that would change columns that `--shred` copies, or the metadata that it changes.
const NOT_WITH_SHRED: [&str; 13] = [
    "columns",
    "drop",
    "rename",
    "compression",
    "encoding",
    "page_size",
    "page_rows",
    "row_group_rows",
    "add_index",
    "statistics",
    "bloom",
    "geoparquet",
    "strip_metadata",
];

/// Options that would change the columns in GeoParquet's metadata, or drop it.
const NOT_WITH_GEOPARQUET: [&str; 4] = ["columns", "drop", "rename", "strip_metadata"];

pub(crate) const REWRITE_HELP: &str = "\
Without options, rewrite adds missing checksums and offset indexes, and drops bytes that nothing refers to. Pages that
need no change are copied byte for byte; another codec needs no decoding. Encodings, page and row group sizes, column
indexes, statistics and bloom filters need values: the columns that they concern are encoded again, and other columns
are still copied, unless row groups change.

COLUMN is a dotted path such as producer.name, with all its children, or a pattern: * stands for any characters of one
name, ** for any number of names. A name in double quotes is not a pattern, may be empty, and may have dots: s.\"x.y\".
What is set for a column overrides what is set for all.

OUT appears when it is complete; until then, and after a failure, an existing OUT stays. The metadata keeps the writer
of IN as original.created.by. Encrypted columns are decrypted with --key-file and encrypted again with --encrypt-file,
which changes keys. If OUT is a symbolic link, the file that it leads to is replaced.

--geoparquet changes the types and metadata of geometries, not their values. Covering columns are kept; `marquetry
convert --covering` adds them.

--shred reads VARIANT columns and writes them with other leaf columns. Other options that change columns need a second
rewrite. `marquetry convert --help` describes shapes and auto.

The report has the bytes of each column before and after, and what was done. JSON: {file, rows, row_groups, size,
before, shredding, columns: [{column, values, before, after, uncompressed, ratio, codec, encodings: [{encoding,
pages}], reason}], checkpoints, notes}; `checkpoints` is always null.

Examples:
  marquetry rewrite old.parquet new.parquet
  marquetry rewrite old.parquet small.parquet --compression zstd:9
  marquetry rewrite old.parquet new.parquet --drop debug --rename usr=person
  marquetry rewrite old.parquet new.parquet --encoding 'address.*=DELTA_BYTE_ARRAY'
  marquetry rewrite old.parquet new.parquet --row-group-rows 1000000 --page-rows 20000 \\
      --bloom user.id
  marquetry rewrite old.parquet new.parquet --shred auto
  marquetry rewrite places.parquet new.parquet --geoparquet 2.0
  marquetry rewrite old.parquet new.parquet --shred 'event={kind: string, user: {id: bigint}}'";
