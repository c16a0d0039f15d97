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
//! | `parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, ArrowColumnWriter, ArrowColumnChunk, ArrowLeafColumn, compute_leaves}` | [`marquetry::arrow::arrow_writer`](crate::arrow::arrow_writer), see [below](#writing-in-parallel) |
//! | `parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter}` | [`marquetry::arrow::arrow_writer`](crate::arrow::arrow_writer), from [`ArrowWriter::into_serialized_writer`](crate::arrow::ArrowWriter::into_serialized_writer); `append_column` takes an `ArrowColumnChunk`, [made from](crate::arrow::arrow_writer::ArrowColumnChunk::from_parts) a chunk of any origin; there is no `next_column`: columns are written by an `ArrowColumnWriter`, or without Arrow by a [`ColumnWriter`](crate::low_level::ColumnWriter) |
//! | `SerializedRowGroupWriter::append_column(&file, close_result)` | [`append_copied(&source, &metadata, row_group)`](crate::arrow::ArrowWriter::append_copied) for row groups, [`copy_chunk`](crate::low_level::copy_chunk) for one column |
//! | `parquet::arrow::{AsyncArrowWriter, async_writer::{AsyncFileWriter, ParquetObjectWriter}}` | `marquetry::arrow::{AsyncArrowWriter, async_writer::AsyncSink}` with the feature `async`, `marquetry::object_store::ObjectSink` with `object_store` |
//! | `parquet::bloom_filter::Sbbf` | [`BloomFilter`](crate::low_level::BloomFilter) |
//! | `parquet::file::metadata::ParquetMetaData` | [`marquetry::file::metadata::ParquetMetaData`](crate::file::metadata::ParquetMetaData) |
//! | `parquet::file::metadata::{KeyValue, SortingColumn}` | [`marquetry::file::metadata`](crate::file::metadata) |
//! | `parquet::file::properties::{WriterProperties, WriterVersion, EnabledStatistics, BloomFilterProperties}` | [`marquetry::file::properties`](crate::file::properties) |
//! | `parquet::basic::{Compression, Encoding, Type, ZstdLevel, GzipLevel, BrotliLevel}` | [`marquetry::basic`](crate::basic) |
//! | `parquet::schema::types::ColumnPath` | [`marquetry::schema::types::ColumnPath`](crate::schema::types::ColumnPath) |
//! | `ParquetRecordBatchStream::next_row_group` | the same, with the feature `async`: the reader may go to another thread |
//! | `ArrowReaderMetrics`, `with_metrics` | [`metrics`](crate::arrow::arrow_reader::ParquetRecordBatchReader::metrics), always on: [`ReadMetrics`](crate::metrics::ReadMetrics) |
//! | `ChunkReader` for a type of yours | [`Source`](crate::file::Source), in an `Arc` |
//! | `parquet::errors::{ParquetError, Result}` | [`marquetry::errors`](crate::errors); `ParquetError` is another name of [`Error`](crate::errors::Error), a struct: a `match` on its variants becomes one on [`kind`](crate::errors::Error::kind) |
//! | `ParquetError::General(message)` | [`Error::new`](crate::errors::Error::new)`(kind, message)` |
//! | `ParquetError::External(error)` | [`Error::caused_by`](crate::errors::Error::caused_by)`(kind, message, error)`, and back [`get_ref`](crate::errors::Error::get_ref) |
//! | `ArrowError::from(parquet_error)`, `ParquetError::from(arrow_error)`, `ParquetError::from(io_error)` | the same, and `io::Error::from(error)` |
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
//! # Writing in parallel
//! As engines do it, with a task for each column of each row group. What a host's threads write are the bytes that
//! [`set_threads`](crate::file::properties::WriterPropertiesBuilder::set_threads) gives.
//!
//! ```
//! use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
//! use marquetry::arrow::ArrowWriter;
//! use marquetry::arrow::arrow_writer::compute_leaves;
//! use std::sync::Arc;
//! use std::thread;
//!
//! let batch = RecordBatch::try_from_iter([
//!     ("name", Arc::new(StringArray::from(vec!["Barolo", "Rioja"])) as ArrayRef),
//!     ("year", Arc::new(Int32Array::from(vec![2016, 2019])) as ArrayRef),
//! ])?;
//! let mut out = Vec::new();
//! let writer = ArrowWriter::try_new(&mut out, batch.schema(), None)?;
//! let (mut file, factory) = writer.into_serialized_writer()?;
//!
//! let mut columns = factory.create_column_writers(0)?.into_iter();
//! let mut tasks = Vec::new();
//! for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
//!     for leaf in compute_leaves(field, array)? {
//!         let mut column = columns.next().unwrap();
//!         tasks.push(thread::spawn(move || column.write(&leaf).and_then(|()| column.close())));
//!     }
//! }
//! let mut row_group = file.next_row_group()?;
//! for task in tasks {
//!     task.join().unwrap()?.append_to_row_group(&mut row_group)?;
//! }
//! row_group.close()?;
//! file.close()?;
//! assert_eq!(marquetry::open_bytes(out)?.metadata().num_rows(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Calls of engines
//!
//! What DataFusion 55.2, delta-rs and iceberg-rust (both of August 2026) call of the `parquet` crate, by their sources, and what it is
//! here. Each row is compiled and run by a test. Where both columns would be equal, the second one says so.
//!
//! | `parquet` | here |
//! |---|---|
//! | `ArrowReaderMetadata::load(&file, options)` | `ArrowReaderMetadata::load(file, options)` |
//! | `ArrowReaderMetadata::try_new(metadata, options)` | the same |
//! | `ArrowReaderMetadata::load_async(&mut input, options)` | `ArrowReaderMetadata::load_async(&input, options)` |
//! | `ArrowReaderOptions::new().with_schema(schema)`, `with_skip_arrow_metadata`, `with_virtual_columns` | the same |
//! | `ArrowReaderOptions::with_page_index_policy(policy)` | not needed: indexes are read where they are of use, unless `with_page_index(false)` is called; `ArrowReaderMetadata::with_cached_page_index(reader, &mask)` keeps them |
//! | `ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata)` | the same |
//! | `ParquetRecordBatchStreamBuilder::new_with_metadata(input, metadata)` | the same |
//! | `with_batch_size`, `with_projection`, `with_row_groups`, `with_row_selection`, `with_row_filter`, `with_limit`, `with_offset`, `build` | the same |
//! | `ProjectionMask::all()`, `roots`, `leaves`, `columns` | the same |
//! | a mask of the leaves whose `basic_info().id()` is wanted | `ProjectionMask::field_ids(schema, ids)` |
//! | `RowSelection::from(selectors)`, `from_consecutive_ranges`, `intersection`, `and_then`, `row_count` | the same |
//! | `RowFilter::new(predicates)`, `ArrowPredicateFn::new(mask, f)` | the same |
//! | `parquet_to_arrow_schema(descriptor, key_values)` | `ArrowReaderMetadata::schema()` |
//! | `PARQUET_FIELD_ID_META_KEY`, `ARROW_SCHEMA_META_KEY` | the same |
//! | `StatisticsConverter::try_new(name, arrow_schema, parquet_schema)` | the same, or `ArrowReaderMetadata::statistics(name)`; `name` may lead to a leaf in a struct or a list. Bounds as a table has them, whose types are wider than the file's: `statistics_as(name, field)` |
//! | `row_group_mins(groups)`, `row_group_maxes`, `row_group_null_counts`, `row_group_is_max_value_exact`, `row_group_is_min_value_exact` | the same |
//! | `row_group_row_counts(groups)?` | `row_group_row_counts(groups)` |
//! | `data_page_mins(column_index, offset_index, groups)`, `data_page_maxes`, `data_page_null_counts` | `data_page_mins(&index, groups)`, where groups are row groups, not their numbers |
//! | `data_page_row_counts(offset_index, all_groups, groups)?` | `data_page_row_counts(&index, groups)?` |
//! | `metadata.column_index()`, `metadata.offset_index()` | `ArrowReaderMetadata::read_page_index(reader, &mask)?`, then `index.column_index(group, column)` and `index.offset_index(group, column)` |
//! | `ParquetMetaDataReader::new().parse_and_finish(&file)` | `read_metadata(&source, &limits)?.metadata` |
//! | `ParquetMetaDataPushDecoder::try_new(len)?`, `push_ranges`, `try_decode` | `ParquetMetaDataPushDecoder::new(len)`, `push_ranges`, `try_decode` |
//! | `metadata.memory_size()` | the same; `ArrowReaderMetadata::memory_size()` counts schemas and cached bytes, too |
//! | `metadata.file_metadata().num_rows()`, `schema_descr`, `key_value_metadata`, `created_by`, `version` | `metadata.num_rows()`, `schema`, `key_value_metadata`, `created_by`, `version` |
//! | `metadata.num_row_groups()`, `metadata.row_group(i)`, `metadata.row_groups().iter()` | the same, but `row_groups()` is an iterator |
//! | `group.num_rows()`, `group.total_byte_size()`, `group.columns().iter()`, `group.sorting_columns()` | the same, but `columns()` is an iterator of results |
//! | `group.column(i).byte_range()`, `compressed_size`, `uncompressed_size`, `num_values`, `encodings`, `statistics` | `group.column(i)?.byte_range()?`, and the others |
//! | `column.statistics()` with its `min_bytes_opt`, `null_count_opt` | `TrustedStatistics::of_chunk(group, column)?` |
//! | `builder.get_row_group_column_bloom_filter(group, column)`, `filter.check(&value)` | `read_bloom_filter(&source, chunk, &limits)?`, `filter.might_contain(bytes)` |
//! | `ArrowWriter::try_new(sink, schema, Some(properties))`, `write`, `flush`, `in_progress_size`, `in_progress_rows`, `memory_size`, `bytes_written`, `append_key_value_metadata`, `close` | the same; `append_key_value_metadata` returns a `Result` |
//! | `ArrowWriter::into_serialized_writer()?`, `create_column_writers(i)?`, `compute_leaves(field, &array)?`, `column.write(&leaf)?`, `column.close()?`, `file.next_row_group()?`, `chunk.append_to_row_group(&mut row_group)?`, `row_group.close()?` | the same |
//! | `AsyncArrowWriter::try_new(sink, schema, properties)`, `write`, `flush`, `in_progress_size`, `close` | the same; a sink is an `AsyncSink` |
//! | `ArrowWriterOptions::new().with_skip_arrow_metadata(true)` | `WriterProperties::builder().set_arrow_schema(false)` |
//! | `SortingColumn { column_idx, descending, nulls_first }`, `KeyValue::new(key, value)` | the same |
//! | `AsyncFileReader`, `ParquetObjectReader::new(store, path)`, `with_file_size` | `AsyncSource`, `object_store::ObjectFile::new(store, path)`: the length comes with the footer |
//! | an `AsyncFileReader` whose `get_byte_ranges` merges ranges before it fetches them | `AsyncSource::read_ranges`, of ranges that are merged already, as `with_request_cost(cost)` says |
//! | `ParquetMetaDataReader::new().with_prefetch_hint(n).load_and_finish(&mut input, len)` | `ArrowReaderMetadata::load_async(&input, options.with_footer_size_hint(n))` |
//! | an `AsyncFileWriter` with its `write(bytes)` and `complete()` | `AsyncSink::write`, `complete`, and `abort` |
//! | `ParquetObjectWriter::from_buf_writer(BufWriter::with_capacity(store, path, n).with_max_concurrency(m))` | `ObjectSink::new(store, path).with_part_bytes(n).with_parts_at_once(m)` |
//! | `writer.finish()`, and then `writer.bytes_written()` | the same; while it is written, `bytes_written() + in_progress_size() as u64` |
//! | `WriterProperties::builder()` with `set_compression`, `set_created_by`, `set_max_row_group_row_count`, `set_max_row_group_bytes`, `set_data_page_size_limit`, `set_dictionary_page_size_limit`, `set_column_dictionary_enabled` | the same |
//! | `schema.columns()`, `schema.column(i)`, `column.path().parts()`, `column.physical_type()`, `column.logical_type_ref()` | `schema.columns()`, `schema.column(i)`, `leaf.path()`, `leaf.physical()`, `leaf.logical()` |
//! | `schema.root_schema().get_fields()`, `field.get_basic_info().id()` | `schema.fields()`, `node.field_id()` |
//! | `parse_message_type(text)` | `Schema::parse(text)` |
//! | a `match` on `Statistics::Int32(bounds)` and its kin, over all row groups | `row_group_mins(groups)`: one array of the column's type |
//! | a `match` on `ColumnIndexMetaData::INT32(index)` and its kin | `data_page_mins(&index, groups)`, or the bytes as they are stored: `column_index(group, column)` |
//! | `group.file_offset()` | `group.head()`, and its `file_offset` |
//! | `SerializedFileReader::new(file)?.metadata()` | `marquetry::open(path)?.metadata()`, `open_bytes(bytes)` |
//! | `ProjectionMask::none(n)` | the same |
//! | `ParquetPushDecoderBuilder::new_with_metadata(metadata)`, `push_ranges`, `try_next_reader` | `ParquetRecordBatchStreamBuilder::new_with_metadata(input, metadata)`, `next_row_group`: bytes are asked of an `AsyncSource`, and decoded wherever the reader is taken |
//! | `decoder.is_at_row_group_boundary()`, `peek_next_row_group`, `into_builder` with another filter | `rows.row_group()` says which was handed out; another stream, `with_row_groups` of those that are left |
//! | `MetadataFetch::fetch(range)` | `AsyncSource::read_tail` |
//! | `with_row_selection_policy`, `with_max_predicate_cache_size` | not needed: both are chosen by what is measured in the file |
//! | `ArrowReaderMetrics::enabled()`, `records_read_from_inner` | `reader.metrics()`, its `rows` and `filtered_rows` |
//! | `selection.union(&other)`, `selects_any`, `skipped_row_count`, `RowSelector::skip(n)`, `select(n)` | the same |
//! | `converter.parquet_column_index()`, `arrow_field()` | the same |
//! | `offset_index.page_locations()`, `column_index.null_counts()`, `min_values_iter()`, `max_values_iter()` | the fields `page_locations`, `null_counts`, `min_values`, `max_values` |
//! | `column.column_index_offset()`, `offset_index_offset()` | `column_index_range()`, `offset_index_range()` |
//! | `column.column_descr()`, `file_path()` | `column.leaf()`, `file_path()` |
//! | `statistics.distinct_count_opt()`, `min_is_exact()`, `max_is_exact()` | the field `distinct_count` of `column.statistics()`; `is_min_exact` and `is_max_exact` of `TrustedStatistics` |
//! | `schema.get_column_root(i)`, `get_column_root_idx(i)`, `field.is_group()`, `is_primitive()` | `schema.fields()[leaf.root()]`, and its `kind()`: `NodeKind::Group`, `NodeKind::Leaf` |
//! | `column.max_rep_level()`, `type_length()`, `converted_type()` | `leaf.max_rep()`; `leaf.physical()` has the length: `PhysicalType::FixedLenByteArray(n)`; `leaf.logical()`, in whichever way it is written |
//! | `LogicalType::Timestamp { unit: TimeUnit::MICROS, is_adjusted_to_u_t_c }`, `Decimal { precision, scale }`, `Integer { bit_width, is_signed }` | `LogicalType::Timestamp { unit: TimeUnit::Micros, utc }`, `Decimal { precision, scale }`, `Integer { bits, signed }` |
//! | `FileDecryptionProperties::builder(key)`, `with_column_key(name, key)`, `with_aad_prefix`, `ArrowReaderOptions::with_file_decryption_properties(properties)` | the same |
//! | `FileEncryptionProperties::builder(key)`, `with_plaintext_footer`, `with_footer_key_metadata`, `with_column_key_and_metadata`, `with_aad_prefix_storage`, `with_file_encryption_properties(properties)` | the same |
//! | `ArrowWriterOptions::new().with_properties(properties)` | `ArrowWriter::try_new(sink, schema, Some(properties))` |
//! | `column.get_estimated_total_bytes()`, `column.memory_size()`, while it is written | the same |
//! | `set_statistics_enabled`, `set_dictionary_enabled`, `set_encoding`, `set_column_compression`, `set_bloom_filter_enabled`, `set_bloom_filter_fpp`, `set_bloom_filter_ndv`, `set_bloom_filter_max_ndv`, `set_column_bloom_filter_fpp`, `set_column_bloom_filter_ndv`, `set_statistics_truncate_length`, `set_column_index_truncate_length`, `set_data_page_row_count_limit`, `set_write_batch_size`, `set_key_value_metadata`, `set_sorting_columns`, `set_content_defined_chunking(Some(CdcOptions { .. }))` | the same |
//! | `properties.max_row_group_row_count()`, `DEFAULT_MAX_ROW_GROUP_ROW_COUNT` | the same |
//! | `writer.into_inner()` | the same |
//! | `SerializedFileWriter::new(file, schema, properties)`, `next_column`, `typed::<Int96Type>().write_batch(values, def, rep)` | without Arrow: `FileWriter::new(file, schema, settings)`, `ColumnWriter::new(leaf, &settings)` |
//! | `Variant`, `VariantArray`, `VariantArrayBuilder`, `variant_get` of `parquet::variant` | `Variant`, `VariantColumn`, `VariantArrayBuilder`, `variant_get` of `marquetry::variant` |
//!
//! What they call and is not here: `parquet::record`, rows without Arrow.
//!
//! # Versions
//!
//! - Arrow and `object_store` are part of the public surface: arrays, schemas and stores are given and taken. A new major version
//!   of either is a new minor version of Marquetry before 1.0, and a new major one after it; nothing else changes in such a
//!   release, so that it can be taken at once.
//! - What is in [`marquetry::internals`](crate::internals) changes in any release.
//!
//! # What differs
//! - [`ArrowWriter::append_key_value_metadata`](crate::arrow::ArrowWriter::append_key_value_metadata) fails once the file is
//!   finished, and [`bytes_written`](crate::arrow::ArrowWriter::bytes_written) is a `u64`.
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
