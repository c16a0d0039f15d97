//! Geometry columns in another version of GeoParquet. Values stay as they are; types and metadata that mark them change.
//!
//! Versions 1.0 and 1.1 have well-known binary in columns of bytes, 2.0 has GEOMETRY and GEOGRAPHY, whose chunks have
//! statistics of their own: chunks without these are encoded again, and everything else is copied.

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

/// The conversion of geometry columns.
pub(crate) struct GeoConversion {
    version: Version,
    /// Their indices in the new file.
    columns: Vec<usize>,
    metadata: GeoParquet,
    arrow: SchemaRef,
    seen: GeoPart,
}

impl GeoConversion {
    /// The conversion of a file that is read as `arrow`; `edit` gets the new types.
    ///
    /// Fails if there are no geometries, or if the version does not support them.
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
        // Writing a file without rows gives the stored types of the fields.
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

    /// Whether chunks of a column of the new file are encoded again: if they lack statistics.
    pub(crate) fn needs_values(&self, column: usize, has_statistics: bool) -> bool {
        self.version == Version::V2_0 && self.columns.contains(&column) && !has_statistics
    }

    /// Takes a chunk that goes into the file.
    pub(crate) fn take(&mut self, column: usize, chunk: &mut EncodedChunk) {
        if !self.columns.contains(&column) {
            return;
        }
        self.seen.add(column, chunk);
        if self.version != Version::V2_0 {
            // These statistics are only for GEOMETRY and GEOGRAPHY.
            chunk.metadata.geospatial_statistics = None;
        }
    }

    /// Removes the old metadata from a footer, and puts the new types into its Arrow schema.
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

    /// The new metadata, after all chunks were taken.
    ///
    /// Fails for geometries that GeoParquet lacks, or with M, which versions before 2.0 do not support.
    pub(crate) fn finish(self, schema: &Schema) -> Result<KeyValue, Failure> {
        if let Some((column, kind)) = self.seen.foreign_kind() {
            let (name, version) = (schema.column(column).dotted(), self.version);
            let message = format!("column {name}: GeoParquet {version} has no geometries of kind {kind}");
            return Err(Failure::Check(message));
        }
        // The file has all rows: metadata that was true stays true.
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
