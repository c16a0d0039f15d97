//! Boxes of geometries in whole files: with GeoParquet's covering columns pages are left out, and no row is lost.

use crate::arrays::Random;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Float32Array, Float64Array, Int64Array, RecordBatch, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, Schema};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use marquetry::file::metadata::KeyValue;
use marquetry::file::properties::WriterProperties;
use marquetry::geo::wkt;
use marquetry::predicate::{BBox, Predicate, col};
use marquetry::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use std::sync::Arc;

/// The positions of a line, or of points if `is_points`; and the box that a writer gives it, which may go across the antimeridian.
#[derive(Debug, Clone)]
struct Shape {
    positions: Vec<(f64, f64)>,
    is_points: bool,
    covering: (f64, f64, f64, f64),
}

fn shape(random: &mut Random, at: f64, wraps: bool) -> Shape {
    let mut near = |middle: f64| middle + (random.below(200) as f64 - 100.0) / 33.0;
    let mut positions = vec![(near(at), near(at / 3.0)), (near(at), near(at / 3.0))];
    let mut across = None;
    if wraps && at > 170.0 {
        positions[1].0 = -positions[1].0.min(180.0);
        positions[0].0 = positions[0].0.min(180.0);
        across = Some((positions[0].0, positions[1].0));
    }
    let bound =
        |pick: fn(f64, f64) -> f64, of: fn(&(f64, f64)) -> f64| pick(of(&positions[0]), of(&positions[1]));
    let (x0, x1) = across.unwrap_or((bound(f64::min, |it| it.0), bound(f64::max, |it| it.0)));
    let covering = (x0, bound(f64::min, |it| it.1), x1, bound(f64::max, |it| it.1));
    Shape { positions, is_points: wraps, covering }
}

impl Shape {
    fn wkb(&self) -> Vec<u8> {
        let [(a, b), (c, d)] = self.positions[..] else { unreachable!() };
        let name = if self.is_points { "MULTIPOINT" } else { "LINESTRING" };
        wkt::parse(&format!("{name} ({a} {b}, {c} {d})")).unwrap()
    }

    fn is_in(&self, (x0, y0, x1, y1): (f64, f64, f64, f64), is_curved: bool) -> bool {
        if is_curved {
            let is_x = |x: f64| if x0 <= x1 { x >= x0 && x <= x1 } else { x >= x0 || x <= x1 };
            return !self.is_points || self.positions.iter().any(|(x, y)| is_x(*x) && *y >= y0 && *y <= y1);
        }
        let [(a, b), (c, d)] = self.positions[..] else { unreachable!() };
        let (left, right, low, high) = (a.min(c), a.max(c), b.min(d), b.max(d));
        let is_x = if x0 <= x1 { right >= x0 && left <= x1 } else { right >= x0 || left <= x1 };
        is_x && high >= y0 && low <= y1
    }
}

/// Rounds to a float outward, as a careful writer does.
fn outward(value: f64, is_up: bool) -> f32 {
    let near = value as f32;
    match is_up {
        true if f64::from(near) < value => near.next_up(),
        false if f64::from(near) > value => near.next_down(),
        _ => near,
    }
}

fn written(shapes: &[Option<Shape>], is_float: bool, geo: &str) -> Bytes {
    let numbers = |of: fn(&Shape) -> f64, is_up: bool| -> ArrayRef {
        let each = shapes.iter().map(|shape| shape.as_ref().map_or(0.0, of));
        match is_float {
            true => Arc::new(each.map(|value| outward(value, is_up)).collect::<Float32Array>()),
            false => Arc::new(each.collect::<Float64Array>()),
        }
    };
    let data_type = if is_float { DataType::Float32 } else { DataType::Float64 };
    let names = ["xmin", "ymin", "xmax", "ymax"];
    let fields: Fields = names.iter().map(|name| Field::new(*name, data_type.clone(), false)).collect();
    let columns = vec![
        numbers(|it| it.covering.0, false),
        numbers(|it| it.covering.1, false),
        numbers(|it| it.covering.2, true),
        numbers(|it| it.covering.3, true),
    ];
    let nulls = NullBuffer::from_iter(shapes.iter().map(Option::is_some));
    let bbox = StructArray::new(fields, columns, Some(nulls));
    let geometries: BinaryArray = shapes.iter().map(|shape| shape.as_ref().map(Shape::wkb)).collect();
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("geom", DataType::Binary, true),
        Field::new("bbox", bbox.data_type().clone(), true),
    ]);
    let ids = Int64Array::from_iter_values(0..shapes.len() as i64);
    let columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(geometries), Arc::new(bbox)];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(20)
        .set_write_batch_size(20)
        .set_max_row_group_row_count(Some(400))
        .set_key_value_metadata(Some(vec![KeyValue::new("geo".to_owned(), Some(geo.to_owned()))]));
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    Bytes::from(file)
}

const COVERING: &str = r#""covering": {"bbox": {"xmin": ["bbox", "xmin"], "ymin": ["bbox", "ymin"],
    "xmax": ["bbox", "xmax"], "ymax": ["bbox", "ymax"]}}"#;

