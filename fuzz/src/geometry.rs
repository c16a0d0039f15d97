//! Geometries: well-known binary, and the texts of them.

use crate::memory::earned;
use marquetry::geo::{BBox, GeoParquet, geojson, positions, wkt};

/// Parses a geometry in well-known binary, if it is one. Its text must give the geometry again, and boxes around it
/// must meet it.
pub fn geometry(data: &[u8]) {
    earned((1 << 20) + 256 * data.len(), || {
        let world = BBox::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY);
        let world = world.expect("a box");
        let (mut count, mut has_place) = (0, false);
        let shape = positions(data, |[x, y, ..]| {
            count += 1;
            has_place |= !x.is_nan() && !y.is_nan();
        });
        let text = wkt::to_string(data);
        let json = geojson::to_string(data);
        assert_eq!(shape.is_ok(), text.is_ok());
        let is_met = [false, true].map(|is_curved| world.intersects(data, is_curved));
        let (Ok(shape), Ok(text)) = (shape, text) else {
            assert!(json.is_err() && is_met.iter().all(Result::is_err));
            return;
        };
        let is_met = is_met.map(|met| met.expect("a geometry"));
        assert!(!has_place || is_met == [true; 2], "{text}");
        let back = wkt::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(wkt::to_string(&back).ok(), Some(text));
        let mut again = 0;
        let same = positions(&back, |_| again += 1).expect("a geometry");
        assert_eq!((same.code, again), (shape.code, count));
        if let Some(back) = json.ok().and_then(|json| geojson::parse(&json).ok()) {
            positions(&back, |_| ()).expect("a geometry");
        }
    });
}

/// A text that is perhaps well-known text, GeoJSON, or the metadata of GeoParquet.
pub fn geometry_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    earned((1 << 20) + 4_096 * data.len(), || {
        for wkb in [wkt::parse(text), geojson::parse(text)].into_iter().flatten() {
            let shown = wkt::to_string(&wkb).expect("what was parsed");
            let back = wkt::parse(&shown).unwrap_or_else(|error| panic!("{shown}: {error}"));
            assert_eq!(wkt::to_string(&back).ok(), Some(shown));
        }
        if let Ok(geo) = GeoParquet::parse(text) {
            geo.problems();
            for (_, column) in geo.columns() {
                std::hint::black_box((column.covering(), column.bbox(), column.geometry_types()));
            }
        }
    });
}
