//! The columns of `--columns` in input other than Parquet: whole columns, and parts of structs, by the dotted paths
//! that they have in Parquet.

use crate::failure::Failure;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use marquetry::errors::Error;
use marquetry::schema::no_such_column;
use marquetry_core::predicate::{column_and_path, names_of};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// The chosen columns, in the order of the option, each once.
pub(super) struct ChosenFields {
    pub(super) schema: SchemaRef,
    columns: Vec<(usize, Part)>,
}

/// The chosen part of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Whole,
    /// These fields of a struct, by index.
    Fields(BTreeMap<usize, Part>),
    /// A part of a list's elements.
    Element(Box<Part>),
}

impl ChosenFields {
    /// Fails if there is no such column, or if a path leads into a value that has no parts.
    pub(super) fn new(schema: &Schema, names: &[String]) -> Result<Self, Failure> {
        let mut columns: Vec<(usize, Part)> = Vec::new();
        for name in names {
            // As for Parquet: as typed, by the names in it, or by these with dots between.
            let names = names_of(name);
            let dotted = names.join(".");
            let mut found = Vec::new();
            for path in [Path::Dotted(name), Path::Names(&names), Path::Dotted(&dotted)] {
                if found.is_empty() {
                    found = find(schema.fields(), path)?;
                }
            }
            if found.is_empty() {
                return Err(not_found(schema, name).into());
            }
            for (at, part) in found {
                match columns.iter_mut().find(|(known, _)| *known == at) {
                    Some((_, known)) => known.add(part),
                    None => columns.push((at, part)),
                }
            }
        }
        let fields = columns.iter().map(|(at, part)| part.field(&schema.fields()[*at]));
        let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
        Ok(ChosenFields { schema: Arc::new(schema), columns })
    }

    pub(super) fn of(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter().map(|(at, part)| part.array(batch.column(*at)));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
    }
}

impl Part {
    /// Adds what `other` selects.
    fn add(&mut self, other: Part) {
        match (self, other) {
            (Part::Fields(fields), Part::Fields(more)) => {
                for (at, part) in more {
                    match fields.get_mut(&at) {
                        Some(known) => known.add(part),
                        None => _ = fields.insert(at, part),
                    }
                }
            }
            (Part::Element(element), Part::Element(more)) => element.add(*more),
            (all, _) => *all = Part::Whole,
        }
    }

    fn field(&self, field: &FieldRef) -> FieldRef {
        let data_type = match (self, field.data_type()) {
            (Part::Fields(parts), DataType::Struct(fields)) => DataType::Struct(kept(parts, fields)),
            (Part::Element(part), DataType::List(element)) => DataType::List(part.field(element)),
            (Part::Element(part), DataType::LargeList(element)) => DataType::LargeList(part.field(element)),
            (Part::Element(part), DataType::ListView(element)) => DataType::ListView(part.field(element)),
            (Part::Element(part), DataType::LargeListView(element)) => {
                DataType::LargeListView(part.field(element))
            }
            (Part::Element(part), DataType::FixedSizeList(element, size)) => {
                DataType::FixedSizeList(part.field(element), *size)
            }
            _ => return field.clone(),
        };
        Arc::new(Field::clone(field).with_data_type(data_type))
    }

    fn array(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match self {
            Part::Whole => Ok(array.clone()),
            Part::Fields(parts) => {
                let array = array.as_struct();
                let columns = parts.iter().map(|(at, part)| part.array(array.column(*at)));
                let (fields, columns) = (kept(parts, array.fields()), columns.collect::<Result<_, _>>()?);
                let (nulls, len) = (array.nulls().cloned(), array.len());
                Ok(Arc::new(StructArray::try_new_with_length(fields, columns, nulls, len)?))
            }
            Part::Element(part) => {
                let data = array.to_data();
                let [elements, ..] = data.child_data() else { return Ok(array.clone()) };
                let elements = part.array(&make_array(elements.clone()))?.to_data();
                // The name does not matter: the field is only made for its type.
                let field = self.field(&Arc::new(Field::new("", array.data_type().clone(), true)));
                let builder = data.into_builder().data_type(field.data_type().clone());
                Ok(make_array(builder.child_data(vec![elements]).build()?))
            }
        }
    }
}

fn kept(parts: &BTreeMap<usize, Part>, fields: &Fields) -> Fields {
    parts.iter().map(|(at, part)| part.field(&fields[*at])).collect()
}

/// The parts of the fields at the path; of each field if several have the same name.
fn find(fields: &Fields, path: Path<'_>) -> Result<Vec<(usize, Part)>, Error> {
    let mut found = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        if let Some(part) = part_at(field, path)? {
            found.push((at, part));
        }
    }
    Ok(found)
}

