//! Which groups are lists, maps or structs: the examples of LogicalTypes.md, and what else stands in files.

use crate::chunk::file::{group, leaf, root};
use marquetry_base::Limits;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::schema::Schema;
use marquetry_encoding::PhysicalType;
use marquetry_format::{ConvertedType, Repetition, SchemaElement};

/// Elements out of lines like `optional group my_list (LIST)`; deeper lines are in the group above.
fn elements(text: &str) -> Vec<SchemaElement> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let children = |at: usize| {
        let below = lines[at + 1..].iter().take_while(|(indent, _)| *indent > lines[at].0);
        let own = below.clone().map(|(indent, _)| *indent).min();
        below.filter(|(indent, _)| Some(*indent) == own).count()
    };
    let top = lines.iter().map(|(indent, _)| *indent).min().unwrap();
    let roots = lines.iter().filter(|(indent, _)| *indent == top).count();
    let mut out = vec![root(roots as i32)];
    out.extend(lines.iter().enumerate().map(|(at, (_, line))| element(line, children(at))));
    out
}

fn element(line: &str, children: usize) -> SchemaElement {
    let words: Vec<_> = line.split_whitespace().collect();
    let repetition = match words[0] {
        "required" => Repetition::REQUIRED,
        "optional" => Repetition::OPTIONAL,
        "repeated" => Repetition::REPEATED,
        other => panic!("{other} in {line}"),
    };
    let element = match words[1] {
        "group" => group(words[2], repetition, children),
        "binary" => leaf(words[2], repetition, PhysicalType::ByteArray),
        "int32" => leaf(words[2], repetition, PhysicalType::Int32),
        other => panic!("{other} in {line}"),
    };
    let converted_type = words.get(3).map(|word| match *word {
        "(LIST)" => ConvertedType::LIST,
        "(MAP)" => ConvertedType::MAP,
        "(MAP_KEY_VALUE)" => ConvertedType::MAP_KEY_VALUE,
        "(STRING)" => ConvertedType::UTF8,
        other => panic!("{other} in {line}"),
    });
    SchemaElement { converted_type, ..element }
}

fn fields(text: &str) -> Vec<NestedField> {
    NestedField::from_schema(&Schema::from_thrift(&elements(text), &Limits::default()).unwrap())
}

/// A field as text: its name, `?` if nullable, and what it holds; definition levels of value and slot, and lists, of
/// leaves.
fn show(field: &NestedField) -> String {
    let mark = if field.nullable { "?" } else { "" };
    let inside = match &field.kind {
        FieldKind::Leaf(leaf) => {
            let NestedField { def, repeated_ancestor_def_level, rep, .. } = field;
            format!("#{leaf}@{def}/{repeated_ancestor_def_level}/{rep}")
        }
        FieldKind::List(element) => format!("[{}]", show(element)),
        FieldKind::Map(entries) => format!("map<{}>", show(entries)),
        FieldKind::Struct(fields) => {
            format!("{{{}}}", fields.iter().map(show).collect::<Vec<_>>().join(", "))
        }
    };
    format!("{}{mark}:{inside}", field.name)
}

fn check(text: &str, expected: &str) {
    let shown: Vec<_> = fields(text).iter().map(show).collect();
    assert_eq!(shown.join("; "), expected, "{text}");
}

#[test]
fn structs_and_leaves() {
    check("required int32 a", "a:#0@0/0/0");
    check("optional int32 a", "a?:#0@1/0/0");
    check(
        "
        optional group s
          required int32 a
          optional group t
            optional int32 b
        required int32 c",
        "s?:{a:#0@1/0/0, t?:{b?:#1@3/0/0}}; c:#2@0/0/0",
    );
}

#[test]
fn repeated_fields_without_annotation() {
    check("repeated int32 num", "num:[num:#0@1/1/1]");
    check(
        "
        repeated group my_list
          required int32 num
          optional binary str (STRING)",
        "my_list:[my_list:{num:#0@1/1/1, str?:#1@2/1/1}]",
    );
    check(
        "
        optional group s
          repeated group a
            repeated int32 b",
        "s?:{a:[a:{b:[b:#0@3/3/2]}]}",
    );
}

