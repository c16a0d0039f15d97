//! Predicates of columns that files have under other names, and of decimals of many digits.

use super::*;
use crate::evolution::MatchBy;

/// A file of columns with field ids.
fn write_ids(folder: &TempDir, path: &str, columns: Vec<(&str, i32, ArrayRef)>) {
    let field = |(name, id, array): &(&str, i32, ArrayRef)| {
        let id = [(crate::schema::FIELD_ID_KEY.to_owned(), id.to_string())].into();
        Field::new(*name, array.data_type().clone(), true).with_metadata(id)
    };
    let schema = Arc::new(arrow_schema::Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(.., array)| array).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let file = fs::File::create(folder.path().join(path)).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A predicate must not be evaluated on another column, nor take an existing column for a missing one.
#[test]
fn predicates_find_columns_that_have_other_names_in_a_file() {
    let above = |number: i32| Predicate::parse(&format!("price > {number}")).unwrap();
    let table = |folder: &TempDir| {
        Dataset::open([folder.path()]).unwrap().union_by_name(true).match_by(MatchBy::FieldId)
    };
    let renamed = folder();
    write_ids(&renamed, "a.parquet", vec![("price", 1, ints([5, 20]))]);
    write_ids(&renamed, "b.parquet", vec![("cost", 1, longs([6, 21, 1 << 40]))]);
    assert_eq!(rows(table(&renamed)), ["5", "20", "6", "21", "1099511627776"]);
    assert_eq!(rows(table(&renamed).filter(above(10))), ["20", "21", "1099511627776"]);

    let swapped = folder();
    write_ids(&swapped, "a.parquet", vec![("price", 1, ints([5, 20])), ("old", 2, texts(&["x", "y"]))]);
    write_ids(&swapped, "b.parquet", vec![("price", 2, texts(&["z", "w"])), ("cost", 1, ints([6, 21]))]);
    assert_eq!(rows(table(&swapped).filter(above(10))), ["20 y", "21 w"]);
    // Of a column that is not read, too.
    assert_eq!(rows(table(&swapped).columns(["old"]).filter(above(10))), ["y", "w"]);

    // Another column under this name, and none of this id.
    let lost = folder();
    write_ids(&lost, "a.parquet", vec![("price", 1, ints([5, 20])), ("x", 3, ints([1, 2]))]);
    write_ids(&lost, "b.parquet", vec![("price", 2, ints([6, 21])), ("x", 3, ints([3, 4]))]);
    let x = |predicate: &str| table(&lost).columns(["x"]).filter(Predicate::parse(predicate).unwrap());
    assert_eq!(rows(x("price > 1")), ["1", "2"]);
    assert_eq!(rows(x("price is null")), ["3", "4"]);
    let failed = error(Ok(x("price > 1").union_by_name(false)));
    assert!(failed.to_string().contains("no such column"), "{failed}");
    let failed = error(Ok(x("cost > 1")));
    assert!(failed.to_string().contains("cost"), "{failed}");

    let in_capitals = folder();
    write(&in_capitals, "a.parquet", vec![("price", ints([5, 20]))]);
    write(&in_capitals, "b.parquet", vec![("Price", ints([6, 21]))]);
    let ignoring = table(&in_capitals).match_by(MatchBy::NameIgnoringCase);
    assert_eq!(rows(ignoring.filter(above(10))), ["20", "21"]);
}

/// Structs, lists and maps: what a predicate finds of two files is what it finds of the same rows under the table's names.
#[test]
fn predicates_find_what_is_inside_of_renamed_columns() {
    use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder};
    let id =
        |id: i32| std::collections::HashMap::from([(crate::schema::FIELD_ID_KEY.to_owned(), id.to_string())]);
    let number = |name: &str, n: i32| Field::new(name, DataType::Int32, true).with_metadata(id(n));
    let columns = |names: [&'static str; 6], from: i32| {
        let [point, x, y, list, map, key] = names;
        let structs = vec![
            (Arc::new(number(x, 2)), ints(from..from + 4)),
            (Arc::new(number(y, 3)), ints([7, from, 7, from])),
        ];
        let mut lists = ListBuilder::new(Int32Builder::new());
        let entries = MapFieldNames { entry: "entries".into(), key: key.into(), value: "value".into() };
        let mut maps = MapBuilder::new(Some(entries), StringBuilder::new(), Int32Builder::new());
        for i in from..from + 4 {
            lists.append_value([Some(i), None, Some(i * 2)]);
            maps.keys().append_value(if i % 2 == 0 { "even" } else { "odd" });
            maps.values().append_value(i);
            maps.append(true).unwrap();
        }
        let arrays: Vec<ArrayRef> =
            vec![Arc::new(StructArray::from(structs)), Arc::new(lists.finish()), Arc::new(maps.finish())];
        (vec![(point, 1), (list, 4), (map, 5)], arrays)
    };
    let write = |folder: &TempDir, path: &str, (names, arrays): (Vec<(&'static str, i32)>, Vec<ArrayRef>)| {
        let columns = names.into_iter().zip(arrays).map(|((name, id), array)| (name, id, array)).collect();
        write_ids(folder, path, columns);
    };
    let plain = ["point", "x", "y", "list", "map", "key"];
    let (same, other) = (folder(), folder());
    for folder in [&same, &other] {
        write(folder, "a.parquet", columns(plain, 0));
    }
    write(&same, "b.parquet", columns(plain, 4));
    write(&other, "b.parquet", columns(["p", "y", "x", "map", "point", "key"], 4));
    let mut found = 0;
    for text in [
        "point.x > 2",
        "point.y = 7 and point.x < 7",
        "point.x = point.y or any(list) = 10",
        "not (point.y = 7)",
        "any(list) > 7",
        "all(list) > 7 or point.y is null",
        "cardinality(list) = 3 and map['even'] >= 4",
        "map['odd'] in (3, 5)",
        "point is not null and map is not null",
        "any(map.key) = 'odd'",
        "any(map.value) > 5",
    ] {
        let of = |folder: &TempDir| {
            let table =
                Dataset::open([folder.path()]).unwrap().union_by_name(true).match_by(MatchBy::FieldId);
            rows(table.columns(["point"]).filter(Predicate::parse(text).unwrap()))
        };
        let (wanted, got) = (of(&same), of(&other));
        assert_eq!(got.len(), wanted.len(), "{text}");
        assert_eq!(got, wanted, "{text}");
        found += got.len();
    }
    assert!(found > 20, "{found}");

    // Arrow's name of keys is not what the file calls them.
    let named = folder();
    write(&named, "a.parquet", columns(plain, 0));
    write(&named, "b.parquet", columns(["point", "x", "y", "list", "map", "k"], 4));
    let table = Dataset::open([named.path()]).unwrap().union_by_name(true).match_by(MatchBy::FieldId);
    let failed = error(Ok(table.filter(Predicate::parse("any(map.key) = 'odd'").unwrap())));
    assert!(failed.to_string().contains("filter the batches"), "{failed}");
}

/// Comparing them must not overflow into other numbers.
#[test]
fn decimals_of_many_digits_compare() {
    use arrow_array::{Decimal128Array, Decimal256Array};
    use arrow_buffer::i256;
    let folder = folder();
    let wide = |text: &str, precision: u8, scale: i8| -> ArrayRef {
        let number = i256::from_string(text).unwrap();
        Arc::new(Decimal256Array::from(vec![number]).with_precision_and_scale(precision, scale).unwrap())
    };
    let long = |precision: u8, scale: i8| -> ArrayRef {
        Arc::new(Decimal128Array::from(vec![300]).with_precision_and_scale(precision, scale).unwrap())
    };
    let million = format!("1{}", "0".repeat(60));
    write(
        &folder,
        "t.parquet",
        vec![
            ("a", wide(&million, 70, 2)),
            ("b", wide(&million, 70, 2)),
            ("c", long(38, 0)),
            ("d", long(38, 2)),
            ("e", long(30, 0)),
            ("f", long(30, 2)),
            ("g", wide(&million, 70, 4)),
            ("h", wide("-1", 76, 20)),
            ("i", long(10, 0)),
            ("j", wide("1", 76, 60)),
        ],
    );
    let asked = |text: &str| {
        let table = Dataset::open([folder.path()]).unwrap().columns(["c"]);
        let mut batches = table.filter(Predicate::parse(text).unwrap()).batches()?;
        let mut rows = 0;
        while let Some(batch) = batches.next_batch() {
            rows += batch?.num_rows();
        }
        Ok::<_, Error>(rows)
    };
    for text in ["a = b", "c > d", "a > c", "a > g", "c < g", "e > f", "c = e", "i > j"] {
        assert_eq!(asked(text).unwrap(), 1, "{text}");
    }
    for text in ["a < b", "c = d", "c > a", "a <= g", "e = f"] {
        assert_eq!(asked(text).unwrap(), 0, "{text}");
    }
    assert!(asked("a > h").unwrap_err().to_string().contains("do not compare"));
}
