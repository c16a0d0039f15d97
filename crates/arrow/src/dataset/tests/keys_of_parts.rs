//! Keys of partitions whose values are of several kinds, in parts of the table: each part has the types of the whole.

use super::*;

/// Tables of files whose keys would each be guessed to be of another type than those of all files.
const KEYS: [[&str; 3]; 3] = [["2", "1.5", "10"], ["1", "x", "02"], ["2024-01-02", "later", "2023-12-31"]];

#[test]
fn parts_have_the_rows_of_the_whole() {
    for keys in KEYS {
        let folder = folder();
        for (i, key) in (0..).zip(keys) {
            write(&folder, &format!("k={key}/0.parquet"), vec![("i", ints([i]))]);
        }
        for condition in
            ["k > '10'", "k = '02'", "k < '10'", "k <> '02'", "k = 'x'", "k >= '2024'", "k like '%1%'"]
        {
            let all = || Dataset::open([folder.path()]).unwrap().columns(["i"]);
            let predicate = Predicate::parse(condition).unwrap();
            let whole = rows(all().filter(predicate.clone()));
            let once = all().split(1).unwrap().remove(0);
            for (from, parts) in [(all(), 3), (all(), 2), (once.clone(), 3), (once, 2)] {
                let parts = from.also_filter(predicate.clone()).split(parts).unwrap();
                let mut of_parts: Vec<_> = parts.into_iter().flat_map(rows).collect();
                of_parts.sort();
                let mut whole = whole.clone();
                whole.sort();
                assert_eq!(of_parts, whole, "{condition} of {keys:?}");
            }
        }
    }
}

#[test]
fn a_schema_says_what_keys_are() {
    let folder = folder();
    write(&folder, "k=1/0.parquet", vec![("i", ints([1]))]);
    write(&folder, "k=02/0.parquet", vec![("i", ints([2]))]);
    let fields = vec![Field::new("i", DataType::Int32, true), Field::new("k", DataType::Utf8, false)];
    let table = || {
        Dataset::open([folder.path()]).unwrap().evolve(Evolution::to(Arc::new(Schema::new(fields.clone()))))
    };
    assert_eq!(rows(table().filter(Predicate::parse("k = '02'").unwrap())), ["2 02"]);
    assert_eq!(rows(table().filter(Predicate::parse("k = '2'").unwrap())), [""; 0]);
}
