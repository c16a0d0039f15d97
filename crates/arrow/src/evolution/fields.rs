//! Matches a file's fields with the wanted ones: which columns are read, and how each is converted.

use super::batch_adapter::{ArrayCast, BatchAdapter, ColumnSource};
use super::exact_cast::cast_exact;
use super::extension_types::{check_geoparquet, check_parameters};
use super::path_column::PathColumn;
use super::promotion::is_promotable;
use super::variant_storage::{can_hold_variants, is_other_storage};
use super::{Evolution, MatchBy};
use crate::arrow_reader::ProjectionMask;
use crate::schema::compatibility;
use crate::schema::{FIELD_ID_KEY, element_of, list_of, value_type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, Schema as ArrowSchema, SchemaRef};
use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::predicate::{column_and_path, names_column};
use marquetry_core::schema::Schema;
use marquetry_encoding::PhysicalType;
use std::collections::HashMap;
use std::sync::Arc;

/// How one file is read as the wanted schema.
#[derive(Debug, Clone)]
pub(crate) struct FileMapping {
    /// The columns that are read.
    pub(crate) mask: ProjectionMask,
    /// The schema to read the file as. The reader does the widening that it can.
    pub(crate) read_as: SchemaRef,
    /// Converts what is read to the wanted schema.
    pub(crate) adapter: BatchAdapter,
}

impl Evolution {
    /// Plans how a file of these fields, which by default is read as `arrow`, is read as the wanted schema.
    pub(crate) fn of(
        &self,
        fields: &[NestedField],
        metadata: &ParquetMetaData,
        arrow: &ArrowSchema,
    ) -> Result<FileMapping> {
        let schema = metadata.schema();
        if self.by == MatchBy::FieldId && !fields.is_empty() && !fields.iter().any(has_id) {
            return Err(Error::argument("the file has no field ids; its columns can be found by name only"));
        }
        let mut walk = Walk { evolution: self, metadata, schema, kept: Vec::new(), path: Vec::new() };
        let (read_as, parts) = walk.fields(fields, arrow.fields(), self.schema.fields())?;
        check_geoparquet(arrow, &self.schema)?;
        Ok(FileMapping {
            mask: ProjectionMask::leaves(schema, walk.kept),
            read_as: Arc::new(ArrowSchema::new_with_metadata(read_as, arrow.metadata().clone())),
            adapter: BatchAdapter { schema: self.schema.clone(), parts },
        })
    }
}

/// Returns whether the field or one below it has a field id.
fn has_id(field: &NestedField) -> bool {
    field.field_id.is_some()
        || match &field.kind {
            FieldKind::Leaf(_) => false,
            FieldKind::List(child) | FieldKind::Map(child) => has_id(child),
            FieldKind::Struct(fields) => fields.iter().any(has_id),
        }
}

/// An index of fields. In wide tables, comparing each field with each wanted one would be too slow.
#[derive(Default)]
struct Names<'a> {
    exact: HashMap<&'a str, Vec<usize>>,
    lower: HashMap<String, Vec<usize>>,
    ids: HashMap<i32, Vec<usize>>,
}

impl<'a> Names<'a> {
    fn new(fields: &'a [NestedField], by: MatchBy) -> Self {
        let mut names = Names::default();
        for (i, field) in fields.iter().enumerate() {
            match (by, field.field_id) {
                (MatchBy::FieldId, Some(id)) => names.ids.entry(id).or_default().push(i),
                (MatchBy::FieldId, None) => {}
                _ => names.exact.entry(&field.name).or_default().push(i),
            }
            if by == MatchBy::NameIgnoringCase {
                names.lower.entry(field.name.to_lowercase()).or_default().push(i);
            }
        }
        names
    }
}

/// For each wanted column that is a path into VARIANT: the place of its root field in the file, and the path.
struct PathsOfRoots {
    columns: Vec<Option<(usize, Arc<PathColumn>)>>,
    /// Which fields of the file are such roots.
    is_root: Vec<bool>,
}

impl PathsOfRoots {
    /// Adds the next wanted column.
    fn add(&mut self, path: Option<PathColumn>, file: &[NestedField]) {
        self.columns.push(path.and_then(|path| {
            let root = file.iter().position(|field| path.root() == Some(&*field.name))?;
            self.is_root[root] = true;
            Some((root, Arc::new(path)))
        }));
    }
}

/// The state of a walk down both schemas.
struct Walk<'a> {
    evolution: &'a Evolution,
    metadata: &'a ParquetMetaData,
    schema: &'a Schema,
    /// The leaves that are read.
    kept: Vec<usize>,
    /// The names of the wanted fields from the root on.
    path: Vec<String>,
}

