//! Prints INT96 exactly, each time with the digits that it has.
//!
//! A timestamp of Arrow has one unit for all its values: one that nanoseconds do not reach takes those of all others. Text needs no such
//! unit, so that columns with a far time are read as the bytes that are stored.

use crate::memory::bounded_options;
use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ChunkReader};
use marquetry::errors;
use marquetry_text::format::scalar::INT96_MARK;
use std::sync::Arc;

/// Whether the column has timestamps whose unit is not in the file.
pub(crate) fn is_int96(leaf: &marquetry::schema::Leaf) -> bool {
    leaf.physical() == marquetry::internals::encoding::PhysicalType::Int96
}

/// The schema, in which the times of `file` have units that hold them, with bytes where those are not nanoseconds.
pub(super) fn with_exact_int96(file: &OpenFile, fitting: &SchemaRef) -> errors::Result<SchemaRef> {
    let bytes = |leaf: &_| is_int96(leaf).then_some(DataType::FixedSizeBinary(12));
    let options = bounded_options().with_type_hook(bytes);
    let stored = ArrowReaderMetadata::load(file.clone().into_source()?, options)?.schema().clone();
    let fields = exact_fields(fitting.fields(), stored.fields());
    Ok(Arc::new(Schema::new_with_metadata(fields, fitting.metadata().clone())))
}

fn exact_fields(fitting: &Fields, stored: &Fields) -> Fields {
    fitting.iter().zip(stored).map(|(fitting, stored)| exact(fitting, stored)).collect()
}

fn exact(fitting: &FieldRef, stored: &FieldRef) -> FieldRef {
    use DataType::*;
    let field = fitting.as_ref().clone();
    let data_type = match (fitting.data_type(), stored.data_type()) {
        (Timestamp(TimeUnit::Nanosecond, _), _) => return fitting.clone(),
        (Timestamp(_, zone), bytes @ FixedSizeBinary(_)) => {
            let mut metadata = field.metadata().clone();
            metadata.insert(INT96_MARK.to_owned(), zone.as_deref().unwrap_or_default().to_owned());
            return Arc::new(field.with_data_type(bytes.clone()).with_metadata(metadata));
        }
        (Struct(fitting), Struct(stored)) => Struct(exact_fields(fitting, stored)),
        (List(fitting), List(stored)) => List(exact(fitting, stored)),
        (LargeList(fitting), LargeList(stored)) => LargeList(exact(fitting, stored)),
        (ListView(fitting), ListView(stored)) => ListView(exact(fitting, stored)),
        (LargeListView(fitting), LargeListView(stored)) => LargeListView(exact(fitting, stored)),
        (FixedSizeList(fitting, n), FixedSizeList(stored, _)) => FixedSizeList(exact(fitting, stored), *n),
        (Map(fitting, is_sorted), Map(stored, _)) => Map(exact(fitting, stored), *is_sorted),
        _ => return fitting.clone(),
    };
    Arc::new(field.with_data_type(data_type))
}
