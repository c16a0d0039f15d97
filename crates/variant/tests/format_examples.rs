//! The format's own examples: a metadata and a value each, and what they are in JSON. They stand beside the repository, in
//! `../shared/parquet-testing/variant`, or below where `MARQUETRY_CORPUS` says; without them this passes and says so.

use marquetry_variant::{Value, Variant, Writer, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Name, metadata, value.
fn examples() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let shared = std::env::var_os("MARQUETRY_CORPUS").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let folder = shared.unwrap_or(beside).join("parquet-testing/variant");
    let Ok(files) = std::fs::read_dir(&folder) else {
        assert!(std::env::var_os("CI").is_none(), "{} is not there", folder.display());
        eprintln!("{} is not there: nothing was tested", folder.display());
        return Vec::new();
    };
    let mut names: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "metadata"));
    names.sort();
    let read = |path: &PathBuf| std::fs::read(path).unwrap();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    names.iter().map(|path| (name(path), read(path), read(&path.with_extension("value")))).collect()
}

/// The examples as JSON, by VariantEncoding.md and the list beside them. Numbers keep all their digits.
fn expected() -> BTreeMap<&'static str, &'static str> {
    let long = "\"This string is longer than 64 bytes and therefore does not fit in a short_string and it also includes several \
                non ascii characters such as 🐢, 💖, ♥️, 🎣 and 🤦!!\"";
    BTreeMap::from([
        ("array_empty", "[]"),
        (
            "array_nested",
            r#"[{"id":1,"thing":{"names":["Contrarian","Spider"]}},null,{"id":2,"names":["Apple","Ray",null],"type":"if"}]"#,
        ),
        ("array_primitive", "[2,1,5,9]"),
        ("object_empty", "{}"),
        (
            "object_nested",
            concat!(
                r#"{"id":1,"observation":{"location":"In the Volcano","time":"12:34:56","value":{"humidity":456,"#,
                r#""temperature":123}},"species":{"name":"lava monster","population":6789}}"#
            ),
        ),
        (
            "object_primitive",
            concat!(
                r#"{"boolean_false_field":false,"boolean_true_field":true,"double_field":1.23456789,"int_field":1,"#,
                r#""null_field":null,"string_field":"Apache Parquet","timestamp_field":"2025-04-16T12:34:56.78"}"#
            ),
        ),
        ("primitive_binary", r#""AxM33q2+78r+""#),
        ("primitive_boolean_false", "false"),
        ("primitive_boolean_true", "true"),
        ("primitive_date", r#""2025-04-16""#),
        ("primitive_decimal16", "12345678912345678.90"),
        ("primitive_decimal4", "12.34"),
        ("primitive_decimal8", "12345678.90"),
        ("primitive_double", "1234567890.1234"),
        ("primitive_float", "1234568000.0"),
        ("primitive_int16", "1234"),
        ("primitive_int32", "123456"),
        ("primitive_int64", "1234567890123456789"),
        ("primitive_int8", "42"),
        ("primitive_null", "null"),
        ("primitive_string", long),
        ("primitive_time", r#""12:33:54.123456""#),
        ("primitive_timestamp", r#""2025-04-16T16:34:56.78Z""#),
        ("primitive_timestamp_nanos", r#""2024-11-07T12:33:54.123456789Z""#),
        ("primitive_timestampntz", r#""2025-04-16T12:34:56.78""#),
        ("primitive_timestampntz_nanos", r#""2024-11-07T12:33:54.123456789""#),
        ("primitive_uuid", r#""f24f9b64-81fa-49d1-b74e-8c09a6e31c56""#),
        ("short_string", "\"Less than 64 bytes (❤️ with utf8)\""),
    ])
}

#[test]
fn examples_are_read_as_the_format_says() {
    let expected = expected();
    for (name, metadata, value) in examples() {
        let variant = Variant::new(&metadata, &value).unwrap();
        variant.validate().unwrap();
        let found = json::to_string(variant).unwrap();
        match expected.get(&*name) {
            Some(expected) => assert_eq!(found, *expected, "{name}"),
            // A text of several thousand letters.
            None => assert!(
                name == "long_string" && matches!(variant.value().unwrap(), Value::String(_)),
                "{name}"
            ),
        }
    }
}

#[test]
fn examples_are_written_as_they_are() {
    for (name, metadata, value) in examples() {
        let variant = Variant::new(&metadata, &value).unwrap();
        let mut writer = Writer::new();
        writer.copy(variant).unwrap();
        let (new_metadata, new_value) = writer.finish().unwrap();
        let copy = Variant::new(&new_metadata, &new_value).unwrap();
        copy.validate().unwrap();
        assert!(copy.is_same(&variant).unwrap(), "{name}");
        // A value that contains no others has only one form.
        if name.starts_with("primitive") && name != "primitive_string" {
            assert_eq!(new_value, value, "{name}");
        }
    }
}

#[test]
fn damage_is_an_error_or_another_value() {
    for (_, metadata, value) in examples() {
        for at in 0..metadata.len() + value.len().min(2000) {
            for bits in [0x01, 0x04, 0x10, 0x80, 0xff] {
                let (mut metadata, mut value) = (metadata.clone(), value.clone());
                match metadata.get_mut(at) {
                    Some(byte) => *byte ^= bits,
                    None => value[at - metadata.len()] ^= bits,
                }
                look_at_all(&metadata, &value);
            }
        }
        (0..metadata.len()).for_each(|end| look_at_all(&metadata[..end], &value));
        (0..value.len().min(2000)).for_each(|end| look_at_all(&metadata, &value[..end]));
    }
}

/// Checks that a valid value can be formatted as JSON and copied, and that each of its fields is found by its name.
fn look_at_all(metadata: &[u8], value: &[u8]) {
    let Ok(variant) = Variant::new(metadata, value) else { return };
    let is_valid = variant.validate().is_ok();
    let text = json::to_string(variant);
    if !is_valid {
        return;
    }
    text.unwrap();
    let mut writer = Writer::new();
    if writer.copy(variant).is_ok() {
        let (metadata, value) = writer.finish().unwrap();
        assert!(Variant::new(&metadata, &value).unwrap().is_same(&variant).unwrap());
    }
    if let Value::Object(object) = variant.value().unwrap() {
        for field in object.iter() {
            let (name, value) = field.unwrap();
            assert_eq!(object.get(name).unwrap().unwrap().bytes(), value.bytes());
        }
    }
}
