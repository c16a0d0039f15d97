//! Bounding boxes and kinds of geometries.

use crate::files::{self, chunks};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::statistics::GeoBounds;
use marquetry_encoding::{StringViews, Values};
use marquetry_format::{BoundingBox, GeospatialStatistics};
use proptest::prelude::*;

fn geometry() -> LogicalType {
    LogicalType::Geometry { crs: None }
}

fn geography() -> LogicalType {
    LogicalType::Geography { crs: None, algorithm: None }
}

fn of(logical: &LogicalType, geometries: &[Vec<u8>]) -> Option<GeospatialStatistics> {
    let mut bounds = GeoBounds::of(Some(logical)).unwrap();
    bounds.update(&Values::Bytes(geometries.iter().collect::<StringViews>()), 0..geometries.len());
    bounds.finish()
}

/// Byte order, code, and as many numbers as there are.
fn little(code: u32, count: Option<u32>, numbers: &[f64]) -> Vec<u8> {
    let mut out = vec![1];
    out.extend(code.to_le_bytes());
    out.extend(count.iter().flat_map(|count| count.to_le_bytes()));
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    out
}

fn big(code: u32, count: Option<u32>, numbers: &[f64]) -> Vec<u8> {
    let mut out = vec![0];
    out.extend(code.to_be_bytes());
    out.extend(count.iter().flat_map(|count| count.to_be_bytes()));
    out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    out
}

fn collection(code: u32, members: &[Vec<u8>]) -> Vec<u8> {
    [little(code, Some(members.len() as u32), &[]), members.concat()].concat()
}

fn flat(x: (f64, f64), y: (f64, f64)) -> BoundingBox {
    BoundingBox { xmin: x.0, xmax: x.1, ymin: y.0, ymax: y.1, ..BoundingBox::default() }
}

fn found(bbox: Option<BoundingBox>, types: &[i32]) -> Option<GeospatialStatistics> {
    Some(GeospatialStatistics { bbox, geospatial_types: Some(types.to_vec()) })
}

#[test]
fn only_geometry_and_geography_have_them() {
    assert!(GeoBounds::of(None).is_none());
    assert!(GeoBounds::of(Some(&LogicalType::String)).is_none());
}

#[test]
fn both_byte_orders_are_read_member_by_member() {
    let line = [1.0, 9.0, -3.0, 4.0];
    let values = [little(2, Some(2), &line), big(2, Some(2), &line)];
    let expected = found(Some(flat((-3.0, 1.0), (4.0, 9.0))), &[2]);
    assert_eq!(of(&geometry(), &values[..1]), expected);
    assert_eq!(of(&geometry(), &values[1..]), expected);
    let mixed = collection(7, &[big(1, None, &[-3.0, 9.0]), collection(7, &[little(1, None, &[1.0, 4.0])])]);
    assert_eq!(of(&geometry(), &[mixed]), found(Some(flat((-3.0, 1.0), (4.0, 9.0))), &[7]));
}

#[test]
fn types_are_unique_iso_codes() {
    let values = [
        little(3001, None, &[1.0, 2.0, 3.0, 4.0]),
        little(1, None, &[1.0, 2.0]),
        little(2001, None, &[1.0, 2.0, 5.0]),
        little(1, None, &[1.0, 2.0]),
    ];
    let bbox = BoundingBox {
        zmin: Some(3.0),
        zmax: Some(3.0),
        mmin: Some(4.0),
        mmax: Some(5.0),
        ..flat((1.0, 1.0), (2.0, 2.0))
    };
    assert_eq!(of(&geometry(), &values), found(Some(bbox), &[1, 2001, 3001]));
}

