//! A set of values in the forms of both sides.

use crate::data::Set;
use crate::error::Result;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use marquetry_arrow::variant::{Shredder, VariantArrayBuilder, VariantColumn};
use parquet_variant_compute::VariantArray;
use std::sync::Arc;

/// The same values in all forms.
pub(crate) struct Values {
    pub(crate) json: StringArray,
    pub(crate) plain: ArrayRef,
    pub(crate) shredded: ArrayRef,
    /// With offsets instead of views, the only layout that the peer prints.
    pub(crate) with_offsets: ArrayRef,
    pub(crate) their_plain: VariantArray,
    pub(crate) their_shredded: VariantArray,
}

impl Values {
    pub(crate) fn new(set: &Set, rows: usize) -> Result<Self> {
        let json = StringArray::from_iter_values(set.lines(rows));
        let mut builder = VariantArrayBuilder::new();
        json.iter().flatten().try_for_each(|text| builder.append_json(text))?;
        let plain: ArrayRef = Arc::new(builder.finish()?);
        let shredder = Shredder::new(&set.shape.parse()?)?;
        let shredded: ArrayRef = Arc::new(shredder.shred(&VariantColumn::try_new(&plain)?)?);
        Ok(Values {
            with_offsets: with_offsets(&plain)?,
            their_plain: VariantArray::try_new(&plain)?,
            their_shredded: VariantArray::try_new(&shredded)?,
            json,
            plain,
            shredded,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.plain.len()
    }
}

/// The columns of a VARIANT as BINARY.
pub(crate) fn with_offsets(plain: &ArrayRef) -> Result<ArrayRef> {
    let columns = plain.as_struct().columns().iter().map(|column| {
        let bytes = column.as_binary_view();
        Arc::new(bytes.iter().map(|bytes| bytes.unwrap_or(&[])).map(Some).collect::<BinaryArray>())
            as ArrayRef
    });
    let fields = ["metadata", "value"].map(|name| Field::new(name, DataType::Binary, false));
    Ok(Arc::new(StructArray::try_new(fields.to_vec().into(), columns.collect(), plain.nulls().cloned())?))
}