impl Walk<'_> {
    /// Matches the fields of a struct, or of the root. Returns the types to read them as, and the source of each wanted field.
    fn fields(
        &mut self,
        file: &[NestedField],
        arrow: &Fields,
        wanted: &Fields,
    ) -> Result<(Fields, Vec<ColumnSource>)> {
        let mut read_as: Vec<FieldRef> = arrow.iter().cloned().collect();
        let names = Names::new(file, self.evolution.by);
        let mut is_found = vec![false; file.len()];
        let mut found = Vec::with_capacity(wanted.len());
        let mut paths =
            PathsOfRoots { columns: Vec::with_capacity(wanted.len()), is_root: vec![false; file.len()] };
        for wanted in wanted {
            self.path.push(wanted.name().clone());
            let path = self.variant_path(wanted)?;
            let is_made = path.is_some() || self.constant(wanted).is_some();
            let at = if is_made { None } else { self.find(&names, file, wanted)? };
            paths.add(path, file);
            if at.is_some_and(|at| std::mem::replace(&mut is_found[at], true)) {
                return Err(self.arrow_error("is wanted twice"));
            }
            found.push(at);
            self.path.pop();
        }
        if self.evolution.refuse_extra {
            self.refuse_extra(file, wanted, &is_found)?;
        }
        // The fields that are read are in the order of the file.
        let order: Vec<usize> = (0..file.len()).filter(|&i| is_found[i] || paths.is_root[i]).collect();
        let place = |at: usize| order.partition_point(|before| *before < at);
        let mut parts = Vec::with_capacity(wanted.len());
        for ((wanted, at), path) in wanted.iter().zip(&found).zip(&paths.columns) {
            self.path.push(wanted.name().clone());
            parts.push(match (at, path) {
                (_, Some((root, path))) => ColumnSource::VariantPath(place(*root), path.clone()),
                (Some(at), None) => {
                    let (field, recipe) = self.field(&file[*at], &arrow[*at], wanted)?;
                    read_as[*at] = field;
                    ColumnSource::Of(place(*at), recipe)
                }
                (None, None) => self.made(wanted)?,
            });
            self.path.pop();
        }
        self.keep_paths(&paths, file, &is_found)?;
        if order.is_empty() && !self.path.is_empty() {
            // Only its columns show where the struct is null, so one of them is read.
            self.kept.extend(file.first().map(NestedField::first_leaf));
        }
        Ok((read_as.into(), parts))
    }

    /// Returns the constant of a column of the root, if it has one.
    fn constant(&self, wanted: &ArrowField) -> Option<&ArrayRef> {
        let is_root = self.path.len() == 1;
        self.evolution.constants.get(wanted.name()).filter(|_| is_root)
    }

    /// Returns the path into a VARIANT that a column of the root is, if the file has that VARIANT.
    fn variant_path(&self, wanted: &ArrowField) -> Result<Option<PathColumn>> {
        let name = wanted.name();
        if self.path.len() != 1 || !self.evolution.paths.contains(name) {
            return Ok(None);
        }
        let has_column = column_and_path(name).is_some_and(|(column, _)| names_column(self.schema, column));
        if !has_column {
            return Ok(None);
        }
        let Some(path) = PathColumn::of(self.metadata, name)? else { return Ok(None) };
        match path.field.data_type() == wanted.data_type() {
            true => Ok(Some(path)),
            false => Err(self.no_wider(path.field.data_type(), wanted.data_type())),
        }
    }

    /// Adds the leaves that paths need. Fails if only some columns of the same field are read otherwise, as both share one array.
    fn keep_paths(&mut self, paths: &PathsOfRoots, file: &[NestedField], is_found: &[bool]) -> Result<()> {
        for (root, path) in paths.columns.iter().flatten() {
            if is_found[*root] && !path.leaves().iter().all(|leaf| self.kept.contains(leaf)) {
                let message =
                    "it is read as a whole, or by paths into VARIANT: not some of its columns beside these";
                return Err(Error::argument(message).in_column(file[*root].name.to_string()));
            }
        }
        self.kept.extend(paths.columns.iter().flatten().flat_map(|(_, path)| path.leaves()));
        Ok(())
    }

    /// Returns the place of the file's field for a wanted one.
    fn find(&self, names: &Names<'_>, file: &[NestedField], wanted: &ArrowField) -> Result<Option<usize>> {
        let found = match self.evolution.by {
            MatchBy::Name => names.exact.get(&**wanted.name()),
            MatchBy::NameIgnoringCase => {
                let exact = names.exact.get(&**wanted.name());
                exact.or_else(|| names.lower.get(&wanted.name().to_lowercase()))
            }
            MatchBy::FieldId => {
                let id = wanted.metadata().get(FIELD_ID_KEY).and_then(|id| id.parse::<i32>().ok());
                names.ids.get(&id.ok_or_else(|| self.arrow_error("is wanted by field id, and has none"))?)
            }
        };
        match found.map_or(&[][..], Vec::as_slice) {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            several => {
                let names: Vec<&str> = several.iter().map(|&i| &*file[i].name).collect();
                Err(self.arrow_error(format!("may be any of the file's {}", names.join(", "))))
            }
        }
    }

    fn refuse_extra(&mut self, file: &[NestedField], wanted: &Fields, is_found: &[bool]) -> Result<()> {
        let is_root = self.path.is_empty();
        for (i, field) in file.iter().enumerate() {
            let is_constant = is_root && self.evolution.constants.contains_key(&*field.name);
            if !is_found[i] && !is_constant {
                self.path.push((*field.name).to_owned());
                let names: Vec<&str> = wanted.iter().map(|field| field.name().as_str()).collect();
                return Err(self.arrow_error(format!("is not among the wanted fields, {}", names.join(", "))));
            }
        }
        Ok(())
    }

    /// Returns the source of a field that the file lacks, or that does not come from it.
    fn made(&self, wanted: &ArrowField) -> Result<ColumnSource> {
        let path = self.path.join(".");
        let (value, kind) = match self.constant(wanted) {
            Some(value) => (value, "constant"),
            None => match (self.evolution.defaults.get(&path), self.evolution.refuse_missing) {
                (Some(value), _) => (value, "default"),
                (None, true) => return Err(self.arrow_error("is not in the file")),
                (None, false) if wanted.is_nullable() => {
                    return Ok(ColumnSource::Null(wanted.data_type().clone()));
                }
                (None, false) => return Err(self.arrow_error("is not in the file, and must not be null")),
            },
        };
        if value.len() != 1 {
            return Err(self.arrow_error(format!("has {} values as its {kind}, not one", value.len())));
        }
        let (from, to) = (value.data_type(), wanted.data_type());
        if from != to && !is_promotable(from, to) {
            let message =
                format!("has a {kind} of {from}, which cannot become {to} with every value the same");
            return Err(self.arrow_error(message));
        }
        if value.logical_null_count() > 0 && !wanted.is_nullable() {
            return Err(self.arrow_error(format!("has null as its {kind}, and must not be null")));
        }
        Ok(ColumnSource::Constant(
            cast_exact(value, wanted.data_type()).map_err(|error| error.in_column(path))?,
        ))
    }

    /// Returns the field to read, and its conversion.
    fn field(
        &mut self,
        file: &NestedField,
        arrow: &FieldRef,
        wanted: &FieldRef,
    ) -> Result<(FieldRef, ArrayCast)> {
        if (arrow.is_nullable() || file.nullable) && !wanted.is_nullable() {
            return Err(self.arrow_error("may be null in the file, and must not be"));
        }
        self.check_parameters(arrow, wanted)?;
        let (read_as, recipe) = match is_other_storage(arrow, wanted) {
            true => self.variant(file, arrow, wanted)?,
            false => self.value(file, arrow, wanted.data_type())?,
        };
        // The reader takes names and nullability from the file's schema.
        Ok((Arc::new(ArrowField::clone(arrow).with_data_type(read_as)), recipe))
    }

    /// Plans to unshred a VARIANT.
    fn variant(
        &mut self,
        file: &NestedField,
        arrow: &FieldRef,
        wanted: &FieldRef,
    ) -> Result<(DataType, ArrayCast)> {
        if !can_hold_variants(wanted) {
            return Err(self.no_wider(arrow.data_type(), wanted.data_type()));
        }
        file.leaves(&mut self.kept);
        let path = self.path.join(".").into();
        Ok((arrow.data_type().clone(), ArrayCast::Variant(wanted.data_type().clone(), path)))
    }

    fn value(
        &mut self,
        file: &NestedField,
        arrow: &FieldRef,
        wanted: &DataType,
    ) -> Result<(DataType, ArrayCast)> {
        let found = match (&file.kind, arrow.data_type(), wanted) {
            (FieldKind::Leaf(leaf), from, _) => self.leaf(*leaf, from, wanted)?,
            (FieldKind::Struct(fields), DataType::Struct(from), DataType::Struct(to)) => {
                let (read_as, parts) = self.fields(fields, from, to)?;
                (DataType::Struct(read_as), ArrayCast::Struct(to.clone(), parts))
            }
            (FieldKind::List(element), from, to) => self.list(element, from, to)?,
            (FieldKind::Map(entries), DataType::Map(from, _), DataType::Map(to, sorted)) => {
                let (read_as, recipe) = self.map(entries, from, to)?;
                (DataType::Map(read_as, *sorted), recipe)
            }
            (_, from, _) => return Err(self.no_wider(from, wanted)),
        };
        // Nothing changes, or the reader does all of the conversion.
        Ok(if found.0 == *wanted { (found.0, ArrayCast::Keep) } else { found })
    }

    fn list(&mut self, file: &NestedField, from: &DataType, to: &DataType) -> Result<(DataType, ArrayCast)> {
        let (Some(from_element), Some(to_element)) = (element_of(from), element_of(to)) else {
            return Err(self.no_wider(from, to));
        };
        let fixed = |list: &DataType| match list {
            DataType::FixedSizeList(_, size) => Some(*size),
            _ => None,
        };
        if fixed(to).is_some_and(|size| fixed(from) != Some(size)) {
            return Err(self.no_wider(from, to));
        }
        self.path.push(to_element.name().clone());
        let (element, recipe) = self.field(file, from_element, to_element)?;
        self.path.pop();
        let read_as = list_of(to, element);
        Ok((read_as, ArrayCast::List(to_element.clone(), Box::new(recipe))))
    }

    fn map(&mut self, file: &NestedField, from: &FieldRef, to: &FieldRef) -> Result<(FieldRef, ArrayCast)> {
        let (FieldKind::Struct(parts), DataType::Struct(from_parts), DataType::Struct(to_parts)) =
            (&file.kind, from.data_type(), to.data_type())
        else {
            return Err(self.no_wider(from.data_type(), to.data_type()));
        };
        let ([key, value], [from_key, from_value], [to_key, to_value]) =
            (parts.as_slice(), &**from_parts, &**to_parts)
        else {
            return Err(self.no_wider(from.data_type(), to.data_type()));
        };
        self.path.push(to_key.name().clone());
        // Keys are never null in Arrow, whatever the file declares.
        self.check_parameters(from_key, to_key)?;
        let (key_type, key_recipe) = self.value(key, from_key, to_key.data_type())?;
        self.path.pop();
        self.path.push(to_value.name().clone());
        let (value, value_recipe) = self.field(value, from_value, to_value)?;
        self.path.pop();
        let key = Arc::new(ArrowField::clone(from_key).with_data_type(key_type));
        let entries = DataType::Struct(Fields::from(vec![key, value]));
        let read_as = Arc::new(ArrowField::clone(from).with_data_type(entries));
        Ok((read_as, ArrayCast::Map(to.clone(), Box::new((key_recipe, value_recipe)))))
    }

    fn leaf(&mut self, leaf: usize, from: &DataType, to: &DataType) -> Result<(DataType, ArrayCast)> {
        self.kept.push(leaf);
        let column = self.schema.column(leaf);
        let is_int96 = column.physical() == PhysicalType::Int96;
        if is_int96 && matches!(value_type(to), DataType::Timestamp(..)) && compatibility::fits(column, to) {
            return Ok((to.clone(), ArrayCast::Keep));
        }
        if from == to {
            return Ok((from.clone(), ArrayCast::Keep));
        }
        if !is_promotable(from, to) {
            return Err(self.no_wider(from, to));
        }
        // A column without an annotation may be read as any type of its width, bit for bit. Only its default type says
        // what its bits are.
        let is_annotated = column.logical().is_some() || column.physical() == PhysicalType::ByteArray;
        let is_same = value_type(from) == value_type(to);
        if (is_annotated || is_same) && compatibility::fits_as_meant(column, to) {
            return Ok((to.clone(), ArrayCast::Keep));
        }
        Ok((value_type(from).clone(), ArrayCast::Cast(to.clone(), self.path.join(".").into())))
    }

    fn check_parameters(&self, file: &ArrowField, wanted: &ArrowField) -> Result<()> {
        check_parameters(file, wanted).map_err(|error| error.in_column(self.path.join(".")))
    }

    #[cold]
    fn no_wider(&self, from: &DataType, to: &DataType) -> Error {
        self.arrow_error(format!("is {from} in the file, which cannot become {to} with every value the same"))
    }

    #[cold]
    fn arrow_error(&self, why: impl std::fmt::Display) -> Error {
        let path = self.path.join(".");
        Error::argument(format!("the column {why}")).in_column(path)
    }
}
