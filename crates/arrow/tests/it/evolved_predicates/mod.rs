//! Tables whose files store a column in different types: whatever statistics, page indexes, dictionaries and bloom filters say of a file,
//! a predicate finds just the rows of which it is true by the values that the table shows.

mod forms;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal256Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema as ArrowSchema, TimeUnit};
use bytes::Bytes;
use forms::{DAY, Form, Random, TABLES, half};
use marquetry_arrow::arrow_reader::ArrowReaderOptions;
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::evolution::Evolution;
use marquetry_base::datetime_text::Moment;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::predicate::{Comparison, Literal, Number, Predicate, col};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_core::write::{
    BloomSettings, ColumnSettings, ColumnWriter, EncodingPolicy, FileSettings, FileWriter, StatisticsLevel,
    Workspace,
};
use marquetry_encoding::{PhysicalType, Values};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

fn values(physical: PhysicalType, stored: &[Vec<u8>]) -> Values {
    let mut out = physical.shape().empty();
    match &mut out {
        Values::Bit(bits) => stored.iter().for_each(|value| bits.push(value[0] != 0)),
        Values::W32(words) => {
            words.extend(stored.iter().map(|value| u32::from_le_bytes(value[..].try_into().unwrap())));
        }
        Values::W64(words) => {
            words.extend(stored.iter().map(|value| u64::from_le_bytes(value[..].try_into().unwrap())));
        }
        Values::Fixed(fixed) => stored.iter().for_each(|value| fixed.push(value)),
        Values::Bytes(views) => stored.iter().for_each(|value| views.push(value)),
        Values::Offsets(_) => unreachable!("no shape is laid out so"),
    }
    out
}

fn settings(random: &mut Random, physical: PhysicalType) -> ColumnSettings {
    let dictionary = physical != PhysicalType::Boolean && random.is();
    let statistics = [StatisticsLevel::None, StatisticsLevel::Chunk, StatisticsLevel::Page];
    ColumnSettings::default()
        .with_encoding(if dictionary { EncodingPolicy::DictionaryOr(0) } else { EncodingPolicy::Only(0) })
        .with_page_rows(random.pick(&[1, 3, 1_000]))
        .with_statistics(random.pick(&statistics))
        .with_statistics_truncate(random.pick(&[None, Some(2)]))
        .with_index_truncate(random.pick(&[None, Some(2)]))
        .with_bloom((random.below(3) > 0).then_some(BloomSettings::new(0.001)))
        .with_total_order(random.is())
}

/// A file of rows from `id` on.
fn file(random: &mut Random, form: Form, id: &mut i64) -> Bytes {
    let is_optional = random.is();
    let schema = form.message(is_optional);
    let settings: Vec<ColumnSettings> =
        schema.columns().iter().map(|leaf| settings(random, leaf.physical())).collect();
    let orders = schema.columns().iter().zip(&settings);
    let orders =
        orders.map(|(leaf, settings)| SortOrder::for_writing(leaf, settings.total_order).1).collect();
    let file_settings = FileSettings::default().with_column_orders(Some(orders));
    let mut out = FileWriter::new(Vec::new(), schema.to_thrift(), file_settings).unwrap();
    let mut workspace = Workspace::default();
    // Few values, so that they come again in other row groups.
    let pool: Vec<Vec<u8>> = (0..1 + random.below(6)).map(|_| form.value(random)).collect();
    for _ in 0..1 + random.below(3) {
        let rows = random.pick(&[1, 2, 8]);
        let ids: Vec<Vec<u8>> = (0..rows as i64).map(|row| (*id + row).to_le_bytes().to_vec()).collect();
        *id += rows as i64;
        let slots: Vec<Option<Vec<u8>>> = (0..rows)
            .map(|_| (!is_optional || random.below(5) > 0).then(|| pool[random.below(pool.len())].clone()))
            .collect();
        let def = slots.iter().map(|slot| u8::from(slot.is_some())).collect();
        let def = if is_optional { DefinitionLevels::Levels(def) } else { DefinitionLevels::Max };
        let stored: Vec<Vec<u8>> = slots.into_iter().flatten().collect();
        let columns = [(ids, DefinitionLevels::Max), (stored, def)];
        let chunks = columns.into_iter().enumerate().map(|(i, (stored, def))| {
            let leaf = schema.column(i);
            let mut writer = ColumnWriter::new(leaf, &settings[i]).unwrap();
            let values = ColumnValues::Values(values(leaf.physical(), &stored));
            writer.write(&ShreddedColumn::flat(rows, def, values), &mut workspace).unwrap();
            writer.close(&mut workspace).unwrap().0
        });
        let chunks = chunks.collect();
        out.write_row_group(rows as u64, chunks, None).unwrap();
    }
    Bytes::from(out.finish().unwrap().0)
}

