//! Geometries in well-known binary, as text and as GeoJSON.

use marquetry_geo::{BBox, Dimensions, Extent, Kind, geojson, wkb, wkt};
use proptest::prelude::*;

const TEXTS: [&str; 22] = [
    "POINT (1 2)",
    "POINT EMPTY",
    "POINT Z (1 2 3)",
    "POINT M (1 2 3)",
    "POINT ZM (1 2 3 4)",
    "LINESTRING (0 0, 1.5 -2.25)",
    "LINESTRING EMPTY",
    "POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))",
    "POLYGON EMPTY",
    "MULTIPOINT ((1 2), EMPTY, (3 4))",
    "MULTILINESTRING Z ((0 0 1, 1 1 2), (2 2 3, 3 3 4))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5), (5.1 5.1, 5.2 5.1, 5.2 5.2, 5.1 5.1)))",
    "MULTIPOLYGON EMPTY",
    "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))",
    "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 2)), MULTIPOINT EMPTY)",
    "GEOMETRYCOLLECTION EMPTY",
    "CIRCULARSTRING (0 0, 1 1, 2 0)",
    "COMPOUNDCURVE ((0 0, 1 1), CIRCULARSTRING (1 1, 2 2, 3 1))",
    "CURVEPOLYGON (CIRCULARSTRING (0 0, 1 1, 2 0, 1 -1, 0 0))",
    "TIN (((0 0, 1 0, 0 1, 0 0)))",
    "POLYHEDRALSURFACE Z (((0 0 0, 1 0 0, 0 1 0, 0 0 0)))",
    "TRIANGLE ((0 0, 1 0, 0 1, 0 0))",
];

#[test]
fn text_is_itself() {
    for text in TEXTS {
        assert_eq!(wkt::to_string(&wkt::parse(text).unwrap()).unwrap(), text);
    }
    for (text, same) in [
        ("SRID=4326;point z(1 2 3)", "POINT Z (1 2 3)"),
        ("POINTZM(1 2 3 4)", "POINT ZM (1 2 3 4)"),
        ("POINT (1 2 3)", "POINT Z (1 2 3)"),
        ("MULTIPOINT (1 2, 3 4)", "MULTIPOINT ((1 2), (3 4))"),
        ("LINESTRING (1e300 1e-7, .5 -0)", "LINESTRING (1e+300 1e-7, 0.5 -0)"),
        // Each geometry has the dimensions after its own name.
        (
            "GEOMETRYCOLLECTION Z (POINT EMPTY, POINT Z EMPTY)",
            "GEOMETRYCOLLECTION Z (POINT EMPTY, POINT Z EMPTY)",
        ),
        (
            "GEOMETRYCOLLECTION (POINT (1 2), POINT (1 2 3))",
            "GEOMETRYCOLLECTION (POINT (1 2), POINT Z (1 2 3))",
        ),
        ("MULTIPOINT Z ((1 2 3), POINT M (1 2 4), EMPTY)", "MULTIPOINT Z ((1 2 3), POINT M (1 2 4), EMPTY)"),
        ("MULTISURFACE (((0 0, 1 0, 1 1, 0 0)))", "MULTISURFACE (((0 0, 1 0, 1 1, 0 0)))"),
        ("MULTISURFACE (POLYGON EMPTY)", "MULTISURFACE (EMPTY)"),
    ] {
        assert_eq!(wkt::to_string(&wkt::parse(text).unwrap()).unwrap(), same);
    }
    for text in [
        "",
        "POINT",
        "POINT (1)",
        "POINT (1 2) 3",
        "POINT (1 2",
        "CIRCLE (1 2)",
        "SRID=1",
        "MULTIPOINT (LINESTRING (1 2))",
        "GEOMETRYCOLLECTION ((1 2))",
        "GEOMETRYCOLLECTION (EMPTY)",
        "MULTIPOINT Z ((1 2))",
        "LINESTRING (1 2, 3 4 5)",
    ] {
        assert!(wkt::parse(text).is_err(), "{text}");
    }
    let deep = "GEOMETRYCOLLECTION (".repeat(100_000);
    assert!(wkt::parse(&deep).is_err());
}