#[test]
fn flags_in_the_code_count_as_iso_codes() {
    let mut with_srid = little(0xe000_0001, Some(4326), &[1.0, 2.0, 3.0, 4.0]);
    let expected = of(&geometry(), &[little(3001, None, &[1.0, 2.0, 3.0, 4.0])]);
    assert_eq!(of(&geometry(), &[with_srid.clone()]), expected);
    with_srid.pop();
    assert_eq!(of(&geometry(), &[with_srid]), None);
    let z = of(&geometry(), &[big(0x8000_0001, None, &[1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(z.geospatial_types, Some(vec![1001]));
}

#[test]
fn nan_is_skipped_in_its_dimension() {
    let nan = f64::NAN;
    let half = little(1, None, &[1.0, nan]);
    assert_eq!(of(&geometry(), std::slice::from_ref(&half)), found(None, &[1]));
    let values = [half, little(1, None, &[nan, 7.0]), little(1001, None, &[3.0, 8.0, nan])];
    assert_eq!(of(&geometry(), &values), found(Some(flat((1.0, 3.0), (7.0, 8.0))), &[1, 1001]));
}

#[test]
fn empty_geometries_have_a_type_and_no_box() {
    let values = [little(1, None, &[f64::NAN; 2]), little(2, Some(0), &[]), little(7, Some(0), &[])];
    assert_eq!(of(&geometry(), &values), found(None, &[1, 2, 7]));
}

#[test]
fn a_chunk_without_geometries_has_no_statistics() {
    assert_eq!(of(&geometry(), &[]), None);
}

#[test]
fn what_is_malformed_takes_the_statistics_of_the_chunk() {
    let good = little(1, None, &[1.0, 2.0]);
    let polygon = [little(3, Some(1), &[]), 2u32.to_le_bytes().to_vec(), vec![0; 32]].concat();
    for value in [collection(4, std::slice::from_ref(&good)), polygon, big(2002, Some(1), &[1.0; 3])] {
        assert!(of(&geometry(), std::slice::from_ref(&value)).is_some());
        for n in 0..value.len() {
            assert_eq!(of(&geometry(), &[good.clone(), value[..n].to_vec()]), None, "{n}");
        }
        assert_eq!(of(&geometry(), &[[&value[..], &[0]].concat()]), None);
    }
    let wrong = [
        vec![2, 1, 0, 0, 0],                                     // byte order
        little(8, Some(0), &[]),                                 // arcs
        little(4001, None, &[1.0, 2.0]),                         // dimensions
        collection(4, &[little(2, Some(0), &[])]),               // a line among points
        little(2, Some(u32::MAX), &[1.0]),                       // fewer points than claimed
        little(7, Some(u32::MAX), &[]),                          // fewer members than claimed
        (0..100).fold(good, |value, _| collection(7, &[value])), // too deep
    ];
    for value in wrong {
        assert_eq!(of(&geometry(), &[value]), None);
    }
}

#[test]
fn what_is_invalid_stays_so_when_merged() {
    let mut bounds = GeoBounds::of(Some(&geometry())).unwrap();
    let mut other = bounds.clone();
    bounds.update(&Values::Bytes([little(1, None, &[1.0, 2.0])].iter().collect()), 0..1);
    let alone = bounds.finish();
    assert!(alone.is_some());
    bounds.merge(&other);
    assert_eq!(bounds.finish(), alone);
    other.update(&Values::Bytes([b"no"].iter().collect()), 0..1);
    bounds.merge(&other);
    assert_eq!(bounds.finish(), None);
}

#[test]
fn geography_has_a_box_for_points_only() {
    let point = little(1, None, &[1.0, 2.0]);
    let points = collection(7, &[collection(4, std::slice::from_ref(&point))]);
    let bbox = Some(flat((1.0, 1.0), (2.0, 2.0)));
    assert_eq!(of(&geography(), &[point.clone(), points]), found(bbox, &[1, 7]));
    let line = little(2, Some(2), &[0.0, 50.0, 90.0, 50.0]);
    assert_eq!(of(&geography(), &[point, line.clone()]), found(None, &[1, 2]));
    assert_eq!(of(&geography(), &[collection(7, &[line])]), found(None, &[7]));
}

#[test]
fn the_box_of_geography_crosses_the_antimeridian_where_it_is_narrower() {
    let points = |xs: &[f64]| xs.iter().map(|x| little(1, None, &[*x, 2.0])).collect::<Vec<_>>();
    let across = found(Some(flat((170.0, -175.0), (2.0, 2.0))), &[1]);
    let fiji = points(&[179.0, -179.0, 170.0, -175.0]);
    assert_eq!(of(&geography(), &fiji), across);
    // In the plane there is nothing to cross.
    assert_eq!(of(&geometry(), &fiji), found(Some(flat((-179.0, 179.0), (2.0, 2.0))), &[1]));
    for (xs, range) in
        [(&[-90.0, 90.0][..], (-90.0, 90.0)), (&[-10.0, 20.0], (-10.0, 20.0)), (&[170.0], (170.0, 170.0))]
    {
        assert_eq!(of(&geography(), &points(xs)), found(Some(flat(range, (2.0, 2.0))), &[1]), "{xs:?}");
    }
    // What was taken apart is one box when merged.
    let part = |xs: &[f64]| {
        let mut bounds = GeoBounds::of(Some(&geography())).unwrap();
        bounds.update(&Values::Bytes(points(xs).iter().collect()), 0..xs.len());
        bounds
    };
    let mut merged = part(&[179.0, 170.0]);
    merged.merge(&part(&[-179.0, -175.0]));
    assert_eq!(merged.finish(), across);
}

#[test]
fn geography_has_no_box_outside_of_the_canonical_ranges() {
    for (point, is_inside) in [([180.0, -90.0], true), ([180.5, 0.0], false), ([0.0, 91.0], false)] {
        let found = of(&geography(), &[little(1, None, &point)]).unwrap();
        assert_eq!(found.bbox.is_some(), is_inside);
    }
}

/// Files of arrow-rs and others, with each geometry and dimension, empty ones, and NaN.
#[test]
fn the_statistics_of_parquet_testing() {
    let Some(root) = files::root() else { return };
    let mut compared = 0;
    for name in ["geospatial", "geospatial-with-nan", "crs-default", "crs-projjson"] {
        for chunk in chunks(&root.join("geospatial").join(format!("{name}.parquet"))) {
            let Some(mut bounds) = GeoBounds::of(chunk.leaf.logical()) else { continue };
            bounds.update(&chunk.values, 0..chunk.values.len());
            let Some(theirs) = chunk.meta.geospatial_statistics else { continue };
            let ours = bounds.finish().unwrap_or_default();
            assert_eq!(ours.bbox, theirs.bbox, "{name}");
            let sorted = |types: Option<Vec<i32>>| {
                let mut types = types.unwrap_or_default();
                types.sort_unstable();
                types
            };
            assert_eq!(sorted(ours.geospatial_types), sorted(theirs.geospatial_types), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 3, "{compared}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        head in prop::sample::select(vec![vec![], little(7, Some(2), &[]), little(3, None, &[]), big(6, None, &[])]),
        tail in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let _ = of(&geometry(), &[[head, tail].concat()]);
    }

    #[test]
    fn the_box_is_that_of_all_coordinates(points in proptest::collection::vec((-100i32..100, -100i32..100), 1..20)) {
        let numbers: Vec<f64> = points.iter().flat_map(|(x, y)| [f64::from(*x), f64::from(*y)]).collect();
        let value = little(2, Some(points.len() as u32), &numbers);
        let range = |of: fn(&(i32, i32)) -> i32| {
            let all = points.iter().map(of);
            (f64::from(all.clone().min().unwrap()), f64::from(all.max().unwrap()))
        };
        let expected = flat(range(|point| point.0), range(|point| point.1));
        prop_assert_eq!(of(&geometry(), &[value]), found(Some(expected), &[2]));
    }
}