/// A value as the table shows it.
#[derive(Debug, Clone, PartialEq)]
enum Shown {
    /// In units of ten to the minus `SCALE`th; of dates and times in nanoseconds.
    Exact(i128),
    Float(f64),
    Bytes(Vec<u8>),
    Bool(bool),
}

/// More digits behind the point than any form has.
const SCALE: u32 = 7;

fn compare(a: &Shown, b: &Shown) -> Option<Ordering> {
    match (a, b) {
        (Shown::Exact(a), Shown::Exact(b)) => Some(a.cmp(b)),
        (Shown::Float(a), Shown::Float(b)) => a.partial_cmp(b),
        (Shown::Bytes(a), Shown::Bytes(b)) => Some(a.cmp(b)),
        (Shown::Bool(a), Shown::Bool(b)) => Some(a.cmp(b)),
        other => panic!("{other:?}"),
    }
}

fn shown(array: &ArrayRef) -> Vec<Option<Shown>> {
    use DataType::*;
    let cast = |to: DataType| arrow_cast::cast(array, &to).unwrap();
    match array.data_type() {
        Boolean => array.as_boolean().iter().map(|value| value.map(Shown::Bool)).collect(),
        Float16 | Float32 | Float64 => {
            let cast = cast(Float64);
            cast.as_primitive::<Float64Type>().iter().map(|value| value.map(Shown::Float)).collect()
        }
        data_type if data_type.is_integer() || data_type.is_decimal() => {
            let cast = cast(Decimal256(70, SCALE as i8));
            let values = cast.as_primitive::<Decimal256Type>().iter();
            values.map(|value| value.map(|value| Shown::Exact(value.to_i128().unwrap()))).collect()
        }
        Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => {
            let unit = match array.data_type() {
                Date32 => DAY,
                Date64 | Time32(TimeUnit::Millisecond) | Timestamp(TimeUnit::Millisecond, _) => 1_000_000,
                Time64(TimeUnit::Microsecond) | Timestamp(TimeUnit::Microsecond, _) => 1_000,
                Timestamp(TimeUnit::Second, _) => 1_000_000_000,
                _ => 1,
            };
            let words = match array.data_type() {
                Date32 | Time32(_) => arrow_cast::cast(&cast(Int32), &Int64).unwrap(),
                _ => cast(Int64),
            };
            let values = words.as_primitive::<Int64Type>().iter();
            values.map(|value| value.map(|value| Shown::Exact(i128::from(value) * unit))).collect()
        }
        _ => {
            let cast = cast(Binary);
            let values = cast.as_binary::<i32>().iter();
            values.map(|value| value.map(|value| Shown::Bytes(value.to_vec()))).collect()
        }
    }
}

