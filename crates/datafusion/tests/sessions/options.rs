//! Options act, or are refused with a sentence.

use crate::tables::{batch, error, ints, rows, run, session, texts, write};
use arrow_array::BinaryArray;
use datafusion::common::config::ConfigOptions;
use datafusion::prelude::SessionContext;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

fn footer(path: &Path) -> ArrowReaderMetadata {
    ArrowReaderMetadata::load(File::open(path).unwrap(), ArrowReaderOptions::new()).unwrap()
}

async fn copied(ctx: &SessionContext, path: &Path, options: &str) -> ArrowReaderMetadata {
    let sql = format!("copy t to '{}' stored as parquet options ({options})", path.display());
    run(ctx, &sql).await;
    footer(path)
}

#[tokio::test]
async fn options_of_reading_that_cannot_be_followed_are_refused() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    write(&file, &[batch([("n", ints(0..10))])], 10);
    for (option, value, sentence) in [
        ("force_filter_selections", "true", "force_filter_selections cannot be followed"),
        ("bloom_filter_on_read", "false", "bloom_filter_on_read cannot be switched off"),
        ("max_predicate_cache_size", "1000", "max_predicate_cache_size cannot be followed"),
        ("max_in_list_size", "5", "max_in_list_size cannot be followed"),
        ("coerce_int96_tz", "UTC", "coerce_int96_tz needs coerce_int96"),
        ("coerce_int96", "weeks", "coerce_int96 'weeks' is none of"),
        ("crypto.factory_id", "vault", "encrypted files are neither read nor written"),
        ("no_such_option", "1", "no_such_option"),
    ] {
        let ctx = session();
        let create = format!(
            "create external table t stored as parquet location '{}' options ('{option}' '{value}')",
            file.display()
        );
        let message = error(&ctx, &create).await;
        assert!(message.contains(sentence), "{option}: {message}");
    }
}

#[tokio::test]
async fn options_of_a_session_are_refused_as_those_of_a_table() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    write(&file, &[batch([("n", ints(0..10))])], 10);
    let ctx = session();
    run(&ctx, "set datafusion.execution.parquet.force_filter_selections = true").await;
    let message =
        error(&ctx, &format!("create external table t stored as parquet location '{}'", file.display()))
            .await;
    assert!(message.contains("force_filter_selections cannot be followed"), "{message}");
}

#[tokio::test]
async fn options_of_writing_that_cannot_be_followed_are_refused() {
    let folder = tempdir().unwrap();
    let ctx = session();
    ctx.register_batch("t", batch([("n", ints(0..10))])).unwrap();
    for (option, value, sentence) in [
        ("maximum_parallel_row_group_writers", "2", "maximum_parallel_row_group_writers cannot be followed"),
        ("maximum_buffered_record_batches_per_stream", "9", "cannot be followed"),
        ("content_defined_chunking.min_chunk_size", "5000", "content_defined_chunking.enabled is true"),
        ("checkpoint_every", "auto", "checkpoint_every is for files that can be seen"),
        ("on_corrupt", "skip_page", "on_corrupt is for reading"),
        ("ignore_sorting_columns", "true", "ignore_sorting_columns is for reading"),
        ("compression", "squeeze", "squeeze"),
        ("compression::n", "squeeze", "squeeze"),
        ("encoding", "morse", "encoding morse is none of"),
        ("statistics_enabled", "some", "statistics_enabled 'some' is none of"),
        ("crypto.factory_id", "vault", "encrypted files are neither read nor written"),
        ("bloom_filter_enabled::nowhere", "true", "nowhere"),
        ("no_such_option", "1", "no_such_option"),
        ("execution.batch_size", "1", "execution.batch_size is not an option of a statement"),
        ("execution.keep_partition_by_columns", "perhaps", "perhaps"),
    ] {
        let path = folder.path().join("out.parquet");
        let message = error(
            &ctx,
            &format!("copy t to '{}' stored as parquet options ('{option}' '{value}')", path.display()),
        )
        .await;
        assert!(message.contains(sentence), "{option}: {message}");
        assert!(!path.exists(), "{option}");
    }
}

