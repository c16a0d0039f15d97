//! Shreds the arrays of one column.

use super::dictionary::DictionaryShredder;
use super::leaf_values::{check_nullable, cleared, in_slots};
use crate::convert::{self, ConversionError, NonNullSlots};
use crate::schema::value_type;
use arrow_array::{Array, new_empty_array};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::nesting::{ColumnValues, LevelBuilder, ShreddedColumn};
use marquetry_core::schema::Leaf;
use marquetry_encoding::Bitmap;

/// Shreds a leaf: the column, and the type of its arrays.
#[derive(Debug)]
pub(super) struct LeafShredder {
    leaf: Leaf,
    data_type: DataType,
    dictionary: DictionaryShredder,
}

impl LeafShredder {
    pub(super) fn new(data_type: &DataType, leaf: &Leaf) -> Result<Self> {
        // Converting an empty array shows whether the type can be stored.
        let (none, mut values) = (LevelBuilder::rows(0..0), leaf.physical().shape().empty());
        let empty = match value_type(data_type) {
            nested if nested.is_nested() => return Err(Error::argument(format!("{nested} in one column"))),
            plain => new_empty_array(plain),
        };
        convert::from_array(&empty, &NonNullSlots::new(none.slots(), None), leaf, &mut values)
            .map_err(|unfit| Error::argument(unfit.why))?;
        let dictionary = DictionaryShredder::default();
        Ok(LeafShredder { leaf: leaf.clone(), data_type: data_type.clone(), dictionary })
    }

    pub(super) fn shred(
        &mut self,
        array: &dyn Array,
        above: &LevelBuilder,
        nullable: bool,
        out: &mut ShreddedColumn,
    ) -> Result<(), ConversionError> {
        if array.data_type() != &self.data_type && !array.data_type().equals_datatype(&self.data_type) {
            return Err(ConversionError {
                value: None,
                why: format!("an array of {} where {} was announced", array.data_type(), self.data_type),
            });
        }
        let valid = match array.data_type() {
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
                self.dictionary.shred(array, above.slots(), &self.leaf, nullable, &mut out.values)?
            }
            DataType::Null => {
                let mut none = Bitmap::new();
                none.push_run(false, above.slots().len());
                let none = Some(none).filter(|none| !none.is_empty());
                check_nullable(nullable, none.as_ref())?;
                cleared(&mut out.values, &self.leaf);
                none
            }
            // PERF: if all values are null, none is read.
            _ if nullable && array.null_count() == array.len() && !above.slots().is_empty() => {
                cleared(&mut out.values, &self.leaf);
                above.null_leaf(out);
                return Ok(());
            }
            _ => self.plain(array, above, nullable, &mut out.values)?,
        };
        match valid {
            Some(_) if out.values.is_empty() => above.null_leaf(out),
            valid => above.leaf(nullable, valid, out),
        }
        Ok(())
    }

    fn plain(
        &self,
        array: &dyn Array,
        above: &LevelBuilder,
        nullable: bool,
        out: &mut ColumnValues,
    ) -> Result<Option<Bitmap>, ConversionError> {
        let valid = convert::validity(array.nulls(), above.slots());
        check_nullable(nullable, valid.as_ref())?;
        let picks = NonNullSlots::new(above.slots(), valid.as_ref());
        convert::from_array(array, &picks, &self.leaf, cleared(out, &self.leaf))
            .map_err(|unfit| in_slots(unfit, valid.as_ref()))?;
        Ok(valid)
    }
}
