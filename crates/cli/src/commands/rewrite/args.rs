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
    /// Replace OUT if it is there
    #[arg(long)]
    pub(super) overwrite: bool,
    /// Only these columns, and all below them: dotted paths with commas between
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    pub(super) columns: Option<Vec<ColumnList>>,
    /// All but these columns, and all below them
    #[arg(long, value_name = "A,B.C", value_parser = column_list, conflicts_with = "columns")]
    pub(super) drop: Option<Vec<ColumnList>>,
    /// Give a field, by its dotted path, another name; other options take the names in IN
    #[arg(long, value_name = "PATH=NAME", value_parser = rename)]
    pub(super) rename: Vec<(String, String)>,
    /// Codec and level: zstd:3, snappy, gzip:6, brotli, lz4_raw, none; of one column as COLUMN=zstd:9
    #[arg(long, value_name = "[COLUMN=]CODEC", value_parser = of_column::<AskedCodec>)]
    pub(super) compression: Vec<OfColumn<AskedCodec>>,
    /// Encoding, or auto: PLAIN, DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT, ..
    #[arg(long, value_name = "[COLUMN=]ENCODING", value_parser = of_column::<Encoding>)]
    pub(super) encoding: Vec<OfColumn<Encoding>>,
    /// Bytes after which a data page ends, before compression
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(super) page_size: Option<usize>,
    /// Rows after which a data page ends
    #[arg(long, value_name = "ROWS")]
    pub(super) page_rows: Option<NonZeroUsize>,
    /// Rows in each row group but the last
    #[arg(long, value_name = "ROWS")]
    pub(super) row_group_rows: Option<NonZeroUsize>,
    /// Give pages without a checksum one, which is the default
    #[arg(long, overrides_with = "no_checksums")]
    pub(super) add_checksums: bool,
    /// Leave pages without a checksum as they are
    #[arg(long)]
    pub(super) no_checksums: bool,
    /// Add column indexes where they are missing; offset indexes are added anyway
    #[arg(long)]
    pub(super) add_index: bool,
    /// Add statistics where they are missing
    #[arg(long)]
    pub(super) statistics: bool,
    /// Add a bloom filter to a column where it is missing, with the given rate of false positives; 0.05 unless given
    #[arg(long, value_name = "COLUMN[:FPP]", value_parser = Bloom::parse, value_delimiter = ',')]
    pub(super) bloom: Vec<Bloom>,
    /// Put values of VARIANT into columns of their own: of this shape, or as most of the first rows have them if that pays
    /// (auto); none puts them together again. Of one column as COLUMN=SHAPE. All other columns are copied
    #[arg(long, value_name = "[COLUMN=]auto|none|SHAPE", value_parser = shred, conflicts_with_all = NOT_WITH_SHRED)]
    pub(super) shred: Vec<ShredArg>,
    /// Have columns of geometries as this version of GeoParquet has them, with its metadata: 1.0 and 1.1 are well-known binary in
    /// columns of bytes, 2.0 GEOMETRY and GEOGRAPHY, whose statistics are made where they are missing. All other columns are copied
    #[arg(long, value_enum, value_name = "VERSION", conflicts_with_all = NOT_WITH_GEOPARQUET)]
    pub(super) geoparquet: Option<GeoVersion>,
    /// Leave out all key-value metadata, the stored Arrow schema included
    #[arg(long)]
    pub(super) strip_metadata: bool,
    /// Copy pages whose checksum is wrong, too; the checksum stays wrong
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
Without options, pages without a checksum get one, chunks without an offset index get one, and bytes that nothing refers
to are left behind. Pages that need no change are copied byte for byte; another codec needs no decoding. What needs
values - encodings, page and row group sizes, column indexes, statistics, bloom filters - is encoded again, column by
column: the other columns are still copied, unless row groups change.

COLUMN is a dotted path such as producer.name and all below it, or a pattern: * stands for any characters of one name, **
for any number of names. In double quotes a name is no pattern, may be empty, and a dot in it is a part of it: s.\"x.y\". What is
said of a column wins over what is said of all.

OUT appears once it is complete: until then, and after a failure, what was there before stays. The writer of IN is kept
in the metadata as original.created.by. Encrypted columns are decrypted with --key-file, and encrypted anew with
--encrypt-file: so keys are changed. A symbolic link called OUT stays: the file that it leads to is replaced.

With --geoparquet columns of geometries have other types and other metadata, and the same values. Columns of boxes are kept;
`marquetry convert --covering` adds them.

With --shred columns of VARIANT are read, and written with other columns; other options that change columns take a second
rewrite. Shapes, and what auto does, are told by `marquetry convert --help`.

The report has the bytes of each column before and after, and what was done. JSON: {file, rows, row_groups, size, before,
shredding, columns: [{column, values, before, after, uncompressed, ratio, codec, encodings: [{encoding, pages}], reason}], checkpoints, notes}
(`checkpoints` is always null).

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
