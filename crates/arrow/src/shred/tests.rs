use super::*;
use crate::schema::{FromArrowOptions, from_arrow};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    BooleanArray, Decimal128Array, DictionaryArray, FixedSizeListArray, Int8Array, Int32Array, Int64Array,
    IntervalDayTimeArray, IntervalMonthDayNanoArray, IntervalYearMonthArray, LargeStringArray, ListArray,
    RunArray, StringArray, StringViewArray, StructArray, TimestampSecondArray,
};
use arrow_buffer::{Buffer, IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Fields, Schema as ArrowSchema};
use marquetry_base::Limits;

pub(crate) mod round_trip;

fn schema_of(field: &ArrowField) -> Schema {
    let elements = from_arrow(&ArrowSchema::new(vec![field.clone()]), &FromArrowOptions::default()).unwrap();
    Schema::from_thrift(&elements, &Limits::default()).unwrap()
}

fn shred(field: &ArrowField, array: &dyn Array, rows: Range<usize>) -> Result<Vec<ShreddedColumn>> {
    let mut out = Vec::new();
    Shredder::new(field, &schema_of(field), 0)?.shred(array, rows, &mut out)?;
    Ok(out)
}

/// All rows of the array of a nullable field.
fn column(array: &dyn Array) -> Result<ShreddedColumn> {
    let field = ArrowField::new("c", array.data_type().clone(), true);
    Ok(shred(&field, array, 0..array.len())?.remove(0))
}

fn levels(shredded: &ShreddedColumn) -> (Vec<u8>, Vec<u8>) {
    let def = match &shredded.def {
        DefinitionLevels::Max => Vec::new(),
        DefinitionLevels::Null => vec![0; shredded.entries],
        DefinitionLevels::Bitmap(bits) => (0..bits.len()).map(|i| u8::from(bits.get(i))).collect(),
        DefinitionLevels::Levels(levels) => levels.clone(),
    };
    (shredded.rep.clone(), def)
}

