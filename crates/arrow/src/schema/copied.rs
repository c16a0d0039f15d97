//! Checks whether pages that are copied into another file keep their meaning there.
//!
//! A page says no more of its values than Parquet's schema does. What the stored Arrow schema adds, such as the unit of
//! a duration, applies to all pages of a file. In a file with another stored schema, the pages would have other values.

use super::name_index::NameIndex;
use super::stated_extension::StatedExtension;
use super::type_options::TypeOptions;
use super::{ARROW_SCHEMA_KEY, GEOPARQUET_KEY, element_of, to_arrow, value_type};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, Schema as ArrowSchema, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use std::borrow::Cow;
use std::collections::HashMap;

/// How pages of another file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopiedAs {
    /// With the types that they had.
    Same,
    /// With the same values, in another layout, or shown in another time zone.
    Alike,
    /// With the same values in a dictionary that they did not have, or that had other keys.
    ///
    /// QUIRK: pyarrow reads columns that the stored Arrow schema has as dictionaries from PLAIN and dictionary pages
    /// only. So pages of other columns must not be used with such a schema.
    OtherDictionary,
}

/// The Arrow types that the pages of a file are read as.
#[derive(Debug, Clone)]
pub struct PageTypes {
    read: Fields,
    /// The types that they would have without a stored Arrow schema.
    plain: Fields,
    has_stored: bool,
    has_geoparquet: bool,
}

impl PageTypes {
    /// Returns the types of a file with this footer.
    pub fn of_file(metadata: &ParquetMetaData) -> Self {
        let (schema, fields) = (metadata.schema(), NestedField::from_schema(metadata.schema()));
        // Readers take the first of equal keys.
        let mut pairs: HashMap<&str, &str> = HashMap::new();
        for pair in metadata.key_value_metadata() {
            pairs.entry(&pair.key).or_insert(pair.value.as_deref().unwrap_or_default());
        }
        let mapped = |use_arrow_schema: bool| {
            // INT96 has a larger range than any finer unit.
            let int96_unit = (!use_arrow_schema).then_some(TimeUnit::Second);
            let options =
                TypeOptions { use_arrow_schema, int96_unit, binary_metadata: true, ..TypeOptions::default() };
            let ArrowSchema { fields, .. } = to_arrow(&fields, 0.., schema, &pairs, &options);
            fields
        };
        PageTypes {
            read: mapped(true),
            plain: mapped(false),
            has_stored: pairs.contains_key(ARROW_SCHEMA_KEY),
            has_geoparquet: pairs.contains_key(GEOPARQUET_KEY),
        }
    }

    /// Returns whether the file has a stored Arrow schema.
    pub fn has_stored(&self) -> bool {
        self.has_stored
    }

    /// Returns the types of the same pages in a file without a stored Arrow schema.
    #[must_use]
    pub fn without_stored(&self) -> Self {
        PageTypes { read: self.plain.clone(), has_stored: false, ..self.clone() }
    }

    /// Returns how the pages of a file with the types `own` are read in this file. Both files must have the same
    /// Parquet schema, except for column order and nullability, which are not compared.
    ///
    /// Fails with the first column whose values would change, or could change.
    pub fn check_copied(&self, own: &PageTypes) -> Result<CopiedAs> {
        let is_geo_elsewhere = self.has_geoparquet && own.has_geoparquet;
        let comparison = Comparison { is_geo_elsewhere };
        comparison.fields((&self.read, &self.plain), (&own.read, &own.plain), "")
    }
}

/// A field, and the field that it would be without a stored Arrow schema.
#[derive(Clone, Copy)]
struct Column<'a> {
    field: &'a ArrowField,
    plain: &'a ArrowField,
}

impl<'a> Column<'a> {
    /// Returns the part of the type that `part` selects.
    fn within(self, part: impl Fn(&'a DataType) -> Option<&'a FieldRef>) -> Option<Self> {
        let field = part(value_type(self.field.data_type()))?;
        Some(Column { field, plain: part(value_type(self.plain.data_type()))? })
    }
}

struct Comparison {
    /// Whether both files have GeoParquet metadata, which describes their geometry columns.
    is_geo_elsewhere: bool,
}

impl Comparison {
    /// Compares fields, which are found by name.
    fn fields(
        &self,
        (read, plain): (&Fields, &Fields),
        (own, own_plain): (&Fields, &Fields),
        above: &str,
    ) -> Result<CopiedAs> {
        let mut names = NameIndex::new(own.len(), |place| Cow::Borrowed(own[place].name()));
        let mut out = CopiedAs::Same;
        for (place, (field, plain)) in read.iter().zip(plain).enumerate() {
            let Some(other) = names.find(place, field.name()) else { continue };
            let Some(other_plain) = own_plain.get(other) else { continue };
            let path = match above {
                "" => field.name().clone(),
                above => format!("{above}.{}", field.name()),
            };
            let other = Column { field: &own[other], plain: other_plain };
            out = out.max(self.column(Column { field, plain }, other, &path)?);
        }
        Ok(out)
    }

