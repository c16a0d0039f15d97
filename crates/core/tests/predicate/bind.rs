//! Columns are found, and literals become values: exactly, or with an error that says what would do.

use marquetry_core::predicate::{BoundPredicate, LeafValues, Predicate, col};
use marquetry_core::schema::Schema;
use marquetry_encoding::{Bitmap, Values};

fn schema() -> Schema {
    Schema::parse(
        "message m {
            required int32 small (INTEGER(8,false));
            required int64 price (DECIMAL(18,2));
            optional binary name (STRING);
            required int32 day (DATE);
            required int64 at (TIMESTAMP(MILLIS,true));
            required int64 wall (TIMESTAMP(MILLIS,false));
            optional group person { required float height; required fixed_len_byte_array(16) id (UUID); }
            optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
            optional group points (LIST) { repeated group list { optional group element { optional double x; } } }
            optional group attributes (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }
            required fixed_len_byte_array(12) span (INTERVAL);
            required boolean is_new;
            required fixed_len_byte_array(2) half (FLOAT16);
            optional binary shape (GEOMETRY);
            optional binary raw;
            required int32 clock (TIME(MILLIS,false));
            optional group payload (VARIANT) { required binary metadata; optional binary value; }
        }",
    )
    .unwrap()
}

fn bind(text: &str) -> marquetry_base::Result<BoundPredicate> {
    Predicate::parse(text)?.bind(&schema())
}

#[test]
fn errors_say_what_would_do() {
    for (text, message) in [
        ("nam = 'x'", "no column nam; did you mean name?"),
        ("Name = 'x'", "did you mean name"),
        ("person = 1", "person is a group; a predicate asks for one of its leaves, such as person.height"),
        (
            "tags.list.element = 'x'",
            "inside a list or a map, so that a row has any number of values of it; write any(..)",
        ),
        ("tags = 'x'", "write any(..) or all(..) around its name"),
        ("attributes = 'x'", "it is a map, so that a row has any number of entries; write [key]"),
        ("any(attributes) = 1", "ask for attributes.key, attributes.value or attributes['a key']"),
        ("any(points) = 1", "an element has fields; ask for one of them, such as points.x"),
        ("any(points.y) = 1", "no column points.y; did you mean points"),
        ("any(price) = 1", "it is in no list: ask for it without any() and all()"),
        ("any(tags) = 5", "write it in single quotes"),
        ("tags['x'] = 5", "it is not a map, and has no keys"),
        ("attributes[5] = 5", "write it in single quotes"),
        ("cardinality(price) > 1", "it is neither a list nor a map, and has no elements"),
        ("name is empty", "it is neither a list nor a map, and has no elements"),
        ("nothing is empty", "no column nothing"),
        ("name = 5", "write it in single quotes"),
        ("name = \"Bob\"", "no column Bob"),
        ("name = Bob", "no column Bob; if it is text, write it in single quotes: 'Bob'"),
        ("price = nmae", "if it is text, write it in single quotes: 'nmae', or did you mean name?"),
        ("shape = 'POINT (1'", "a geometry is written 'POINT (1 2)'"),
        ("shape < 'POINT (1 2)'", "not ordered"),
        ("payload = 1", "it is a VARIANT, which is not compared as a whole"),
        ("payload = '{}'", "by the path behind a colon, as in payload:name = 'x'"),
        ("payload.user.id = 1", "payload is a VARIANT, into which a path leads: payload:user.id"),
        ("price = 'five'", "without quotes"),
        ("day = 5", "a date is written '2024-01-31'"),
        ("day = '2024-13-01'", "a date is written"),
        ("day < timestamp '2024-01-01 00:00Z'", "has no zone"),
        ("wall < '2024-01-01 00:00:00Z'", "without a zone"),
        ("person.id = 'abc'", "a UUID is written"),
        ("span < X'000000000000000000000000'", "not ordered"),
        ("is_new = 1", "true or false"),
        ("is_nan(price)", "can be NaN"),
        ("starts_with(price, '1')", "only text and bytes"),
        ("name", "write it in single quotes"),
    ] {
        let error = bind(text).unwrap_err();
        assert!(error.message().contains(message), "{text}: {error}");
    }
    assert_eq!(bind("price = 'five'").unwrap_err().place().column.as_deref(), Some("price"));
}