fn strings(shredded: &ShreddedColumn) -> Vec<String> {
    let values = match &shredded.values {
        ColumnValues::Values(values) => values.clone(),
        ColumnValues::Keys { keys, dictionary } => {
            let mut values = dictionary.shape().empty();
            keys.iter()
                .for_each(|&key| values.push_range(dictionary, key as usize..key as usize + 1).unwrap());
            values
        }
    };
    let Values::Bytes(views) = values else { panic!("no strings") };
    views.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

fn w64(shredded: &ShreddedColumn) -> Vec<i64> {
    match &shredded.values {
        ColumnValues::Values(Values::W64(values)) => values.iter().map(|&value| value as i64).collect(),
        other => panic!("{other:?}"),
    }
}

fn w32(shredded: &ShreddedColumn) -> Vec<i32> {
    match &shredded.values {
        ColumnValues::Values(Values::W32(values)) => values.iter().map(|&value| value as i32).collect(),
        other => panic!("{other:?}"),
    }
}

fn field(name: &str, data_type: DataType, nullable: bool) -> Arc<ArrowField> {
    Arc::new(ArrowField::new(name, data_type, nullable))
}

fn list(element: Arc<ArrowField>, lengths: &[usize], values: ArrayRef, nulls: Option<Vec<bool>>) -> ArrayRef {
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Arc::new(ListArray::new(element, offsets, values, nulls.map(NullBuffer::from)))
}

/// The two documents of "Dremel: Interactive Analysis of Web-Scale Datasets", 2010, figure 2, and their columns of
/// figure 3. Its repeated fields are required lists here.
#[test]
fn documents() {
    let ints = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let item = || field("element", DataType::Int64, false);
    let links = StructArray::new(
        Fields::from(vec![
            ArrowField::new("backward", DataType::List(item()), false),
            ArrowField::new("forward", DataType::List(item()), false),
        ]),
        vec![
            list(item(), &[0, 2], ints(&[10, 30]), None),
            list(item(), &[3, 1], ints(&[20, 40, 60, 80]), None),
        ],
        None,
    );
    let languages = StructArray::new(
        Fields::from(vec![
            ArrowField::new("code", DataType::Utf8, false),
            ArrowField::new("country", DataType::Utf8, true),
        ]),
        vec![
            Arc::new(StringArray::from(vec!["en-us", "en", "en-gb"])),
            Arc::new(StringArray::from(vec![Some("us"), None, Some("gb")])),
        ],
        None,
    );
    let language = field("element", languages.data_type().clone(), false);
    let language = list(language, &[2, 0, 1, 0], Arc::new(languages), None);
    let names = StructArray::new(
        Fields::from(vec![
            ArrowField::new("language", language.data_type().clone(), false),
            ArrowField::new("url", DataType::Utf8, true),
        ]),
        vec![
            language,
            Arc::new(StringArray::from(vec![Some("http://A"), Some("http://B"), None, Some("http://C")])),
        ],
        None,
    );
    let name = list(field("element", names.data_type().clone(), false), &[3, 1], Arc::new(names), None);
    let document = StructArray::new(
        Fields::from(vec![
            ArrowField::new("doc_id", DataType::Int64, false),
            ArrowField::new("links", links.data_type().clone(), true),
            ArrowField::new("name", name.data_type().clone(), false),
        ]),
        vec![ints(&[10, 20]), Arc::new(links), name],
        None,
    );
    let root = ArrowField::new("document", document.data_type().clone(), false);
    let columns = shred(&root, &document, 0..2).unwrap();
    let [id, backward, forward, code, country, url] = &columns[..] else { panic!("{}", columns.len()) };
    assert_eq!((w64(id), levels(id)), (vec![10, 20], (vec![], vec![])));
    assert_eq!((w64(backward), levels(backward)), (vec![10, 30], (vec![0, 0, 1], vec![1, 2, 2])));
    assert_eq!((w64(forward), levels(forward)), (vec![20, 40, 60, 80], (vec![0, 1, 1, 0], vec![])));
    assert_eq!(strings(code), ["en-us", "en", "en-gb"]);
    assert_eq!(levels(code), (vec![0, 2, 1, 1, 0], vec![2, 2, 1, 2, 1]));
    assert_eq!(strings(country), ["us", "gb"]);
    assert_eq!(levels(country), (vec![0, 2, 1, 1, 0], vec![3, 2, 1, 3, 1]));
    assert_eq!(strings(url), ["http://A", "http://B", "http://C"]);
    assert_eq!(levels(url), (vec![0, 1, 1, 0], vec![2, 2, 1, 2]));
    assert_eq!((code.rows, code.entries), (2, 5));
}

#[test]
fn null_lists_and_structs_hide_what_is_below() {
    let values = Arc::new(Int32Array::from(vec![Some(1), Some(2), Some(7), None, Some(3)]));
    let element = field("element", DataType::Int32, true);
    let lists = list(element, &[2, 2, 0, 1], values, Some(vec![true, false, true, true]));
    let found = column(&lists).unwrap();
    assert_eq!((w32(&found), levels(&found)), (vec![1, 2, 3], (vec![0, 1, 0, 0, 0], vec![3, 3, 0, 1, 3])));
    // The same without its first row, and only the two in the middle.
    let found = column(&lists.slice(1, 3)).unwrap();
    assert_eq!((w32(&found), levels(&found)), (vec![3], (vec![0, 0, 0], vec![0, 1, 3])));
    let nullable = ArrowField::new("c", lists.data_type().clone(), true);
    let found = shred(&nullable, &lists, 1..3).unwrap().remove(0);
    assert_eq!((w32(&found), levels(&found)), (vec![], (vec![0, 0], vec![0, 1])));
    // A field that is required, but for the nulls that are in no struct.
    let child = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let fields = Fields::from(vec![ArrowField::new("x", DataType::Int32, false)]);
    let structs = StructArray::new(fields, vec![child], Some(NullBuffer::from(vec![true, false, true])));
    let found = column(&structs).unwrap();
    assert_eq!((w32(&found), levels(&found)), (vec![1, 3], (vec![], vec![1, 0, 1])));
}

#[test]
fn nulls_in_required_fields_are_named() {
    let array = Int32Array::from(vec![Some(1), Some(2), None]);
    let required = ArrowField::new("c", DataType::Int32, false);
    let error = shred(&required, &array, 1..3).unwrap_err().to_string();
    assert!(error.contains("row 2") && error.contains("column c"), "{error}");
    let lists = ListArray::new(
        field("element", DataType::Int32, true),
        OffsetBuffer::from_lengths([1, 0, 2]),
        Arc::new(array),
        None,
    );
    let required = DataType::List(field("element", DataType::Int32, false));
    let error = shred(&ArrowField::new("l", required, true), &lists, 0..3).unwrap_err().to_string();
    assert!(error.contains("row 2") && error.contains("column l.list.element"), "{error}");
    let error = shred(&ArrowField::new("l", lists.data_type().clone(), true), &lists, 2..4).unwrap_err();
    assert!(error.message().contains("rows 2..4"));
}

#[test]
fn values_that_do_not_fit_are_named() {
    let arrow_error = |array: &dyn Array| column(array).unwrap_err().to_string();
    let far = TimestampSecondArray::from(vec![Some(1), None, Some(i64::MAX / 999)]);
    assert!(arrow_error(&far).contains("row 2"));
    let decimals = |values: Vec<Option<i128>>, precision| {
        Decimal128Array::from(values).with_precision_and_scale(precision, 0).unwrap()
    };
    for precision in [9, 18, 30] {
        let most = 10i128.pow(precision.into());
        assert!(column(&decimals(vec![Some(most - 1), Some(1 - most)], precision)).is_ok());
        assert!(arrow_error(&decimals(vec![None, Some(most)], precision)).contains("row 1"));
        assert!(arrow_error(&decimals(vec![Some(0), Some(-most)], precision)).contains("row 1"));
    }
    for (months, days, nanos) in
        [(-1, 0, 0), (0, -1, 0), (0, 0, -1_000_000), (0, 0, 1), (0, 0, i64::MAX / 1_000_000 * 1_000_000)]
    {
        let intervals =
            [IntervalMonthDayNano::new(1, 2, 3_000_000), IntervalMonthDayNano::new(months, days, nanos)];
        assert!(arrow_error(&IntervalMonthDayNanoArray::from(intervals.to_vec())).contains("row 1"));
    }
    let months = IntervalYearMonthArray::from(vec![Some(i32::MAX), None, Some(-1)]);
    assert!(arrow_error(&months).contains("row 2"));
    for (days, millis) in [(-1, 0), (0, -1), (i32::MIN, 7)] {
        let intervals = vec![IntervalDayTime::new(i32::MAX, i32::MAX), IntervalDayTime::new(days, millis)];
        assert!(arrow_error(&IntervalDayTimeArray::from(intervals)).contains("row 1"));
    }
    let other = shred(&ArrowField::new("c", DataType::Int32, true), &Int8Array::from(vec![1]), 0..1);
    assert!(other.unwrap_err().message().contains("announced"));
}

#[test]
fn dictionaries_keep_their_values() {
    let values: ArrayRef =
        Arc::new(StringArray::from(vec![Some("a"), None, Some("long enough for a buffer")]));
    let dictionary =
        |keys: Vec<Option<i8>>| DictionaryArray::<Int8Type>::new(Int8Array::from(keys), values.clone());
    let first = dictionary(vec![Some(2), None, Some(1), Some(0), Some(2)]);
    let nullable = ArrowField::new("c", first.data_type().clone(), true);
    let mut shredder = Shredder::new(&nullable, &schema_of(&nullable), 0).unwrap();
    let mut out = Vec::new();
    shredder.shred(&first, 0..5, &mut out).unwrap();
    let ColumnValues::Keys { keys, dictionary: shared } = out[0].values.clone() else { panic!() };
    assert_eq!((keys, shared.len()), (vec![1, 0, 1], 2));
    assert_eq!(levels(&out[0]).1, [1, 0, 0, 1, 1]);
    assert_eq!(strings(&out[0])[0], "long enough for a buffer");
    let second = dictionary(vec![Some(0), Some(0)]);
    shredder.shred(&second, 1..2, &mut out).unwrap();
    let ColumnValues::Keys { keys, dictionary: again } = &out[0].values else { panic!() };
    assert_eq!((keys.as_slice(), out[0].def.clone()), (&[0][..], DefinitionLevels::Max));
    assert!(Arc::ptr_eq(again, &shared));
    let other = StringArray::from(vec!["b"]);
    let third = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0]), Arc::new(other));
    shredder.shred(&third, 0..1, &mut out).unwrap();
    assert_eq!(strings(&out[0]), ["b"]);
}

