//! From one Arrow major to the other: schemas from 60 to 59, arrays from 59 to 60. Only the types measured here.

use std::sync::Arc;

use arrow_buffer as buffer59;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow60_array::{ArrayRef, make_array};
use arrow60_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow60_data::ArrayData as ArrayData60;
use arrow60_schema::{DataType as DataType60, Field as Field60, Schema as Schema60};

use crate::Result;

/// The same schema in Arrow 59.
pub(crate) fn schema(from: &Schema60) -> Result<SchemaRef> {
    let fields: Result<Vec<Field>> = from.fields().iter().map(|from| field(from)).collect();
    Ok(Arc::new(Schema::new(fields?)))
}

fn field(from: &Field60) -> Result<Field> {
    Ok(Field::new(from.name(), data_type(from.data_type())?, from.is_nullable()))
}

/// The same type in Arrow 59.
pub(crate) fn data_type(from: &DataType60) -> Result<DataType> {
    Ok(match from {
        DataType60::Boolean => DataType::Boolean,
        DataType60::Int32 => DataType::Int32,
        DataType60::Int64 => DataType::Int64,
        DataType60::Float64 => DataType::Float64,
        DataType60::Date32 => DataType::Date32,
        DataType60::Decimal128(precision, scale) => DataType::Decimal128(*precision, *scale),
        DataType60::Utf8 => DataType::Utf8,
        DataType60::Utf8View => DataType::Utf8View,
        DataType60::Dictionary(key, value) => {
            DataType::Dictionary(Box::new(data_type(key)?), Box::new(data_type(value)?))
        }
        DataType60::List(item) => DataType::List(Arc::new(field(item)?)),
        other => return Err(format!("no bridge for the type {other}").into()),
    })
}

/// The same array in Arrow 60, as type `to`. Buffers are copied and fully validated: offsets, UTF-8, keys, views.
pub(crate) fn array(from: &ArrayData, to: &DataType60) -> Result<ArrayRef> {
    Ok(make_array(array_data(from, to)?))
}

/// The same array in Arrow 59, as type `to`. Buffers are copied and fully validated.
pub(crate) fn array_59(from: &ArrayData60, to: &DataType) -> Result<ArrayData> {
    let child = match to {
        DataType::Dictionary(_, value) => Some(value.as_ref()),
        DataType::List(item) => Some(item.data_type()),
        _ => None,
    };
    let children: Result<Vec<ArrayData>> =
        child.iter().zip(from.child_data()).map(|(to, from)| array_59(from, to)).collect();
    let nulls = from.nulls().map(|nulls| {
        let bits = buffer59::Buffer::from(nulls.validity());
        buffer59::NullBuffer::new(buffer59::BooleanBuffer::new(bits, nulls.offset(), nulls.len()))
    });
    let buffers = from.buffers().iter().map(|buffer| buffer59::Buffer::from(buffer.as_slice()));
    let data = ArrayData::builder(to.clone())
        .len(from.len())
        .offset(from.offset())
        .nulls(nulls)
        .buffers(buffers.collect())
        .child_data(children?)
        .build()?;
    data.validate_full()?;
    Ok(data)
}

fn array_data(from: &ArrayData, to: &DataType60) -> Result<ArrayData60> {
    if *from.data_type() != data_type(to)? {
        return Err(format!("ours is of type {}, the peer's of {to}", from.data_type()).into());
    }
    let child = match to {
        DataType60::Dictionary(_, value) => Some(value.as_ref()),
        DataType60::List(item) => Some(item.data_type()),
        _ => None,
    };
    let children: Result<Vec<ArrayData60>> =
        child.iter().zip(from.child_data()).map(|(to, from)| array_data(from, to)).collect();
    let nulls = from.nulls().map(|nulls| {
        let bits = Buffer::from(nulls.validity());
        NullBuffer::new(BooleanBuffer::new(bits, nulls.offset(), nulls.len()))
    });
    let data = ArrayData60::builder(to.clone())
        .len(from.len())
        .offset(from.offset())
        .nulls(nulls)
        .buffers(from.buffers().iter().map(|buffer| Buffer::from(buffer.as_slice())).collect())
        .child_data(children?)
        .build()?;
    data.validate_full()?;
    Ok(data)
}
