//! Laws over random values.

use marquetry_variant::{Decimal, Path, PathFinder, Step, Value, Variant, Writer, json};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An owned value.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(Leaf),
    Object(BTreeMap<String, Tree>),
    Array(Vec<Tree>),
}

/// Like [`Value`], without objects and arrays.
#[derive(Debug, Clone)]
enum Leaf {
    Null,
    Boolean(bool),
    Int8(i8),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Float(f32),
    Decimal4(i32, u8),
    Decimal8(i64, u8),
    Decimal16(i128, u8),
    Date(i32),
    Time(i64),
    Ticks(u8, i64),
    Binary(Vec<u8>),
    String(String),
    Uuid([u8; 16]),
}

impl Leaf {
    fn value(&self) -> Value<'_> {
        match self {
            Leaf::Null => Value::Null,
            Leaf::Boolean(value) => Value::Boolean(*value),
            Leaf::Int8(number) => Value::Int8(*number),
            Leaf::Int16(number) => Value::Int16(*number),
            Leaf::Int32(number) => Value::Int32(*number),
            Leaf::Int64(number) => Value::Int64(*number),
            Leaf::Double(number) => Value::Double(*number),
            Leaf::Float(number) => Value::Float(*number),
            Leaf::Decimal4(unscaled, scale) => {
                Value::Decimal4(Decimal { unscaled: (*unscaled).into(), scale: *scale })
            }
            Leaf::Decimal8(unscaled, scale) => {
                Value::Decimal8(Decimal { unscaled: (*unscaled).into(), scale: *scale })
            }
            Leaf::Decimal16(unscaled, scale) => {
                Value::Decimal16(Decimal { unscaled: *unscaled, scale: *scale })
            }
            Leaf::Date(days) => Value::Date(*days),
            Leaf::Time(micros) => Value::Time(*micros),
            Leaf::Ticks(0, ticks) => Value::TimestampMicros(*ticks),
            Leaf::Ticks(1, ticks) => Value::LocalTimestampMicros(*ticks),
            Leaf::Ticks(2, ticks) => Value::TimestampNanos(*ticks),
            Leaf::Ticks(_, ticks) => Value::LocalTimestampNanos(*ticks),
            Leaf::Binary(bytes) => Value::Binary(bytes),
            Leaf::String(text) => Value::String(text),
            Leaf::Uuid(bytes) => Value::Uuid(bytes),
        }
    }
}

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Leaf::Null),
        any::<bool>().prop_map(Leaf::Boolean),
        any::<i8>().prop_map(Leaf::Int8),
        any::<i16>().prop_map(Leaf::Int16),
        any::<i32>().prop_map(Leaf::Int32),
        any::<i64>().prop_map(Leaf::Int64),
        any::<f64>().prop_map(Leaf::Double),
        any::<f32>().prop_map(Leaf::Float),
        (-999_999_999..=999_999_999, 0u8..=38).prop_map(|(unscaled, scale)| Leaf::Decimal4(unscaled, scale)),
        (-(10i64.pow(18) - 1)..10i64.pow(18), 0u8..=38)
            .prop_map(|(unscaled, scale)| Leaf::Decimal8(unscaled, scale)),
        (-(10i128.pow(38) - 1)..10i128.pow(38), 0u8..=38)
            .prop_map(|(unscaled, scale)| Leaf::Decimal16(unscaled, scale)),
        any::<i32>().prop_map(Leaf::Date),
        (0i64..86_400_000_000).prop_map(Leaf::Time),
        (0u8..4, any::<i64>()).prop_map(|(kind, ticks)| Leaf::Ticks(kind, ticks)),
        prop::collection::vec(any::<u8>(), 0..80).prop_map(Leaf::Binary),
        ".{0,80}".prop_map(Leaf::String),
        any::<[u8; 16]>().prop_map(Leaf::Uuid),
    ]
    .prop_map(Tree::Leaf)
}

fn tree(leaf: impl Strategy<Value = Tree> + 'static) -> impl Strategy<Value = Tree> {
    leaf.prop_recursive(5, 200, 20, |inner| {
        prop_oneof![
            prop::collection::btree_map(".{0,8}", inner.clone(), 0..20).prop_map(Tree::Object),
            prop::collection::vec(inner, 0..20).prop_map(Tree::Array),
        ]
    })
}

