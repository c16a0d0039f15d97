//! Whether pages that are copied into another file are read there as what they are.
//!
//! A page says of its values no more than Parquet's schema does. What the stored Arrow schema adds to that, the unit of a duration
//! for example, is said once for all pages of a file: those of a file that says something else become other values.

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

/// As what pages of another file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopiedAs {
    /// As the types that they had.
    Same,
    /// As the same values, laid out in another way, or shown in another time zone.
    Alike,
    /// As the same values in a dictionary that they did not have, or not with these keys.
    ///
    /// QUIRK: pyarrow reads columns that the stored Arrow schema has as dictionaries from PLAIN and dictionary pages only,
    /// so that pages of others must not come under such a schema.
    OtherDictionary,
}

/// The Arrow types by which the pages of a file are read.
#[derive(Debug, Clone)]
pub struct PageTypes {
    read: Fields,
    /// What they would be without a stored Arrow schema.
    plain: Fields,
    has_stored: bool,
    has_geoparquet: bool,
}

impl PageTypes {
    /// Those of a file that has this footer.
    pub fn of_file(metadata: &ParquetMetaData) -> Self {
        let (schema, fields) = (metadata.schema(), NestedField::from_schema(metadata.schema()));
        // The first of equal keys is the one that readers take.
        let mut pairs: HashMap<&str, &str> = HashMap::new();
        for pair in metadata.key_value_metadata() {
            pairs.entry(&pair.key).or_insert(pair.value.as_deref().unwrap_or_default());
        }
        let mapped = |use_arrow_schema: bool| {
            // INT96 reaches further than any finer unit.
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

    /// Whether the file has a stored Arrow schema.
    pub fn has_stored(&self) -> bool {
        self.has_stored
    }

    /// Those of the same pages in a file without a stored Arrow schema.
    #[must_use]
    pub fn without_stored(&self) -> Self {
        PageTypes { read: self.plain.clone(), has_stored: false, ..self.clone() }
    }

    /// As what the pages of a file with the types `own` are read in this one. Both have the same Parquet schema but for the order of
    /// columns, and what may be null; that is not looked at.
    ///
    /// Fails, naming the first column, if values would become others, or if some might that are not there by chance.
    pub fn check_copied(&self, own: &PageTypes) -> Result<CopiedAs> {
        let is_geo_elsewhere = self.has_geoparquet && own.has_geoparquet;
        let comparison = Comparison { is_geo_elsewhere };
        comparison.fields((&self.read, &self.plain), (&own.read, &own.plain), "")
    }
}

/// A field, and what it would be without a stored Arrow schema.
#[derive(Clone, Copy)]
struct Column<'a> {
    field: &'a ArrowField,
    plain: &'a ArrowField,
}

impl<'a> Column<'a> {
    /// The same of what is within, by a part of the type.
    fn within(self, part: impl Fn(&'a DataType) -> Option<&'a FieldRef>) -> Option<Self> {
        let field = part(value_type(self.field.data_type()))?;
        Some(Column { field, plain: part(value_type(self.plain.data_type()))? })
    }
}

struct Comparison {
    /// Whether both files have GeoParquet's metadata, which says what is in their columns of geometries.
    is_geo_elsewhere: bool,
}

impl Comparison {
    /// Fields are found by their names.
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
        // What Parquet's annotations say is compared where they are.
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

/// Key or value.
fn part_of_map(map: &DataType, part: usize) -> Option<&FieldRef> {
    let DataType::Map(entries, _) = map else { return None };
    let DataType::Struct(parts) = entries.data_type() else { return None };
    parts.get(part)
}

/// Whether all values of pages that are read as `own` are the same if they are read as `read`. `plain` is what Parquet's schema says
/// of them: where it says nothing, they are bare numbers.
fn holds(read: &DataType, own: &DataType, plain: &DataType) -> bool {
    use DataType::*;
    match (read, own) {
        (read, own) if read == own => true,
        // Whether they are text is Parquet's to say.
        (read, own) if is_bytes(read) && is_bytes(own) => true,
        // A zone is how instants are shown. Units are ordered from coarse to fine; one that is finer than that of the pages does not
        // reach as far as they do.
        (Timestamp(read, a), Timestamp(own, b)) => {
            let reaches_all = || matches!(plain, Timestamp(unit, _) if own < read && read <= unit);
            a.is_some() == b.is_some() && (read == own || reaches_all())
        }
        (Time32(read) | Time64(read), Time32(own) | Time64(own)) => {
            read == own || matches!(plain, Time32(_) | Time64(_)) && own < read
        }
        (Date32 | Date64, Date32 | Date64) => matches!(plain, Date32),
        // The scale is Parquet's, and no precision is less than its.
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
