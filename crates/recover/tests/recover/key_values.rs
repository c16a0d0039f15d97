//! Key-value metadata of a damaged footer: what readers would refuse the new file for is left out, and told.

use crate::chunk::file::footer;
use crate::sample::{PLAIN, contents, file, footer_start, rewritten, saved};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_core::io::read_metadata;
use marquetry_format::{FileMetaData, FooterTail, KeyValue, ThriftString, parse_metadata};
use marquetry_recover::{Confidence, RecoverOptions};

/// The file with another footer.
pub(crate) fn with_footer(good: &Bytes, change: impl FnOnce(&mut FileMetaData)) -> Bytes {
    let start = footer_start(good);
    let mut metadata = parse_metadata(&good[start..good.len() - 8], &Limits::default()).unwrap();
    change(&mut metadata);
    let footer = footer(&metadata);
    let tail = FooterTail::Plain { metadata_len: footer.len() as u32 };
    [&good[..start], &footer, &tail.to_bytes()].concat().into()
}

fn with_pairs(pairs: Vec<KeyValue>) -> Bytes {
    with_footer(&file(PLAIN, &[40, 30]), |metadata| metadata.key_value_metadata = Some(pairs))
}

/// The keys of the new file, and what the report states about the others.
fn kept(broken: &Bytes) -> (Vec<String>, Vec<String>) {
    let recovery = saved(broken, &RecoverOptions::default()).unwrap();
    assert_eq!(rewritten(&recovery), contents(broken).unwrap());
    let told = recovery.report().decisions.iter().filter(|decision| decision.what.contains("key-value"));
    let told = told.inspect(|decision| assert_eq!(decision.confidence, Confidence::Medium));
    let told = told.map(|decision| format!("{}: {}", decision.what, decision.why)).collect();
    let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
    let metadata = read_metadata(&new, &Limits::default()).unwrap().metadata;
    (metadata.key_value_metadata().iter().map(|pair| pair.key.to_string()).collect(), told)
}

fn arrow_schema(text: impl Into<String>) -> Bytes {
    with_pairs(vec![KeyValue::new("ARROW:schema", Some(text.into()))])
}

#[test]
fn a_damaged_arrow_schema_is_left_out() {
    assert_eq!(kept(&arrow_schema(ARROW_SCHEMA)), (vec!["ARROW:schema".to_owned()], Vec::new()));
    // No character of base64; cut off; a length, a type and an offset that lead elsewhere.
    let changed =
        |at: usize, to: &str| format!("{}{to}{}", &ARROW_SCHEMA[..at], &ARROW_SCHEMA[at + to.len()..]);
    let damaged = [
        changed(200, "?"),
        ARROW_SCHEMA[..ARROW_SCHEMA.len() / 2 / 4 * 4].to_owned(),
        changed(6, "/"),
        changed(44, "/"),
        changed(100, "////"),
        String::new(),
    ];
    for text in damaged {
        let (keys, told) = kept(&arrow_schema(&text));
        let [told] = &told[..] else { panic!("{text}: {told:?}") };
        assert!(
            keys.is_empty() && told.contains("ARROW:schema are left out: they are not a schema"),
            "{text}: {told}"
        );
    }
}

#[test]
fn an_arrow_schema_of_other_fields_is_left_out() {
    let (keys, told) = kept(&with_footer(&arrow_schema(ARROW_SCHEMA), |metadata| {
        // The last column of each row group and its element.
        metadata.schema.pop();
        metadata.schema[0].num_children = Some(4);
        metadata.row_groups.iter_mut().for_each(|group| drop(group.columns.pop()));
    }));
    assert!(keys.is_empty() && told[0].contains("not a field for each"), "{told:?}");
}

/// Writers make units coarser, or make milliseconds of seconds.
#[test]
fn an_arrow_schema_of_coarser_units_is_left_out() {
    let told = |text: &str, unit: &str| {
        let schema =
            format!("message m {{ required int64 id; required int64 at (TIMESTAMP({unit}, false)); }}");
        let good = crate::sample::file_of(&schema, PLAIN, &[40]);
        let pairs = vec![KeyValue::new("ARROW:schema", Some(text.to_owned()))];
        let broken = with_footer(&good, |metadata| metadata.key_value_metadata = Some(pairs));
        let confidence =
            saved(&broken, &RecoverOptions::default()).unwrap().report().row_groups[0].confidence;
        let (keys, told) = kept(&broken);
        let is_left_out = !keys.contains(&"ARROW:schema".to_owned());
        assert_eq!((is_left_out, told.len()), (confidence > Confidence::Exact, usize::from(is_left_out)));
        confidence
    };
    for (text, unit, confidence) in [
        (MICROSECONDS, "MILLIS", Confidence::Exact),
        (MICROSECONDS, "MICROS", Confidence::Exact),
        (MICROSECONDS, "NANOS", Confidence::Medium),
        (SECONDS, "MILLIS", Confidence::Exact),
        (SECONDS, "MICROS", Confidence::Medium),
    ] {
        assert_eq!(told(text, unit), confidence, "{unit}");
    }
}

