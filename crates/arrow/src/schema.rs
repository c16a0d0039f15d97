//! Which Arrow type each Parquet field becomes.
//!
//! Three sources, in rising order of weight:
//!
//! 1. the file's schema: `default_types` has the table;
//! 2. the Arrow schema that Arrow writers store in the file's metadata ([`ARROW_SCHEMA_KEY`]). It restores what Parquet
//!    cannot express: dictionaries, large offsets, time zones. It is a hint: each part that does not fit the file any more
//!    is ignored, because tools that rewrite files copy the metadata without reading it;
//! 3. a schema that the caller wants ([`to_arrow_as`]): a part that does not fit is an error.

mod bare_integers;
pub(crate) mod binary_metadata;
pub(crate) mod compatibility;
pub mod copied;
pub(crate) mod default_types;
mod extension;
mod from_arrow;
mod hint;
mod int96_units;
pub(crate) mod ipc;
mod lists;
mod metadata_keys;
mod name_index;
mod narrow_keys;
mod project;
pub(crate) mod repair;
mod stated_extension;
mod stored_message;
mod supplied;
mod type_options;

pub(crate) use bare_integers::{check_bare_integers, leaf_types_of};
pub use binary_metadata::BINARY_METADATA_PREFIX;
pub(crate) use extension::forget as forget_extension;
pub use extension::is_variant;
pub(crate) use from_arrow::geo::geoparquet_columns;
pub(crate) use from_arrow::value_type;
pub use from_arrow::{FromArrowOptions, from_arrow};
pub use int96_units::Int96Units;
pub(crate) use lists::{element_of, list_of};
pub(crate) use metadata_keys::GEOPARQUET_KEY;
pub use metadata_keys::{ARROW_SCHEMA_KEY, FIELD_ID_KEY};
pub use narrow_keys::narrow_key_capacity;
pub(crate) use project::project;
pub(crate) use stated_extension::StatedExtension;
pub use supplied::to_arrow_as;
pub use type_options::{DecimalOverflow, HintPolicy, InvalidUtf8, StringLayout, TypeHook, TypeOptions};

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, Schema as ArrowSchema};
use hint::Mapped;
use marquetry_base::{Error, Result};
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::schema::{Leaf, Schema};
use name_index::NameIndex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

/// Returns the Arrow schema of `fields`, which are some or all of the fields of `schema`. `places` are their positions,
/// `0..` for all.
///
/// `metadata` is the file's key-value metadata. It becomes the Arrow schema's metadata, without the stored Arrow
/// schema. Only these fields of the stored Arrow schema are decoded.
pub fn to_arrow(
    fields: &[NestedField],
    places: impl IntoIterator<Item = usize>,
    schema: &Schema,
    metadata: &HashMap<&str, &str>,
    options: &TypeOptions,
) -> ArrowSchema {
    let names = places.into_iter().zip(fields).map(|(place, field)| (place, &*field.name));
    let stored = match metadata.get(ARROW_SCHEMA_KEY) {
        Some(base64) if options.use_arrow_schema => ipc::find(base64, names, options.binary_metadata),
        _ => None,
    };
    let ipc::Found { fields: hints, metadata: mut kept } = stored.unwrap_or_default();
    let mapping = Mapping { schema, metadata, options };
    let hints = hints.into_iter().chain(iter::repeat(None));
    let fields: Fields =
        fields.iter().zip(hints).map(|(field, hint)| mapping.shared(field, hint.as_ref())).collect();
    let others = metadata.iter().filter(|(key, _)| **key != ARROW_SCHEMA_KEY);
    kept.extend(others.map(|(key, value)| (key.to_string(), value.to_string())));
    kept.remove(ARROW_SCHEMA_KEY);
    ArrowSchema::new_with_metadata(fields, kept)
}

/// Parses the value of [`ARROW_SCHEMA_KEY`] as an Arrow schema; `None` if it is none. Types that this build does not
/// know become `Null`.
pub fn parse_stored(text: &str) -> Option<ArrowSchema> {
    ipc::decode(text)
}

/// Returns the value of [`ARROW_SCHEMA_KEY`] for a schema.
pub fn print_stored(schema: &ArrowSchema) -> String {
    ipc::encode(schema)
}

/// Fails if the type hook chooses a type that a column cannot become.
pub(crate) fn check_chosen_types(schema: &Schema, options: &TypeOptions) -> Result<()> {
    let wrong = |leaf: &Leaf| options.chosen(leaf).filter(|chosen| !compatibility::fits(leaf, chosen));
    match schema.columns().iter().find_map(|leaf| Some((leaf, wrong(leaf)?))) {
        None => Ok(()),
        Some((leaf, chosen)) => {
            let stored = compatibility::describe(leaf);
            Err(Error::argument(format!(
                "it is {stored} and cannot be read as {chosen}, which the type hook wants"
            ))
            .in_column(leaf.dotted().clone()))
        }
    }
}

/// Returns the type of one leaf without any hint.
pub fn plain_type(leaf: &Leaf, options: &TypeOptions) -> DataType {
    default_types::data_type(leaf, options)
}

/// The inputs of a mapping.
struct Mapping<'a> {
    schema: &'a Schema,
    metadata: &'a HashMap<&'a str, &'a str>,
    options: &'a TypeOptions,
}

