//! Boxes of geometries: what is in them, and that pruning loses none.

use crate::data::Random;
use crate::sample::{leaf_values, read};
use crate::soundness::is_sound;
use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits};
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::predicate::{BBox, BoundPredicate, LeafValues, Predicate, col};
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use marquetry_core::schema::Schema;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_core::write::{ColumnSettings, ColumnWriter, FileSettings, FileWriter, Workspace};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, StringViews, Values};
use marquetry_format::{BoundingBox, GeospatialStatistics};
use marquetry_geo::wkt;
use std::sync::Arc;

/// A geometry as a list of positions of x, y and perhaps z.
#[derive(Clone)]
struct Drawn {
    name: &'static str,
    positions: Vec<(f64, f64)>,
    z: Option<f64>,
}

impl Drawn {
    fn random(random: &mut Random, center: (f64, f64), is_of_points: bool) -> Drawn {
        let name = match is_of_points {
            true => random.pick(&["POINT", "POINT", "MULTIPOINT"]),
            false => random.pick(&["POINT", "LINESTRING", "POLYGON", "MULTIPOINT"]),
        };
        let count = match name {
            "POINT" => 1,
            _ => random.below(4),
        };
        let mut near = |middle: f64, most: f64| {
            let step = random.below(41) as f64 - 20.0;
            (middle + step / 4.0).clamp(-most, most)
        };
        let mut positions: Vec<_> =
            (0..count).map(|_| (near(center.0, 180.0), near(center.1, 90.0))).collect();
        // What goes across the antimeridian has positions on both sides.
        if random.one_in(8) && name != "POINT" {
            positions.iter_mut().step_by(2).for_each(|position| position.0 = -position.0);
        }
        if random.one_in(20) {
            positions.clear();
        }
        let z = random.one_in(4).then(|| random.below(10) as f64);
        Drawn { name, positions, z }
    }

    fn wkb(&self) -> Vec<u8> {
        let position = |(x, y): &(f64, f64)| match self.z {
            None => format!("{x} {y}"),
            Some(z) => format!("{x} {y} {z}"),
        };
        let all = self.positions.iter().map(position).collect::<Vec<_>>().join(", ");
        let has_z = if self.z.is_some() { " Z" } else { "" };
        let text = match (self.name, self.positions.is_empty()) {
            (name, true) => format!("{name}{has_z} EMPTY"),
            ("POLYGON", _) => format!("POLYGON{has_z} (({all}))"),
            (name, _) => format!("{name}{has_z} ({all})"),
        };
        wkt::parse(&text).unwrap()
    }

    /// By hand, and by other code than that which is tested.
    fn is_in(&self, asked: &[f64], is_geography: bool) -> bool {
        let n = asked.len() / 2;
        let (x0, y0, x1, y1) = (asked[0], asked[1], asked[n], asked[n + 1]);
        if self.positions.is_empty() {
            return false;
        }
        if let (3, Some(z)) = (n, self.z)
            && (z < asked[2] || z > asked[n + 2])
            && (!is_geography || self.name.ends_with("POINT"))
        {
            return false;
        }
        if is_geography {
            let is_x = |x: f64| if x0 <= x1 { x >= x0 && x <= x1 } else { x >= x0 || x <= x1 };
            return !self.name.ends_with("POINT")
                || self.positions.iter().any(|(x, y)| is_x(*x) && *y >= y0 && *y <= y1);
        }
        let least = |of: fn(&(f64, f64)) -> f64| self.positions.iter().map(of).fold(f64::INFINITY, f64::min);
        let most =
            |of: fn(&(f64, f64)) -> f64| self.positions.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        let (left, right) = (least(|it| it.0), most(|it| it.0));
        let is_x = if x0 <= x1 { right >= x0 && left <= x1 } else { right >= x0 || left <= x1 };
        is_x && most(|it| it.1) >= y0 && least(|it| it.1) <= y1
    }
}