#[test]
fn geojson_is_itself() {
    for text in TEXTS.iter().filter(|text| !text.contains(" M (") && !text.contains("ZM")) {
        let wkb = wkt::parse(text).unwrap();
        match geojson::to_string(&wkb) {
            Ok(json) => {
                let back = wkt::to_string(&geojson::parse(&json).unwrap()).unwrap();
                // An empty list of coordinates does not say which dimensions it has not.
                assert_eq!(&back, text, "{json}");
            }
            Err(_) => {
                assert!(["CIR", "COM", "CUR", "TIN", "POLYH", "TRI"].iter().any(|it| text.starts_with(it)))
            }
        }
    }
    let measured = wkt::parse("POINT ZM (1 2 3 4)").unwrap();
    assert_eq!(geojson::to_string(&measured).unwrap(), r#"{"type":"Point","coordinates":[1,2,3]}"#);
    for json in [
        "1",
        "{}",
        r#"{"type":"Circle","coordinates":[1,2]}"#,
        r#"{"type":"Point","coordinates":[1]}"#,
        r#"{"type":"Point"}"#,
        r#"{"type":"Point","coordinates":[null,2]}"#,
        r#"{"type":"Point","coordinates":[1,null,3]}"#,
        r#"{"type":"LineString","coordinates":[[1,2],[3,"4"]]}"#,
        r#"{"type":"Point","coordinates":[1e999,2]}"#,
    ] {
        assert!(geojson::parse(json).is_err(), "{json}");
    }
}

#[test]
fn boxes() {
    let meets = |numbers: &[f64], text: &str, curved| {
        BBox::of_numbers(numbers).unwrap().intersects(&wkt::parse(text).unwrap(), curved).unwrap()
    };
    let unit = [0.0, 0.0, 1.0, 1.0];
    assert!(meets(&unit, "POINT (1 1)", false) && !meets(&unit, "POINT (1 1.1)", false));
    assert!(!meets(&unit, "POINT EMPTY", false) && !meets(&unit, "POINT EMPTY", true));
    assert!(meets(&unit, "LINESTRING (-1 2, 2 -1)", false));
    // The course of an edge of a geography is unknown.
    assert!(
        meets(&unit, "LINESTRING (50 50, 60 60)", true) && !meets(&unit, "LINESTRING (50 50, 60 60)", false)
    );
    let around = [170.0, -1.0, -170.0, 1.0];
    assert!(meets(&around, "POINT (175 0)", true) && meets(&around, "POINT (-175 0)", false));
    assert!(!meets(&around, "MULTIPOINT (0 0, 10 0)", true));
    assert!(!meets(&[0.0, 0.0, 5.0, 1.0, 1.0, 6.0], "POINT Z (0 0 4)", false));
    for (text, is_in) in [("POINT (0 0)", true), ("POINT Z (0 0 NaN)", false), ("POINT M (0 0 9)", true)] {
        assert_eq!(meets(&[0.0, 0.0, 5.0, 1.0, 1.0, 6.0], text, false), is_in, "{text}");
        assert_eq!(meets(&[0.0, 0.0, 5.0, 1.0, 1.0, 6.0], text, true), is_in, "{text}");
    }
    assert!(BBox::new(0.0, 0.0, 1.0, 1.0).unwrap().intersects(&[1, 1, 0, 0], false).is_err());
    assert!(BBox::new(0.0, 1.0, 0.0, 0.0).is_err() && BBox::new(f64::NAN, 0.0, 0.0, 0.0).is_err());
}

#[test]
fn damage_is_an_error_or_another_geometry() {
    for text in TEXTS {
        let good = wkt::parse(text).unwrap();
        for at in 0..good.len() {
            assert!(Extent::of(&good[..at]).is_err(), "{text} {at}");
            for value in [0, 1, 0x7f, 0xff, good[at] ^ 1, good[at] ^ 0x80] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let is_good = Extent::of(&bytes).is_ok();
                assert_eq!(wkt::to_string(&bytes).is_ok(), is_good);
                let _ = (
                    geojson::to_string(&bytes),
                    BBox::new(0.0, 0.0, 1.0, 1.0).unwrap().intersects(&bytes, true),
                );
            }
        }
    }
}

