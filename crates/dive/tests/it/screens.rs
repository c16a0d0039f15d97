//! What is on the screen after some keys, on files of ours and of others, narrow and wide.
//!
//! `MARQUETRY_WRITE=1 cargo test -p marquetry-dive --test it screens` writes the screens anew.

use crate::driven::{Driven, corpus, example};
use marquetry_arrow::arrow_reader::ArrowReaderOptions;
use marquetry_crypto::FileDecryptionProperties;
use marquetry_dive::Input;
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

/// With its keys an encrypted file is one as any other; its footer is shown as it stands there, and as it was.
#[test]
fn encrypted_with_keys() {
    let Some(corpus) = corpus() else { return };
    let keys = FileDecryptionProperties::builder(b"0123456789012345".to_vec())
        .with_column_key("double_field", b"1234567890123450".to_vec())
        .with_column_key("float_field", b"1234567890123451".to_vec())
        .build()
        .unwrap();
    let name = "encrypt_columns_and_footer.parquet.encrypted";
    let bytes = std::fs::read(corpus.join("parquet-testing/data").join(name)).unwrap();
    let options = ArrowReaderOptions::new().with_file_decryption_properties(keys);
    let open = || Driven::with_options(name, bytes.clone().into(), options.clone()).unwrap();
    let keys = ["jjjjj⏎", "⏎", "⎋j", "⏎", "jj⏎", "ojj⏎", "⏎", "⏎", "⏎", "ojjj⏎"];
    for width in [80, 300] {
        check("encrypted_with_keys", width, 24, open(), &keys);
    }
}

/// The mouse goes where keys go: the wheel walks, a click chooses, another one enters, one on the path leads back.
#[test]
fn the_mouse_does_what_keys_do() {
    for (width, height) in [(80, 24), (300, 60)] {
        let (mut by_keys, mut by_mouse) = (example("wines.parquet"), example("wines.parquet"));
        let first = by_mouse.text(width, height);
        let line = first.lines().position(|line| line.contains("row groups")).unwrap() as u16;
        by_keys.press("j");
        by_mouse.0.input(Input::Click(5, line));
        assert_eq!(by_mouse.text(width, height), by_keys.text(width, height));
        by_keys.press("⏎");
        by_mouse.0.input(Input::Click(40, line));
        let groups = by_keys.text(width, height);
        assert_eq!(by_mouse.text(width, height), groups);
        by_keys.press("⎋");
        by_mouse.0.input(Input::Click(3, 1));
        assert_eq!(by_mouse.text(width, height), by_keys.text(width, height));
        by_keys.press("jjjk");
        by_mouse.0.input(Input::Wheel(3));
        by_mouse.0.input(Input::Wheel(-1));
        assert_eq!(by_mouse.text(width, height), by_keys.text(width, height));
        assert_ne!(groups, first);
    }
}
