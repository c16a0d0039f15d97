use super::*;
use crate::shred::tests::round_trip::any_type;
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Instant;

fn any_schema() -> impl Strategy<Value = Schema> {
    let field = ("[a-cä]{0,3}", any_type(), any::<bool>(), vec(("[a-z]{1,3}", "[a-z]{0,9}"), 0..3));
    let field = field.prop_map(|(name, data_type, nullable, pairs)| {
        Field::new(name, data_type, nullable).with_metadata(pairs.into_iter().collect())
    });
    (vec(field, 0..20), vec(("[a-z]{1,3}", "[a-z]{0,9}"), 0..3))
        .prop_map(|(fields, pairs)| Schema::new_with_metadata(fields, pairs.into_iter().collect()))
}

/// Finds fields in the text piece by piece, and in the text decoded as a whole.
fn found(base64: &str, names: &[(usize, &str)]) -> [Option<Found>; 2] {
    [false, true]
        .map(|decoded| find_in(&Message::new(StoredBytes::new(base64, decoded)), names.iter().copied()))
}

proptest! {
    #[test]
    fn what_was_stored_is_found(schema in any_schema(), shift in 0..3usize) {
        let text = encode(&schema);
        let decoded = decode(&text);
        prop_assert_eq!(decoded.as_ref(), Some(&schema));
        let names = schema.fields().iter().enumerate().map(|(i, field)| (i + shift, field.name().as_str()));
        let names: Vec<_> = names.chain([(0, "no such field")]).collect();
        let expected = names.iter().map(|(place, name)| {
            let at_place = schema.fields().get(*place).filter(|field| field.name() == name);
            at_place.or_else(|| schema.fields().iter().find(|field| field.name() == name)).cloned()
        });
        let expected = Found { fields: expected.collect(), metadata: schema.metadata().clone() };
        for found in found(&text, &names) {
            prop_assert_eq!(found.as_ref(), Some(&expected));
        }
    }

    #[test]
    fn damage_is_no_hint_and_no_more(
        schema in any_schema(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = STANDARD.decode(encode(&schema)).unwrap();
        for (at, bits) in changes {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let text = STANDARD.encode(bytes);
        let names = schema.fields().iter().enumerate().map(|(i, field)| (i, field.name().as_str()));
        let [of_text, of_bytes] = found(&text, &names.collect::<Vec<_>>());
        prop_assert_eq!(&of_text, &of_bytes);
        // What a damaged text holds as a whole, it holds in parts.
        if let (Some(whole), Some(Found { fields, metadata })) = (decode(&text), of_bytes) {
            prop_assert_eq!(whole.metadata(), &metadata);
            prop_assert!(fields.into_iter().flatten().all(|field| whole.fields()[..].contains(&field)));
        }
    }
}

/// pyarrow's metadata is bytes. One pair that is not text does not take the types of all columns away.
#[test]
fn binary_metadata_is_left_out() {
    let pairs =
        |of: &[(&str, &str)]| of.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let plain = Field::new("a", DataType::LargeUtf8, true);
    let noted = plain.clone().with_metadata(pairs(&[("k", "binary"), ("t", "text")]));
    let extension = [(EXTENSION_TYPE_NAME_KEY, "name"), (EXTENSION_TYPE_METADATA_KEY, "binary")];
    let extended = plain.clone().with_metadata(pairs(&extension));
    let schema = Schema::new_with_metadata(vec![noted, extended], pairs(&[("binary", "x"), ("s", "text")]));
    let mut bytes = STANDARD.decode(encode(&schema)).unwrap();
    for at in 0..bytes.len() - 6 {
        if &bytes[at..at + 6] == b"binary" {
            bytes[at] = 0xff;
        }
    }
    let decoded = decode(&STANDARD.encode(bytes)).unwrap();
    let expected = vec![plain.clone().with_metadata(pairs(&[("t", "text")])), plain];
    assert_eq!(decoded, Schema::new_with_metadata(expected, pairs(&[("s", "text")])));
}

/// A struct of two fields that are the same struct of two fields that are ...
fn shared(depth: u32) -> Vec<u8> {
    const LEVEL: u32 = 56;
    let mut message = Vec::new();
    let mut word = |word: u32| message.extend(word.to_le_bytes());
    let mut short = |low: u16, high: u16| word(u32::from(low) | u32::from(high) << 16);
    // The root, behind its vtable.
    word_of(&mut short, 20);
    short(10, 12); // vtable: its length, the table's
    short(0, 8); //   version, header_type
    short(4, 0); //   header
    short(0, 0);
    word_of(&mut short, 16); // table: back to the vtable
    word_of(&mut short, 28); // header: the schema, at 52
    short(1, 0); //   header_type: Schema
    short(0, 0);
    short(0, 0);
    // The schema.
    short(8, 8); // 40, vtable: its length, the table's
    short(0, 4); //   endianness, fields
    short(0, 0);
    word_of(&mut short, 12); // 52, table: back to the vtable
    word_of(&mut short, 4); // fields: the vector behind this
    word_of(&mut short, 1); // one element
    word_of(&mut short, 4 + 16); // the first level's table
    for level in 0..depth {
        let is_last = level + 1 == depth;
        short(16, 16); // vtable: its length, the table's
        short(0, 0); //   name, nullable
        short(12, 4); //   type_type, type
        short(0, if is_last { 0 } else { 8 }); //   dictionary, children
        word_of(&mut short, 16); // table: back to the vtable
        word_of(&mut short, 28); // type: the empty table
        word_of(&mut short, 8); // children: the vector
        short(13, 0); //   type_type: Struct
        word_of(&mut short, 2); // two elements, the same
        word_of(&mut short, LEVEL - 36 + 16);
        word_of(&mut short, LEVEL - 40 + 16);
        short(4, 4); // the empty table's vtable
        word_of(&mut short, 4); // the empty table: back to its vtable
        short(0, 0);
    }
    message
}

fn word_of(short: &mut impl FnMut(u16, u16), word: u32) {
    short(word as u16, (word >> 16) as u16);
}

#[test]
fn what_is_shared_is_not_looked_at_for_ever() {
    let text = STANDARD.encode(shared(2));
    let schema = decode(&text).unwrap();
    assert_eq!(schema.fields().len(), 1);
    let leaf = Field::new("", DataType::Struct(Fields::empty()), false);
    assert_eq!(*schema.field(0).data_type(), DataType::Struct([leaf.clone(), leaf].into_iter().collect()));
    let start = Instant::now();
    let text = STANDARD.encode(shared(60));
    assert_eq!(decode(&text), None);
    for found in found(&text, &[(0, "")]) {
        assert_eq!(found.unwrap().fields, [None]);
    }
    assert!(start.elapsed().as_secs() < 60);
}

/// A schema whose field, an extension type, and whose own metadata have a pair that is not text.
fn with_binary_pairs() -> String {
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let of_field =
        [("k", "v"), (EXTENSION_TYPE_NAME_KEY, "mine"), (EXTENSION_TYPE_METADATA_KEY, "~parameters~")];
    let field = Field::new("x", DataType::Int64, true).with_metadata(pairs(&of_field));
    let schema = Schema::new_with_metadata(vec![field], pairs(&[("a", "b"), ("c", "~own~")]));
    let mut bytes = STANDARD.decode(encode(&schema)).unwrap();
    bytes.iter_mut().filter(|byte| **byte == b'~').for_each(|byte| *byte = 0xff);
    STANDARD.encode(bytes)
}

#[test]
fn pairs_that_are_not_text_become_digits_where_they_are_kept() {
    let text = with_binary_pairs();
    let kept = find(&text, [(0, "x")].into_iter(), true).unwrap();
    let metadata = kept.fields[0].as_ref().unwrap().metadata();
    let pair = |key: &str, value: &[u8]| binary_metadata::as_text(key.as_bytes(), value);
    let mut expected = HashMap::from([
        pair("k", b"v"),
        pair(EXTENSION_TYPE_NAME_KEY, b"mine"),
        pair(EXTENSION_TYPE_METADATA_KEY, b"\xffparameters\xff"),
    ]);
    binary_metadata::keep_extension_whole(&mut expected);
    assert_eq!((metadata, metadata.len()), (&expected, 3));
    let marked = (BINARY_METADATA_PREFIX.to_owned(), String::new());
    assert_eq!(kept.metadata, HashMap::from([pair("a", b"b"), pair("c", b"\xffown\xff"), marked]));
}
