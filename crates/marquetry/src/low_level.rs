//! Below record batches: column chunks, pages and bloom filters, for programs that take files apart.
//!
//! [`arrow`](crate::arrow) is built on these. They do not know Arrow: values are
//! [`Values`](crate::internals::encoding::Values), nesting is [levels](crate::low_level::ShreddedColumn).
//!
//! # Write a column chunk
//!
//! ```
//! use marquetry::file::properties::WriterProperties;
//! use marquetry::internals::encoding::Values;
//! use marquetry::low_level::{
//!     ColumnValues, ColumnWriter, DefinitionLevels, FileSettings, FileWriter, ShreddedColumn, Workspace,
//! };
//! use marquetry::schema::Schema;
//!
//! let schema = Schema::parse("message points { required int64 x; }")?;
//! let leaf = schema.column(0);
//! let settings = WriterProperties::default().column_settings(leaf)?;
//! let mut column = ColumnWriter::new(leaf, &settings)?;
//! let mut workspace = Workspace::new();
//! column.write(
//!     &ShreddedColumn::flat(3, DefinitionLevels::Max, ColumnValues::Values(Values::W64(vec![4, 5, 6]))),
//!     &mut workspace,
//! )?;
//! let (chunk, _decision) = column.close(&mut workspace)?;
//!
//! let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default())?;
//! file.write_row_group(3, vec![chunk], None)?;
//! let (bytes, _metadata) = file.finish()?;
//! assert_eq!(marquetry::open_bytes(bytes)?.metadata().num_rows(), 3);
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
//!
//! # Write a page
//! Encoded values, compressed, behind a header:
//!
//! ```
//! use marquetry::internals::codec::{Codec, Compressor, Decompressor};
//! use marquetry::internals::encoding::{Values, plain};
//! use marquetry::internals::format::{DataPageHeader, Encoding, PageHeader, PageType, Reader, Writer};
//!
//! let values = plain::encode(&Values::W32(vec![7, 8, 9]))?;
//! let mut body = Vec::new();
//! Compressor::new(Codec::Snappy, None)?.compress(&values, &mut body)?;
//! let header = PageHeader {
//!     type_: PageType::DATA_PAGE,
//!     uncompressed_page_size: values.len() as i32,
//!     compressed_page_size: body.len() as i32,
//!     data_page_header: Some(DataPageHeader {
//!         num_values: 3,
//!         encoding: Encoding::PLAIN,
//!         definition_level_encoding: Encoding::RLE,
//!         repetition_level_encoding: Encoding::RLE,
//!         statistics: None,
//!     }),
//!     ..PageHeader::default()
//! };
//! let mut writer = Writer::new();
//! header.write(&mut writer);
//! let page = [writer.finish(), body].concat();
//!
//! let mut reader = Reader::new(&page);
//! assert_eq!(PageHeader::read(&mut reader)?, header);
//! # let mut back = Vec::new();
//! # let body = &page[page.len() - header.compressed_page_size as usize..];
//! # Decompressor::new().decompress(Codec::Snappy, body, values.len(), &mut back)?;
//! # assert_eq!(back, values);
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
//!
//! # Read pages
//!
//! ```
//! use marquetry::file::page::{PageBuffers, PageOptions, PageReader};
//! use marquetry::file::{LocalFile, Source};
//! use std::sync::Arc;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let source: Arc<dyn Source> = Arc::new(LocalFile::open(path)?);
//! let metadata = marquetry::open(path)?.metadata().clone();
//! let chunk = metadata.row_group(0).column(0)?;
//! let options = PageOptions::for_writer(metadata.created_by());
//! let mut pages = PageReader::new(source, chunk, options, PageBuffers::default())?;
//! let mut values = 0;
//! while let Some(header) = pages.next_header()? {
//!     if header.num_values()? > 0 {
//!         let page = pages.data(&header, chunk.leaf().max_rep(), chunk.leaf().max_def())?;
//!         println!("encoding {}, {} bytes of values", page.encoding, page.values.len());
//!         values += page.num_values;
//!     }
//! }
//! assert_eq!(values as i64, chunk.num_values());
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
//!
//! # Copy a column chunk
//! Without decoding it, into a file that has the column in another place:
//!
//! ```
//! use marquetry::file::{LocalFile, Source};
//! use marquetry::low_level::{CopySettings, FileSettings, FileWriter, copy_chunk};
//! use std::sync::Arc;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let source: Arc<dyn Source> = Arc::new(LocalFile::open(path)?);
//! let old = marquetry::open(path)?.metadata().clone();
//! let year = old.schema().columns().iter().position(|leaf| leaf.dotted().as_ref() == "year").unwrap();
//!
//! // The root, with one child, and the old file's element of the column.
//! let mut elements = vec![old.head().schema[0].clone()];
//! elements[0].num_children = Some(1);
//! elements.extend(old.head().schema.iter().find(|element| &*element.name == "year").cloned());
//!
//! let mut file = FileWriter::new(Vec::new(), elements, FileSettings::default())?;
//! for group in old.row_groups() {
//!     let copied = copy_chunk(&source, &old, group.index(), year, &CopySettings::default())?;
//!     file.write_row_group(group.num_rows(), vec![copied.chunk], None)?;
//! }
//! let (bytes, metadata) = file.finish()?;
//! assert_eq!(metadata.num_rows(), old.num_rows());
//! # assert_eq!(marquetry::open_bytes(bytes)?.batches()?.map(|batch| batch.unwrap().num_rows() as u64).sum::<u64>(), old.num_rows());
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
//!
//! # Ask a bloom filter
//!
//! ```
//! # use arrow_array::{ArrayRef, RecordBatch, StringArray};
//! use marquetry::file::Source;
//! use marquetry::low_level::BloomFilter;
//! # use marquetry::arrow::ArrowWriter;
//! # use marquetry::file::properties::WriterProperties;
//! # use std::sync::Arc;
//!
//! # let names = Arc::new(StringArray::from(vec!["oak", "elm"])) as ArrayRef;
//! # let batch = RecordBatch::try_from_iter([("name", names)])?;
//! # let properties = WriterProperties::builder().set_bloom_filter_enabled(true).build();
//! # let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
//! # writer.write(&batch)?;
//! # let (file, metadata) = writer.into_parts()?;
//! # let source: Arc<dyn Source> = Arc::new(bytes::Bytes::from(file));
//! let chunk = metadata.row_group(0).column(0)?;
//! if let (Some(offset), Some(length)) = (chunk.bloom_filter_offset(), chunk.bloom_filter_length()) {
//!     let filter = BloomFilter::read(&source.read_at(offset, length as usize)?)?;
//!     // The bytes of the value as PLAIN stores them: text without its length, numbers as little-endian.
//!     assert!(filter.might_contain(b"oak"));
//!     assert!(!filter.might_contain(b"ash"));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
pub use marquetry_core::statistics::BloomFilter;
pub use marquetry_core::write::copy::{CopiedChunk, CopySettings, copy_chunk, drop_bounds};
pub use marquetry_core::write::{
    BloomSettings, ByteQueue, Candidate, ChunkBytes, ColumnSettings, ColumnWriter, EncodedChunk,
    EncodingDecision, EncodingPolicy, FileSettings, FileWriter, PageVersion, SealedSpills, Spill, SpillFile,
    SpillFolder, SpillStore, StatisticsLevel, Workspace, WorkspacePool,
};
