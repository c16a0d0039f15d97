//! Reads a file as another schema: missing columns, wider types, another order.
//!
//! An [`Evolution`] is a wanted Arrow schema and the rules by which a file's columns are found for it. Every batch then
//! has that schema, whatever the file has. If that is not possible, opening the file fails with an error that names the
//! column and both types.
//!
//! ```
//! # use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
//! # use marquetry_arrow::evolution::Evolution;
//! use arrow_schema::{DataType, Field, Schema};
//! # use std::{fs::File, sync::Arc};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let wanted = Schema::new(vec![
//!     Field::new("year", DataType::Int64, true),        // INT32 in the file
//!     Field::new("name", DataType::LargeUtf8, true),
//!     Field::new("importer", DataType::Utf8, true),     // not in the file: null
//! ]);
//! let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
//! let mut reader = builder.with_evolution(Evolution::to(Arc::new(wanted))).build()?;
//! let batch = reader.next().unwrap()?;
//! assert_eq!(*batch.schema().field(0).data_type(), DataType::Int64);
//! assert_eq!(batch.column(2).null_count(), batch.num_rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which types become which
//!
//! A type becomes another one if no value changes. A file's type is the one that it is read as by default.
//!
//! | from | to |
//! |---|---|
//! | any integer | an integer that holds all its values: Int8 to Int64, UInt8 to Int16, .. |
//! | Int8, Int16, UInt8, UInt16 | Float32, Float64 |
//! | Int32, UInt32 | Float64 |
//! | any integer | a decimal with as many digits before the point: 3, 5, 10, 19 (UInt64: 20) |
//! | Float16, Float32 | Float32, Float64 |
//! | a decimal | a decimal of any width with no fewer digits before the point, and none fewer behind it |
//! | Date32 | Date64, Timestamp without a zone |
//! | Time32, Time64, Duration | a finer unit |
//! | Timestamp | a finer unit, another zone; but not with a zone from without one or the other way round |
//! | INT96 | Timestamp of any unit and zone, since it has neither; what is finer than the unit is cut off |
//! | text, binary | any layout of both; binary that is not UTF-8 cannot be text |
//! | FixedSizeBinary | Binary of any layout |
//! | Null | anything that may be null |
//! | a type in a dictionary or in runs | what it becomes without, and the other way round |
//! | VARIANT | VARIANT, however either is shredded: values stay as they are |
//! | struct | struct: fields are found as columns are, those that are missing are made, others left out |
//! | list of any layout | list of any layout; of a fixed size only from the same one |
//! | map | map; keys and values are found by position |
//!
//! Extension types, such as UUID or GEOMETRY, are those of the wanted schema. It is an error if the file has the same
//! one with other parameters, such as another coordinate reference system.
//!
//! A value that still does not fit, such as a date of the year 9999 in nanoseconds, is an error when it is read.

mod batch_adapter;
mod chosen_columns;
mod column_order;
mod exact_cast;
mod extension_types;
mod fields;
mod path_column;
mod promotion;
mod union;
mod variant_storage;

pub(crate) use batch_adapter::BatchAdapter;
pub(crate) use chosen_columns::ChosenColumns;
pub(crate) use column_order::ordered;
pub(crate) use exact_cast::cast_exact;
pub(crate) use path_column::PathColumn;
pub(crate) use promotion::is_promotable;
pub(crate) use union::{is_same_column, union};

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// How a file's fields are found for wanted ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchBy {
    /// By the same name.
    #[default]
    Name,
    /// By the same name, or else by the only name that is equal except for case.
    NameIgnoringCase,
    /// By the same field id: that of the file, and that in the wanted field's metadata under
    /// [`FIELD_ID_KEY`](crate::schema::FIELD_ID_KEY), which each wanted field must have.
    FieldId,
}

/// A wanted schema, and the rules by which a file is read as it.
#[derive(Debug, Clone)]
pub struct Evolution {
    schema: SchemaRef,
    by: MatchBy,
    refuse_missing: bool,
    refuse_extra: bool,
    defaults: HashMap<String, ArrayRef>,
    paths: Vec<String>,
    constants: HashMap<String, ArrayRef>,
}

impl Evolution {
    /// Creates an evolution to this schema: batches have these columns, in this order. Other columns of the file are not read.
    pub fn to(schema: SchemaRef) -> Self {
        Evolution {
            schema,
            by: MatchBy::default(),
            refuse_missing: false,
            refuse_extra: false,
            defaults: HashMap::new(),
            paths: Vec::new(),
            constants: HashMap::new(),
        }
    }

    /// Sets how the file's fields are found. Default: by name.
    #[must_use]
    pub fn by(mut self, by: MatchBy) -> Self {
        self.by = by;
        self
    }

    /// Returns how the file's fields are found.
    pub(crate) fn match_by(&self) -> MatchBy {
        self.by
    }

    /// Sets whether a field without default that the file lacks is an error. Default false: it is null, and an error
    /// only if it is not nullable.
    #[must_use]
    pub fn refuse_missing(mut self, refuse: bool) -> Self {
        self.refuse_missing = refuse;
        self
    }

    /// Sets whether a field of the file that is not wanted is an error. Default false: it is not read.
    #[must_use]
    pub fn refuse_extra(mut self, refuse: bool) -> Self {
        self.refuse_extra = refuse;
        self
    }

    /// Sets the value, an array of one row, of a field that a file lacks.
    ///
    /// `path` has the names from the root on, joined by dots. Elements, keys and values of lists and maps have the
    /// names of the wanted schema. Opening a file fails if the value's type is neither the field's type nor one that
    /// becomes it.
    #[must_use]
    pub fn with_default(mut self, path: impl Into<String>, value: ArrayRef) -> Self {
        self.defaults.insert(path.into(), value);
        self
    }

    /// Sets the value, an array of one row, of a column of the root, whether the file has it or not. Used for partition values.
    #[must_use]
    pub fn with_constant(mut self, name: impl Into<String>, value: ArrayRef) -> Self {
        self.constants.insert(name.into(), value);
        self
    }

    /// Declares that the root's column of this name is a [path into a VARIANT](crate::variant::VariantPath), such as
    /// `payload:user.id::bigint`, with the type of that path.
    ///
    /// A file may have the VARIANT shredded in any way. The VARIANT is found by its name, however other fields are
    /// found. A file without it lacks the column.
    #[must_use]
    pub fn with_path(mut self, name: impl Into<String>) -> Self {
        self.paths.push(name.into());
        self
    }

    /// Returns the default of the field at a path.
    pub(crate) fn default_of(&self, path: &str) -> Option<&ArrayRef> {
        self.defaults.get(path)
    }

    /// Returns the wanted schema.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Replaces the wanted schema. Defaults, constants and the way fields are found stay.
    #[must_use]
    pub fn with_schema(mut self, schema: SchemaRef) -> Self {
        self.schema = schema;
        self
    }

    /// Keeps only the columns at these places of the wanted schema, in this order. Other columns of a file are then not
    /// read, and no error. Fails if there is no such place.
    pub fn project(mut self, columns: &[usize]) -> Result<Self, ArrowError> {
        self.schema = Arc::new(self.schema.project(columns)?);
        let is_left = |name: &String| self.schema.column_with_name(name).is_some();
        self.paths.retain(is_left);
        self.constants.retain(|name, _| is_left(name));
        self.refuse_extra = false;
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