#[tokio::test]
async fn options_of_writing_are_followed() {
    let folder = tempdir().unwrap();
    let ctx = session();
    ctx.register_batch(
        "t",
        batch([
            ("n", ints((0..10_000).map(|n| n % 5000))),
            ("w", texts((0..10_000).map(|n| format!("{n}")))),
        ]),
    )
    .unwrap();
    let codec = |footer: &ArrowReaderMetadata, column: usize| {
        footer.metadata().row_group(0).column(column).unwrap().codec().unwrap().to_string().to_lowercase()
    };
    let footer = copied(
        &ctx,
        &folder.path().join("1.parquet"),
        "'compression' 'snappy', 'compression::w' 'zstd(3)', 'max_row_group_size' '3000'",
    )
    .await;
    assert_eq!((codec(&footer, 0), codec(&footer, 1)), ("snappy".to_owned(), "zstd".to_owned()));
    assert_eq!(footer.metadata().num_row_groups(), 4);
    let footer = copied(
        &ctx,
        &folder.path().join("2.parquet"),
        "'bloom_filter_enabled::n' 'true', 'metadata::made' 'in spring', 'statistics_enabled' 'none'",
    )
    .await;
    let has_bloom = |column: usize| {
        footer.metadata().row_group(0).column(column).unwrap().bloom_filter_offset().is_some()
    };
    assert!(has_bloom(0) && !has_bloom(1));
    assert_eq!(footer.metadata().value_of("made").as_deref(), Some("in spring"));
    assert!(footer.metadata().row_group(0).column(0).unwrap().statistics().is_none());
    assert!(
        footer.metadata().created_by().unwrap().contains("marquetry"),
        "{:?}",
        footer.metadata().created_by()
    );
    let footer = copied(&ctx, &folder.path().join("3.parquet"), "'bloom_filter_fpp' '0.01', 'created_by' 'me', 'skip_arrow_metadata' 'true', 'encoding' 'plain', 'dictionary_enabled' 'false'").await;
    assert!(footer.metadata().row_group(0).column(0).unwrap().bloom_filter_offset().is_none());
    assert_eq!(footer.metadata().created_by(), Some("me"));
    assert_eq!(footer.metadata().value_of("ARROW:schema"), None);
    let footer = copied(
        &ctx,
        &folder.path().join("4.parquet"),
        "'bloom_filter_on_write' 'true', 'bloom_filter_ndv' '100', 'bloom_filter_enabled::w' 'false'",
    )
    .await;
    let has_bloom = |column: usize| {
        footer.metadata().row_group(0).column(column).unwrap().bloom_filter_offset().is_some()
    };
    assert!(has_bloom(0) && !has_bloom(1));
    let path = folder.path().display();
    assert_eq!(
        rows(&ctx, &format!("select count(*), sum(n) from '{path}/4.parquet' where w <> '1'")).await,
        ["9999 | 24994999"]
    );
}

/// Every name that DataFusion has for Parquet is in the table of the crate's documentation.
#[test]
fn every_option_is_documented() {
    let docs = include_str!("../../src/lib.rs");
    for entry in ConfigOptions::new().entries() {
        if let Some(name) = entry.key.strip_prefix("datafusion.execution.parquet.") {
            assert!(docs.contains(&format!("`{name}`")), "{name} is not in the table of options");
        }
    }
}

/// A predicate takes `\x41` for what is shown of a byte; a text of SQL is its own bytes.
#[tokio::test]
async fn text_with_backslashes_is_found_in_columns_of_bytes() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let bytes: [&[u8]; 3] = [br"\x41", b"A", br"C:\new"];
    write(&file, &[batch([("b", Arc::new(BinaryArray::from_iter_values(bytes)))])], 10);
    for pushed in ["true", "false"] {
        let ctx = session();
        let options = format!("'binary_as_string' 'true', 'pushdown_filters' '{pushed}'");
        let location = file.display();
        run(
            &ctx,
            &format!("create external table t stored as parquet location '{location}' options ({options})"),
        )
        .await;
        for (condition, found) in [
            (r"b = '\x41'", r"\x41"),
            ("b = 'A'", "A"),
            (r"b in ('\x41', 'x')", r"\x41"),
            (r"b = 'C:\new'", r"C:\new"),
            (r"b <> '\x41' and b <> 'C:\new'", "A"),
        ] {
            let sql = format!("select b from t where {condition}");
            assert_eq!(rows(&ctx, &sql).await, [found], "{condition}, {pushed}");
        }
    }
}
