//! A VARIANT as Arrow has it: two byte strings under the name of an extension type.

use arrow_schema::{DataType, Field};
use std::collections::HashMap;

/// Returns the field of a nullable VARIANT column that is not shredded.
///
/// SPEC: Arrow's canonical extension types, `arrow.parquet.variant`.
pub fn variant_field(name: impl Into<String>) -> Field {
    let bytes = |name: &str| Field::new(name, DataType::Binary, false);
    let storage = DataType::Struct(vec![bytes("metadata"), bytes("value")].into());
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    Field::new(name, storage, true).with_metadata(extension)
}