impl Mapping<'_> {
    fn fields(&self, fields: &[NestedField], hints: Option<&Fields>) -> Fields {
        let hints = hints.map_or(&[][..], |hints| hints);
        let mut places = NameIndex::new(hints.len(), |place| Cow::Borrowed(hints[place].name()));
        let mapped = |(place, field): (usize, &NestedField)| {
            self.shared(field, places.find(place, &field.name).map(|place| &hints[place]))
        };
        fields.iter().enumerate().map(mapped).collect()
    }

    fn shared(&self, field: &NestedField, hint: Option<&FieldRef>) -> FieldRef {
        match hint {
            Some(hint) if self.is_as_stored(field, hint) => hint.clone(),
            hint => Arc::new(self.field(field, hint.map(Arc::as_ref))),
        }
    }

    /// Returns whether a field becomes exactly the stored one, which can then be shared.
    fn is_as_stored(&self, field: &NestedField, hint: &ArrowField) -> bool {
        let FieldKind::Leaf(leaf) = field.kind else { return false };
        hint.is_nullable() == field.nullable
            && !repair::may_null(self.schema.column(leaf), hint.data_type(), self.options)
            && field.field_id.is_none()
            && !hint.data_type().is_null()
            && hint.metadata().is_empty()
            && extension::metadata(field, hint.data_type(), self.metadata).is_empty()
            && hint::of_leaf(self.schema.column(leaf), Some(hint.data_type()), self.options).data_type
                == *hint.data_type()
    }

    fn field(&self, field: &NestedField, hint: Option<&ArrowField>) -> ArrowField {
        let hint_type = hint.map(ArrowField::data_type);
        let Mapped { data_type, hinted } = match &field.kind {
            FieldKind::Leaf(leaf) => hint::of_leaf(self.schema.column(*leaf), hint_type, self.options),
            FieldKind::Struct(fields) => self.structure(fields, hint_type),
            FieldKind::List(element) => self.list(element, hint_type),
            FieldKind::Map(entries) => self.map(entries, hint_type),
        };
        let hint = hint.filter(|_| hinted);
        let mut metadata = extension::metadata(field, &data_type, self.metadata);
        if let Some(hint) = hint {
            if hint.metadata().contains_key(EXTENSION_TYPE_NAME_KEY) {
                metadata.clear();
            }
            metadata.extend(hint.metadata().clone());
            // An extension type only holds for the storage type that it was written with, as readers interpret values by it.
            if !extension::is_of(hint, &data_type) {
                extension::forget(&mut metadata);
                metadata.extend(extension::metadata(field, &data_type, self.metadata));
            }
        }
        // Field ids are the file's, never a hint's.
        metadata.remove(FIELD_ID_KEY);
        metadata.extend(field.field_id.map(|id| (FIELD_ID_KEY.to_owned(), id.to_string())));
        let may_null = match field.kind {
            FieldKind::Leaf(leaf) => repair::may_null(self.schema.column(leaf), &data_type, self.options),
            _ => false,
        };
        let nullable = field.nullable || data_type.is_null() || may_null;
        let ordered = hint.and_then(ArrowField::dict_is_ordered).unwrap_or(false);
        ArrowField::new(&*field.name, data_type, nullable)
            .with_metadata(metadata)
            .with_dict_is_ordered(ordered)
    }

    fn structure(&self, fields: &[NestedField], hint: Option<&DataType>) -> Mapped {
        let hints = match hint {
            Some(DataType::Struct(hints)) => Some(hints),
            _ => None,
        };
        Mapped { data_type: DataType::Struct(self.fields(fields, hints)), hinted: hints.is_some() }
    }

    /// Maps a list to `List`, unless the hint is another of Arrow's list types.
    fn list(&self, element: &NestedField, hint: Option<&DataType>) -> Mapped {
        let element_hint = hint.and_then(element_of);
        let element_hint = element_hint.map(Arc::as_ref);
        let element: FieldRef = Arc::new(self.named_as(self.field(element, element_hint), element_hint));
        let data_type = match hint {
            Some(DataType::FixedSizeList(_, ..0)) | None => DataType::List(element),
            Some(hint) => list_of(hint, element),
        };
        Mapped { data_type, hinted: element_hint.is_some() }
    }

    /// Maps a map to `Map`. QUIRK: keys are never nullable in Arrow. If the file says that they may be null, a null is
    /// an error only when it occurs.
    fn map(&self, entries: &NestedField, hint: Option<&DataType>) -> Mapped {
        let (entries_hint, sorted) = match hint {
            Some(DataType::Map(entries, sorted)) => (Some(entries.as_ref()), *sorted),
            _ => (None, false),
        };
        // By position: writers name keys and values differently in Arrow and in Parquet.
        let hint_of = |i: usize| match entries_hint.map(ArrowField::data_type) {
            Some(DataType::Struct(hints)) => hints.get(i).map(Arc::as_ref),
            _ => None,
        };
        let parts: &[NestedField] = match &entries.kind {
            FieldKind::Struct(parts) => parts,
            _ => &[],
        };
        let parts = parts.iter().enumerate().map(|(i, part)| {
            let mapped = self.field(part, hint_of(i));
            let nullable = i > 0 && mapped.is_nullable();
            self.named_as(mapped.with_nullable(nullable), hint_of(i))
        });
        let entries = ArrowField::new(&*entries.name, DataType::Struct(parts.collect()), false);
        let entries = self.named_as(entries, entries_hint);
        Mapped { data_type: DataType::Map(Arc::new(entries), sorted), hinted: entries_hint.is_some() }
    }

    /// Returns the field with the hint's name. Elements, entries, keys and values are found by position: their names
    /// mean nothing, and differ between Arrow and Parquet.
    fn named_as(&self, field: ArrowField, hint: Option<&ArrowField>) -> ArrowField {
        match hint.filter(|_| self.options.stored_element_names) {
            Some(hint) => field.with_name(hint.name()),
            None => field,
        }
    }
}

#[cfg(test)]
mod tests;
