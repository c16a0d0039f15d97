//! Each target on the inputs of `corpus-small`: some for all that a target tells apart, and what fuzzing has found.

use std::path::Path;

/// Its name, and its function.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("alp", crate::alp),
    ("arrow_schema", crate::arrow_schema),
    ("bit_packed", crate::bit_packed),
    ("byte_stream_split", crate::byte_stream_split),
    ("codec", crate::codec),
    ("delta_binary_packed", crate::delta_binary_packed),
    ("delta_byte_array", crate::delta_byte_array),
    ("delta_length_byte_array", crate::delta_length_byte_array),
    ("dictionary", crate::dictionary),
    #[cfg(feature = "differential")]
    ("differential", crate::differential),
    ("encrypted", crate::encrypted),
    ("file", crate::file),
    ("footer", crate::footer),
    ("geometry", crate::geometry),
    ("geometry_text", crate::geometry_text),
    ("page", crate::page),
    ("plain", crate::plain),
    ("predicate_text", crate::predicate_text),
    ("recover", crate::recover),
    ("rle", crate::rle),
    ("round_trip", crate::round_trip),
    ("salvage", crate::salvage),
    ("schema_text", crate::schema_text),
    ("shredded_variant", crate::shredded_variant),
    ("thrift", crate::thrift),
    ("variant_json", crate::variant_json),
    ("variant_value", crate::variant_value),
    ("verify", crate::verify),
];

/// A single test: the allocator counts for all threads.
#[test]
fn every_target_on_its_small_corpus() {
    // Of the fuzz targets themselves, of the benchmark or of a library crate.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fuzz = here.ancestors().map(|folder| folder.join("fuzz")).find(|fuzz| fuzz.is_dir()).expect("fuzz/");
    let targets = names(&fuzz.join("fuzz_targets"));
    let targets = targets.iter().map(|name| name.trim_end_matches(".rs"));
    let built = targets.filter(|name| cfg!(feature = "differential") || *name != "differential");
    assert!(built.eq(TARGETS.iter().map(|(name, _)| *name)), "a target is not replayed");
    let (mut inputs, mut bytes) = (0, 0);
    for &(target, run) in TARGETS {
        let folder = fuzz.join("corpus-small").join(target);
        let names = names(&folder);
        assert!(!names.is_empty(), "{target} has no inputs");
        for name in &names {
            let input = std::fs::read(folder.join(name)).unwrap();
            // Printed, because a panic's message does not name the input.
            println!("{target}/{name}");
            run(&input);
            bytes += input.len();
        }
        inputs += names.len();
    }
    println!("{inputs} inputs, {bytes} bytes");
    assert!(bytes < 300 << 10, "{bytes} bytes: small corpora are small");
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