/// What is asked for: a value of the table, or one near to it. Floats are rounded to the type of the table, as literals are.
fn asked(random: &mut Random, values: &[Shown], data_type: &DataType) -> Shown {
    match values[random.below(values.len())].clone() {
        Shown::Exact(value) => Shown::Exact(value + random.pick(&[0, 0, 0, 1, -1, 1_000_000])),
        Shown::Float(value) => {
            let value = random.pick(&[value, value, -value, value + 0.25, 0.1]);
            Shown::Float(match data_type {
                DataType::Float16 => half(value).to_f64(),
                DataType::Float32 => f64::from(value as f32),
                _ => value,
            })
        }
        Shown::Bytes(mut bytes) => {
            match random.below(5) {
                0 => bytes.push(b'a'),
                1 => drop(bytes.pop()),
                _ => {}
            }
            Shown::Bytes(bytes)
        }
        Shown::Bool(value) => Shown::Bool(value ^ random.is()),
    }
}

/// `None` if such a value cannot be written for a column of this type.
fn literal(value: &Shown, data_type: &DataType) -> Option<Literal> {
    Some(match (value, data_type) {
        (Shown::Bool(value), _) => Literal::Bool(*value),
        (Shown::Float(value), _) => Literal::Number(Number::exactly(*value)),
        (Shown::Bytes(bytes), data_type) => match std::str::from_utf8(bytes) {
            Ok(text) if data_type.is_string() => Literal::Text(text.to_owned()),
            _ => Literal::Bytes(bytes.clone()),
        },
        (Shown::Exact(value), DataType::Time32(_) | DataType::Time64(_)) => {
            Literal::Time(i64::try_from(*value).ok().filter(|value| (0..DAY as i64).contains(value))?)
        }
        (Shown::Exact(value), DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) => {
            let has_offset = matches!(data_type, DataType::Timestamp(_, Some(_)));
            Literal::Timestamp(Moment {
                seconds: i64::try_from(value.div_euclid(1_000_000_000)).ok()?,
                nanos: value.rem_euclid(1_000_000_000) as u32,
                digits: 9,
                has_offset,
            })
        }
        (Shown::Exact(value), _) => {
            let sign = if *value < 0 { "-" } else { "" };
            let (whole, part) =
                (value.unsigned_abs() / 10u128.pow(SCALE), value.unsigned_abs() % 10u128.pow(SCALE));
            Literal::Number(Number::parse(&format!("{sign}{whole}.{part:07}"))?)
        }
    })
}

type IsWanted = Box<dyn Fn(&Shown) -> bool>;

/// A predicate, and of which values it is true.
fn question(random: &mut Random, values: &[Shown], data_type: &DataType) -> Option<(Predicate, Vec<bool>)> {
    use Comparison::*;
    let (predicate, wanted): (Predicate, IsWanted) = match random.below(3) {
        0 => {
            let list: Vec<Shown> =
                (0..1 + random.below(4)).map(|_| asked(random, values, data_type)).collect();
            let literals: Option<Vec<Literal>> = list.iter().map(|value| literal(value, data_type)).collect();
            let is_in =
                move |value: &Shown| list.iter().any(|one| compare(value, one) == Some(Ordering::Equal));
            (col("x").is_in(literals?), Box::new(is_in))
        }
        _ => {
            let (is, to) = (random.pick(&[Eq, Eq, Eq, Ne, Lt, Le, Gt, Ge]), asked(random, values, data_type));
            let predicate = col("x").compare(is, literal(&to, data_type)?);
            let test = move |value: &Shown| {
                let order = compare(value, &to);
                match is {
                    Eq => order == Some(Ordering::Equal),
                    Ne => order != Some(Ordering::Equal),
                    Lt => order == Some(Ordering::Less),
                    Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Gt => order == Some(Ordering::Greater),
                    Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                }
            };
            (predicate, Box::new(test))
        }
    };
    let is_negated = random.below(5) == 0;
    let predicate = if is_negated { !predicate } else { predicate };
    Some((predicate, values.iter().map(|value| wanted(value) != is_negated).collect()))
}