fn write(tree: &Tree, writer: &mut Writer) {
    match tree {
        Tree::Leaf(leaf) => writer.write(&leaf.value()).unwrap(),
        Tree::Object(fields) => {
            writer.begin_object().unwrap();
            // Fields are written in an order that is not that of their names.
            for (name, value) in fields.iter().rev() {
                writer.field(name).unwrap();
                write(value, writer);
            }
            writer.end().unwrap();
        }
        Tree::Array(elements) => {
            writer.begin_array().unwrap();
            elements.iter().for_each(|element| write(element, writer));
            writer.end().unwrap();
        }
    }
}

/// Checks a value against the tree that it was written from, and looks up each field and element by its path.
fn check(whole: Variant<'_>, here: Variant<'_>, tree: &Tree, steps: &mut Vec<Step>) {
    let path = Path::new(steps.clone());
    let by_path = whole.get_path(&path).unwrap().unwrap();
    assert_eq!(by_path.bytes(), here.bytes());
    let mut finder = PathFinder::new(&path).unwrap();
    let found = finder.find(whole.metadata().as_bytes(), whole.bytes()).unwrap().unwrap();
    assert_eq!(found.bytes(), here.bytes());
    match (tree, here.value().unwrap()) {
        (Tree::Leaf(leaf), found) => match (leaf.value(), found) {
            (Value::Double(a), Value::Double(b)) => assert_eq!(a.to_bits(), b.to_bits()),
            (Value::Float(a), Value::Float(b)) => assert_eq!(a.to_bits(), b.to_bits()),
            (a, b) => assert_eq!(a, b),
        },
        (Tree::Object(fields), Value::Object(object)) => {
            assert_eq!(object.len(), fields.len());
            for ((name, field), found) in fields.iter().zip(object.iter()) {
                let (found_name, found) = found.unwrap();
                assert_eq!(found_name, name);
                steps.push(Step::Field(name.clone()));
                check(whole, found, field, steps);
                steps.pop();
            }
        }
        (Tree::Array(elements), Value::Array(array)) => {
            assert_eq!(array.len(), elements.len());
            for (i, (element, found)) in elements.iter().zip(array.iter()).enumerate() {
                steps.push(Step::Element(i));
                check(whole, found.unwrap(), element, steps);
                steps.pop();
            }
        }
        (tree, found) => panic!("{tree:?} became a {}", found.type_name()),
    }
}

/// JSON whose numbers have no exponent, so that the same text comes back.
fn json_text() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "(-?[1-9][0-9]{0,10}|0)\\.[0-9]{1,20}".prop_map(|text| text),
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number,
        ".{0,70}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(5, 200, 10, |inner| {
        prop_oneof![
            prop::collection::btree_map(".{0,8}", inner.clone(), 0..10).prop_map(|members| {
                let member = |(name, value): (String, String)| {
                    format!("{}:{value}", serde_json::to_string(&name).unwrap())
                };
                format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
            }),
            prop::collection::vec(inner, 0..10).prop_map(|elements| format!("[{}]", elements.join(","))),
        ]
    })
}