/// A file of a column `geom` whose row groups are these, and its metadata.
fn written(logical: &str, groups: &[Vec<Option<Vec<u8>>>]) -> (Bytes, Arc<ParquetMetaData>) {
    let schema = Schema::parse(&format!("message m {{ optional binary geom{logical}; }}")).unwrap();
    let leaf = schema.column(0);
    let settings = ColumnSettings::default().with_page_rows(16);
    let (_, order) = SortOrder::for_writing(leaf, settings.total_order);
    let file_settings = FileSettings::default().with_column_orders(Some(vec![order]));
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), file_settings).unwrap();
    let mut workspace = Workspace::default();
    for group in groups {
        let mut writer = ColumnWriter::new(leaf, &settings).unwrap();
        let values = Values::Bytes(group.iter().flatten().collect::<StringViews>());
        let def = group.iter().map(|value| u8::from(value.is_some())).collect();
        let column =
            ShreddedColumn::flat(group.len(), DefinitionLevels::Levels(def), ColumnValues::Values(values));
        writer.write(&column, &mut workspace).unwrap();
        let chunk = writer.close(&mut workspace).unwrap().0;
        file.write_row_group(group.len() as u64, vec![chunk], None).unwrap();
    }
    let file = Bytes::from(file.finish().unwrap().0);
    let metadata = Arc::new(read_metadata(&file, &Limits::default()).unwrap().metadata);
    (file, metadata)
}

fn pruned(file: &Bytes, metadata: &ParquetMetaData, group: usize, bound: &BoundPredicate) -> RowGroupMatch {
    let report = &mut PruneReport::default();
    let kept = prune_row_group(file, metadata, group, bound, &PruneOptions::default(), report).unwrap();
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    kept
}

/// Random geometries, files and boxes: 600, or as many as `MARQUETRY_PRUNE_CASES` says.
#[test]
fn no_geometry_is_lost() {
    let cases = std::env::var("MARQUETRY_PRUNE_CASES").map_or(600, |cases| cases.parse().unwrap());
    let mut skipped = [0; 2];
    for seed in 0..cases {
        let random = &mut Random(seed);
        let is_geography = random.one_in(2);
        let is_of_points = is_geography && random.one_in(2);
        let size = random.pick(&[1, 3, 20, 60]);
        let groups: Vec<Vec<Option<Drawn>>> = (0..1 + random.below(5))
            .map(|_| {
                let x = random.pick(&[-178.0, -90.0, 0.0, 45.0, 178.0]);
                let center = (x, random.below(160) as f64 - 80.0);
                let drawn = (0..size)
                    .map(|_| (!random.one_in(10)).then(|| Drawn::random(random, center, is_of_points)));
                drawn.collect()
            })
            .collect();
        let stored: Vec<Vec<Option<Vec<u8>>>> =
            groups.iter().map(|group| group.iter().map(|it| it.as_ref().map(Drawn::wkb)).collect()).collect();
        let (file, metadata) = written(if is_geography { " (GEOGRAPHY)" } else { " (GEOMETRY)" }, &stored);
        let source: Arc<dyn Source> = Arc::new(file.clone());
        for _ in 0..6 {
            let (x, y) = (random.below(360) as f64 - 180.0, random.below(180) as f64 - 90.0);
            let (width, height) = (random.below(60) as f64, random.below(60) as f64);
            let east = if x + width > 180.0 { x + width - 360.0 } else { x + width };
            let asked = match random.one_in(4) {
                true => vec![x, y, 2.0, east, y + height, 5.0],
                false => vec![x, y, east, y + height],
            };
            for is_negated in [false, true] {
                let predicate = col("geom").bbox_intersects(BBox::of_numbers(&asked).unwrap());
                let predicate = if is_negated { !predicate } else { predicate };
                assert_eq!(Predicate::parse(&predicate.to_string()).unwrap(), predicate);
                let bound = predicate.bind(metadata.schema()).unwrap();
                for (group, drawn) in groups.iter().enumerate() {
                    let is_in = |it: &Option<Drawn>| {
                        it.as_ref().is_some_and(|it| it.is_in(&asked, is_geography) != is_negated)
                    };
                    let truth: Vec<bool> = drawn.iter().map(is_in).collect();
                    for want_keys in [false, true] {
                        let batch = read(&source, &metadata, group, 0, want_keys).unwrap();
                        let found = bound.evaluate(truth.len(), &[(0, leaf_values(&batch))]).unwrap();
                        assert_eq!(
                            found,
                            truth.iter().copied().collect::<Bitmap>(),
                            "case {seed}: {predicate}"
                        );
                    }
                    let kept = pruned(&file, &metadata, group, &bound);
                    is_sound(&kept, &truth, || format!("case {seed}, row group {group}: {predicate}"));
                    skipped[usize::from(is_geography)] += usize::from(kept == RowGroupMatch::None);
                }
            }
        }
    }
    assert!(skipped.iter().all(|skipped| *skipped > 0), "{skipped:?}");
}

