//! The Arrow schema that a file has in its metadata.

use crate::memory::earned;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_arrow::schema::{
    ARROW_SCHEMA_KEY, FromArrowOptions, TypeOptions, from_arrow, parse_stored, print_stored, to_arrow,
};
use marquetry_base::Limits;
use marquetry_core::nesting::NestedField;
use marquetry_core::schema::Schema;
use std::collections::HashMap;

/// Parses the message that a file stores as base64. It must survive printing; and a file of its columns must be
/// readable with it, all columns or one by one, whatever else it says.
pub fn arrow_schema(data: &[u8]) {
    let text = STANDARD.encode(data);
    earned((16 << 20) + 1024 * data.len(), || {
        let Some(stored) = parse_stored(&text) else { return };
        assert_eq!(parse_stored(&print_stored(&stored)).as_ref(), Some(&stored));
        let Ok(elements) = from_arrow(&stored, &FromArrowOptions::default()) else { return };
        let Ok(schema) = Schema::from_thrift(&elements, &Limits::default()) else { return };
        let (fields, metadata) =
            (NestedField::from_schema(&schema), HashMap::from([(ARROW_SCHEMA_KEY, &*text)]));
        let options = TypeOptions::default();
        let whole = to_arrow(&fields, 0.., &schema, &metadata, &options);
        assert!(
            whole.fields().iter().map(|field| &**field.name()).eq(fields.iter().map(|field| &*field.name))
        );
        for (place, field) in fields.iter().enumerate().take(MOST) {
            let part = to_arrow(std::slice::from_ref(field), [place], &schema, &metadata, &options);
            assert_eq!(part.field(0).name(), whole.field(place).name());
        }
    });
}

/// Columns that are read one by one.
const MOST: usize = 100;