    fn column(&self, read: Column<'_>, own: Column<'_>, path: &str) -> Result<CopiedAs> {
        self.check_extensions(read, own, path)?;
        let (as_type, of_type) = (read.field.data_type(), own.field.data_type());
        let differs = || {
            let message = format!(
                "copied pages would be read as other values: they are {of_type} here, {as_type} in the file that they go into"
            );
            Err(Error::argument(message).in_column(path))
        };
        let out = match (as_type, of_type) {
            _ if as_type.equals_datatype(of_type) => CopiedAs::Same,
            (DataType::Dictionary(..), _) => CopiedAs::OtherDictionary,
            _ => CopiedAs::Alike,
        };
        let plain = read.plain.data_type();
        match (value_type(as_type), value_type(of_type), plain) {
            (DataType::Struct(fields), DataType::Struct(others), DataType::Struct(plain)) => {
                let DataType::Struct(own_plain) = own.plain.data_type() else { return differs() };
                self.fields((fields, plain), (others, own_plain), path)
            }
            (DataType::Map(..), DataType::Map(..), DataType::Map(..)) => {
                let mut out = CopiedAs::Same;
                for part in [0, 1] {
                    let read = read.within(|map| part_of_map(map, part));
                    let own = own.within(|map| part_of_map(map, part));
                    let Some((read, own)) = read.zip(own) else { return differs() };
                    let path = format!("{path}.{}", read.field.name());
                    out = out.max(self.column(read, own, &path)?);
                }
                Ok(out)
            }
            (as_list, of_list, _) if element_of(as_list).is_some() && element_of(of_list).is_some() => {
                if let DataType::FixedSizeList(_, size) = as_list
                    && !matches!(of_list, DataType::FixedSizeList(_, other) if other == size)
                {
                    return differs();
                }
                let Some((read, own)) = read.within(element_of).zip(own.within(element_of)) else {
                    return differs();
                };
                let layout = match std::mem::discriminant(as_list) == std::mem::discriminant(of_list) {
                    true => CopiedAs::Same,
                    false => CopiedAs::Alike,
                };
                Ok(layout.max(self.column(read, own, &format!("{path}.{}", read.field.name()))?))
            }
            (read, own, plain) if holds(read, own, plain) => Ok(out),
            _ => differs(),
        }
    }

    fn check_extensions(&self, read: Column<'_>, own: Column<'_>, path: &str) -> Result<()> {
        // Parquet's annotations are compared where they are.
        let name = |stated: &Option<StatedExtension>| stated.as_ref().map(|extension| extension.name.clone());
        let (annotated, own_annotated) = (StatedExtension::of(read.plain), StatedExtension::of(own.plain));
        let (read, own) = match annotated.is_some() && name(&annotated) == name(&own_annotated) {
            true => (annotated, own_annotated),
            false => (StatedExtension::of(read.field), StatedExtension::of(own.field)),
        };
        let is_geo = |stated: &Option<StatedExtension>| {
            stated.as_ref().is_none_or(|extension| extension.name.starts_with("geoarrow."))
        };
        if read == own || self.is_geo_elsewhere && is_geo(&read) && is_geo(&own) {
            return Ok(());
        }
        let shown = |stated: Option<StatedExtension>| match stated {
            Some(extension) => format!("of the extension type {extension}"),
            None => "of no extension type".to_owned(),
        };
        let message = format!(
            "copied pages would be read as other values: they are {} here, {} in the file that they go into",
            shown(own),
            shown(read)
        );
        Err(Error::argument(message).in_column(path))
    }
}

/// Returns the key or the value of a map.
fn part_of_map(map: &DataType, part: usize) -> Option<&FieldRef> {
    let DataType::Map(entries, _) = map else { return None };
    let DataType::Struct(parts) = entries.data_type() else { return None };
    parts.get(part)
}

/// Returns whether all values of pages that are read as `own` stay the same if read as `read`. `plain` is the type by
/// Parquet's schema alone: without an annotation, values are bare numbers.
fn holds(read: &DataType, own: &DataType, plain: &DataType) -> bool {
    use DataType::*;
    match (read, own) {
        (read, own) if read == own => true,
        // Parquet's schema says whether they are text.
        (read, own) if is_bytes(read) && is_bytes(own) => true,
        // A zone only affects how instants are shown. Units are ordered from coarse to fine. A unit finer than that of
        // the pages has a smaller range than they do.
        (Timestamp(read, a), Timestamp(own, b)) => {
            let reaches_all = || matches!(plain, Timestamp(unit, _) if own < read && read <= unit);
            a.is_some() == b.is_some() && (read == own || reaches_all())
        }
        (Time32(read) | Time64(read), Time32(own) | Time64(own)) => {
            read == own || matches!(plain, Time32(_) | Time64(_)) && own < read
        }
        (Date32 | Date64, Date32 | Date64) => matches!(plain, Date32),
        // The scale is Parquet's, and no precision is less than Parquet's.
        (read, own) if is_decimal(read) && is_decimal(own) => is_decimal(plain),
        (Interval(arrow_schema::IntervalUnit::MonthDayNano), Interval(_)) => true,
        _ => false,
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

fn is_decimal(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..))
}

#[cfg(test)]
mod tests;
