//! The metadata of Parquet files: every struct, union and enum of `parquet.thrift` (release 2.14), and the Thrift
//! compact protocol that they are written in.
//!
//! Each struct has `read` and `write` side by side, with the field ids as numbers. Reading is lenient: unknown fields
//! and fields of another type than `parquet.thrift` gives are skipped, enums keep numbers that are not known, unions
//! have an `Unknown` member, and only what a reader cannot do without is required. Where a footer is, and where it
//! ends, is in [`FooterTail`] and [`parse_metadata`]. The Arrow schema that a footer may have is not Thrift, but a
//! flatbuffer: [`flatbuffers`].
#![forbid(unsafe_code)]

mod bloom_filter;
mod chunk_layout;
mod chunk_view;
mod column_chunk;
mod encryption;
mod enums;
mod file_metadata;
pub mod flatbuffers;
mod footer;
mod lazy_footer;
mod logical_type;
mod page_header;
mod page_index;
mod row_group;
mod schema_element;
mod statistics;
mod thrift;

pub use bloom_filter::{BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader};
pub use chunk_view::ChunkView;
pub use column_chunk::{
    ColumnChunk, ColumnMetaData, KeyValue, KeyValueView, PageEncodingStats, SortingColumn,
};
pub use encryption::{
    AesGcm, ColumnCryptoMetaData, EncryptionAlgorithm, EncryptionWithColumnKey, FileCryptoMetaData,
};
pub use enums::{
    BoundaryOrder, CompressionCodec, ConvertedType, EdgeInterpolationAlgorithm, Encoding, PageType,
    Repetition, Type,
};
pub use file_metadata::{ColumnOrder, FileMetaData};
pub use footer::{FooterTail, PAR1, PARE, parse_metadata};
pub use lazy_footer::{LazyFooter, LazyRowGroup};
pub use logical_type::{LogicalType, TimeUnit};
pub use page_header::{DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, IndexPageHeader, PageHeader};
pub use page_index::{ColumnIndex, OffsetIndex, PageLocation};
pub use row_group::RowGroup;
pub use schema_element::SchemaElement;
pub use statistics::{BoundingBox, GeospatialStatistics, SizeStatistics, Statistics};
pub use thrift::{Bookmark, Element, Elements, ElementsIter, Field, Reader, ThriftString, Wire, Writer};
