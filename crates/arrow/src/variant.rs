//! VARIANT columns: each row's value, assembled if it is shredded.
//!
//! Spec: VariantShredding.md. A VARIANT column is a struct of `metadata`, `value` and `typed_value`, of which either of
//! the last two may be absent. A value with the type of `typed_value` is stored there; an object may be stored in both.
//! [`Shredder`] makes such columns, and [`BatchShredder`] the batches from which a file is written.
//!
//! ```
//! use arrow_array::RecordBatchReader;
//! use marquetry_arrow::variant::VariantColumn;
//! # use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StructArray};
//! # use arrow_schema::{DataType, Field};
//! # let field = |name: &str| std::sync::Arc::new(Field::new(name, DataType::Binary, false));
//! # let binary = |bytes: &[u8]| std::sync::Arc::new(BinaryArray::from_vec(vec![bytes])) as ArrayRef;
//! # let array = StructArray::from(vec![(field("metadata"), binary(&[1, 0, 0])), (field("value"), binary(&[12, 42]))]);
//! // `array` is a column of a batch.
//! let column = VariantColumn::try_new(&array)?;
//! let mut rows = column.reader();
//! for row in 0..column.len() {
//!     match rows.get(row)? {
//!         Some(variant) => println!("{}", marquetry_variant::json::to_string(variant)?),
//!         None => println!("NULL"),
//!     }
//! }
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod array_builder;
mod assembler;
mod batch_shredder;
mod bytes;
mod cast;
mod column;
mod column_path;
mod group;
mod json_text;
mod path_array;
mod path_plan;
mod path_walk;
mod pruning;
mod shape_of;
mod shredded_fields;
mod shredder;
mod typed;
mod typed_builder;
mod typed_path;
mod value_bytes;

pub use crate::schema::is_variant;
pub use array_builder::VariantArrayBuilder;
pub(crate) use batch_shredder::arrays_of_path;
pub use batch_shredder::{BatchShredder, Shreddings, variant_columns};
pub use column::{VariantColumn, VariantReader};
pub use column_path::{VariantCast, VariantPath};
pub(crate) use path_array::{PathTarget, STATE_MISSING, STATE_NULL, STATE_VARIANT_NULL, path_array};
pub use path_array::{is_variant_null, variant_get, variant_get_field};
pub(crate) use path_plan::{PathPlan, quoted_path};
pub(crate) use pruning::prunable_columns;
pub(crate) use shape_of::primitive_type_of;
pub use shape_of::shreddings_of;
pub(crate) use shredded_fields::unshredded_storage;
pub use shredder::Shredder;