/// The part of the field at the path, which begins with its name; `None` if it does not, or if nothing is there.
fn part_at(field: &FieldRef, path: Path<'_>) -> Result<Option<Part>, Error> {
    match path.below(field.name()) {
        Some(None) => Ok(Some(Part::Whole)),
        Some(Some(rest)) => part_below(field, rest),
        None => Ok(None),
    }
}

fn part_below(field: &FieldRef, rest: Path<'_>) -> Result<Option<Part>, Error> {
    Ok(match field.data_type() {
        DataType::Struct(fields) => {
            let found = find(fields, rest)?;
            if let (false, Some(kind)) = (found.is_empty(), field.metadata().get(EXTENSION)) {
                return Err(in_one_value(field, rest, &format!("a value of {kind}")));
            }
            (!found.is_empty()).then(|| Part::Fields(found.into_iter().collect()))
        }
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => {
            // SPEC: LogicalTypes.md, Lists.
            let element_path = match rest.below("list") {
                Some(None) => return Ok(Some(Part::Whole)),
                Some(Some(rest)) => rest.below("element").or_else(|| rest.below(element.name())),
                None => None,
            };
            match element_path {
                Some(None) => Some(Part::Whole),
                Some(Some(rest)) => part_below(element, rest)?.map(|part| Part::Element(Box::new(part))),
                None => None,
            }
        }
        DataType::Map(..) => match rest.below("key_value") {
            Some(None) => Some(Part::Whole),
            Some(Some(_)) => return Err(in_one_value(field, rest, "a map")),
            None => None,
        },
        _ => None,
    })
}

#[cold]
fn not_found(schema: &Schema, name: &str) -> Error {
    let is_there = |column: &str| schema.fields().find(column).is_some();
    if column_and_path(name).is_some_and(|(column, _)| is_there(column)) {
        return Error::argument(format!(
            "no column {name}: paths into VARIANT are found in Parquet files, which convert makes of the rows first"
        ));
    }
    let (mut known, mut seen) = (Vec::new(), HashSet::new());
    all_paths(schema.fields(), "", &mut known);
    let known = known.iter().map(String::as_str).filter(|name| seen.insert(*name));
    no_such_column(name, known)
}

#[cold]
fn in_one_value(field: &FieldRef, rest: Path<'_>, what: &str) -> Error {
    let name = field.name();
    Error::argument(format!("column {name}.{rest} is a part of {what}: choose all of {name}"))
}

/// A path, or the rest of one.
#[derive(Clone, Copy)]
enum Path<'a> {
    /// Names with dots between; names may contain dots, too.
    Dotted(&'a str),
    /// One or more names.
    Names(&'a [String]),
}

impl Path<'_> {
    /// The rest of the path after the name: `None` if the path does not begin with the name, `Some(None)` if it equals
    /// the name.
    fn below(self, name: &str) -> Option<Option<Self>> {
        match self {
            Path::Dotted(path) => match path.strip_prefix(name)? {
                "" => Some(None),
                rest => rest.strip_prefix('.').map(|rest| Some(Path::Dotted(rest))),
            },
            Path::Names(names) => {
                let (_, rest) = names.split_first().filter(|(first, _)| *first == name)?;
                Some((!rest.is_empty()).then_some(Path::Names(rest)))
            }
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Dotted(path) => f.write_str(path),
            Path::Names(names) => f.write_str(&names.join(".")),
        }
    }
}

/// The paths of all fields, and of their parts that can be chosen.
fn all_paths(fields: &Fields, above: &str, paths: &mut Vec<String>) {
    for field in fields {
        let path = format!("{above}{}", field.name());
        paths.push(path.clone());
        paths_below(field, &path, paths);
    }
}

fn paths_below(field: &FieldRef, path: &str, paths: &mut Vec<String>) {
    match field.data_type() {
        DataType::Struct(fields) if !field.metadata().contains_key(EXTENSION) => {
            all_paths(fields, &format!("{path}."), paths);
        }
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => {
            paths_below(element, &format!("{path}.list.element"), paths);
        }
        _ => {}
    }
}