#[test]
fn dictionaries_that_cannot_be_stored_as_such() {
    let booleans: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None]));
    let keys = Int8Array::from(vec![Some(1), Some(0), None]);
    let found = column(&DictionaryArray::<Int8Type>::new(keys, booleans)).unwrap();
    assert_eq!(found.values, ColumnValues::Values(Values::Bit([true].into_iter().collect())));
    assert_eq!(levels(&found).1, [0, 1, 0]);
    // A value that no key means cannot be stored.
    let values: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX, 5]));
    let dictionary =
        |keys: Vec<Option<i8>>| DictionaryArray::<Int8Type>::new(Int8Array::from(keys), values.clone());
    let found = column(&dictionary(vec![None, Some(1)])).unwrap();
    assert_eq!(w64(&found), [5000]);
    let error = column(&dictionary(vec![Some(1), None, Some(0)])).unwrap_err();
    assert!(error.message().contains("row 2"), "{error}");
}

#[test]
fn runs_become_keys() {
    let ends = Int32Array::from(vec![2, 3, 7]);
    let values = StringArray::from(vec![Some("a"), None, Some("c")]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &values).unwrap();
    let found = column(&runs).unwrap();
    assert_eq!(strings(&found), ["a", "a", "c", "c", "c", "c"]);
    assert_eq!(levels(&found).1, [1, 1, 0, 1, 1, 1, 1]);
    let found = column(&runs.slice(1, 3)).unwrap();
    assert_eq!((strings(&found), levels(&found).1), (vec!["a".to_owned(), "c".to_owned()], vec![1, 0, 1]));
}