/// Differences between the integers of the Arrow schema and the file's, and unknown zones, are reported.
#[test]
fn integers_and_zones_of_an_arrow_schema_are_doubted() {
    let told = |integer: &str, text: &str| {
        let schema = format!(
            "message m {{ required int32 id{integer}; required int64 at (TIMESTAMP(MICROS, true)); }}"
        );
        let good = crate::sample::file_of(&schema, PLAIN, &[40]);
        let pairs = vec![KeyValue::new("ARROW:schema", Some(text.to_owned()))];
        let broken = with_footer(&good, |metadata| metadata.key_value_metadata = Some(pairs));
        let (keys, _) = kept(&broken);
        assert!(keys.contains(&"ARROW:schema".to_owned()), "{keys:?}");
        let report = saved(&broken, &RecoverOptions::default()).unwrap().report().clone();
        let doubts = report.decisions.iter().filter(|decision| decision.confidence == Confidence::Medium);
        let doubts: Vec<_> = doubts.map(|decision| format!("{}: {}", decision.what, decision.why)).collect();
        assert_eq!(report.row_groups[0].confidence > Confidence::Exact, !doubts.is_empty(), "{report}");
        doubts.join("; ")
    };
    assert_eq!(told("", BERLIN), "");
    assert_eq!(told(" (INTEGER(32, true))", BERLIN), "");
    let narrow = told(" (INTEGER(16, true))", BERLIN);
    assert!(
        narrow.contains("id has integers of 16 bits, signed: by the schema of Arrow they are of 32 bits"),
        "{narrow}"
    );
    // A letter of the zone is another one.
    let wrong = BERLIN.replace("RXVyb3BlL0JlcmxpbgAAAB", "RXVyb3BlL0Jlcm1pbgAAAB");
    let zone = told("", &wrong);
    assert!(zone.starts_with("the time zone Europe/Bermin is kept: no such zone is known"), "{zone}");
}

/// No flipped bit prevents a recovery, and none leaves a text that is not base64.
#[test]
fn any_bit_of_an_arrow_schema() {
    let mut left_out = 0;
    for at in 0..ARROW_SCHEMA.len() {
        let mut text = ARROW_SCHEMA.as_bytes().to_vec();
        text[at] ^= 1 << (at % 7);
        let (keys, told) = kept(&arrow_schema(String::from_utf8(text.clone()).unwrap()));
        assert_eq!(keys.len() + told.len(), 1);
        let is_text = text[at].is_ascii_alphanumeric() || b"+/=".contains(&text[at]);
        assert!(is_text || keys.is_empty(), "byte {at}");
        left_out += told.len();
    }
    assert!(left_out > ARROW_SCHEMA.len() / 2, "{left_out}");
}

#[test]
fn what_is_no_text_and_no_json_is_left_out() {
    let pair = |key: &[u8], value: &[u8]| KeyValue {
        key: ThriftString::from_bytes(key),
        value: Some(ThriftString::from_bytes(value)),
    };
    let (keys, told) = kept(&with_pairs(vec![
        pair(b"kept", "text in UTF-8 \u{e4}".as_bytes()),
        pair(b"\xffey", b"value"),
        pair(b"binary", b"\xf1\x02"),
        pair(b"pandas", br#"{"columns": [], "index_columns": []}"#),
        pair(b"geo", br#"{"columns": [, "version": "1.0.0"}"#),
        KeyValue::new("empty", None),
    ]));
    assert_eq!(keys, ["kept", "pandas", "empty"]);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].contains("binary are left out: they are not text in UTF-8"), "{told:?}");
    assert!(told[2].contains("geo are left out: they are not JSON"), "{told:?}");
}

/// The fields of the sample, as pyarrow stores them.
const ARROW_SCHEMA: &str = "\
/////1ABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAUAAADoAAAAqAAAAGQAAAA4AAAABAAAADz///8AAAADEAAAABwAAAAEAAAA\
AAAAAAUAAABwcmljZQAGAAgABgAGAAAAAAACAGz///8AAAAGEAAAABgAAAAEAAAAAAAAAAQAAABmbGFnAAAAAJj////Q////AAABAhAAAAAYAAAABAAAAAAAAAAGAAAA\
YW1vdW50AACI////AAAAASAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQQQAAAAHAAAAAQAAAAAAAAABAAAAG5hbWUAAAAABAAEAAQAAAAQABQACAAAAAcADAAAABAA\
EAAAAAAAAAIQAAAAHAAAAAQAAAAAAAAAAgAAAGlkAAAIAAwACAAHAAgAAAAAAAABQAAAAAAAAAA=";
/// A field `id`, and `at` of timestamps of this unit.
const MICROSECONDS: &str = "\
/////8AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAABYAAAAFAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABChAA\
AAAcAAAABAAAAAAAAAACAAAAYXQAAAAABgAIAAYABgAAAAAAAgAQABQACAAAAAcADAAAABAAEAAAAAAAAAIQAAAAHAAAAAQAAAAAAAAAAgAAAGlkAAAIAAwA\
CAAHAAgAAAAAAAABQAAAAAAAAAA=";
/// The same in seconds.
const SECONDS: &str = "\
/////7gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAABQAAAAFAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABChAA\
AAAYAAAABAAAAAAAAAACAAAAYXQAAAQABAAEAAAAEAAUAAgAAAAHAAwAAAAQABAAAAAAAAACEAAAABwAAAAEAAAAAAAAAAIAAABpZAAACAAMAAgABwAIAAAA\
AAAAAUAAAAAAAAAA";
/// A field `id` of 32 bits, and `at` of microseconds in Europe/Berlin.
const BERLIN: &str = "\
/////8gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAABgAAAABAAAALj///8AAAAKEAAAABwAAAAEAAAAAAAAAAIAAABhdAAA\
CAAMAAYACAAIAAAAAAACAAQAAAANAAAARXVyb3BlL0JlcmxpbgAAABAAFAAIAAAABwAMAAAAEAAQAAAAAAAAAhAAAAAcAAAABAAAAAAAAAACAAAAaWQAAAgADAAIAAcA\
CAAAAAAAAAEgAAAAAAAAAA==";
