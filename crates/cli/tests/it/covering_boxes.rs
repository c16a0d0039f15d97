//! Covering boxes of GeoParquet across the antimeridian: what they leave out is what a geometry itself says.

use crate::command::{Folder, success};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use marquetry_geo::{BBox, wkt};
use std::collections::HashMap;
use std::sync::Arc;

/// Numbers that look random, always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// A longitude near the antimeridian, near Greenwich, at either end, or anywhere.
    fn x(&mut self) -> f64 {
        let off = self.below(10_000) as f64 / 1000.0;
        match self.below(6) {
            0 => 180.0 - off,
            1 => off - 180.0,
            2 => [180.0, -180.0, 0.0, -0.0, 1e-60, -1e-60][self.below(6) as usize],
            3 => off - 5.0,
            _ => self.below(360_000) as f64 / 1000.0 - 180.0,
        }
    }

    fn y(&mut self) -> f64 {
        self.below(180_000) as f64 / 1000.0 - 90.0
    }

    /// Points near each other, or far from each other; one in ten is empty, one in ten NULL.
    fn points(&mut self) -> Option<String> {
        match self.below(10) {
            0 => return None,
            1 => return Some("MULTIPOINT EMPTY".to_owned()),
            2 => return Some(format!("POINT ({} {})", self.x(), self.y())),
            _ => {}
        }
        let (x, y) = (self.x(), self.y());
        let is_near = self.below(3) > 0;
        let points = (0..=self.below(4)).map(|_| {
            let (dx, dy) = (self.below(8000) as f64 / 1000.0 - 4.0, self.below(1000) as f64 / 1000.0);
            let around = |x: f64| {
                if x > 180.0 {
                    x - 360.0
                } else if x < -180.0 {
                    x + 360.0
                } else {
                    x
                }
            };
            match is_near {
                true => format!("({} {})", around(x + dx), (y + dy).min(90.0)),
                false => format!("({} {})", self.x(), self.y()),
            }
        });
        Some(format!("MULTIPOINT ({})", points.collect::<Vec<_>>().join(", ")))
    }

    fn bbox(&mut self) -> BBox {
        let (x, y) = (self.x(), self.y());
        let width = [0.0, 1.0, 10.0, 170.0][self.below(4) as usize];
        let xmax = if self.below(4) == 0 { self.x() } else { x + width };
        // Across the antimeridian.
        let xmax = if xmax > 180.0 && self.below(2) == 0 { xmax - 360.0 } else { xmax };
        let height = self.below(60) as f64;
        BBox::new(x, y, xmax, y + height).unwrap()
    }
}

fn file(folder: &Folder, name: &str, edges: &str, texts: &[Option<String>]) -> String {
    let parameters = format!(r#"{{"edges": "{edges}"}}"#);
    let extension = HashMap::from([
        ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
        ("ARROW:extension:metadata".to_owned(), parameters),
    ]);
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("geom", DataType::Binary, true).with_metadata(extension),
    ]));
    let wkb: Vec<Option<Vec<u8>>> =
        texts.iter().map(|text| text.as_ref().map(|text| wkt::parse(text).unwrap())).collect();
    let values = BinaryArray::from_iter(wkb.iter().map(Option::as_deref));
    let ids = Int64Array::from_iter_values(0..texts.len() as i64);
    let batch =
        RecordBatch::try_new(schema.clone(), vec![Arc::new(ids) as ArrayRef, Arc::new(values)]).unwrap();
    let path = folder.path(name);
    let mut file = marquetry::create(&path, schema).unwrap();
    file.write(&batch).unwrap();
    file.close().unwrap();
    path
}