#[test]
fn errors_say_where_in_the_text() {
    for (text, character) in [
        ("name = 'é' and price = 'five'", 16),
        ("nam = 'x'", 1),
        ("not (day > 5 or name = 'x')", 6),
        ("5 < name", 5),
        ("name = 'x' and tags = 'x'", 16),
        ("price > 1 and any(attributes) = 1", 19),
        ("any(points.x > 1 and points.x < 'two')", 22),
        ("all(points.y) = 1", 5),
        ("name = 'x' or tags['x'] = 5", 15),
        ("attributes['a'] = 1 and attributes[5] = 5", 25),
        ("small in (1, 2) and cardinality(price) > 1", 33),
        ("price > small and wall < at", 19),
        ("price > smal", 9),
        ("price is distinct from nam", 24),
        ("(price, nam) < (1, 'x')", 9),
        ("  is_nan(price)", 10),
        ("small > 1 and span < X'000000000000000000000000'", 15),
        ("price like '1%'", 1),
        ("small between 1 and 2 and day between '2024-01-01' and 'x'", 27),
    ] {
        let error = bind(text).unwrap_err();
        assert_eq!(error.place().character, Some(character), "{text}: {error}");
        let start = format!("predicate, character {character}: ");
        assert!(
            error.message().starts_with(&start) && error.message().matches("character").count() == 1,
            "{error}"
        );
    }
    // One that was built is not text.
    let error = col("nam").eq("x").bind(&schema()).unwrap_err();
    assert_eq!(
        (error.place().character, error.message().starts_with("no column nam")),
        (None, true),
        "{error}"
    );
}

#[test]
fn a_name_with_dots_is_no_path() {
    let bound = |schema: &str, text: &str| {
        Predicate::parse(text)
            .unwrap()
            .bind(&Schema::parse(schema).unwrap())
            .map(|bound| bound.leaves().to_vec())
    };
    const BOTH: &str = "message m { required int32 a.b; required group a { required int32 b; } }";
    assert_eq!(bound(BOTH, "\"a.b\" = 1").unwrap(), [0]);
    assert_eq!(bound(BOTH, "a.b = 1").unwrap(), [1]);
    assert_eq!(bound(BOTH, "\"a\".\"b\" = 1").unwrap(), [1]);
    assert_eq!(bound(BOTH, "a.b < \"a.b\"").unwrap(), [0, 1]);
    // Where no field has the path, it may be a name.
    const NAME: &str = "message m { required int32 a.b; required group c.d { required int32 e; } }";
    assert_eq!(bound(NAME, "a.b = 1").unwrap(), [0]);
    assert_eq!(bound(NAME, "c.d.e = 1 and \"c.d\".e = 1").unwrap(), [1]);
    for (text, told) in [
        ("a = 1", "no column a; \"a.b\" has a dot in its name, which is written in double quotes"),
        ("c = 1", "no column c; \"c.d\".e has a dot in its name"),
        ("c.d = 1", "c.d is a group; a predicate asks for one of its leaves, such as c.d.e"),
    ] {
        let error = bound(NAME, text).unwrap_err();
        assert!(error.message().contains(told), "{text}: {error}");
    }
    assert!(bound(NAME, "\"c.d.e\" = 1").unwrap_err().message().contains("no column \"c.d.e\""));
    const PATH: &str = "message m { required group a { required int32 b; } required int32 \"; }";
    assert!(bound(PATH, "\"a.b\" = 1").unwrap_err().message().contains("no column \"a.b\""));
    assert_eq!(bound(PATH, "\"\"\"\" = 1").unwrap(), [1]);
    // Two of one path.
    const TWICE: &str =
        "message m { required int32 a.b; required int32 a.b; required group a { required int32 b; } }";
    assert!(bound(TWICE, "\"a.b\" = 1").unwrap_err().message().contains("several columns have this name"));
    assert_eq!(bound(TWICE, "a.b = 1").unwrap(), [2]);
    let lists = "message m { optional group a.b (LIST) { repeated group list { optional int32 element; } } required group a { required int32 b; } }";
    assert_eq!(bound(lists, "any(\"a.b\") = 1").unwrap(), [0]);
    assert_eq!(bound(lists, "\"a.b\" is null or a.b = 1").unwrap(), [0, 1]);
}