/// The ids and the shown values.
fn rows(table: &Dataset) -> Result<Vec<(i64, Option<Shown>)>, String> {
    let batches = table.clone().batches().map_err(|error| error.to_string())?;
    let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let rows = batches.iter().flat_map(|batch| {
        let ids = batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec();
        ids.into_iter().zip(shown(batch.column_by_name("x").unwrap()))
    });
    Ok(rows.collect())
}

fn table(files: Vec<Bytes>, has_page_index: bool) -> Dataset {
    let paths: Vec<String> = (0..files.len()).map(|i| format!("{i}.parquet")).collect();
    let files: HashMap<String, Bytes> = paths.iter().cloned().zip(files).collect();
    let open = move |path: &Path| Ok(Arc::new(files[path.to_str().unwrap()].clone()) as Arc<dyn Source>);
    let options = ArrowReaderOptions::new().with_page_index(has_page_index);
    Dataset::from_files(paths, open).unwrap().union_by_name(true).options(options)
}

/// The same table with the column as a type that holds more.
fn widened(random: &mut Random, table: Dataset, data_type: &DataType) -> Dataset {
    use DataType::*;
    let wider: &[DataType] = match data_type {
        Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32 => &[Int64, Decimal128(38, 2), Float64],
        Int64 | UInt64 => &[Decimal128(38, 2), Decimal256(60, 4)],
        Float16 => &[Float32, Float64],
        Float32 => &[Float64],
        Date32 => &[Date64, Timestamp(TimeUnit::Millisecond, None), Timestamp(TimeUnit::Second, None)],
        Binary | BinaryView => &[LargeBinary],
        Utf8 | Utf8View => &[LargeUtf8, BinaryView],
        _ => return table,
    };
    let field = Field::new("x", wider[random.below(wider.len())].clone(), true);
    let schema = ArrowSchema::new(vec![Field::new("id", Int64, false), field]);
    table.evolve(Evolution::to(Arc::new(schema)))
}

fn data_type(table: &Dataset) -> Result<DataType, String> {
    let schema = table.schema().map_err(|error| error.to_string())?;
    Ok(schema.field_with_name("x").unwrap().data_type().clone())
}

fn check(seed: u64) -> Result<(), TestCaseError> {
    let random = &mut Random(seed);
    let forms = random.pick(TABLES);
    let mut id = 0;
    let chosen: Vec<Form> = (0..1 + random.below(3)).map(|_| random.pick(forms)).collect();
    let files: Vec<Bytes> = chosen.iter().map(|form| file(random, *form, &mut id)).collect();
    let dataset = table(files, random.is());
    // There need not be a type for all of them.
    let Ok(own) = data_type(&dataset) else { return Ok(()) };
    let dataset = if random.is() { widened(random, dataset, &own) } else { dataset };
    let of_table = data_type(&dataset).unwrap();
    // A value that the table's type does not hold, a date of the year 9999 in nanoseconds, is an error.
    let Ok(all) = rows(&dataset) else { return Ok(()) };
    let values: Vec<Shown> = all.iter().filter_map(|(_, value)| value.clone()).collect();
    if values.is_empty() {
        return Ok(());
    }
    let is_null = rows(&dataset.clone().filter(col("x").is_null())).unwrap();
    prop_assert_eq!(is_null.len(), all.len() - values.len());
    for _ in 0..12 {
        let Some((predicate, wanted)) = question(random, &values, &of_table) else { continue };
        let ids = all.iter().filter(|(_, value)| value.is_some()).map(|(id, _)| *id);
        let expected: Vec<i64> = ids.zip(wanted).filter(|(_, is)| *is).map(|(id, _)| id).collect();
        let found = rows(&dataset.clone().filter(predicate.clone()));
        let found = found.map(|rows| rows.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
        prop_assert_eq!(found, Ok(expected), "{} of {} in {:?}", predicate, of_table, chosen);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_index_loses_a_row(seed: u64) {
        check(seed)?;
    }
}