const EXTENSION: &str = "ARROW:extension:name";

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder, StructBuilder};
    use arrow_array::{Int32Array, StringArray};
    use std::collections::HashMap;

    fn chosen(batch: &RecordBatch, names: &[&str]) -> Result<RecordBatch, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let chosen = ChosenFields::new(batch.schema_ref(), &names).map_err(|failure| failure.to_string())?;
        chosen.of(batch).map_err(|error| error.to_string())
    }

    fn names(batch: &RecordBatch) -> Vec<String> {
        let mut names = Vec::new();
        all_paths(batch.schema_ref().fields(), "", &mut names);
        names
    }

    fn structs() -> StructArray {
        let fields = Fields::from(vec![
            Field::new("x", DataType::Int32, true),
            Field::new("y.z", DataType::Utf8, true),
            Field::new("x", DataType::Int32, true),
        ]);
        let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
        let y: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
        StructArray::new(fields, vec![x.clone(), y, x], Some(vec![true, true, false].into()))
    }

    #[test]
    fn parts_of_structs() {
        let st: ArrayRef = Arc::new(structs());
        let n: ArrayRef = Arc::new(Int32Array::from(vec![7, 8, 9]));
        let fields = [("n", &n), ("st", &st), ("n", &n), ("a,b", &n), ("", &n)];
        let schema = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        let columns = fields.map(|(_, array)| array.clone());
        let batch = RecordBatch::try_new(Arc::new(Schema::new(schema.to_vec())), columns.to_vec()).unwrap();
        for batch in [batch.clone(), batch.slice(1, 2)] {
            for (wanted, there) in [
                (&["st.y.z", "n"][..], &["st", "st.y.z", "n", "n"][..]),
                // Of columns with one name each is meant.
                (&["st.x"], &["st", "st.x", "st.x"]),
                (&["st.x", "st.y.z", "st.x"], &["st", "st.x", "st.y.z", "st.x"]),
                (&["st", "st.x"], &["st", "st.x", "st.y.z", "st.x"]),
                (&["\"a,b\"", "\"st\".\"y.z\""], &["a,b", "st", "st.y.z"]),
                (&["\"\""], &[""]),
            ] {
                let made = chosen(&batch, wanted).unwrap();
                assert_eq!(names(&made), there, "{wanted:?}");
                assert_eq!(made.num_rows(), batch.num_rows());
                if let Some(part) = made.column_by_name("st") {
                    let whole = batch.column(1).as_struct();
                    assert_eq!(part.nulls(), whole.nulls());
                    for (field, column) in part.as_struct().fields().iter().zip(part.as_struct().columns()) {
                        assert_eq!(Some(column), whole.column_by_name(field.name()));
                    }
                }
            }
        }
        assert_eq!(
            chosen(&batch, &["st.q"]).unwrap_err(),
            "argument: no column st.q; did you mean st.x, st?"
        );
        assert_eq!(chosen(&batch, &["n.q"]).unwrap_err(), "argument: no column n.q; did you mean n?");
    }

    #[test]
    fn parts_of_elements_and_of_what_is_one_value() {
        let fields = vec![Field::new("i", DataType::Int32, true), Field::new("t", DataType::Utf8, true)];
        let mut lists = ListBuilder::new(StructBuilder::from_fields(fields, 4));
        for row in [&[1, 2][..], &[], &[3, 4, 5]] {
            for i in row {
                lists.values().field_builder::<Int32Builder>(0).unwrap().append_value(*i);
                lists.values().field_builder::<StringBuilder>(1).unwrap().append_value(i.to_string());
                lists.values().append(*i != 4);
            }
            lists.append(!row.is_empty());
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        let batch = RecordBatch::try_from_iter([("l", lists)]).unwrap().slice(1, 2);
        let made = chosen(&batch, &["l.list.element.i"]).unwrap();
        assert_eq!(names(&made), ["l", "l.list.element.i"]);
        let (part, whole) = (made.column(0).as_list::<i32>(), batch.column(0).as_list::<i32>());
        assert_eq!((part.nulls(), part.len()), (whole.nulls(), 2));
        let (one, other) = (part.value(1), whole.value(1));
        assert_eq!((one.nulls(), one.as_struct().num_columns()), (other.nulls(), 1));
        assert_eq!(one.as_struct().column(0), other.as_struct().column(0));
        for whole in ["l", "l.list", "l.list.element"] {
            assert_eq!(chosen(&batch, &[whole]).unwrap(), batch);
        }

        let variant = HashMap::from([(EXTENSION.to_owned(), "arrow.parquet.variant".to_owned())]);
        let field = Field::new("v", structs().data_type().clone(), true).with_metadata(variant);
        let batch =
            RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(structs())]).unwrap();
        let told = chosen(&batch, &["v.x"]).unwrap_err();
        assert_eq!(
            told,
            "argument: column v.x is a part of a value of arrow.parquet.variant: choose all of v"
        );
    }
}
