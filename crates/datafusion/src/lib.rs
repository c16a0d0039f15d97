//! Parquet tables of [DataFusion](datafusion), read, pruned and written by Marquetry.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let ctx = SessionContext::new().enable_url_table();
//! marquetry_datafusion::register(&ctx)?;
//! let sql = format!("select country, count(*) from '{path}' where year > 2010 group by country");
//! let batches = ctx.sql(&sql).await?.collect().await?;
//! assert!(batches.iter().any(|batch| batch.num_rows() > 0));
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! DataFusion's own Parquet (its feature `parquet`) is not needed, nor is the crate `parquet`. With that feature,
//! `register` replaces it; only `SessionContext::read_parquet` and its kin, which name it, still use it.
//!
//! # What is read
//! - The columns that a query needs, and those fields of structs that it needs; `input_file_name()` and `file_row_index()`.
//! - Rows for which conditions are true. The reader evaluates a condition that means the same in a file (predicate
//!   pushdown), and nothing evaluates it again: comparisons with literals and between columns of one type, `IN`, `IS
//!   NULL`, `IS DISTINCT FROM`, `LIKE`, `starts_with`, and combinations of these by `AND`, `OR` and `NOT`. Other
//!   conditions only prune, those on floats among them: DataFusion orders floats totally, with NaN at both ends by its
//!   sign.
//! - Not what statistics, bloom filters, dictionaries and page indexes rule out; nor files whose statistics do, before
//!   they are opened; nor row groups that the dynamic filter of a sort with a limit or of a join rules out while the
//!   query runs.
//! - Footers once: the session's cache keeps them, by store, path, size and ETag or time of change.
//!
//! Several partitions can share a file: by row groups, or by rows if it has fewer than 8 row groups and an offset
//! index. `count(*)`, `count(column)`, `min` and `max` come from footers where these are certain. The order of the scan
//! is the one that `sorting_columns` promise, as far as bounds of row groups confirm it, and up to the first column
//! that may have nulls. Where a query makes use of it, each row is compared with the one before, and one that breaks
//! the order fails the query.
//!
//! `PRIMARY KEY`, `UNIQUE` and `NOT NULL` in `CREATE EXTERNAL TABLE` are parsed, but not relied on: nothing enforces
//! them in files, and files that are added later need not meet what the first ones do. Inserting a null into a `NOT
//! NULL` column fails. A partition column is null where the folder is called `key=__HIVE_DEFAULT_PARTITION__`, whatever
//! its type, and rows whose key is null are inserted into that folder.
//!
//! # What is written
//! `COPY TO` and `INSERT INTO` write each file in a task of its own. No file gets its name before all rows of the
//! statement are written; if the statement fails before that, none does. The order that a statement asks for is
//! recorded as `sorting_columns`, unless the table has nested columns.
//!
//! # VARIANT
//! [`register`] adds functions of VARIANT: `variant_get(v, 'user.id')` returns the value at a path as a VARIANT,
//! `variant_get(v, 'user.id', 'bigint')` as a value of that type; `variant_to_json(v)`, `json_to_variant(text)`;
//! `is_variant_null(v, 'user.id')`. SQL has the path syntax of other engines: `v:user.id::bigint`, `CAST(v:user.id AS
//! bigint)`; a name that needs quotes stands in double quotes, an element of a list in brackets. A cast keeps the
//! value, or gives NULL: [`VariantPath`](marquetry_arrow::variant::VariantPath) says which values are of which type.
//!
//! A path is read as a column: where it is shredded, only its typed columns are read, and conditions on it prune row
//! groups and pages, and are evaluated by the reader. `v:user.id` is NULL where the row is NULL, and where the path
//! leads nowhere; a variant null is not NULL, and `is_variant_null` detects it. Files of one table may be shredded
//! differently: the table's column is then unshredded, or has the shape that is declared, and a VARIANT that is read as
//! a whole is converted to that.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let ctx = SessionContext::new();
//! marquetry_datafusion::register(&ctx)?;
//! let sql = r#"select variant_get(v, 'user.id', 'bigint') from (select json_to_variant('{"user": {"id": 7}}') as v)"#;
//! let batches = ctx.sql(sql).await?.collect().await?;
//! assert_eq!(*batches[0].column(0).as_ref(), arrow_array::Int64Array::from(vec![7]));
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Datasets as tables
//! [`DatasetTable`] makes a table of a [`Dataset`](marquetry_arrow::dataset::Dataset): the caller decides how its files
//! are found, opened, and brought to one schema. [`dataset_in_store`] makes a dataset of a folder in a store of the
//! session. [`FolderTable`] has the same files and partition columns, and can be sent to another process.
//!
//! # Options
//! Names are those of DataFusion: `SET datafusion.execution.parquet.NAME = ..` before a table is made, or `OPTIONS
//! ('NAME' ..)` of a statement, which takes precedence. An option that is not supported is refused with an error that
//! says why, by the statement that would read or write.
//!
//! | reading | |
//! |---|---|
//! | `pushdown_filters` | true (what [`register`] sets): the reader evaluates conditions. False: they only prune files, row groups and pages, by statistics, bloom filters, dictionaries and page indexes. `SET` affects existing tables, too |
//! | `pruning` | false: nothing is pruned, no file and no row group |
//! | `enable_page_index` | false: page indexes do not prune |
//! | `skip_metadata` | true: of the metadata of its files a table only has extension types (UUID, JSON, GEOMETRY and GEOGRAPHY with their reference systems, VARIANT): those on which all files that have the column agree |
//! | `metadata_size_hint` | how many bytes are read from the end of a file first, at least 64 KiB |
//! | `schema_force_view_types` | true: text and bytes are views |
//! | `binary_as_string` | true: bytes are read as text |
//! | `coerce_int96` | the unit of INT96 timestamps; the default is nanoseconds. A value that does not fit is an error |
//! | `coerce_int96_tz` | their time zone; refused without `coerce_int96` |
//! | `on_corrupt` | Marquetry's own: `fail`, or what to do about damaged pages of the columns that a query reads: `skip_page`, `null_page`, `skip_row_group`. Losses are counted as `rows_left_out` and `values_made_null`, and logged. Conditions are then evaluated after reading |
//! | `ignore_sorting_columns` | Marquetry's own. True: rows are sorted where an order is needed, whatever footers promise |
//! | `bloom_filter_on_read` | false is refused: a bloom filter is read where that costs less than it may save |
//! | `reorder_filters` | conditions are evaluated in the order of their cost, whatever the setting |
//! | `force_filter_selections` | true is refused: how rows are selected is decided for each row group |
//! | `max_predicate_cache_size` | refused: there is no such cache |
//! | `max_in_list_size` | any value but 20 is refused: lists of any length prune |
//!
//! | writing | |
//! |---|---|
//! | `compression`, `dictionary_enabled`, `statistics_enabled`, `encoding` | followed, and with `::column` behind the name for one column. `encoding` may be `auto`, the default: the smallest of all that fit, found by trying |
//! | `bloom_filter_on_write`, `bloom_filter_fpp`, `bloom_filter_ndv` | followed; `bloom_filter_enabled::column`, `bloom_filter_fpp::column`, `bloom_filter_ndv::column` too |
//! | `max_row_group_size`, `max_row_group_bytes`, `data_pagesize_limit`, `data_page_row_count_limit`, `dictionary_page_size_limit`, `write_batch_size` | followed |
//! | `writer_version`, `skip_arrow_metadata`, `column_index_truncate_length`, `statistics_truncate_length`, `metadata::key` | followed |
//! | `created_by` | followed, unless it is DataFusion's default: readers go by this name, and the file is Marquetry's |
//! | `execution.keep_partition_by_columns` | true: files also contain the partition columns that name their folders |
//! | `allow_single_file_parallelism` | true: the columns of a file are encoded on `target_partitions` threads; false: on one |
//! | `maximum_parallel_row_group_writers` | any value but 1 is refused |
//! | `maximum_buffered_record_batches_per_stream` | any value but 2 is refused: batches are not queued |
//! | `content_defined_chunking.enabled`, `content_defined_chunking.min_chunk_size`, `content_defined_chunking.max_chunk_size`, `content_defined_chunking.norm_level` | followed; pages end elsewhere than in DataFusion's own files |
//! | `checkpoint_every` | refused: a store shows a file only once it is complete |
//! | `crypto.*` | refused, for reading too: encrypted files are neither read nor written |
//!
//! # Metrics
//! `EXPLAIN ANALYZE` shows `bytes_scanned`, `metadata_load_time`, `files_ranges_pruned_statistics`, `row_groups_pruned_statistics`,
//! `row_groups_pruned_bloom_filter`, `row_groups_pruned_dynamic_filter`, `page_index_rows_pruned`, `pushdown_rows_pruned`,
//! `pushdown_rows_matched` and `row_pushdown_eval_time` as it does for DataFusion's own Parquet; and Marquetry's
//! `row_groups_pruned_dictionary`, `requests`, `fetch_time`, `decompress_time`, `decode_time`, `pages_skipped`, `rows_left_out` and
//! `values_made_null`.
//!
//! # Plans as bytes
//! With the feature `proto`, `MarquetryPhysicalCodec` and `MarquetryLogicalCodec` let DataFusion's messages carry
//! scans, sinks, tables and formats of Marquetry, with all of their options, the conditions that were pushed down, and
//! the version of each file. `serialisable` prepares a logical plan for that; `SerialisableTables` does so for all
//! plans of a session. A message of another version, with unknown fields, or with a wrong checksum is refused: all
//! processes must be of one release. Tables with virtual columns or a schema adapter of their own cannot be sent, nor
//! can keys of encrypted files.
//!
//! # Memory
//! The session's memory pool counts what readers and writers hold. A scan reads ahead by a part of what is left in the
//! pool; if not even the bytes that it needs next fit, the query fails (`ResourcesExhausted`).