/// Checks that this reader and `serde_json` agree on whether the text is JSON.
fn is_json_to_both(text: &str) {
    let found = json::parse(text);
    let of_value = serde_json::from_str::<serde_json::Value>(text).map_err(|error| error.to_string());
    let is_text_wrong =
        of_value.as_ref().is_err_and(|error| error.contains("surrogate") || error.contains("hex escape"));
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok() && !is_text_wrong;
    match &found {
        Ok(_) => assert!(is_json, "{text}: {of_value:?}"),
        Err(error) if error.message().starts_with("not JSON") => assert!(!is_json, "{text}: {error}"),
        // A duplicate name, or a number that no type can hold. The text after it may not be JSON.
        Err(_) => {}
    }
    let Ok((metadata, value)) = found else { return };
    let shown = json::to_string(Variant::new(&metadata, &value).unwrap()).unwrap();
    // Numbers may be formatted with other digits; texts must stay the same.
    if let Ok(texts) = serde_json::from_str::<Vec<String>>(text) {
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), texts);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(tree in tree(leaf())) {
        let mut writer = Writer::new();
        write(&tree, &mut writer);
        let (metadata, value) = writer.finish().unwrap();
        let variant = Variant::new(&metadata, &value).unwrap();
        variant.validate().unwrap();
        check(variant, variant, &tree, &mut Vec::new());
        prop_assert!(variant.is_same(&variant).unwrap());
    }

    #[test]
    fn json_comes_back(text in json_text()) {
        let (metadata, value) = json::parse(&text).unwrap();
        let variant = Variant::new(&metadata, &value).unwrap();
        variant.validate().unwrap();
        prop_assert_eq!(json::to_string(variant).unwrap(), text);
    }

    #[test]
    fn what_json_shows_is_json(tree in tree(leaf())) {
        let mut writer = Writer::new();
        write(&tree, &mut writer);
        let (metadata, value) = writer.finish().unwrap();
        let text = json::to_string(Variant::new(&metadata, &value).unwrap()).unwrap();
        serde_json::from_str::<&serde_json::value::RawValue>(&text).unwrap();
        // Parsing may change the digits of a double once, such as 2e15 and 2000000000000000.0. From then on the text is stable.
        let read = |text: &str| {
            let (metadata, value) = json::parse(text).unwrap();
            json::to_string(Variant::new(&metadata, &value).unwrap()).unwrap()
        };
        let once = read(&text);
        prop_assert_eq!(read(&once), once);
    }

    #[test]
    fn any_bytes(metadata in prop::collection::vec(any::<u8>(), 0..40), value in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(variant) = Variant::new(&metadata, &value) {
            let _ = variant.validate();
            let _ = json::to_string(variant);
        }
    }

    #[test]
    fn any_text(text in ".{0,60}") {
        is_json_to_both(&text);
    }

    #[test]
    fn text_of_the_signs_of_json(text in "([\\[\\]{}:,\"]|\"a\"|\\\\[\"nu/]|00e9|d834|[ \n0-9.eE+-]|null|true|fals|e|\u{1}|ä){0,16}") {
        is_json_to_both(&text);
    }

    #[test]
    fn json_with_a_sign_too_many_or_few(text in json_text(), at in any::<prop::sample::Index>(), sign in "[\\[\\]{}:,\"\\\\0-9.e-]?") {
        let at = text.char_indices().nth(at.index(text.chars().count())).unwrap().0;
        let behind = text[at..].chars().next().unwrap().len_utf8();
        is_json_to_both(&format!("{}{sign}{}", &text[..at], &text[at + behind..]));
        is_json_to_both(&format!("{}{sign}{}", &text[..at], &text[at..]));
    }
}

/// Whether sorting the fields of a copy gives the same value and a valid one.
fn is_sorted_copy(variant: Variant<'_>) -> bool {
    let mut sorted = vec![7];
    variant.write_sorted(&mut sorted);
    let copy = Variant::with_metadata(variant.metadata(), &sorted[1..]).unwrap();
    copy.validate_value().unwrap();
    copy.is_sorted() && copy.is_same(&variant).unwrap() && copy.bytes().len() == variant.bytes().len()
}