#[test]
fn lists_of_three_levels() {
    check(
        "
        required group my_list (LIST)
          repeated group list
            optional binary element (STRING)",
        "my_list:[element?:#0@2/1/1]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group list
            required binary element (STRING)",
        "my_list?:[element:#0@2/2/1]",
    );
    check(
        "
        optional group array_of_arrays (LIST)
          repeated group list
            required group element (LIST)
              repeated group list
                required int32 element",
        "array_of_arrays?:[element:[element:#0@3/3/2]]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group element
            required binary str (STRING)",
        "my_list?:[str:#0@2/2/1]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group list
            optional group element
              optional int32 a
              required int32 b",
        "my_list?:[element?:{a?:#0@4/2/1, b:#1@3/2/1}]",
    );
}

/// Rules 1 to 5 of "Lists", "Backward-compatibility rules".
#[test]
fn lists_of_old_writers() {
    check(
        "
        optional group my_list (LIST)
          repeated int32 element",
        "my_list?:[element:#0@2/2/1]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group element
            required binary str (STRING)
            required int32 num",
        "my_list?:[element:{str:#0@2/2/1, num:#1@2/2/1}]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group array (LIST)
            repeated int32 array",
        "my_list?:[array:[array:#0@3/3/2]]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group element
            repeated int32 array",
        "my_list?:[element:{array:[array:#0@3/3/2]}]",
    );
    for name in ["array", "my_list_tuple"] {
        check(
            &format!(
                "
        optional group my_list (LIST)
          repeated group {name}
            required binary str (STRING)"
            ),
            &format!("my_list?:[{name}:{{str:#0@2/2/1}}]"),
        );
    }
    // The name of another list does not count.
    check(
        "
        optional group my_list (LIST)
          repeated group other_tuple
            required binary str (STRING)",
        "my_list?:[str:#0@2/2/1]",
    );
    check(
        "
        optional group my_list (LIST)
          repeated group element
            optional binary str (STRING)",
        "my_list?:[str?:#0@3/2/1]",
    );
}

#[test]
fn lists_of_two_levels_in_each_other() {
    check(
        "
        optional group a (LIST)
          repeated group array (LIST)
            repeated group array (LIST)
              repeated int32 array",
        "a?:[array:[array:[array:#0@4/4/3]]]",
    );
    check(
        "
        optional group a (LIST)
          repeated group bag (MAP)
            repeated group map
              required binary key (STRING)
              optional int32 value",
        "a?:[bag:map<map:{key:#0@3/3/2, value?:#1@4/3/2}>]",
    );
    // A LIST group that is itself repeated, in no list: a list of lists.
    check(
        "
        repeated group a (LIST)
          repeated int32 b",
        "a:[a:[b:#0@2/2/2]]",
    );
    check(
        "
        repeated group a (LIST)
          repeated group list
            optional int32 b",
        "a:[a:[b?:#0@3/2/2]]",
    );
}

#[test]
fn groups_that_are_lists_by_name_only() {
    check(
        "
        optional group my_list (LIST)
          repeated int32 a
          optional int32 b",
        "my_list?:{a:[a:#0@2/2/1], b?:#1@2/0/0}",
    );
    check(
        "
        optional group my_list (LIST)
          optional int32 a",
        "my_list?:{a?:#0@2/0/0}",
    );
    check(
        "
        optional group my_list (LIST)
          optional group list
            required int32 element",
        "my_list?:{list?:{element:#0@2/0/0}}",
    );
    assert!(fields("optional group my_list (LIST)\nrequired int32 a")[0].logical.is_none());
}

#[test]
fn maps() {
    let map = "my_map?:map<map:{key:#0@2/2/1, value?:#1@3/2/1}>";
    for annotations in [["MAP", ""], ["MAP_KEY_VALUE", ""], ["MAP", " (MAP_KEY_VALUE)"], ["MAP", " (MAP)"]] {
        let [outer, inner] = annotations;
        check(
            &format!(
                "
        optional group my_map ({outer})
          repeated group map{inner}
            required binary key (STRING)
            optional int32 value"
            ),
            map,
        );
    }
    // Names do not matter, keys may be optional, values may be anything.
    check(
        "
        required group m (MAP)
          repeated group x
            optional binary str (STRING)
            required group num (LIST)
              repeated group list
                optional int32 element",
        "m:map<x:{str?:#0@2/1/1, num:[element?:#1@3/2/2]}>",
    );
    check(
        "
        optional group m (MAP)
          repeated group key_value
            required group key
              required int32 a
              optional int32 b
            repeated int32 value",
        "m?:map<key_value:{key:{a:#0@2/2/1, b?:#1@3/2/1}, value:[value:#2@3/3/2]}>",
    );
}