#![forbid(unsafe_code)]

mod aggregate_bounds;
mod any_dataset;
mod cast_functions;
mod column_kind;
mod column_name;
mod columns;
mod dataset_scan;
mod dataset_table;
mod days_of_timestamps;
mod declared_table;
mod error;
mod extension_types;
mod factory;
mod file_plan;
mod file_request;
mod file_sequence;
mod filter;
mod folder_table;
mod footer_cache;
mod format;
mod grouping_sets;
mod guarded_cases;
mod literal;
mod lossy_casts;
mod lossy_conditions;
mod metrics;
mod missing_fields;
mod nested_layout;
mod null_aware_in;
mod opener;
mod options;
mod ordering;
mod output;
mod output_options;
mod partition_folders;
mod partition_keys;
mod partition_spellings;
mod pieces;
mod predicate;
mod preserve_order;
mod register;
mod required_columns;
mod row_index;
mod row_order;
mod scan;
mod scan_spec;
mod schema;
mod session;
mod simplify;
mod sink;
mod source;
mod statistics;
mod store_dataset;
mod store_file;
mod store_sink;
mod subquery_columns;
mod table_factory;
mod time_units;
mod timestamp_comparisons;
mod union_types;
mod unique_names;
mod unused_order;
mod variant_functions;
mod variant_paths;
mod variant_storage;
mod variant_syntax;
#[cfg(feature = "proto")]
mod wire;
mod writer_properties;

pub use dataset_table::DatasetTable;
pub use factory::MarquetryFormatFactory;
pub use folder_table::FolderTable;
pub use format::MarquetryFormat;
pub use options::FormatOptions;
pub use register::{register, register_builder};
pub use sink::MarquetrySink;
pub use source::MarquetrySource;
pub use store_dataset::{FilesInStore, dataset_in_store};
pub use table_factory::without_constraints;
#[cfg(feature = "proto")]
pub use wire::{
    MarquetryLogicalCodec, MarquetryPhysicalCodec, MarquetryTable, SerialisableTables, serialisable,
};
