//! The structs of the footer, and of indexes and bloom filters.

use crate::thrift::{Field, Kind, Known};
use Kind::*;

macro_rules! known {
    ($name:ident, $thrift:literal, $summary:expr, [$($field:expr),* $(,)?]) => {
        pub(crate) static $name: Known = Known { name: $thrift, summary: $summary, fields: &[$($field),*] };
    };
}

known!(
    FILE_METADATA,
    "FileMetaData",
    &[],
    [
        Field(1, "version", Number, "1 or 2, as the writer claims; it decides nothing."),
        Field(
            2,
            "schema",
            List(&Struct(&SCHEMA_ELEMENT)),
            "The tree of fields, in the order in which one walks through it: each group says how many children follow."
        ),
        Field(3, "num_rows", Number, "Rows of all row groups."),
        Field(
            4,
            "row_groups",
            List(&Struct(&ROW_GROUP)),
            "The row groups, each with a chunk of every column."
        ),
        Field(
            5,
            "key_value_metadata",
            List(&Struct(&KEY_VALUE)),
            "What the writer adds for its own readers."
        ),
        Field(
            6,
            "created_by",
            Text,
            "The writer, as it names itself: readers work around the mistakes of old ones by it."
        ),
        Field(
            7,
            "column_orders",
            List(&Struct(&COLUMN_ORDER)),
            "By what order the bounds of each column are bounds."
        ),
        Field(8, "encryption_algorithm", Struct(&OTHER), "How a plaintext footer is signed. Encryption.md;"),
        Field(
            9,
            "footer_signing_key_metadata",
            Bytes,
            "By what the key of the signature is found. Encryption.md;"
        ),
    ]
);
known!(
    SCHEMA_ELEMENT,
    "SchemaElement",
    &[4],
    [
        Field(1, "type", Type, "How values are stored; groups have none."),
        Field(2, "type_length", Number, "Bytes of a FIXED_LEN_BYTE_ARRAY."),
        Field(
            3,
            "repetition_type",
            Repetition,
            "Whether there is one in each parent, at most one, or a list of them."
        ),
        Field(4, "name", Text, "The name of the field."),
        Field(5, "num_children", Number, "Elements below it, which follow; only groups have any."),
        Field(6, "converted_type", Converted, "What values mean, for readers of before 2017."),
        Field(7, "scale", Number, "Digits behind the point of a decimal, for old readers."),
        Field(8, "precision", Number, "Digits of a decimal, for old readers."),
        Field(
            9,
            "field_id",
            Number,
            "A number that stays when the field is renamed, as table formats have it."
        ),
        Field(10, "logicalType", Struct(&LOGICAL_TYPE), "What values mean. LogicalTypes.md;"),
    ]
);
known!(
    LOGICAL_TYPE,
    "LogicalType",
    &[],
    [
        Field(1, "STRING", Struct(&EMPTY), "UTF-8."),
        Field(2, "MAP", Struct(&EMPTY), "A map: a list of pairs."),
        Field(3, "LIST", Struct(&EMPTY), "A list in three levels."),
        Field(4, "ENUM", Struct(&EMPTY), "A name out of some."),
        Field(5, "DECIMAL", Struct(&DECIMAL), "A number with digits behind the point."),
        Field(6, "DATE", Struct(&EMPTY), "Days since 1970."),
        Field(7, "TIME", Struct(&TIME), "Time of a day."),
        Field(8, "TIMESTAMP", Struct(&TIME), "A point in time, or what a calendar and a clock show."),
        Field(10, "INTEGER", Struct(&INTEGER), "An integer of fewer bits, or without a sign."),
        Field(11, "UNKNOWN", Struct(&EMPTY), "Always null."),
        Field(12, "JSON", Struct(&EMPTY), "Text that is JSON."),
        Field(13, "BSON", Struct(&EMPTY), "Bytes that are BSON."),
        Field(14, "UUID", Struct(&EMPTY), "16 bytes, the highest first."),
        Field(15, "FLOAT16", Struct(&EMPTY), "Half of a float."),
        Field(16, "VARIANT", Struct(&OTHER), "Values of any type. VariantEncoding.md;"),
        Field(17, "GEOMETRY", Struct(&OTHER), "Well-known binary on a plane. Geospatial.md;"),
        Field(18, "GEOGRAPHY", Struct(&OTHER), "Well-known binary on a globe. Geospatial.md;"),
    ]
);
known!(EMPTY, "a struct without fields", &[], []);
known!(OTHER, "a struct", &[], []);
known!(
    DECIMAL,
    "DecimalType",
    &[],
    [Field(1, "scale", Number, "Digits behind the point."), Field(2, "precision", Number, "All digits."),]
);
known!(
    TIME,
    "TimestampType",
    &[],
    [
        Field(
            1,
            "isAdjustedToUTC",
            Bool,
            "Whether it is a point in time; if not, what a clock on the wall shows."
        ),
        Field(2, "unit", Struct(&TIME_UNIT), "What is counted."),
    ]
);
known!(
    TIME_UNIT,
    "TimeUnit",
    &[],
    [
        Field(1, "MILLIS", Struct(&EMPTY), "Milliseconds."),
        Field(2, "MICROS", Struct(&EMPTY), "Microseconds."),
        Field(3, "NANOS", Struct(&EMPTY), "Nanoseconds."),
    ]
);
known!(
    INTEGER,
    "IntType",
    &[],
    [
        Field(1, "bitWidth", Number, "8, 16, 32 or 64."),
        Field(2, "isSigned", Bool, "Whether there are values below zero."),
    ]
);
known!(
    KEY_VALUE,
    "KeyValue",
    &[1],
    [Field(1, "key", Text, "Whose it is."), Field(2, "value", Text, "Up to the writer."),]
);
known!(
    COLUMN_ORDER,
    "ColumnOrder",
    &[],
    [
        Field(1, "TYPE_ORDER", Struct(&EMPTY), "The order that the type has."),
        Field(2, "IEEE_754_TOTAL_ORDER", Struct(&EMPTY), "Floats by their bits, NaN at the ends."),
    ]
);
known!(
    ROW_GROUP,
    "RowGroup",
    &[3],
    [
        Field(
            1,
            "columns",
            List(&Struct(&COLUMN_CHUNK)),
            "A chunk of each column, in the order of the schema's leaves."
        ),
        Field(2, "total_byte_size", Number, "Bytes of all chunks when they are decompressed."),
        Field(3, "num_rows", Number, "Rows."),
        Field(4, "sorting_columns", List(&Struct(&SORTING_COLUMN)), "By what the rows are sorted."),
        Field(5, "file_offset", Number, "Where the first page of the row group is."),
        Field(6, "total_compressed_size", Number, "Bytes of all chunks in the file."),
        Field(7, "ordinal", Number, "Its number, which encryption counts by."),
    ]
);
known!(
    SORTING_COLUMN,
    "SortingColumn",
    &[1],
    [
        Field(1, "column_idx", Number, "The number of the column."),
        Field(2, "descending", Bool, "Whether the greatest comes first."),
        Field(3, "nulls_first", Bool, "Whether nulls come first."),
    ]
);
known!(
    COLUMN_CHUNK,
    "ColumnChunk",
    &[3, 3],
    [
        Field(1, "file_path", Text, "The file that has the pages, if it is another one."),
        Field(2, "file_offset", Number, "Means nothing any more: writers put 0, or where the pages end."),
        Field(3, "meta_data", Struct(&COLUMN_METADATA), "What there is to know of the chunk."),
        Field(4, "offset_index_offset", Number, "Where the offset index is. PageIndex.md;"),
        Field(5, "offset_index_length", Number, "Bytes of the offset index."),
        Field(6, "column_index_offset", Number, "Where the column index is. PageIndex.md;"),
        Field(7, "column_index_length", Number, "Bytes of the column index."),
        Field(8, "crypto_metadata", Struct(&OTHER), "By which key the column is encrypted. Encryption.md;"),
        Field(
            9,
            "encrypted_column_metadata",
            Bytes,
            "What there is to know of the chunk, encrypted. Encryption.md;"
        ),
    ]
);
known!(
    COLUMN_METADATA,
    "ColumnMetaData",
    &[3],
    [
        Field(1, "type", Type, "How values are stored."),
        Field(2, "encodings", List(&Encoding), "All that pages and levels use. Encodings.md;"),
        Field(3, "path_in_schema", List(&Text), "The names from the root down to the leaf."),
        Field(4, "codec", Codec, "How pages are compressed. Compression.md;"),
        Field(5, "num_values", Number, "Entries, with nulls, and with empty and absent lists."),
        Field(
            6,
            "total_uncompressed_size",
            Number,
            "Bytes of all pages when they are decompressed, headers included."
        ),
        Field(7, "total_compressed_size", Number, "Bytes of all pages in the file, headers included."),
        Field(
            8,
            "key_value_metadata",
            List(&Struct(&KEY_VALUE)),
            "What the writer adds for its own readers."
        ),
        Field(9, "data_page_offset", Number, "Where the first data page is."),
        Field(10, "index_page_offset", Number, "No writer makes such pages."),
        Field(11, "dictionary_page_offset", Number, "Where the dictionary page is."),
        Field(
            12,
            "statistics",
            Struct(&STATISTICS),
            "Bounds of all values, by which row groups are skipped."
        ),
        Field(
            13,
            "encoding_stats",
            List(&Struct(&PAGE_ENCODING_STATS)),
            "How many pages have which encoding: whether all have the dictionary."
        ),
        Field(14, "bloom_filter_offset", Number, "Where the bloom filter is. BloomFilter.md;"),
        Field(15, "bloom_filter_length", Number, "Bytes of the bloom filter with its header."),
        Field(
            16,
            "size_statistics",
            Struct(&SIZE_STATISTICS),
            "How much memory the values take, and how often each level occurs."
        ),
        Field(
            17,
            "geospatial_statistics",
            Struct(&GEO_STATISTICS),
            "The box around all geometries, and their kinds. Geospatial.md;"
        ),
    ]
);
known!(
    STATISTICS,
    "Statistics",
    &[],
    [
        Field(1, "max", Bytes, "An older upper bound, whose order was not agreed on."),
        Field(2, "min", Bytes, "An older lower bound, whose order was not agreed on."),
        Field(3, "null_count", Number, "Nulls."),
        Field(4, "distinct_count", Number, "Distinct values."),
        Field(5, "max_value", Bytes, "No value is greater."),
        Field(6, "min_value", Bytes, "No value is less."),
        Field(7, "is_max_value_exact", Bool, "Whether the upper bound is a value."),
        Field(8, "is_min_value_exact", Bool, "Whether the lower bound is a value."),
        Field(9, "nan_count", Number, "Values that are NaN."),
    ]
);
known!(
    PAGE_ENCODING_STATS,
    "PageEncodingStats",
    &[3],
    [
        Field(1, "page_type", PageType, "What the pages hold."),
        Field(2, "encoding", Encoding, "How they are encoded. Encodings.md;"),
        Field(3, "count", Number, "Pages."),
    ]
);
known!(
    SIZE_STATISTICS,
    "SizeStatistics",
    &[],
    [
        Field(
            1,
            "unencoded_byte_array_data_bytes",
            Number,
            "Bytes of all byte strings, without their lengths."
        ),
        Field(2, "repetition_level_histogram", List(&Number), "How often each repetition level occurs."),
        Field(
            3,
            "definition_level_histogram",
            List(&Number),
            "How often each definition level occurs: the last is that of values."
        ),
    ]
);
known!(
    GEO_STATISTICS,
    "GeospatialStatistics",
    &[],
    [
        Field(1, "bbox", Struct(&BOX), "The box around all geometries."),
        Field(
            2,
            "geospatial_types",
            List(&Number),
            "Kinds of geometries, by their numbers in well-known binary."
        ),
    ]
);
known!(
    BOX,
    "BoundingBox",
    &[],
    [
        Field(1, "xmin", Double, "The least x, or the west."),
        Field(
            2,
            "xmax",
            Double,
            "The greatest x, or the east; less than the west where the box goes over the antimeridian."
        ),
        Field(3, "ymin", Double, "The least y."),
        Field(4, "ymax", Double, "The greatest y."),
        Field(5, "zmin", Double, "The least z."),
        Field(6, "zmax", Double, "The greatest z."),
        Field(7, "mmin", Double, "The least m."),
        Field(8, "mmax", Double, "The greatest m."),
    ]
);
known!(
    COLUMN_INDEX,
    "ColumnIndex",
    &[],
    [
        Field(
            1,
            "null_pages",
            List(&Bool),
            "For each page whether it has nulls only: its bounds mean nothing then."
        ),
        Field(
            2,
            "min_values",
            List(&Bytes),
            "For each page a value that none is less than; it may be cut off."
        ),
        Field(3, "max_values", List(&Bytes), "For each page a value that none is greater than."),
        Field(
            4,
            "boundary_order",
            Boundary,
            "Whether bounds ascend or descend from page to page: then a page is found by halving."
        ),
        Field(5, "null_counts", List(&Number), "Nulls of each page."),
        Field(
            6,
            "repetition_level_histograms",
            List(&Number),
            "How often each repetition level occurs, page after page."
        ),
        Field(
            7,
            "definition_level_histograms",
            List(&Number),
            "How often each definition level occurs, page after page."
        ),
        Field(8, "nan_counts", List(&Number), "Values of each page that are NaN."),
    ]
);
known!(
    OFFSET_INDEX,
    "OffsetIndex",
    &[],
    [
        Field(1, "page_locations", List(&Struct(&PAGE_LOCATION)), "Where each data page is."),
        Field(2, "unencoded_byte_array_data_bytes", List(&Number), "Bytes of byte strings of each page."),
    ]
);
known!(
    PAGE_LOCATION,
    "PageLocation",
    &[3],
    [
        Field(1, "offset", Number, "Where the page's header begins."),
        Field(2, "compressed_page_size", Number, "Bytes of the page in the file, header included."),
        Field(3, "first_row_index", Number, "Its first row, counted in the row group."),
    ]
);
known!(
    BLOOM_FILTER_HEADER,
    "BloomFilterHeader",
    &[],
    [
        Field(1, "numBytes", Number, "Bytes of the bits."),
        Field(2, "algorithm", Struct(&ALGORITHM), "How bits are set: in blocks of 256."),
        Field(3, "hash", Struct(&HASH), "By what hash of the value."),
        Field(
            4,
            "compression",
            Struct(&COMPRESSION),
            "Whether the bits are compressed; no writer does that."
        ),
    ]
);
known!(
    ALGORITHM,
    "BloomFilterAlgorithm",
    &[],
    [Field(1, "BLOCK", Struct(&EMPTY), "Each value sets a bit in each of the eight words of one block.")]
);
known!(HASH, "BloomFilterHash", &[], [Field(1, "XXHASH", Struct(&EMPTY), "xxHash of 64 bits.")]);
known!(
    COMPRESSION,
    "BloomFilterCompression",
    &[],
    [Field(1, "UNCOMPRESSED", Struct(&EMPTY), "Not compressed.")]
);
known!(
    FILE_CRYPTO_METADATA,
    "FileCryptoMetaData",
    &[],
    [
        Field(
            1,
            "encryption_algorithm",
            Struct(&OTHER),
            "How the modules of the file are encrypted. Encryption.md;"
        ),
        Field(2, "key_metadata", Bytes, "By what the key of the footer is found. Encryption.md;"),
    ]
);