#[test]
fn groups_that_are_not_quite_maps() {
    check(
        "
        optional group m (MAP)
          repeated group key_value
            required binary key (STRING)",
        "m?:[key:#0@2/2/1]",
    );
    check(
        "
        optional group m (MAP)
          repeated group key_value
            required binary key (STRING)
            required int32 value
            required int32 other",
        "m?:[key_value:{key:#0@2/2/1, value:#1@2/2/1, other:#2@2/2/1}]",
    );
    check(
        "
        optional group m (MAP)
          repeated group key_value
            repeated binary key (STRING)
            required int32 value",
        "m?:[key_value:{key:[key:#0@3/3/2], value:#1@2/2/1}]",
    );
    check("optional group m (MAP)\n  repeated int32 key", "m?:{key:[key:#0@2/2/1]}");
    check("optional group m (MAP)\n  required int32 key", "m?:{key:#0@1/0/0}");
    check(
        "
        optional group m (MAP)
          required group key_value
            required binary key (STRING)
            required int32 value",
        "m?:{key_value:{key:#0@1/0/0, value:#1@1/0/0}}",
    );
    // MAP_KEY_VALUE where entries stand alone.
    check(
        "
        repeated group m (MAP_KEY_VALUE)
          required binary key (STRING)
          required int32 value",
        "m:[m:{key:#0@1/1/1, value:#1@1/1/1}]",
    );
}

#[test]
fn groups_without_columns_are_left_out() {
    check("optional group a\nrequired int32 b", "b:#0@0/0/0");
    check("optional group a (LIST)\n  repeated group list\nrequired int32 b", "b:#0@0/0/0");
    check(
        "optional group a (LIST)\n  repeated group list\n    optional group element\nrequired int32 b",
        "b:#0@0/0/0",
    );
    // A value of no columns leaves keys only.
    check(
        "
        optional group m (MAP)
          repeated group key_value
            required binary key (STRING)
            optional group value",
        "m?:[key_value:{key:#0@2/2/1}]",
    );
}

#[test]
fn projection() {
    let all = fields(
        "
        optional group s
          required int32 a
          optional group m (MAP)
            repeated group key_value
              required binary key (STRING)
              optional group value
                optional int32 x
                optional int32 y
          optional group l (LIST)
            repeated group list
              optional int32 element
        required int32 b",
    );
    assert_eq!(
        show(&all[0]),
        "s?:{a:#0@1/0/0, m?:map<key_value:{key:#1@3/3/1, value?:{x?:#2@5/3/1, y?:#3@5/3/1}}>, l?:[element?:#4@4/3/1]}"
    );
    let keep = |leaves: &[usize]| all[0].project(&|leaf| leaves.contains(&leaf)).map(|field| show(&field));
    assert_eq!(keep(&[0, 1, 2, 3, 4, 5]), Some(show(&all[0])));
    assert_eq!(keep(&[]), None);
    assert_eq!(keep(&[5]), None);
    assert_eq!(keep(&[0]).unwrap(), "s?:{a:#0@1/0/0}");
    assert_eq!(keep(&[4]).unwrap(), "s?:{l?:[element?:#4@4/3/1]}");
    // A map stays one while both sides have something.
    assert_eq!(keep(&[1, 3]).unwrap(), "s?:{m?:map<key_value:{key:#1@3/3/1, value?:{y?:#3@5/3/1}}>}");
    assert_eq!(keep(&[1]).unwrap(), "s?:{m?:[key_value:{key:#1@3/3/1}]}");
    assert_eq!(keep(&[2]).unwrap(), "s?:{m?:[key_value:{value?:{x?:#2@5/3/1}}]}");
    let mut leaves = Vec::new();
    all[0].leaves(&mut leaves);
    assert_eq!((leaves, all[0].first_leaf()), (vec![0, 1, 2, 3, 4], 0));
    assert_eq!(all[0].project(&|leaf| leaf >= 3).unwrap().first_leaf(), 3);
}