/// QUIRK: DuckDB 2.0 writes objects whose fields are not sorted.
#[test]
fn objects_out_of_order_are_read() {
    let (metadata, value) = json::parse(r#"{"a":1,"b":"x","c":{"d":2},"e":null}"#).unwrap();
    // Each number takes one byte: type, number of fields, ids, one more offset than fields; then the values.
    let (n, ids) = (usize::from(value[1]), &value[2..6]);
    assert_eq!((value[0], n), (2, 4));
    let (offsets, values) = (&value[6..6 + n], &value[7 + n..]);
    let sorted = Variant::new(&metadata, &value).unwrap();
    for order in [[1, 0, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [0, 2, 1, 3]] {
        let moved =
            [&value[..2], &order.map(|i| ids[i]), &order.map(|i| offsets[i]), &value[6 + n..7 + n], values]
                .concat();
        let variant = Variant::new(&metadata, &moved).unwrap();
        assert!(variant.validate().unwrap_err().message().contains("not behind"));
        assert_eq!(json::to_string(variant).unwrap(), json::to_string(sorted).unwrap());
        assert!(variant.is_same(&sorted).unwrap() && sorted.is_same(&variant).unwrap());
        for path in ["a", "b", "c.d", "c", "e"] {
            let path: Path = path.parse().unwrap();
            let found = PathFinder::new(&path).unwrap().find(&metadata, &moved).unwrap().unwrap();
            assert!(found.is_same(&sorted.get_path(&path).unwrap().unwrap()).unwrap());
            assert!(found.is_same(&variant.get_path(&path).unwrap().unwrap()).unwrap());
        }
        assert!(variant.get("d").unwrap().is_none());
        assert_eq!((variant.is_sorted(), is_sorted_copy(variant)), (false, true));
        let mut writer = Writer::new();
        writer.copy(variant).unwrap();
        let (metadata, copied) = writer.finish().unwrap();
        Variant::new(&metadata, &copied).unwrap().validate().unwrap();
        let Value::Object(object) = variant.value().unwrap() else { panic!() };
        let mut some = Vec::new();
        let at: Vec<usize> = object.entries().map(|entry| entry.unwrap().0).take(3).collect();
        object.write_some(&at, &mut some).unwrap();
        Variant::with_metadata(variant.metadata(), &some).unwrap().validate_value().unwrap();
    }
    // Metadata that declares its names sorted although they are not.
    let unsorted = [0x11, 2, 0, 1, 2, b'b', b'a'];
    let value_of_it = [2, 2, 0, 1, 0, 2, 4, 0x0c, 8, 0x0c, 7];
    let variant = Variant::new(&unsorted, &value_of_it).unwrap();
    assert_eq!(json::to_string(variant).unwrap(), r#"{"a":7,"b":8}"#);
    let twice = [&value[..2], &[ids[0], ids[1], ids[0], ids[3]], &value[6..]].concat();
    let variant = Variant::new(&metadata, &twice).unwrap();
    let error = json::to_string(variant).unwrap_err();
    assert_eq!(error.message(), "variant: two fields of an object are named a");
    // A damaged value stays damaged, and validation finds it.
    let mut copy = Vec::new();
    variant.write_sorted(&mut copy);
    assert!(Variant::new(&metadata, &copy).unwrap().validate().is_err());
}

/// The same for an object of so many fields that names are searched first. Ids and offsets take two bytes.
#[test]
fn wide_objects_out_of_order_are_read() {
    let text = |of: std::ops::Range<usize>| {
        let fields: Vec<String> = of.map(|i| format!(r#""f{i:03}":{}"#, i % 100)).collect();
        format!(r#"{{"all":{{{}}},"only":{{"g":1}}}}"#, fields.join(","))
    };
    let (metadata, whole) = json::parse(&text(0..300)).unwrap();
    let all = Variant::new(&metadata, &whole).unwrap().get("all").unwrap().unwrap();
    let value = all.bytes();
    // The type, the number of fields in four bytes, ids, one more offset than fields, then the values.
    let n = u32::from_le_bytes(value[1..5].try_into().unwrap()) as usize;
    assert_eq!((value[0] >> 2 & 3, value[0] >> 4 & 3, n), (1, 1, 300));
    let (ids, offsets) = (&value[5..5 + 2 * n], &value[5 + 2 * n..5 + 4 * n]);
    let backwards = |numbers: &[u8]| numbers.chunks(2).rev().flatten().copied().collect::<Vec<u8>>();
    let moved = [&value[..5], &backwards(ids), &backwards(offsets), &value[5 + 4 * n..]].concat();
    let variant = Variant::with_metadata(all.metadata(), &moved).unwrap();
    assert!(variant.is_same(&all).unwrap() && variant.validate_value().is_err());
    assert!(!variant.is_sorted() && is_sorted_copy(variant));
    let find = |name: &str| {
        PathFinder::new(&name.parse().unwrap())
            .unwrap()
            .find(&metadata, &moved)
            .unwrap()
            .map(|found| found.bytes().to_vec())
    };
    for i in (0..300).step_by(7) {
        let name = format!("f{i:03}");
        let wanted = all.get(&name).unwrap().unwrap();
        assert!(variant.get(&name).unwrap().unwrap().is_same(&wanted).unwrap());
        assert_eq!(find(&name).unwrap(), wanted.bytes());
    }
    // A name that is in the metadata, and one that is not.
    for name in ["g", "f300"] {
        assert!(variant.get(name).unwrap().is_none() && all.get(name).unwrap().is_none());
        assert_eq!(find(name), None);
        let found =
            PathFinder::new(&name.parse().unwrap()).unwrap().find(&metadata, value).unwrap().is_some();
        assert!(!found, "{name}");
    }
}

/// An array at each level has 200 elements that all share the bytes of the next level: 200^depth values in total.
#[test]
fn values_that_share_bytes_are_refused() {
    let mut value = vec![0];
    for _ in 0..20 {
        let mut outer = vec![0b0001_1111 & !0b0001_0000 | 3 << 2, 200];
        (0..200).for_each(|_| outer.extend_from_slice(&0u32.to_le_bytes()));
        outer.extend_from_slice(&(value.len() as u32).to_le_bytes());
        outer.append(&mut value);
        value = outer;
    }
    let variant = Variant::new(&[1, 0, 0], &value).unwrap();
    let error = variant.validate().unwrap_err();
    assert!(error.message().contains("share"), "{error}");
    assert!(json::to_string(variant).is_err());
}

#[test]
fn a_text_that_is_deep() {
    let text = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(json::parse(&text).is_err());
    let text = "[".repeat(100) + &"]".repeat(100);
    json::parse(&text).unwrap();
}

#[test]
fn json_that_is_none() {
    for text in
        ["", "{", "[1,]", "{\"a\":1 \"b\":2}", "nul", "1 2", "{\"a\":1,\"a\":2}", "\"\\ud800\"", "01", "NaN"]
    {
        assert!(json::parse(text).is_err(), "{text}");
    }
}

#[test]
fn all_elements_of_a_list() {
    let (metadata, value) = json::parse(r#"{"points": [{"x": 1}, {"y": 2}, {"x": 3}, 4]}"#).unwrap();
    let variant = Variant::new(&metadata, &value).unwrap();
    let all = variant.get_all(&"points[*].x".parse().unwrap()).unwrap();
    let values: Vec<Value<'_>> = all.iter().map(|variant| variant.value().unwrap()).collect();
    assert_eq!(values, [Value::Int8(1), Value::Int8(3)]);
    assert!(variant.get_path(&"points[*].z".parse().unwrap()).unwrap().is_none());
    assert!(variant.get_path(&"points.x".parse().unwrap()).unwrap().is_none());
    assert!(variant.get_path(&"points[7]".parse().unwrap()).unwrap().is_none());
}

/// Other writers, or damage, produce such values. Whatever cannot be written again cannot be read.
#[test]
fn numbers_beyond_their_types_are_refused() {
    let value = |bytes: &[u8]| {
        let variant = Variant::new(&[1, 0, 0], bytes).unwrap();
        let found = variant.value().map(|value| value.type_name());
        assert_eq!(found.is_ok(), variant.validate().is_ok());
        found.map_err(|error| error.message().to_owned())
    };
    // Decimals of 4 and 8 bytes without digits after the decimal point, and a time.
    let decimal = |code: u8, number: &[u8]| [&[code << 2, 0], number].concat();
    assert_eq!(value(&decimal(8, &999_999_999_i32.to_le_bytes())).unwrap(), "decimal4");
    for number in [1_000_000_000_i32, -1_000_000_000, i32::MIN] {
        assert!(value(&decimal(8, &number.to_le_bytes())).unwrap_err().contains("more than 9 digits"));
    }
    assert!(value(&decimal(9, &i64::MAX.to_le_bytes())).unwrap_err().contains("more than 18 digits"));
    let time = |micros: i64| [&[17 << 2], &micros.to_le_bytes()[..]].concat();
    assert_eq!(value(&time(86_399_999_999)).unwrap(), "time");
    for micros in [-1, 86_400_000_000, i64::MAX] {
        assert!(value(&time(micros)).unwrap_err().contains("a day has"));
    }
}