/// Which of some values are wanted.
fn wanted(text: &str, values: Values) -> Vec<bool> {
    let bound = bind(text).unwrap();
    // What is never true asks for no column.
    let leaf = bound.leaves().first().copied().unwrap_or_default();
    let leaf_values = LeafValues::flat(&values, None);
    let found = bound.evaluate(values.len(), &[(leaf, leaf_values)]).unwrap();
    (0..found.len()).map(|i| found.get(i)).collect()
}

#[test]
fn literals_between_values_and_beyond_them() {
    let price = || Values::W64([-101, -100, 0, 100, 101i64].map(|cents| cents as u64).to_vec());
    for (text, expected) in [
        ("price = 1.005", [false; 5]),
        ("price != 1.005", [true; 5]),
        ("price > 1.005", [false, false, false, false, true]),
        ("price >= 1.00", [false, false, false, true, true]),
        ("price < -1.005", [true, false, false, false, false]),
        ("price <= -1.005", [true, false, false, false, false]),
        ("price > -1.005", [false, true, true, true, true]),
        ("price < 1e30", [true; 5]),
        ("price > -inf", [true; 5]),
        ("price < nan", [false; 5]),
        ("price != nan", [true; 5]),
        ("price in (1, 1.010, 1.0101, -1)", [false, true, false, true, true]),
        ("not price between -1 and 1", [true, false, false, false, true]),
    ] {
        assert_eq!(wanted(text, price()), expected, "{text}");
    }
    let small = || Values::W32(vec![0, 7, 255]);
    assert_eq!(wanted("small >= -1", small()), [true; 3]);
    assert_eq!(wanted("small < -1", small()), [false; 3]);
    assert_eq!(wanted("small < 99999999999999999999", small()), [true; 3]);
    assert_eq!(wanted("small = 4294967296", small()), [false; 3]);
    assert_eq!(wanted("small > 6.5", small()), [false, true, true]);
}

#[test]
fn days_and_moments() {
    let day = || Values::W32(vec![19_722, 19_723, 19_724]);
    assert_eq!(wanted("day = '2024-01-01'", day()), [false, true, false]);
    assert_eq!(wanted("day < timestamp '2024-01-01 00:00:01'", day()), [true, true, false]);
    assert_eq!(wanted("day > timestamp '2023-12-31 23:59:59.5'", day()), [false, true, true]);
    // 2024-01-01 08:00:00 in UTC, and a millisecond more.
    let at = || Values::W64(vec![1_704_096_000_000, 1_704_096_000_001]);
    assert_eq!(wanted("at = '2024-01-01 10:00:00+02:00'", at()), [true, false]);
    assert_eq!(wanted("at > '2024-01-01T08:00:00.0005Z'", at()), [false, true]);
    assert_eq!(wanted("at <= timestamp '2024-01-01 08:00:00'", at()), [true, false]);
    assert_eq!(wanted("wall >= date '2024-01-02'", at()), [false, false]);
}

#[test]
fn floats_are_rounded_once() {
    let height = || Values::W32([0.1f32, f32::NAN, -0.0, f32::INFINITY, f32::MAX].map(f32::to_bits).to_vec());
    for (text, expected) in [
        ("person.height = 0.1", [true, false, false, false, false]),
        ("person.height = 0", [false, false, true, false, false]),
        ("person.height >= 0", [true, false, true, true, true]),
        ("person.height > 1e39", [false, false, false, true, false]),
        ("person.height < 1e39", [true, false, true, false, true]),
        ("person.height = 1e39", [false; 5]),
        ("not person.height < 1e39", [false, true, false, true, false]),
        ("is_nan(person.height)", [false, true, false, false, false]),
        ("person.height in (0, inf)", [false, false, true, true, false]),
        ("person.height != 0", [true, true, false, true, true]),
    ] {
        assert_eq!(wanted(text, height()), expected, "{text}");
    }
}

