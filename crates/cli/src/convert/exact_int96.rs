//! Prints INT96 exactly, each value with its own digits.
//!
//! A timestamp column of Arrow has one unit: a value that is out of the range of nanoseconds takes the nanoseconds from
//! all others. Text needs no unit, so columns with such a value are read as the stored bytes.

use crate::memory::bounded_options;
use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ChunkReader};
use marquetry::errors;
use marquetry_text::format::scalar::INT96_MARK;
use std::sync::Arc;

/// Whether the column has timestamps without a unit in the file.
pub(crate) fn is_int96(leaf: &marquetry::schema::Leaf) -> bool {
    leaf.physical() == marquetry::internals::encoding::PhysicalType::Int96
}

/// The schema, in which the times of `file` have units that hold them, with bytes in place of units other than nanoseconds.
pub(super) fn with_exact_int96(file: &OpenFile, fitting: &SchemaRef) -> errors::Result<SchemaRef> {
    let options = int96_as_bytes(bounded_options());
    let stored = ArrowReaderMetadata::load(file.clone().into_source()?, options)?.schema().clone();
    let fields = exact_fields(fitting.fields(), stored.fields(), Exact::Far);
    Ok(Arc::new(Schema::new_with_metadata(fields, fitting.metadata().clone())))
}

/// Opens a file whose INT96 columns are read as bytes if nanoseconds cannot hold them; `None` if there are none. `fitting` has the
/// units that hold its times.
pub(crate) fn far_times_as_bytes(file: &OpenFile, fitting: &SchemaRef) -> errors::Result<Option<OpenFile>> {
    if !file.metadata().schema().columns().iter().any(is_int96) {
        return Ok(None);
    }
    let exact = with_exact_int96(file, fitting)?;
    if exact == *fitting {
        return Ok(None);
    }
    OpenFile::new(file.clone().into_source()?, bounded_options().with_schema(exact)).map(Some)
}

/// The options, with INT96 read as its bytes.
pub(super) fn int96_as_bytes(options: ArrowReaderOptions) -> ArrowReaderOptions {
    options.with_type_hook(|leaf| is_int96(leaf).then_some(DataType::FixedSizeBinary(12)))
}

/// Which INT96 columns are read as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exact {
    All,
    /// Those that nanoseconds cannot hold.
    Far,
}

/// The fields of `fitting`, with the bytes of `stored` in place of its times, marked as INT96.
pub(super) fn exact_fields(fitting: &Fields, stored: &Fields, which: Exact) -> Fields {
    fitting.iter().zip(stored).map(|(fitting, stored)| exact(fitting, stored, which)).collect()
}

fn exact(fitting: &FieldRef, stored: &FieldRef, which: Exact) -> FieldRef {
    use DataType::*;
    let field = fitting.as_ref().clone();
    let below = |fitting, stored| exact(fitting, stored, which);
    let data_type = match (fitting.data_type(), stored.data_type()) {
        (Timestamp(TimeUnit::Nanosecond, _), _) if which == Exact::Far => return fitting.clone(),
        (Timestamp(_, zone), bytes @ FixedSizeBinary(_)) => {
            let mut metadata = field.metadata().clone();
            metadata.insert(INT96_MARK.to_owned(), zone.as_deref().unwrap_or_default().to_owned());
            return Arc::new(field.with_data_type(bytes.clone()).with_metadata(metadata));
        }
        (Struct(fitting), Struct(stored)) => Struct(exact_fields(fitting, stored, which)),
        (List(fitting), List(stored)) => List(below(fitting, stored)),
        (LargeList(fitting), LargeList(stored)) => LargeList(below(fitting, stored)),
        (ListView(fitting), ListView(stored)) => ListView(below(fitting, stored)),
        (LargeListView(fitting), LargeListView(stored)) => LargeListView(below(fitting, stored)),
        (FixedSizeList(fitting, n), FixedSizeList(stored, _)) => FixedSizeList(below(fitting, stored), *n),
        (Map(fitting, is_sorted), Map(stored, _)) => Map(below(fitting, stored), *is_sorted),
        _ => return fitting.clone(),
    };
    Arc::new(field.with_data_type(data_type))
}
