//! What is on the screen after some keys, on files of ours and of others, narrow and wide.
//!
//! `MARQUETRY_WRITE=1 cargo test -p marquetry-dive --test screens` writes the screens anew.

mod driven;

use driven::{Driven, corpus, example};
use std::fmt::Write;
use std::path::Path;

/// Compares the screens with those that are stored.
fn check(name: &str, width: u16, height: u16, mut dive: Driven, keys: &[&str]) {
    let mut text = String::new();
    for keys in std::iter::once(&"").chain(keys) {
        dive.press(keys);
        let _ = write!(
            text,
            "==== {}\n{}",
            if keys.is_empty() { "opened" } else { keys },
            dive.text(width, height)
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/screens/{name}_{width}.txt"));
    if std::env::var_os("MARQUETRY_WRITE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == stored, "{name} is another; MARQUETRY_WRITE=1 writes it anew:\n{text}");
}

const WALK: &[&str] = &["⏎", "⎋j⏎", "⏎", "s", "⏎", "⏎", "⏎", "G", "v", "x", "ojjj⏎", "?", "/a⏎"];

#[test]
fn wines() {
    for width in [80, 300] {
        check("wines", width, 24, example("wines.parquet"), WALK);
    }
    check(
        "wines_footer",
        120,
        30,
        example("wines.parquet"),
        &["jjjjj⏎", "⏎", "j⏎", "j⏎", "⎋⎋jj⏎", "⏎", "⏎", "jjj⏎", "j⏎"],
    );
    check(
        "wines_filter",
        80,
        24,
        example("wines.parquet"),
        &["jjj⏎fyear = 2020⏎", "⎋fyear = ⏎", "o⏎fgrap⏎", ":@4⏎", ":r 20⏎"],
    );
}

#[test]
fn files_of_others() {
    let Some(corpus) = corpus() else { return };
    let files = [
        ("nested", "parquet-testing/data/nested_lists.snappy.parquet", WALK),
        (
            "encrypted_without_key",
            "parquet-testing/data/encrypt_columns_plaintext_footer.parquet.encrypted",
            &["j⏎", "⏎", "⏎", "⏎", "ojjj⏎"] as &[&str],
        ),
        (
            "bad_checksum",
            "parquet-testing/data/datapage_v1-corrupt-checksum.parquet",
            &["j⏎⏎⏎⏎", "⏎", "jjjj", "v", "ojjj⏎"],
        ),
        ("bad_levels", "parquet-testing/bad_data/ARROW-RS-GH-6229-LEVELS.parquet", &["j⏎⏎⏎⏎", "⏎", "v"]),
        ("variant", "parquet-testing/shredded_variant/case-001.parquet", &["⏎", "⎋jjj⏎"]),
        (
            "index_and_bloom_filter",
            "parquet-testing/data/data_index_bloom_encoding_stats.parquet",
            &["j⏎⏎⏎G", "k⏎", "c", "⎋t", "⏎", "⏎", "⎋⎋⎋⎋j⏎", "j", "fHello⏎", "⎋fnever⏎"],
        ),
        ("delta_numbers", "parquet-testing/data/delta_binary_packed.parquet", &["j⏎⏎jj⏎⏎⏎", "G"]),
        ("delta_strings", "parquet-testing/data/delta_byte_array.parquet", &["j⏎⏎⏎⏎⏎", "G"]),
        ("delta_lengths", "parquet-testing/data/delta_length_byte_array.parquet", &["j⏎⏎⏎⏎⏎", "G"]),
        ("alp", "corpus/apache__parquet-testing/refs/0340d48d29/data/alp_arade.parquet", &["j⏎⏎⏎⏎⏎", "G"]),
        (
            "encrypted_footer",
            "parquet-testing/data/encrypt_columns_and_footer_bloom_filter.parquet.encrypted",
            &[],
        ),
    ];
    for (name, path, keys) in files {
        let path = corpus.join(path);
        if keys.is_empty() {
            assert!(Driven::open(&path).is_none(), "{name}: without a key there is nothing to show");
            continue;
        }
        for width in [80, 300] {
            check(name, width, 24, Driven::open(&path).unwrap(), keys);
        }
    }
}