/// Statistics that others write, and what is not to be concluded from them.
#[test]
fn statistics_are_believed_where_they_bound() {
    let bbox = |xmin, xmax| BoundingBox { xmin, xmax, ymin: 0.0, ymax: 10.0, ..BoundingBox::default() };
    let with_z = BoundingBox { zmin: Some(1.0), zmax: Some(2.0), ..bbox(0.0, 10.0) };
    let unknown = GeospatialStatistics::default();
    let of = |bbox: BoundingBox, types: &[i32]| GeospatialStatistics {
        bbox: Some(bbox),
        geospatial_types: Some(types.to_vec()),
    };
    let (flat, round) = (" (GEOMETRY)", " (GEOGRAPHY)");
    let (far, near, far_z) = ("20, 0, 30, 10", "5, 5, 6, 6", "5, 5, 7, 6, 6, 8");
    let cases = [
        (flat, of(bbox(0.0, 10.0), &[1, 2, 3]), far, true),
        (flat, of(bbox(0.0, 10.0), &[]), far, true),
        (flat, of(bbox(0.0, 10.0), &[1]), near, false),
        ("", of(bbox(0.0, 10.0), &[1]), far, true),
        (flat, unknown.clone(), far, false),
        (flat, of(bbox(0.0, 10.0), &[8]), far, false),
        (flat, of(bbox(f64::NAN, 10.0), &[1]), far, false),
        (flat, of(BoundingBox { ymin: 5.0, ymax: 1.0, ..bbox(0.0, 50.0) }, &[1]), "0, 80, 1, 90", false),
        // Across the antimeridian: what is in the middle is known of single points only.
        (flat, of(bbox(170.0, -170.0), &[1]), far, true),
        (flat, of(bbox(170.0, -170.0), &[2]), far, false),
        (flat, of(bbox(170.0, -170.0), &[4]), far, false),
        (flat, of(bbox(170.0, -170.0), &[2]), "20, 50, 30, 60", true),
        (flat, of(bbox(170.0, -170.0), &[1]), "175, 0, 176, 1", false),
        (round, of(bbox(170.0, -170.0), &[1, 1004]), far, true),
        (round, of(bbox(170.0, -170.0), &[1]), "160, 0, 171, 1", false),
        (round, of(bbox(170.0, -170.0), &[1]), "171, 0, -175, 1", false),
        (round, of(bbox(0.0, 10.0), &[1]), "160, 0, -160, 1", true),
        // Arcs are not where their ends are.
        (round, of(bbox(0.0, 10.0), &[1, 2]), far, false),
        (round, of(bbox(0.0, 10.0), &[7]), far, false),
        (round, of(bbox(0.0, 10.0), &[]), far, false),
        (flat, of(with_z.clone(), &[1001]), far_z, true),
        (flat, of(with_z.clone(), &[1001, 1]), far_z, false),
        (flat, of(with_z, &[]), far_z, false),
    ];
    for (logical, statistics, asked, is_skipped) in cases {
        let inside = wkt::parse("POINT (5 5)").unwrap();
        let (file, metadata) = written(logical, &[vec![Some(inside)]]);
        let mut thrift = metadata.to_thrift().unwrap();
        let meta = thrift.row_groups[0].columns[0].meta_data.as_mut().unwrap();
        meta.geospatial_statistics = Some(statistics.clone());
        let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
        let predicate = Predicate::parse(&format!("bbox_intersects(geom, {asked})")).unwrap();
        let kept = pruned(&file, &metadata, 0, &predicate.bind(metadata.schema()).unwrap());
        assert_eq!(kept == RowGroupMatch::None, is_skipped, "{logical} {statistics:?} {asked}");
        let kept = pruned(&file, &metadata, 0, &(!predicate).bind(metadata.schema()).unwrap());
        assert_ne!(kept, RowGroupMatch::None, "{statistics:?}");
    }
}

