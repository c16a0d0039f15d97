//! Virtual columns: the row number and the row group of each row.
//!
//! A field with one of these extension types requests such a column, see
//! [`with_virtual_columns`](super::ArrowReaderOptions::with_virtual_columns).

use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::extension::ExtensionType;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// The extension type of row numbers, `parquet.virtual.row_number`, stored as `Int64`. It numbers the rows of the file
/// from 0, whichever rows are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowNumber;

/// The extension type of row group numbers, `parquet.virtual.row_group_index`, stored as `Int64` and counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowGroupIndex;

/// Implements the extension types of virtual columns, which differ only in their names.
macro_rules! extension_type {
    ($type:ident, $name:literal) => {
        impl ExtensionType for $type {
            const NAME: &'static str = $name;
            type Metadata = &'static str;

            fn metadata(&self) -> &Self::Metadata {
                &""
            }

            fn serialize_metadata(&self) -> Option<String> {
                Some(String::new())
            }

            fn deserialize_metadata(metadata: Option<&str>) -> Result<Self::Metadata, ArrowError> {
                match metadata {
                    Some("") => Ok(""),
                    other => Err(ArrowError::InvalidArgumentError(format!(
                        "the metadata of a virtual column is empty, not {other:?}"
                    ))),
                }
            }

            fn supports_data_type(&self, data_type: &DataType) -> Result<(), ArrowError> {
                match data_type {
                    DataType::Int64 => Ok(()),
                    other => Err(ArrowError::InvalidArgumentError(format!(
                        "a virtual column is Int64, not {other}"
                    ))),
                }
            }

            fn try_new(data_type: &DataType, _: Self::Metadata) -> Result<Self, ArrowError> {
                $type.supports_data_type(data_type).map(|()| $type)
            }
        }
    };
}

extension_type!(RowNumber, "parquet.virtual.row_number");
extension_type!(RowGroupIndex, "parquet.virtual.row_group_index");

/// The kind of a virtual column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Virtual {
    RowNumber,
    RowGroup,
}

impl Virtual {
    /// Returns the kind of virtual column that `field` requests. Fails if it requests none.
    pub(super) fn of(field: &Field) -> Result<Virtual> {
        let wrong = |error: ArrowError| Error::argument(format!("column {}: {error}", field.name()));
        match field.extension_type_name() {
            Some(RowNumber::NAME) => {
                field.try_extension_type::<RowNumber>().map(|_| Virtual::RowNumber).map_err(wrong)
            }
            Some(RowGroupIndex::NAME) => {
                field.try_extension_type::<RowGroupIndex>().map(|_| Virtual::RowGroup).map_err(wrong)
            }
            _ => Err(Error::argument(format!(
                "the field {} has not the extension type of a virtual column: RowNumber or RowGroupIndex",
                field.name()
            ))),
        }
    }
}

/// Creates a field of this name for row numbers.
pub(super) fn row_numbers(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Int64, false).with_extension_type(RowNumber))
}

/// Creates a field of this name for row group numbers.
pub(super) fn row_groups(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Int64, false).with_extension_type(RowGroupIndex))
}

/// Collects the values of a batch's virtual columns.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// The numbers of the rows in the file.
    pub(super) rows: Vec<i64>,
    /// The row group of each row.
    pub(super) row_groups: Vec<i64>,
}

impl Positions {
    /// Returns the column of `kind`.
    pub(super) fn array(&self, kind: Virtual) -> ArrayRef {
        let values = match kind {
            Virtual::RowNumber => &self.rows,
            Virtual::RowGroup => &self.row_groups,
        };
        Arc::new(Int64Array::from(values.clone()))
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.row_groups.clear();
    }
}