#[test]
fn text_is_not_copied() {
    let long = "a text that is longer than a view holds";
    let text = LargeStringArray::from(vec![Some("short"), None, Some(long)]);
    let found = column(&text).unwrap();
    let ColumnValues::Values(Values::Bytes(views)) = &found.values else { panic!() };
    assert_eq!(views.buffers()[0].as_ptr(), text.values().as_ptr());
    assert_eq!(strings(&found), ["short", long]);
    let text = StringViewArray::from(vec![Some(long), None, Some("short"), Some(long)]);
    let found = column(&text.slice(1, 3)).unwrap();
    let ColumnValues::Values(Values::Bytes(views)) = &found.values else { panic!() };
    assert_eq!(views.buffers()[0].as_ptr(), text.data_buffers()[0].as_ptr());
    assert_eq!(strings(&found), ["short", long]);
    // The last strings of a buffer have nothing behind them.
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 1, 14, 14, 15]));
    let text = StringArray::new(offsets, Buffer::from_vec(b"abbbbbbbbbbbbbc".to_vec()), None);
    assert_eq!(strings(&column(&text).unwrap()), ["a", "bbbbbbbbbbbbb", "", "c"]);
}

#[test]
fn lists_of_one_size_and_of_none() {
    let values = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6]));
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let pairs = FixedSizeListArray::new(field("element", DataType::Int32, false), 2, values, nulls);
    let found = column(&pairs).unwrap();
    assert_eq!((w32(&found), levels(&found)), (vec![1, 2, 5, 6], (vec![0, 1, 0, 0, 1], vec![2, 2, 0, 2, 2])));
    let none = Arc::new(Int32Array::from(Vec::<i32>::new()));
    let element = field("element", DataType::Int32, false);
    let empty = FixedSizeListArray::try_new_with_length(element, 0, none, None, 3).unwrap();
    let found = column(&empty).unwrap();
    assert_eq!((w32(&found), levels(&found)), (vec![], (vec![0; 3], vec![1; 3])));
}

#[test]
fn schemas_that_do_not_fit_are_refused() {
    let a = ArrowField::new("c", DataType::Int32, true);
    let schema = schema_of(&a);
    for other in [
        DataType::Utf8,
        DataType::Int64,
        DataType::Float32,
        DataType::Struct(Fields::from(vec![a.clone()])),
        DataType::List(field("element", DataType::Int32, true)),
    ] {
        let error =
            Shredder::new(&ArrowField::new("c", other.clone(), true), &schema, 0).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("column c"), "{other}: {error}");
    }
    assert!(Shredder::new(&a, &schema, 1).is_err());
    let nested =
        schema_of(&ArrowField::new("c", DataType::List(field("element", DataType::Int32, true)), true));
    assert!(Shredder::new(&a, &nested, 0).is_err());
}