#[test]
fn what_is_no_geometry_is_an_error_with_its_place() {
    let schema = Schema::parse("message m { optional binary geom (GEOMETRY); }").unwrap();
    let bound = Predicate::parse("bbox_intersects(geom, 0, 0, 1, 1)").unwrap().bind(&schema).unwrap();
    let point = wkt::parse("POINT (0 0)").unwrap();
    let values = Values::Bytes([point.clone(), vec![1, 2], point].iter().collect::<StringViews>());
    let error = bound.evaluate(3, &[(0, LeafValues::flat(&values, None))]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated), "{error}");
    assert!(error.to_string().contains("value 1 of a batch"), "{error}");
    // What is null may have any bytes, and so may what no row has.
    let validity = Bitmap::from_iter([true, false, true]);
    let expected = Bitmap::from_iter([true, false, true]);
    assert_eq!(bound.evaluate(3, &[(0, LeafValues::flat(&values, Some(&validity)))]).unwrap(), expected);
    let dictionary = Dictionary::new(values);
    let keys = Values::W32(vec![0, 1, 2]);
    let leaf = |keys, validity| LeafValues::flat(keys, validity).with_dictionary(Some(&dictionary));
    assert!(bound.evaluate(3, &[(0, leaf(&keys, None))]).is_err());
    assert_eq!(bound.evaluate(3, &[(0, leaf(&keys, Some(&validity)))]).unwrap(), expected);
    assert_eq!(bound.evaluate(2, &[(0, leaf(&Values::W32(vec![2, 0]), None))]).unwrap().count_ones(0..2), 2);
}

#[test]
fn text_has_four_six_or_eight_numbers() {
    for (text, shown) in [
        ("bbox_intersects(geom, -1.5, 0, 1e2, +2)", "bbox_intersects(geom, -1.5, 0, 100, 2)"),
        ("BBOX_INTERSECTS(a.b,0,0,0,1,1,1)", "bbox_intersects(a.b, 0, 0, 0, 1, 1, 1)"),
        ("not bbox_intersects(g, 170, -inf, -170, inf)", "not (bbox_intersects(g, 170, -inf, -170, inf))"),
        ("any(bbox_intersects(g, 0, 0, 1, 1))", "any(bbox_intersects(g, 0, 0, 1, 1))"),
    ] {
        let parsed = Predicate::parse(text).unwrap();
        assert_eq!(parsed.to_string(), shown);
        assert_eq!(Predicate::parse(shown).unwrap(), parsed);
    }
    for (text, message) in [
        ("bbox_intersects(geom, 1, 2, 3)", "four numbers"),
        ("bbox_intersects(geom, 0, 2, 0, 1)", "from 2 to 1"),
        ("bbox_intersects(geom, 0, 2, 0, 'x')", "a number expected"),
        ("bbox_intersects(geom, nan, 2, 0, 3)", "NaN"),
    ] {
        let error = Predicate::parse(text).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("character"), "{error}");
    }
    let schema = Schema::parse("message m { required binary s (STRING); required int32 i; }").unwrap();
    for column in ["s", "i"] {
        let predicate = col(column).bbox_intersects(BBox::new(0.0, 0.0, 1.0, 1.0).unwrap());
        assert!(predicate.bind(&schema).unwrap_err().to_string().contains("GEOMETRY"));
    }
}
