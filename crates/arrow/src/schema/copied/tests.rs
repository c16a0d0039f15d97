use super::CopiedAs::{Alike, OtherDictionary, Same};
use super::*;
use crate::arrow_writer::ArrowWriter;
use DataType::*;
use arrow_schema::TimeUnit::*;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use marquetry_core::write::WriterProperties;
use std::sync::Arc;

/// The types of a file without rows.
fn types(field: ArrowField, is_stored: bool) -> PageTypes {
    let properties = WriterProperties::builder().set_arrow_schema(is_stored).build();
    let schema = Arc::new(ArrowSchema::new(vec![field]));
    let writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).expect("a writer");
    PageTypes::of_file(&writer.close().expect("a file"))
}

fn of(data_type: &DataType) -> PageTypes {
    types(ArrowField::new("c", data_type.clone(), true), true)
}

fn list(data_type: DataType) -> DataType {
    List(Arc::new(ArrowField::new("element", data_type, true)))
}

fn three(data_type: DataType) -> DataType {
    FixedSizeList(Arc::new(ArrowField::new("element", data_type, true)), 3)
}

fn structure(data_type: DataType) -> DataType {
    Struct(vec![ArrowField::new("a", Int32, true), ArrowField::new("b", data_type, true)].into())
}

fn map(value: DataType) -> DataType {
    let entries = vec![ArrowField::new("keys", Utf8, false), ArrowField::new("values", value, true)];
    Map(Arc::new(ArrowField::new("entries", Struct(entries.into()), false)), false)
}

fn words(keys: DataType, values: DataType) -> DataType {
    Dictionary(Box::new(keys), Box::new(values))
}

fn zoned(zone: &str) -> DataType {
    Timestamp(Microsecond, Some(zone.into()))
}

/// The first type is that of the target file, the second that of the copied pages.
#[test]
fn values_stay_the_same() {
    let views = ListView(Arc::new(ArrowField::new("element", Int32, true)));
    let large = LargeList(Arc::new(ArrowField::new("item", LargeUtf8, true)));
    let runs = RunEndEncoded(
        Arc::new(ArrowField::new("run_ends", Int32, false)),
        Arc::new(ArrowField::new("values", Int64, true)),
    );
    for (into, own, expected) in [
        (Int64, Int64, Same),
        (Duration(Second), Duration(Second), Same),
        (Date64, Date64, Same),
        (three(Int32), three(Int32), Same),
        (map(Duration(Second)), map(Duration(Second)), Same),
        (words(Int8, Utf8), words(Int8, Utf8), Same),
        (Utf8, LargeUtf8, Alike),
        (Utf8View, Utf8, Alike),
        (Binary, BinaryView, Alike),
        (list(Int32), views, Alike),
        (list(Utf8), large, Alike),
        (list(Int32), three(Int32), Alike),
        (structure(Utf8), structure(LargeUtf8), Alike),
        (Utf8, words(Int32, Utf8), Alike),
        (runs.clone(), Int64, Alike),
        (Int64, runs, Alike),
        // Names of zones are how instants are shown, as in the table of `evolution`.
        (zoned("Europe/Berlin"), zoned("Asia/Tokyo"), Alike),
        // Stored as milliseconds, Parquet says.
        (Timestamp(Millisecond, None), Timestamp(Second, None), Alike),
        (Time32(Millisecond), Time32(Second), Alike),
        (words(Int32, Utf8), Utf8, OtherDictionary),
        (words(Int8, Utf8), words(Int32, Utf8), OtherDictionary),
        (structure(words(Int8, Utf8)), structure(Utf8), OtherDictionary),
    ] {
        let found = of(&into).check_copied(&of(&own));
        assert_eq!(found.ok(), Some(expected), "{own} into {into}");
    }
}

#[test]
fn values_would_become_others() {
    let changed = |into: &DataType, own: &DataType| {
        let found = of(into).check_copied(&of(own));
        assert!(found.is_err(), "{own} into {into}: {found:?}");
    };
    for (a, b) in [
        (Duration(Second), Duration(Millisecond)),
        (Duration(Nanosecond), Duration(Microsecond)),
        (Duration(Second), Int64),
        (Date64, Int64),
        (Timestamp(Second, None), Int64),
        (three(Int32), FixedSizeList(Arc::new(ArrowField::new("element", Int32, true)), 4)),
        (zoned("UTC"), Timestamp(Microsecond, None)),
    ] {
        for wrap in [|inner| inner, list, structure, map] {
            changed(&wrap(a.clone()), &wrap(b.clone()));
            changed(&wrap(b.clone()), &wrap(a.clone()));
        }
    }
    for (into, own) in [
        (three(Int32), list(Int32)),
        // 1,500 ms are not whole seconds.
        (Timestamp(Second, None), Timestamp(Millisecond, None)),
        (Time32(Second), Time32(Millisecond)),
    ] {
        changed(&into, &own);
    }
}

#[test]
fn a_file_without_a_stored_schema_has_what_parquet_says() {
    let seconds = ArrowField::new("c", Duration(Second), true);
    let (stored, plain) = (types(seconds.clone(), true), types(seconds, false));
    assert!(stored.has_stored() && !plain.has_stored());
    assert_eq!(plain.check_copied(&of(&Int64)).ok(), Some(Same));
    assert!(plain.check_copied(&stored).is_err() && stored.check_copied(&plain).is_err());
    let error = stored.without_stored().check_copied(&stored).expect_err("other values");
    assert_eq!(error.place().column.as_deref(), Some("c"));
    assert!(error.message().contains("Duration(s) here, Int64 in"), "{error}");
    let text = ArrowField::new("c", LargeUtf8, true);
    assert_eq!(types(text.clone(), false).check_copied(&types(text, true)).ok(), Some(Alike));
}

#[test]
fn extension_types_are_types() {
    let field = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        ArrowField::new("c", Int8, true).with_metadata(pairs.collect())
    };
    let of = |pairs: &[(&str, &str)]| types(field(pairs), true);
    let (name, parameters) = (EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY);
    let bools = of(&[(name, "arrow.bool8"), (parameters, "")]);
    assert_eq!(bools.check_copied(&of(&[(name, "arrow.bool8")])).ok(), Some(Same));
    for other in [&[][..], &[(name, "mine")], &[(name, "arrow.bool8"), (parameters, "x")]] {
        assert!(bools.check_copied(&of(other)).is_err(), "{other:?}");
        assert!(of(other).check_copied(&bools).is_err(), "{other:?}");
    }
    // Other metadata gives values no other meaning.
    assert_eq!(of(&[("comment", "a")]).check_copied(&of(&[])).ok(), Some(Same));
}