/// Every number, against the nearest of all binary16.
#[test]
fn halves_are_the_nearest() {
    let all: Vec<u16> = (0..0x7c00).chain(0x8000..0xfc00).collect();
    let mut values = marquetry_encoding::FixedLenBytes::new(2);
    all.iter().for_each(|bits| values.push(&bits.to_le_bytes()));
    let values = Values::Fixed(values);
    let random = &mut crate::data::Random(3);
    for i in 0..300 {
        let near = crate::kinds::half(random.pick(&all));
        let number = match i % 3 {
            0 => near,
            1 => near * (1.0 + random.below(1_000) as f64 / 1e6),
            _ => near + (crate::kinds::half(random.pick(&all[..2])) / 2.0),
        };
        let distance = |bits: u16| (crate::kinds::half(bits) - number).abs();
        let best = all
            .iter()
            .copied()
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1))));
        let best = crate::kinds::half(best.unwrap());
        // All its digits: the shortest ones are those of a number beside the middle of two halves.
        let found = wanted(&format!("half = {number:.1074}"), values.clone());
        let found: Vec<f64> =
            all.iter().zip(found).filter(|(_, is)| *is).map(|(bits, _)| crate::kinds::half(*bits)).collect();
        assert!(found.iter().all(|value| *value == best) && !found.is_empty(), "{number}: {found:?}, {best}");
    }
}

/// A number just above the middle of two, whose nearest double is the middle.
#[test]
fn halves_are_rounded_once() {
    let mut values = marquetry_encoding::FixedLenBytes::new(2);
    [0x3c00u16, 0x3c01].iter().for_each(|bits| values.push(&bits.to_le_bytes()));
    let found = |text: &str| wanted(text, Values::Fixed(values.clone()));
    assert_eq!(found("half = 1.00048828125"), [true, false]);
    assert_eq!(found("half = 1.00048828125000000000000000000000001"), [false, true]);
    assert_eq!(found("half = 1.00048828124999999999999999999999999"), [true, false]);
}

#[test]
fn nulls_are_unknown() {
    let bound = |text: &str| bind(text).unwrap();
    let values = Values::Bytes(["a", "", "b"].into_iter().collect());
    let validity = Bitmap::from_iter([true, false, true]);
    let name = LeafValues::flat(&values, Some(&validity));
    for (text, expected) in [
        ("name = 'a'", [true, false, false]),
        ("not name = 'a'", [false, false, true]),
        ("name = null", [false; 3]),
        ("name != null", [false; 3]),
        ("not (name = null)", [false; 3]),
        ("name in ('a', null)", [true, false, false]),
        ("name not in ('a', null)", [false; 3]),
        ("name is null or name = 'b'", [false, true, true]),
        ("not (name is null or name = 'b')", [true, false, false]),
        ("starts_with(name, '')", [true, false, true]),
        ("name >= ''", [true, false, true]),
    ] {
        let found = bound(text).evaluate(3, &[(2, name)]).unwrap();
        assert_eq!(found, Bitmap::from_iter(expected), "{text}");
    }
}

#[test]
fn wrong_values_are_errors() {
    let bound = bind("price > 1").unwrap();
    let (narrow, none) = (Values::W32(vec![1, 2]), Values::W64(vec![]));
    let of = |values| LeafValues::flat(values, None);
    assert!(bound.evaluate(2, &[(1, of(&narrow))]).unwrap_err().message().contains("W32"));
    assert!(bound.evaluate(2, &[(1, of(&none))]).unwrap_err().message().contains("0 values"));
    assert!(bound.evaluate(2, &[(0, of(&narrow))]).unwrap_err().message().contains("column 1"));
}

