//! Coming from the `parquet` crate: change the `use` lines.
//!
//! | `parquet` | here |
//! |---|---|
//! | `parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, ParquetRecordBatchReader, ArrowReaderOptions, ArrowReaderMetadata}` | [`marquetry::arrow::arrow_reader`](crate::arrow::arrow_reader) |
//! | `parquet::arrow::arrow_reader::{RowFilter, ArrowPredicate, ArrowPredicateFn, RowSelection, RowSelector}` | [`marquetry::arrow::arrow_reader`](crate::arrow::arrow_reader) |
//! | `parquet::arrow::{RowNumber, RowGroupIndex}` | [`marquetry::arrow::arrow_reader`](crate::arrow::arrow_reader) |
//! | `parquet::arrow::ProjectionMask` | [`marquetry::arrow::ProjectionMask`](crate::arrow::ProjectionMask) |
//! | `parquet::arrow::{ParquetRecordBatchStreamBuilder, async_reader}` | `marquetry::arrow::{ParquetRecordBatchStreamBuilder, async_reader}`, with the feature `async`; a file is an `AsyncSource` instead of an `AsyncFileReader` |
//! | `parquet::arrow::ArrowWriter` | [`marquetry::arrow::ArrowWriter`](crate::arrow::ArrowWriter) |
//! | `parquet::file::metadata::ParquetMetaData` | [`marquetry::file::metadata::ParquetMetaData`](crate::file::metadata::ParquetMetaData) |
//! | `parquet::file::metadata::{KeyValue, SortingColumn}` | [`marquetry::file::metadata`](crate::file::metadata) |
//! | `parquet::file::properties::{WriterProperties, WriterVersion, EnabledStatistics, BloomFilterProperties}` | [`marquetry::file::properties`](crate::file::properties) |
//! | `parquet::basic::{Compression, Encoding, Type, ZstdLevel, GzipLevel, BrotliLevel}` | [`marquetry::basic`](crate::basic) |
//! | `parquet::schema::types::ColumnPath` | [`marquetry::schema::types::ColumnPath`](crate::schema::types::ColumnPath) |
//! | `parquet::errors::{ParquetError, Result}` | [`marquetry::errors`](crate::errors) |
//!
//! # Reading a file
//!
//! ```
//! use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
//! use std::fs::File;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
//! println!("{}", builder.schema());
//! let reader = builder.with_batch_size(1024).build()?;
//! let batches = reader.collect::<Result<Vec<_>, _>>()?;
//! # assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Some columns, some row groups, some rows
//!
//! ```
//! use marquetry::arrow::ProjectionMask;
//! use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let bytes = bytes::Bytes::from(std::fs::read(path)?);
//! let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
//! let mask = ProjectionMask::columns(builder.parquet_schema(), ["name", "producer.name"]);
//! let reader = builder.with_projection(mask).with_row_groups(vec![1]).with_offset(5).with_limit(10).build()?;
//! let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
//! assert_eq!(rows, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rows that a filter wants
//!
//! A `RowFilter` works as it did. A typed predicate says the same, and is faster: it is asked about statistics and indexes
//! too, once about each entry of a dictionary, and needs no arrays. With either, batches end with row groups.
//!
//! ```
//! use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
//! use marquetry::predicate::Predicate;
//! use std::fs::File;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
//! let reader = builder.with_predicate(Predicate::parse("year >= 2015 and price < 20")?).build()?;
//! let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
//! # assert!(rows < 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Another schema
//!
//! ```
//! use arrow_schema::{DataType, Field, Schema};
//! use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
//! use std::fs::File;
//! use std::sync::Arc;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let stored = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.schema().clone();
//! let fields = stored.fields().iter().map(|field| match field.data_type() {
//!     DataType::Utf8 => Arc::new(Field::clone(field).with_data_type(DataType::Utf8View)),
//!     _ => field.clone(),
//! });
//! let wanted = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
//! let options = ArrowReaderOptions::new().with_schema(wanted.clone());
//! let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(File::open(path)?, options)?.build()?;
//! # use arrow_array::RecordBatchReader;
//! assert_eq!(reader.schema().fields(), wanted.fields());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Metadata
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let file = marquetry::open(path)?;
//! for row_group in file.metadata().row_groups() {
//!     for column in row_group.columns() {
//!         let column = column?;
//!         println!("{} {} {} bytes", column.leaf().dotted(), column.compression(), column.compressed_size());
//!     }
//! }
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
//!
//! # Writing a file
//!
//! ```
//! use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
//! use marquetry::arrow::ArrowWriter;
//! use marquetry::basic::{Compression, Encoding, ZstdLevel};
//! use marquetry::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
//! use marquetry::schema::types::ColumnPath;
//! use std::sync::Arc;
//!
//! let batch = RecordBatch::try_from_iter([
//!     ("name", Arc::new(StringArray::from(vec!["Barolo", "Rioja"])) as ArrayRef),
//!     ("year", Arc::new(Int32Array::from(vec![2016, 2019])) as ArrayRef),
//! ])?;
//! let properties = WriterProperties::builder()
//!     .set_writer_version(WriterVersion::PARQUET_2_0)
//!     .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
//!     .set_max_row_group_row_count(Some(500_000))
//!     .set_column_encoding(ColumnPath::from("year"), Encoding::DELTA_BINARY_PACKED)
//!     .set_column_bloom_filter_enabled(ColumnPath::from("name"), true)
//!     .set_column_statistics_enabled(ColumnPath::from("name"), EnabledStatistics::Chunk)
//!     .build();
//! let mut file = Vec::new();
//! let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties))?;
//! writer.write(&batch)?;
//! writer.close()?;
//! assert_eq!(marquetry::open_bytes(file)?.metadata().num_rows(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What differs
//!
//! - Arrow is version 59.
//! - Written files are compressed, with
//!   [`DEFAULT_COMPRESSION`](crate::file::properties::DEFAULT_COMPRESSION), and encodings are chosen by size, by
//!   [`Encoding::Auto`](crate::basic::Encoding::Auto). An encoding that is asked for stands behind a dictionary only if
//!   the dictionary is asked for too.
//! - No setter of [`WriterPropertiesBuilder`](crate::file::properties::WriterPropertiesBuilder) panics; what is wrong is an
//!   error when a writer is made. A setting for a column that does not exist is an error as well.
//! - [`ColumnPath::from("a.b")`](crate::schema::types::ColumnPath) finds the column `b` in the group `a`, and a group's path
//!   is for all columns in it.
//! - Settings can be made by type and by pattern, too: `set_type_x`, `set_glob_x`.
//! - Bloom filters stand before the footer unless
//!   [`BloomFilterPosition::AfterRowGroup`](crate::file::properties::BloomFilterPosition::AfterRowGroup) is asked for, and
//!   have the size that fits their values unless a number of values is given.
//! - Page checksums are verified where they are stored;
//!   [`with_page_checksum_verification(false)`](crate::arrow::arrow_reader::ArrowReaderOptions::with_page_checksum_verification)
//!   turns that off.
//! - The default batch size is 8,192 rows, not 1,024. Batches go on from one row group to the next in both.
//! - ENUM columns are text, as the format defines them, not binary.
//! - INT96 timestamps outside the unit's range are an error, not another point in time; see
//!   [`Int96`](crate::arrow::arrow_reader::Int96Unit).
//! - Half a map can be read: it becomes a list of structs.
//! - INTERVAL columns are `Interval(MonthDayNano)`; unshredded and shredded VARIANT is its storage struct.
//! - Metadata is read through methods only, and [`num_rows`](crate::file::metadata::ParquetMetaData::num_rows) counts the
//!   rows of the row groups.
//! - Errors are one type with a [`ErrorKind`](crate::errors::ErrorKind) and a [`ErrorLocation`](crate::errors::ErrorLocation). The iterator's item is
//!   `Result<RecordBatch, ArrowError>` as you know it; the typed error is the `ArrowError::ExternalError` inside, or comes
//!   from [`next_batch`](crate::arrow::arrow_reader::ParquetRecordBatchReader::next_batch) directly.