fn ids(path: &str, bbox: &BBox) -> Vec<i64> {
    let wanted = marquetry::predicate::col("geom").bbox_intersects(*bbox);
    let rows = marquetry::open(path).unwrap().columns(["id"]).filter(wanted).batches().unwrap();
    let mut ids: Vec<i64> =
        rows.flat_map(|rows| rows.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    ids.sort_unstable();
    ids
}

/// How many boxes begin east of where they end.
fn wrapped(path: &str) -> usize {
    let rows = marquetry::open(path).unwrap().columns(["bbox"]).batches().unwrap();
    let count = |rows: RecordBatch| {
        let boxes = rows.column(0).as_struct();
        let numbers = |name: &str| boxes.column_by_name(name).unwrap().as_primitive::<Float32Type>().clone();
        let (xmin, xmax) = (numbers("xmin"), numbers("xmax"));
        (0..boxes.len()).filter(|row| boxes.is_valid(*row) && xmin.value(*row) > xmax.value(*row)).count()
    };
    rows.map(|rows| count(rows.unwrap())).sum()
}

#[test]
fn boxes_leave_out_what_geometries_are_not_in() {
    let folder = Folder::new("covering_boxes");
    let mut random = Random(88_172_645_463_325_252);
    for edges in ["spherical", "planar"] {
        let texts: Vec<Option<String>> = (0..3_000).map(|_| random.points()).collect();
        let plain = file(&folder, &format!("{edges}.parquet"), edges, &texts);
        let wkb: Vec<Option<Vec<u8>>> =
            texts.iter().map(|text| text.as_ref().map(|text| wkt::parse(text).unwrap())).collect();
        let covered: Vec<String> = ["1.1", "2.0"]
            .into_iter()
            .map(|version| {
                let to = folder.path(&format!("{edges}-{version}.parquet"));
                let pages = ["--page-rows", "20", "--row-group-rows", "900", "--sort-by", "hilbert(geom)"];
                let written = ["--geoparquet", version, "--covering", "--report", "none"];
                success(&[&["convert", &plain, &to], &written[..], &pages[..]].concat());
                success(&["verify", "--deep", &to]);
                // In the plane no box is across the antimeridian.
                assert_eq!(wrapped(&to) > 300, edges == "spherical", "{} boxes", wrapped(&to));
                to
            })
            .collect();
        let split = folder.path(&format!("{edges}-parts"));
        std::fs::create_dir_all(&split).unwrap();
        success(&["split", &covered[0], "--rows", "1500", "--out-dir", &split]);
        let parts: Vec<String> = std::fs::read_dir(&split)
            .unwrap()
            .map(|part| part.unwrap().path().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(parts.len(), 2);
        for _ in 0..400 {
            let bbox = random.bbox();
            let is_in = |wkb: &Vec<u8>| bbox.intersects(wkb, edges == "spherical").unwrap();
            let expected: Vec<i64> =
                (0..wkb.len() as i64).filter(|id| wkb[*id as usize].as_ref().is_some_and(is_in)).collect();
            for path in std::iter::once(&plain).chain(&covered) {
                assert_eq!(ids(path, &bbox), expected, "{bbox} of {path}");
            }
            let mut of_parts: Vec<i64> = parts.iter().flat_map(|part| ids(part, &bbox)).collect();
            of_parts.sort_unstable();
            assert_eq!(of_parts, expected, "{bbox} of parts of {edges}");
        }
    }
}

#[test]
fn boxes_across_the_antimeridian_leave_pages_out() {
    let folder = Folder::new("covering_boxes_prune");
    // Around the Pacific, from north to south; each is on both sides of the antimeridian.
    let texts: Vec<Option<String>> = (0..2_000)
        .map(|i| {
            let y = f64::from(i) * 0.08 - 80.0;
            Some(format!("MULTIPOINT ((179.5 {y}), (-179 {y}))"))
        })
        .collect();
    let plain = file(&folder, "pacific.parquet", "spherical", &texts);
    let covered = folder.path("covered.parquet");
    let written = ["--geoparquet", "1.1", "--covering", "--report", "none", "--page-rows", "50"];
    success(&[&["convert", &plain, &covered], &written[..]].concat());
    assert_eq!(wrapped(&covered), 2_000);
    let pages = |condition: &str| {
        let explained = success(&["explain", &covered, "--where", condition, "--format", "json"]);
        let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
        let stages = explained["stages"].as_array().unwrap();
        stages.iter().filter_map(|stage| stage["rows"].as_u64()).min().unwrap()
    };
    // Nothing is between -170 and 170, and at 179 to 180 only the rows of these latitudes.
    assert_eq!(pages("bbox_intersects(geom, -170, -90, 170, 90)"), 0);
    let near = pages("bbox_intersects(geom, 179, 0, -178, 1)");
    assert!((10..=150).contains(&near), "{near}");
}
