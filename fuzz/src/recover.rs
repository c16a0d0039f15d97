//! Recovering whole files from what is left of them.

use crate::file::limits;
use crate::memory::earned;
use bytes::Bytes;
use marquetry_core::io::read_metadata;
use marquetry_core::schema::Schema;
use marquetry_recover::{GivenSchema, RecoverOptions, SchemaOrigin, recover as search};
use std::sync::Arc;

/// The first byte chooses where a schema comes from; the rest is what is left of the file. The result must be a file
/// with as many rows as the report says, and recovering that must lose nothing.
pub fn recover(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let schema = (choice & 2 != 0)
        .then(|| GivenSchema::new(Schema::parse(TEXT).expect("a schema").to_thrift(), SchemaOrigin::Text));
    let options = RecoverOptions::default()
        .with_schema(schema)
        .with_partial(choice & 1 != 0)
        .with_keep_appended(choice & 4 != 0)
        .with_threads(1)
        .with_limits(Arc::new(limits()));
    let source = Arc::new(Bytes::copy_from_slice(rest));
    earned((96 << 20) + 16_384 * data.len(), || {
        let Ok(recovery) = search(source, &options) else { return };
        let rows = recovery.report().rows();
        assert!(!recovery.report().to_string().is_empty());
        if recovery.report().row_groups.is_empty() {
            return;
        }
        let Ok(file) = recovery.write(Vec::new(), None) else { return };
        let file = Bytes::from(file);
        let footer = read_metadata(&file, &options.limits).expect("a file that was written");
        assert_eq!(footer.metadata.num_rows(), rows);
        let again = search(Arc::new(file), &options).expect("a file that was written");
        assert_eq!(again.report().rows(), rows, "{}", again.report());
    });
}

/// Text becomes a schema, or an error; a printed schema must parse again.
pub fn schema_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(schema) = Schema::parse(text) {
        let printed = schema.to_string();
        assert_eq!(Schema::parse(&printed).map(|again| again.to_string()).ok(), Some(printed));
    }
}

const TEXT: &str = "message m { optional int64 a; optional group l (LIST) { repeated group list { optional binary \
                    element (STRING); } } }";