/// A generator of random geometries in bytes: any kind, dimensions and byte order at each place.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn number(&mut self) -> f64 {
        match self.below(8) {
            0 => f64::NAN,
            1 => [f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE][self.below(4) as usize],
            2 => f64::from_bits(self.below(u64::MAX)),
            _ => self.below(1000) as f64 / 8.0 - 50.0,
        }
    }

    fn geometry(&mut self, kinds: &[Kind], depth: usize, out: &mut Vec<u8>) {
        let kind = kinds[self.below(kinds.len() as u64) as usize];
        let code = kind as u32 + 1000 * self.below(4) as u32;
        let width = [2, 3, 3, 4][code as usize / 1000];
        let is_little = self.below(2) == 0;
        let u32s = |out: &mut Vec<u8>, n: u32| {
            out.extend(if is_little { n.to_le_bytes() } else { n.to_be_bytes() });
        };
        out.push(u8::from(is_little));
        u32s(out, code);
        let position = |random: &mut Self, out: &mut Vec<u8>, is_empty: bool| {
            for _ in 0..width {
                let number = if is_empty { f64::NAN } else { random.number() };
                out.extend(if is_little { number.to_le_bytes() } else { number.to_be_bytes() });
            }
        };
        let members = members_of(kind);
        match kind {
            Kind::Point => {
                let is_empty = self.below(3) == 0;
                position(self, out, is_empty);
            }
            Kind::LineString | Kind::CircularString => {
                let n = self.below(4) as u32;
                u32s(out, n);
                (0..n).for_each(|_| position(self, out, false));
            }
            Kind::Polygon | Kind::Triangle => {
                let rings = self.below(3) as u32;
                u32s(out, rings);
                for _ in 0..rings {
                    let n = self.below(4) as u32;
                    u32s(out, n);
                    (0..n).for_each(|_| position(self, out, false));
                }
            }
            _ => {
                let n = if depth == 0 { 0 } else { self.below(4) as u32 };
                u32s(out, n);
                (0..n).for_each(|_| self.geometry(&members, depth - 1, out));
            }
        }
    }
}

fn members_of(kind: Kind) -> Vec<Kind> {
    use Kind::*;
    match kind {
        MultiPoint => vec![Point],
        MultiLineString => vec![LineString],
        MultiPolygon | PolyhedralSurface => vec![Polygon],
        Tin => vec![Triangle],
        CompoundCurve => vec![LineString, CircularString],
        CurvePolygon | MultiCurve => vec![LineString, CircularString, CompoundCurve],
        MultiSurface => vec![Polygon, CurvePolygon],
        _ => Kind::ALL.to_vec(),
    }
}

/// Records all calls of a walk. All NaNs look the same.
#[derive(Default, Debug, PartialEq)]
struct Told(Vec<String>);

impl wkb::Visitor for Told {
    fn begin(&mut self, kind: Kind, dimensions: Dimensions, parts: u32) {
        self.0.push(format!("{kind:?} {dimensions:?} {parts}"));
    }

    fn ring(&mut self, positions: u32) {
        self.0.push(format!("ring {positions}"));
    }

    fn position(&mut self, position: [f64; 4]) {
        self.0
            .push(format!("{:?}", position.map(|number| if number.is_nan() { 1 } else { number.to_bits() })));
    }

    fn end(&mut self) {
        self.0.push("end".to_owned());
    }
}

