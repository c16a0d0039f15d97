//! Geometries in well-known binary, as text and as GeoJSON.

use marquetry_geo::{BBox, Extent, geojson, wkb, wkt};
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
    // Where the edge of a geography runs is not known.
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