#[test]
fn numbers_and_booleans_may_be_text() {
    let days = || Values::W32(vec![0, 19_753]);
    assert_eq!(wanted("day in ('2024-01-31')", days()), [false, true]);
    assert_eq!(wanted("small = '7'", Values::W32(vec![7, 8])), [true, false]);
    assert_eq!(wanted("small in ('8', '300')", Values::W32(vec![7, 8])), [false, true]);
    assert_eq!(wanted("price > '0.07'", Values::W64(vec![7, 8])), [false, true]);
    let bits = Values::Bit(Bitmap::from_iter([true, false]));
    assert_eq!(wanted("is_new = 'True'", bits), [true, false]);
    for text in ["small = 'seven'", "is_new = '1'", "name = 5"] {
        assert!(bind(text).is_err(), "{text}");
    }
}

#[test]
fn lists_may_be_in_files() {
    use marquetry_core::predicate::Literal;
    let read = |name: &str| match name {
        "ids" | "my ids" => Ok(vec![Literal::from("7"), Literal::from("9")]),
        other => Err(marquetry_base::Error::argument(format!("no {other}"))),
    };
    for text in ["small in @ids", "small in @'my ids'", "not (small not in @ids)"] {
        let bound = Predicate::parse_with_lists(text, &read).unwrap().bind(&schema()).unwrap();
        let values = Values::W32(vec![7, 8, 9]);
        let found = bound.evaluate(3, &[(0, LeafValues::flat(&values, None))]).unwrap();
        assert_eq!(found, Bitmap::from_iter([true, false, true]), "{text}");
    }
    let error = |text: &str| Predicate::parse_with_lists(text, &read).unwrap_err().message().to_owned();
    assert!(error("small in @none").contains("character 10: "), "{}", error("small in @none"));
    assert!(error("small in @").contains("character 10: a file's name follows @"));
    let error = Predicate::parse("small in @ids").unwrap_err();
    assert!(error.message().contains("lists in files are not read here"), "{error}");
}

/// As many as people have in a list: in less than half a second, in a build that is optimized.
#[test]
fn a_million_values_are_bound() {
    let ids = (0..1_000_000i64).map(|i| (i * 7_919) % 1_000_003);
    let start = std::time::Instant::now();
    let predicate = marquetry_core::predicate::col("price").is_in(ids);
    let built = start.elapsed();
    let bound = predicate.bind(&schema()).unwrap();
    println!("built in {built:?}, bound in {:?}", start.elapsed() - built);
    let values = Values::W64(vec![700, 701]);
    let found = bound.evaluate(2, &[(1, LeafValues::flat(&values, None))]).unwrap();
    assert_eq!(found, Bitmap::from_iter([true, false]));
}

#[test]
fn keys_and_values_of_a_map_are_in_the_same_rows() {
    let bound = bind("attributes['b'] = 2").unwrap();
    let [key, value] = *bound.leaves() else { panic!("{:?}", bound.leaves()) };
    let keys = Values::Bytes(["a", "b", "b"].into_iter().collect());
    let values = Values::W32(vec![1, 2, 2]);
    // {a: 1, b: 2}, {}, {b: 2} by the keys.
    let (def, rep) = ([2, 2, 1, 2], [0, 1, 0, 0]);
    let keys = LeafValues::flat(&keys, None).with_levels(&def, &rep);
    let asked = |def: &[u8], rep: &[u8]| {
        let values = LeafValues::flat(&values, None).with_levels(def, rep);
        bound.evaluate(3, &[(key, keys), (value, values)])
    };
    let found = asked(&[3, 3, 1, 3], &rep).unwrap();
    assert_eq!((0..3).map(|row| found.get(row)).collect::<Vec<_>>(), [true, false, true]);
    for (def, rep) in
        [([3, 1, 3, 3], [0, 0, 0, 1]), ([3, 3, 3, 1], [0, 1, 0, 0]), ([3, 3, 1, 3], [0, 0, 0, 1])]
    {
        let error = asked(&def, &rep).unwrap_err();
        assert_eq!(error.to_string(), "corrupt: keys and values of a map are in other rows");
    }
}