fn told(wkb: &[u8]) -> Told {
    let mut told = Told::default();
    wkb::walk(wkb, &mut told).unwrap();
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 20_000 }))]

    #[test]
    fn any_geometry_is_itself_as_text(seed in 1u64..) {
        let mut wkb = Vec::new();
        Random(seed).geometry(&Kind::ALL, 4, &mut wkb);
        let text = wkt::to_string(&wkb).unwrap();
        let back = wkt::parse(&text);
        prop_assert!(back.is_ok(), "{text}: {back:?}");
        let back = back.unwrap();
        prop_assert_eq!(told(&back), told(&wkb), "{}", text);
        prop_assert_eq!(wkt::to_string(&back).unwrap(), text);
    }
}

#[test]
fn a_height_in_any_position_is_kept() {
    for (json, text) in [
        (r#"{"type":"LineString","coordinates":[[1,2],[3,4,5]]}"#, "LINESTRING Z (1 2 NaN, 3 4 5)"),
        (r#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#, "MULTIPOINT ((1 2), (3 4))"),
        (
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[0,0],[1,0],[1,1,9],[0,0]]]]}"#,
            "MULTIPOLYGON Z (((0 0 NaN, 1 0 NaN, 1 1 NaN, 0 0 NaN)), ((0 0 NaN, 1 0 NaN, 1 1 9, 0 0 NaN)))",
        ),
        (r#"{"type":"Point","coordinates":[]}"#, "POINT EMPTY"),
    ] {
        assert_eq!(wkt::to_string(&geojson::parse(json).unwrap()).unwrap(), text);
    }
}

#[test]
fn coordinates_that_json_has_not_are_told() {
    for (text, said) in [
        ("POINT (inf 2)", "infinite"),
        ("POINT (1 -inf)", "infinite"),
        ("POINT (NaN 2)", "NaN"),
        ("POINT Z (NaN NaN 3)", "NaN"),
        ("POINT Z (1 2 inf)", "infinite"),
        ("LINESTRING (0 0, NaN NaN)", "NaN"),
        ("MULTIPOINT ((1 2), (inf 4))", "infinite"),
        ("GEOMETRYCOLLECTION (POLYGON ((0 0, 1 0, inf 1, 0 0)))", "infinite"),
    ] {
        let mut out = String::from("x");
        let error = geojson::write_to(&wkt::parse(text).unwrap(), &mut out).unwrap_err().to_string();
        assert!(error.contains(said) && out == "x", "{text}: {error}, {out}");
    }
    for (text, json) in [
        ("POINT EMPTY", r#"{"type":"Point","coordinates":[]}"#),
        ("MULTIPOINT ((1 2), EMPTY)", r#"{"type":"MultiPoint","coordinates":[[1,2],[]]}"#),
        ("LINESTRING Z (1 2 NaN, 3 4 5)", r#"{"type":"LineString","coordinates":[[1,2],[3,4,5]]}"#),
        ("POINT M (1 2 inf)", r#"{"type":"Point","coordinates":[1,2]}"#),
    ] {
        assert_eq!(geojson::to_string(&wkt::parse(text).unwrap()).unwrap(), json, "{text}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_walked_over(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1u8), 0..20u8, any::<u8>()], 0..200)) {
        let (mut out, walked) = (String::from("x"), Extent::of(&bytes).is_ok());
        prop_assert_eq!(wkt::write_to(&bytes, &mut out).is_ok(), walked);
        prop_assert!(walked || out == "x");
    }

    #[test]
    fn numbers_come_back(x in any::<f64>(), y in any::<f64>()) {
        prop_assume!(x.is_finite() && y.is_finite());
        let point = wkb::point(x + 0.0, y + 0.0);
        let text = wkt::to_string(&point).unwrap();
        prop_assert_eq!(Extent::of(&wkt::parse(&text).unwrap()).unwrap(), Extent::of(&point).unwrap());
        prop_assert_eq!(geojson::parse(&geojson::to_string(&point).unwrap()).map(|it| Extent::of(&it).unwrap()).unwrap(), Extent::of(&point).unwrap());
    }
}
