//! Columns of geometries as another version of GeoParquet has them. Values stay as they are; what says that they are geometries does not.
//!
//! 1.0 and 1.1 have well-known binary in columns of bytes, 2.0 GEOMETRY and GEOGRAPHY, whose chunks have statistics of their own: so their
//! chunks are encoded again where these are missing, and all else is copied.

use super::{Edit, Footer, GeoPart, Input};
use crate::convert::{GeoPlan, GeoWish};
use crate::failure::Failure;
use arrow_schema::SchemaRef;
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, parse_stored_schema, print_stored_schema};
use marquetry::internals::format::KeyValue;
use marquetry::schema::Schema;
use marquetry_core::write::EncodedChunk;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::{KEY, Version};

/// What becomes of the columns of geometries.
pub(crate) struct GeoConversion {
    version: Version,
    /// Which columns of the new file they are.
    columns: Vec<usize>,
    metadata: GeoParquet,
    arrow: SchemaRef,
    seen: GeoPart,
}

impl GeoConversion {
    /// That of a file which is read as `arrow`; `edit` gets the new types.
    ///
    /// Fails if there are no geometries, or if the version has no place for them.
    pub(crate) fn new(
        version: Version,
        input: &Input,
        arrow: &SchemaRef,
        edit: &mut Edit,
    ) -> Result<Self, Failure> {
        let wish = GeoWish { version: Some(version), covering: false };
        let plan = GeoPlan::new(wish, arrow, input.metadata.key_value_metadata())?;
        let plan =
            plan.ok_or_else(|| Failure::Check("no column of geometries is there for GeoParquet".to_owned()))?;
        // A file without rows tells what the fields are stored as.
        let empty = ArrowWriter::try_new(std::io::sink(), plan.schema().clone(), None)?.close()?;
        let mut columns = Vec::new();
        for name in plan.columns() {
            let stored = empty.head().schema.iter().find(|element| element.name.as_str() == name);
            columns
                .push(edit.set_logical_type(name, stored.and_then(|element| element.logical_type.clone()))?);
        }
        let (schema, metadata) = plan.into_schema_and_metadata();
        Ok(GeoConversion { version, columns, metadata, arrow: schema, seen: GeoPart::default() })
    }

    /// Whether chunks of a column of the new file are encoded again: if they have no statistics, `has_statistics` says.
    pub(crate) fn needs_values(&self, column: usize, has_statistics: bool) -> bool {
        self.version == Version::V2_0 && self.columns.contains(&column) && !has_statistics
    }

    /// Takes a chunk on its way into the file.
    pub(crate) fn take(&mut self, column: usize, chunk: &mut EncodedChunk) {
        if !self.columns.contains(&column) {
            return;
        }
        self.seen.add(column, chunk);
        if self.version != Version::V2_0 {
            // They are of GEOMETRY and GEOGRAPHY.
            chunk.metadata.geospatial_statistics = None;
        }
    }

    /// Leaves the old metadata out of a footer, and puts the new types into its Arrow schema.
    pub(crate) fn change_footer(&self, footer: &mut Footer) {
        footer.set_geo(None);
        let stored = footer.value_of(ARROW_SCHEMA_META_KEY).and_then(parse_stored_schema);
        let Some(stored) = stored else { return };
        let fields = stored.fields().iter().map(|field| match self.arrow.field_with_name(field.name()) {
            Ok(new) if self.metadata.column(field.name()).is_some() => {
                field.as_ref().clone().with_metadata(new.metadata().clone())
            }
            _ => field.as_ref().clone(),
        });
        let schema =
            arrow_schema::Schema::new_with_metadata(fields.collect::<Vec<_>>(), stored.metadata.clone());
        footer.set(ARROW_SCHEMA_META_KEY, Some(print_stored_schema(&schema)));
    }

    /// The new metadata, once all chunks were taken.
    ///
    /// Fails if there are geometries that GeoParquet has not, or with M, of which versions before 2.0 know nothing.
    pub(crate) fn finish(self, schema: &Schema) -> Result<KeyValue, Failure> {
        if let Some((column, kind)) = self.seen.foreign_kind() {
            let (name, version) = (schema.column(column).dotted(), self.version);
            let message = format!("column {name}: GeoParquet {version} has no geometries of kind {kind}");
            return Err(Failure::Check(message));
        }
        // All rows are there: what was true of them is true of them still.
        let metadata = self.seen.metadata_of_all(self.metadata, schema);
        for (name, column) in metadata.columns() {
            let measured = column.geometry_types().into_iter().flatten().find(|kind| kind.ends_with('M'));
            if let Some(kind) = measured.filter(|_| self.version != Version::V2_0) {
                let version = self.version;
                let message = format!(
                    "column {name}: GeoParquet {version} has no geometries with M, and there is a {kind}"
                );
                return Err(Failure::Check(message));
            }
        }
        Ok(KeyValue::new(KEY, metadata.to_json()))
    }
}