#[test]
fn bytes_may_be_written_as_they_are_shown() {
    let raw =
        || Values::Bytes([&b"a\x00\xff"[..], b"a\\x00", b"C:\\x", b"POINT (1 2)"].into_iter().collect());
    for (text, expected) in [
        (r"raw = 'a\x00\xFF'", [true, false, false, false]),
        (r"raw = 'a\x5Cx00'", [false, true, false, false]),
        // No escape of a byte: the text itself.
        (r"raw = 'C:\x'", [false, false, true, false]),
        (r"raw in ('a\x00\xff', 'C:\x')", [true, false, true, false]),
        (r"raw > 'a\x00\xFE'", [true, true, false, false]),
        (r"raw = 'POINT (1 2)'", [false, false, false, true]),
        (r"starts_with(raw, 'a\x00')", [true, false, false, false]),
        (r"starts_with(raw, 'a\x5C')", [false, true, false, false]),
        (r"starts_with(raw, 'C:\')", [false, false, true, false]),
        (r"ends_with(raw, '\x00\xFF')", [true, false, false, false]),
        (r"contains(raw, '\x00')", [true, false, false, false]),
        (r"contains(raw, '\x5cx')", [false, true, true, false]),
        // A pattern has backslashes of its own.
        (r"raw like 'a\\x00'", [false, true, false, false]),
        (r"raw like 'a\\x00%'", [false, true, false, false]),
        (r"raw like 'C:\\x'", [false, false, true, false]),
    ] {
        assert_eq!(wanted(text, raw()), expected, "{text}");
    }
    // Of text nothing is shown as bytes.
    let names = Values::Bytes([r"\x41", "A"].into_iter().collect());
    assert_eq!(wanted(r"name = '\x41'", names.clone()), [true, false]);
    assert_eq!(wanted(r"starts_with(name, '\x4')", names.clone()), [true, false]);
    assert_eq!(wanted(r"contains(name, '\x41')", names), [true, false]);
}

#[test]
fn geometries_may_be_written_as_they_are_shown() {
    let point = marquetry_geo::wkt::parse("POINT (1 2)").unwrap();
    let other = marquetry_geo::wkt::parse("POINT Z (1 2 3)").unwrap();
    let mut big_endian = vec![0, 0, 0, 0, 1];
    [1f64, 2.0].iter().for_each(|number| big_endian.extend(number.to_be_bytes()));
    // With the SRID of EWKB.
    let with_srid = [&[1, 1, 0, 0, 0x20, 0xe6, 0x10, 0, 0][..], &point[5..]].concat();
    let all = [&point[..], &big_endian, &with_srid, &other, &[1, 2]];
    let values = || Values::Bytes(all.iter().collect());
    for (text, expected) in [
        ("shape = 'POINT (1 2)'", [true, true, true, false, false]),
        ("shape = 'point(1 2.0)'", [true, true, true, false, false]),
        ("shape != 'POINT (1 2)'", [false, false, false, true, true]),
        ("shape in ('POINT (1 2)', 'POINT Z (1 2 3)', null)", [true, true, true, true, false]),
        ("shape not in ('POINT (1 2)', 'POINT Z (1 2 3)')", [false, false, false, false, true]),
        ("shape not in ('POINT (1 2)', null)", [false; 5]),
        // What is not a geometry is shown as digits.
        ("shape = '0102'", [false, false, false, false, true]),
        // GeoParquet before the format had geometries.
        ("raw = 'POINT (1 2)'", [true, true, true, false, false]),
    ] {
        assert_eq!(wanted(text, values()), expected, "{text}");
    }
}

#[test]
fn times_that_are_none_of_a_day_may_be_written_as_they_are_shown() {
    let clock = || Values::W32([-1_000i32, 0, 86_400_000].map(|millis| millis as u32).to_vec());
    assert_eq!(wanted("clock = '-00:00:01'", clock()), [true, false, false]);
    assert_eq!(wanted("clock >= '24:00:00.000'", clock()), [false, false, true]);
    assert_eq!(wanted("clock < '100:00:00'", clock()), [true, true, true]);
}
