//! VARIANT: values in binary, as JSON, and in the groups of a shredded column.

use crate::input::Input;
use crate::memory::earned;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Decimal128Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::arrow::arrow_writer::ArrowWriter;
use marquetry::errors::Result;
use marquetry::variant::{Path, PrimitiveType, Shredder, Shredding, Variant, VariantColumn, Writer, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The input is the length of the metadata, metadata, and a value. A value that validation accepts must be possible to
/// print, to copy and to walk.
pub fn variant_value(data: &[u8]) {
    let mut input = Input(data);
    let len = usize::from(input.u8());
    let (metadata, value) = (input.take(len), input.0);
    earned((1 << 20) + 4_096 * data.len(), || {
        let Ok(variant) = Variant::new(metadata, value) else { return };
        let is_valid = variant.validate().is_ok();
        let paths =
            ["a", "b[1]", "[*].a", "a.b.c", "[0][0]"].map(|path| path.parse::<Path>().expect("a path"));
        let found = paths.map(|path| variant.get_all(&path).is_ok());
        let text = json::to_string(variant);
        let mut writer = Writer::new();
        let copied = writer.copy(variant);
        if !is_valid {
            return;
        }
        assert_eq!(found, [true; 5]);
        let text = text.expect("a value that is legal is JSON");
        copied.expect("a value that is legal is copied");
        let (metadata, value) = writer.finish().expect("a value");
        let copied = Variant::new(&metadata, &value).expect("a copy");
        assert!(copied.is_same(&variant).expect("two legal values"));
        assert_eq!(json::to_string(copied).ok(), Some(text));
    });
}

/// A text that is JSON becomes a legal value, whose text must become that value again.
pub fn variant_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    earned((1 << 20) + 4_096 * data.len(), || {
        let Ok((metadata, value)) = json::parse(text) else { return };
        let variant = Variant::new(&metadata, &value).expect("what was written");
        variant.validate().expect("what was written");
        let shown = json::to_string(variant).expect("a legal value");
        let (metadata, value) = json::parse(&shown).unwrap_or_else(|error| panic!("{shown}: {error}"));
        // A double may be printed with other digits once, and is a decimal from then on.
        let once = json::to_string(Variant::new(&metadata, &value).expect("a value")).expect("a legal value");
        let (metadata, value) = json::parse(&once).unwrap_or_else(|error| panic!("{once}: {error}"));
        let again =
            json::to_string(Variant::new(&metadata, &value).expect("a value")).expect("a legal value");
        assert_eq!(again, once);
    });
}

/// Shapes of columns. Most metadata has all their names.
const SHAPES: [&str; 8] = [
    "int64",
    "string",
    "{a: int64}",
    "{a: string, b: {a: boolean}}",
    "[int64]",
    "[{a: decimal(9, 2)}]",
    "{a: [string], b: variant}",
    "{a: {a: {a: variant}}, c: [[int64]]}",
];
/// The metadata of the names `a`, `b`, `c`.
const NAMES: [u8; 9] = [1, 3, 0, 1, 2, 3, b'a', b'b', b'c'];

/// The input is a shape, and the contents of each group of a column of this shape. Whatever these are, rows must be
/// values or errors, the same however they are read; and shredding the values in another shape must keep them.
pub fn shredded_variant(data: &[u8]) {
    let mut input = Input(data);
    let shape: Shredding = input.pick(&SHAPES).parse().expect("a shape");
    let other: Shredding = input.pick(&SHAPES).parse().expect("a shape");
    let rows = 1 + usize::from(input.u8() % 4);
    let metadata: Vec<Vec<u8>> = (0..rows).map(|_| metadata(&mut input)).collect();
    let group = group(&mut input, &shape, rows);
    let (fields, mut columns, _) = group.into_parts();
    let named = [Arc::new(Field::new("metadata", DataType::Binary, false))];
    let fields: Fields = named.into_iter().chain(fields.iter().cloned()).collect();
    columns.insert(0, Arc::new(BinaryArray::from_iter_values(&metadata)));
    let array = StructArray::new(fields, columns, None);
    earned((64 << 20) + 16_384 * data.len(), || check(&array, &other));
}

/// Mostly legal metadata.
fn metadata(input: &mut Input<'_>) -> Vec<u8> {
    match input.u8() {
        len @ 1..=20 => input.take(len.into()).to_vec(),
        _ => NAMES.to_vec(),
    }
}

fn group(input: &mut Input<'_>, shape: &Shredding, slots: usize) -> StructArray {
    let flags: Vec<u8> = (0..slots).map(|_| input.u8()).collect();
    let mut values = BinaryBuilder::new();
    for flags in &flags {
        let len = usize::from(input.u8() % 24);
        values.append_option((flags & 1 != 0).then(|| input.take(len)));
    }
    let mut fields = vec![Field::new("value", DataType::Binary, true)];
    let mut columns: Vec<ArrayRef> = vec![Arc::new(values.finish())];
    let is_typed: Vec<bool> = flags.iter().map(|flags| flags & 2 != 0).collect();
    if let Some(typed) = typed(input, shape, &is_typed) {
        fields.push(Field::new("typed_value", typed.data_type().clone(), true));
        columns.push(typed);
    }
    // Some writers have optional groups.
    let nulls: NullBuffer = flags.iter().map(|flags| flags & 0xf0 != 0xf0).collect();
    StructArray::new(fields.into(), columns, Some(nulls))
}