fn geo(rest: &str) -> String {
    format!(
        r#"{{"version": "1.1.0", "primary_column": "geom", "columns": {{"geom": {{"encoding": "WKB",
            "geometry_types": [], {rest}}}}}}}"#
    )
}

fn ids(file: &Bytes, predicate: &Predicate) -> Vec<i64> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), ArrowReaderOptions::new())
            .unwrap()
            .with_predicate(predicate.clone())
            .build()
            .unwrap();
    let batches = reader.map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec());
    batches.flatten().collect()
}

/// Returns the number of rows that pruning of pages and row groups leaves.
fn rows_left(file: &Bytes, predicate: &Predicate) -> u64 {
    let metadata = marquetry::open_bytes(file.clone()).unwrap().metadata().clone();
    let bound = predicate.in_file(&metadata).bind(metadata.schema()).unwrap();
    let (options, report) = (PruneOptions::default(), &mut PruneReport::default());
    let each = 0..metadata.num_row_groups();
    each.map(|group| match prune_row_group(file, &metadata, group, &bound, &options, report).unwrap() {
        RowGroupMatch::None => 0,
        RowGroupMatch::All => metadata.row_group(group).num_rows(),
        RowGroupMatch::Some(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
    })
    .sum()
}

#[test]
fn covering_columns_lose_no_row() {
    let random = &mut Random(7);
    let mut left_out = 0;
    for case in 0..60 {
        let rows = random.pick(&[10, 300, 1_000]);
        let (wraps, is_float, is_curved) = (random.one_in(2), random.one_in(2), random.one_in(4));
        let shapes: Vec<Option<Shape>> = (0..rows)
            .map(|row| {
                let at = row as f64 / rows as f64 * 350.0 - 175.0;
                (!random.one_in(9)).then(|| shape(random, at, wraps))
            })
            .collect();
        let edges = if is_curved { r#""edges": "spherical", "# } else { "" };
        let types = if wraps { r#""geometry_types": ["MultiPoint"], "# } else { "" };
        let file = written(&shapes, is_float, &geo(&format!("{edges}{types}{COVERING}")));
        for _ in 0..12 {
            let (x, y) = (random.below(360) as f64 - 180.0, random.below(130) as f64 - 65.0);
            let x1 = if x + 5.3 > 180.0 { x + 5.3 - 360.0 } else { x + 5.3 };
            let asked = (x, y, x1, y + 7.7);
            let inside = col("geom").bbox_intersects(BBox::new(asked.0, asked.1, asked.2, asked.3).unwrap());
            let expected = |is_negated: bool| -> Vec<i64> {
                let is_in = |shape: &Option<Shape>| {
                    shape.as_ref().is_some_and(|shape| shape.is_in(asked, is_curved) != is_negated)
                };
                let rows = shapes.iter().enumerate().filter(|(_, shape)| is_in(shape));
                rows.map(|(row, _)| row as i64).collect()
            };
            let what = format!("case {case}: {inside}, curved: {is_curved}");
            assert_eq!(ids(&file, &inside), expected(false), "{what}");
            assert_eq!(ids(&file, &!inside.clone()), expected(true), "not, {what}");
            let either = inside.clone().or(col("id").lt(3));
            let mut both = expected(false);
            both.extend((0..rows as i64).filter(|id| *id < 3));
            both.sort_unstable();
            both.dedup();
            assert_eq!(ids(&file, &either), both, "or, {what}");
            left_out += usize::from(rows_left(&file, &inside) < rows as u64 / 2);
            assert_eq!(rows_left(&file, &!inside), rows as u64, "{what}");
        }
    }
    assert!(left_out > 300, "{left_out}");
}

#[test]
fn metadata_that_is_of_no_use_adds_nothing() {
    let random = &mut Random(1);
    let shapes: Vec<Option<Shape>> =
        (0..300).map(|row| Some(shape(random, f64::from(row) - 150.0, false))).collect();
    let inside = Predicate::parse("bbox_intersects(geom, 0, -10, 1, 10)").unwrap();
    let expected = ids(&written(&shapes, false, "{"), &inside);
    assert!(!expected.is_empty());
    let elsewhere = COVERING.replace("\"bbox\", ", "\"box\", ");
    for geo in [
        "{".to_owned(),
        "[]".to_owned(),
        r#"{"columns": 5}"#.to_owned(),
        geo(&elsewhere),
        geo(r#""covering": {"bbox": {"xmin": ["bbox"]}}"#),
        geo(&COVERING.replace("\"bbox\", \"xmin\"", "\"id\", \"xmin\"")),
    ] {
        let file = written(&shapes, false, &geo);
        assert_eq!(ids(&file, &inside), expected, "{geo}");
        assert_eq!(rows_left(&file, &inside), 300, "{geo}");
    }
    let file = written(&shapes, false, &geo(COVERING));
    assert_eq!(ids(&file, &inside), expected);
    assert!(rows_left(&file, &inside) <= 60);
}