fn typed(input: &mut Input<'_>, shape: &Shredding, is_there: &[bool]) -> Option<ArrayRef> {
    let nulls: NullBuffer = is_there.iter().copied().collect();
    Some(match shape {
        Shredding::Object(shapes) => {
            let groups = shapes.iter().map(|(name, shape)| {
                let group: ArrayRef = Arc::new(group(input, shape, is_there.len()));
                (Arc::new(Field::new(name, group.data_type().clone(), true)), group)
            });
            let (fields, groups): (Vec<_>, Vec<_>) = groups.unzip();
            Arc::new(StructArray::new(fields.into(), groups, Some(nulls)))
        }
        Shredding::Array(element) => {
            let lens: Vec<usize> =
                is_there.iter().map(|is| usize::from(*is) * usize::from(input.u8() % 4)).collect();
            let elements = group(input, element, lens.iter().sum());
            let field = Field::new("element", elements.data_type().clone(), true);
            let offsets = OffsetBuffer::from_lengths(lens);
            Arc::new(ListArray::new(Arc::new(field), offsets, Arc::new(elements), Some(nulls)))
        }
        Shredding::Primitive(kind) => primitive(input, *kind, is_there),
        _ => return None,
    })
}

fn primitive(input: &mut Input<'_>, kind: PrimitiveType, is_there: &[bool]) -> ArrayRef {
    match kind {
        PrimitiveType::Boolean => {
            let mut out = BooleanBuilder::new();
            is_there.iter().for_each(|is| out.append_option(is.then(|| input.u8() & 1 == 1)));
            Arc::new(out.finish())
        }
        PrimitiveType::String => {
            let mut out = StringBuilder::new();
            is_there
                .iter()
                .for_each(|is| out.append_option(is.then(|| "é".repeat(usize::from(input.u8() % 9)))));
            Arc::new(out.finish())
        }
        PrimitiveType::Decimal { precision, scale } => {
            let data_type = DataType::Decimal128(precision, scale as i8);
            let mut out = Decimal128Builder::new().with_data_type(data_type);
            is_there.iter().for_each(|is| out.append_option(is.then(|| i128::from(input.u16() as i16))));
            Arc::new(out.finish())
        }
        _ => {
            let mut out = Int64Builder::new();
            is_there.iter().for_each(|is| out.append_option(is.then(|| i64::from(input.u16() as i16))));
            Arc::new(out.finish())
        }
    }
}

/// Metadata and value of a row; `None` if it is NULL.
type Row = Option<(Vec<u8>, Vec<u8>)>;

fn rows(array: &dyn Array) -> Result<Vec<Row>> {
    let column = VariantColumn::try_new(array)?;
    let mut reader = column.reader();
    let row = |row| {
        let variant = reader.get(row)?;
        Ok(variant.map(|variant| (variant.metadata().as_bytes().to_vec(), variant.bytes().to_vec())))
    };
    (0..column.len()).map(row).collect()
}

fn is_valid(row: &Row) -> bool {
    let Some((metadata, value)) = row else { return true };
    Variant::new(metadata, value).and_then(|variant| variant.validate()).is_ok()
}

fn assert_same(found: &[Row], expected: &[Row]) {
    assert_eq!(found.len(), expected.len());
    for pair in found.iter().zip(expected) {
        match pair {
            (None, None) => {}
            (Some((metadata, value)), Some((other_metadata, other_value))) => {
                let one = Variant::new(metadata, value).expect("a value");
                let other = Variant::new(other_metadata, other_value).expect("a value");
                assert!(one.is_same(&other).expect("two legal values"));
            }
            _ => panic!("a value is NULL"),
        }
    }
}

fn check(array: &StructArray, other: &Shredding) {
    let column = VariantColumn::try_new(array).expect("groups that are formed as they should be");
    let expected = rows(array);
    let unshredded = column.unshredded();
    assert_eq!(unshredded.is_ok(), expected.is_ok());
    let shredder = Shredder::new(other).expect("a shape").with_exact_widths(true);
    let shredded = shredder.shred(&column);
    let from_file = through_a_file(array);
    let Ok(expected) = expected.as_ref().map_err(|_| ()) else { return };
    if !expected.iter().all(is_valid) {
        return;
    }
    assert_same(&rows(&unshredded.expect("values")).expect("values"), expected);
    assert_same(&rows(&shredded.expect("values")).expect("values"), expected);
    let batch = from_file.expect("values");
    assert_same(&rows(batch.column(0)).expect("values"), expected);
    let path: Path = "a".parse().expect("a path");
    let inside = expected.iter().map(|row| {
        let (metadata, value) = row.as_ref()?;
        let found = Variant::new(metadata, value).and_then(|variant| variant.get_path(&path));
        Some((metadata.clone(), found.expect("a legal value")?.bytes().to_vec()))
    });
    assert_same(&rows(batch.column(1)).expect("values"), &inside.collect::<Vec<_>>());
    let integers = batch.column(2).as_primitive_opt::<arrow_array::types::Int64Type>();
    assert_eq!(integers.map(Array::len), Some(expected.len()));
}

/// Reads the column, and two paths into it, from a file.
fn through_a_file(array: &StructArray) -> Result<RecordBatch> {
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    let field = Field::new("v", array.data_type().clone(), true).with_metadata(extension);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(array.clone())]).expect("a batch");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a schema");
    writer.write(&batch).expect("a batch");
    let file = Bytes::from(writer.into_inner().expect("a file"));
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let mut reader = builder.with_columns(["v", "v:a", "v:a::bigint"])?.build()?;
    let batch = reader.next().expect("a batch");
    batch.map_err(|error| marquetry::errors::Error::argument(error.to_string()))
}
