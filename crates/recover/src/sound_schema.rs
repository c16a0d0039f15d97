//! The valid parts of a footer's schema, and what contradicts it. A footer has no checksum: if it contradicts itself,
//! it is damaged, and nobody knows where else.

use crate::report::Confidence;
use crate::window::Window;
use marquetry_base::{Limits, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ConvertedType, FileMetaData, LogicalType as ThriftType, SchemaElement, ThriftString, Type, Writer,
};
use std::collections::BTreeSet;

/// Something in a schema that may be damaged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// What was decided.
    pub(crate) what: String,
    pub(crate) why: String,
    /// The highest confidence of row groups that are read by this schema.
    pub(crate) most: Confidence,
}

impl Doubt {
    pub(crate) fn new(what: String, why: impl Into<String>) -> Self {
        Doubt { what, why: why.into(), most: Confidence::Medium }
    }
}

/// Removes invalid annotations from the schema of a footer at `start`, for which readers would refuse the file. Returns
/// the metadata and all doubts.
pub(crate) fn sound_schema(
    metadata: ParquetMetaData,
    start: u64,
    window: &mut Window,
) -> Result<(ParquetMetaData, Vec<Doubt>)> {
    let (elements, mut doubts) = sound_elements(&metadata);
    let written = written(&metadata);
    if window.at(start, written.len())? != written {
        doubts.push(Doubt::new("what is not known here of the schema is left out".to_owned(), NOT_KNOWN));
    }
    Ok((with_schema(metadata, elements, &window.limits), doubts))
}

/// Returns the metadata with another schema, if that differs.
fn with_schema(metadata: ParquetMetaData, elements: Vec<SchemaElement>, limits: &Limits) -> ParquetMetaData {
    if metadata.head().schema == elements {
        return metadata;
    }
    let changed = metadata
        .to_thrift()
        .and_then(|thrift| ParquetMetaData::from_thrift(FileMetaData { schema: elements, ..thrift }, limits));
    let data_end = metadata.data_end();
    match changed {
        Ok(changed) => data_end.into_iter().fold(changed, ParquetMetaData::with_data_end),
        // The metadata of some chunks cannot be read.
        Err(_) => metadata,
    }
}

fn sound_elements(metadata: &ParquetMetaData) -> (Vec<SchemaElement>, Vec<Doubt>) {
    let (mut elements, mut doubts) = (metadata.head().schema.clone(), Vec::new());
    if let Some(root) = elements.first_mut().filter(|root| !is_name(&root.name)) {
        root.name = ROOT.into();
        let doubt = Doubt::new(
            format!("the root is called {ROOT}"),
            "its name is not text: the footer may be damaged",
        );
        // The root's name is in no path of a column.
        doubts.push(Doubt { most: Confidence::Exact, ..doubt });
    }
    let is_duckdb = metadata.created_by().is_some_and(|writer| writer.starts_with("DuckDB"));
    let mut leaves = metadata.schema().columns().iter();
    let mut path = Vec::new();
    for i in 1..elements.len() {
        // An element whose last field was the element before this one is not an ancestor of this one.
        while path.last().is_some_and(|(_, fields)| *fields == 0) {
            path.pop();
        }
        if let Some((_, fields)) = path.last_mut() {
            *fields -= 1;
        }
        path.push((i, elements[i].num_children.unwrap_or(0).max(0)));
        let is_leaf = elements[i].type_.is_some() && path.last().is_some_and(|(_, fields)| *fields == 0);
        let leaf = if is_leaf { leaves.next() } else { None };
        check_annotations(&mut elements[i], leaf.map(|leaf| leaf.physical()), &mut doubts);
        if is_duckdb && is_lone_millis(&elements[i]) {
            let name = elements[i].name.as_str().escape_debug().to_string();
            doubts.push(Doubt::new(format!("{name} has times in milliseconds"), NOT_OF_DUCKDB));
        }
        let Some(leaf) = leaf else { continue };
        let place = metadata.schema().num_columns() - leaves.len() - 1;
        if let Some(other) = elements[i].type_.and_then(|ours| other_type(metadata, place, ours)) {
            let what = format!("column {} is of {}", leaf.dotted().escape_debug(), leaf.physical());
            let why = format!("its chunks are of {other} in the footer: {ONE_DAMAGED}");
            doubts.push(Doubt { most: Confidence::Low, ..Doubt::new(what, why) });
        }
        let Some((other, is_in_all)) = other_path(metadata, place) else { continue };
        let ours: Vec<usize> = path.iter().map(|(i, _)| *i).collect();
        let is_mended = is_in_all && mend_names(&ours, &other, &mut elements);
        let (name, other) = (leaf.dotted(), other.join("."));
        let mut doubt = match is_mended {
            true => Doubt::new(format!("column {} is called {other}", name.escape_debug()), NAMED_BY_CHUNKS),
            false => Doubt::new(format!("column {name} is not called {}", other.escape_debug()), OTHER_NAME),
        };
        if !is_in_all {
            // Other chunks agree with the schema.
            doubt.most = Confidence::Exact;
        }
        doubts.push(doubt);
    }
    (elements, doubts)
}

/// Returns the first bytes of the footer, up to the end of the schema, as we would write them.
fn written(metadata: &ParquetMetaData) -> Vec<u8> {
    let (version, schema) = (metadata.head().version, metadata.head().schema.clone());
    let write = |schema| {
        let mut w = Writer::new();
        FileMetaData { version, schema, ..FileMetaData::default() }.write(&mut w);
        w.finish()
    };
    let (mut whole, without) = (write(schema), write(Vec::new()));
    // Behind the schema, both are the same.
    let list = without.windows(EMPTY_LIST.len()).position(|bytes| bytes == EMPTY_LIST).unwrap_or(0);
    whole.truncate(whole.len() - (without.len() - list - EMPTY_LIST.len()));
    whole
}

/// Removes annotations that do not fit the type, and compares the newer with the older one.
fn check_annotations(element: &mut SchemaElement, physical: Option<PhysicalType>, doubts: &mut Vec<Doubt>) {
    let only = |logical: Option<ThriftType>, converted| {
        let alone = SchemaElement { logical_type: logical, converted_type: converted, ..element.clone() };
        LogicalType::from_thrift(&alone, physical).filter(|logical| !has_wrong_scale(logical))
    };
    let newer = only(element.logical_type.clone(), None);
    let older = only(None, element.converted_type);
    // Unknown annotations may be of a later version of the format; older annotations have no later version.
    let has_newer = !matches!(element.logical_type, None | Some(ThriftType::Unknown(_)));
    let is_wrong = [has_newer && newer.is_none(), element.converted_type.is_some() && older.is_none()];
    if is_wrong[0] {
        element.logical_type = None;
    }
    if is_wrong[1] {
        element.converted_type = None;
    }
    let name = element.name.as_str().escape_debug().to_string();
    if is_wrong.contains(&true) {
        doubts.push(Doubt::new(format!("an annotation of {name} is left out"), NOT_LEGAL));
    }
    if let (Some(ThriftType::Unknown(_)), Some(older)) = (&element.logical_type, &older) {
        doubts.push(Doubt::new(format!("{name} means {older:?}"), NEWER_UNKNOWN));
    }
    // Other types have neither scale nor precision. One wrong bit in the number of a field turns an annotation into one
    // of them.
    let is_decimal =
        [&newer, &older].iter().any(|meaning| matches!(meaning, Some(LogicalType::Decimal { .. })));
    let has_digits =
        [element.scale, element.precision].iter().any(|number| number.is_some_and(|number| number != 0));
    if has_digits && !is_decimal && !is_wrong.contains(&true) {
        doubts.push(Doubt::new(format!("{name} is not a decimal"), HAS_DIGITS));
    }
    if let (Some(newer), Some(older)) = (newer, older)
        && !agree(&newer, &older)
    {
        let why = format!("its older annotation means {older:?}: {ONE_DAMAGED}");
        doubts.push(Doubt::new(format!("{name} means {newer:?}"), why));
    }
}

/// Whether an element has times in milliseconds by its older annotation alone.
fn is_lone_millis(element: &SchemaElement) -> bool {
    element.logical_type.is_none() && element.converted_type == Some(ConvertedType::TIME_MILLIS)
}

/// Whether a decimal has more digits behind the point than digits in all, or a negative scale.
fn has_wrong_scale(logical: &LogicalType) -> bool {
    let LogicalType::Decimal { precision, scale } = logical else { return false };
    u32::try_from(*scale).map_or(true, |scale| scale > *precision)
}

/// Whether both annotations of an element mean the same, as far as writers follow the format.
fn agree(newer: &LogicalType, older: &LogicalType) -> bool {
    // QUIRK: nanoparquet writes UTF8 as the older annotation of ENUM, which is text, too.
    newer.agrees_with_older(older) || newer.is_text() && *older == LogicalType::String
}

/// Returns another path that chunks of a column have, and whether all chunks have it.
fn other_path(metadata: &ParquetMetaData, column: usize) -> Option<(Vec<String>, bool)> {
    let ours = metadata.schema().column(column).path();
    let groups = metadata.row_groups().filter(|group| group.num_columns() == metadata.schema().num_columns());
    let paths: BTreeSet<_> =
        groups.filter_map(|group| group.path_at(column)).filter(|path| !path.is_empty()).collect();
    let is_other = |path: &&Vec<String>| !path.iter().map(String::as_str).eq(ours.iter().map(AsRef::as_ref));
    let is_only = paths.len() == 1;
    paths.iter().find(is_other).map(|path| (path.clone(), is_only))
}

/// Returns the type of all chunks of a column, if it is another than `ours`, that of the schema.
fn other_type(metadata: &ParquetMetaData, column: usize, ours: Type) -> Option<Type> {
    let mut types = Vec::new();
    for group in metadata.row_groups() {
        // A chunk that can be read has the type of the schema.
        let Err(_) = group.column(column) else { return None };
        types.extend(group.type_at(column));
    }
    types.first().copied().filter(|first| *first != ours && types.iter().all(|other| other == first))
}

/// Whether a name is text. A name with other characters may have swallowed what comes behind it.
pub(crate) fn is_name(name: &ThriftString) -> bool {
    name.is_utf8() && !name.chars().any(char::is_control)
}

/// Replaces names that are not text by those of the chunks. Returns whether the path is then the same as theirs.
fn mend_names(path: &[usize], other: &[String], elements: &mut [SchemaElement]) -> bool {
    let is_text = |name: &String| !name.contains(char::REPLACEMENT_CHARACTER);
    let is_same =
        |(i, other): (&usize, &String)| !is_name(&elements[*i].name) || *elements[*i].name == **other;
    if path.len() != other.len() || !other.iter().all(is_text) || !path.iter().zip(other).all(is_same) {
        return false;
    }
    path.iter().zip(other).for_each(|(i, other)| elements[*i].name = other.as_str().into());
    true
}

/// Returns the first difference between the footer's schema and the given one, if there is any.
pub(crate) fn other_than_given(elements: &[SchemaElement], given: &[SchemaElement]) -> Option<Doubt> {
    let shape = |element: &SchemaElement| {
        let children = element.num_children.filter(|children| *children > 0);
        let length = element.type_length.filter(|length| *length > 0);
        (element.name.clone(), element.type_, length, children, element.repetition_type)
    };
    let annotation = |element: &SchemaElement| (element.logical_type.clone(), element.converted_type);
    // Older writers, and schemas as text, have only one of the annotations.
    let is_same = |a: &SchemaElement, b: &SchemaElement| {
        let (ours, others) = (annotation(a), annotation(b));
        let agrees = ours.0 == others.0 || ours.1 == others.1;
        shape(a) == shape(b) && agrees
    };
    let name = |element: Option<&SchemaElement>| match element {
        Some(element) => element.name.as_str().escape_debug().to_string(),
        None => "nothing".to_owned(),
    };
    let (ours, others) = (elements.get(1..).unwrap_or_default(), given.get(1..).unwrap_or_default());
    let most = ours.len().max(others.len());
    let at = (0..most).find(|i| !ours.get(*i).zip(others.get(*i)).is_some_and(|(a, b)| is_same(a, b)))?;
    let why =
        format!("they differ first in {} and {}: {ONE_DAMAGED}", name(ours.get(at)), name(others.get(at)));
    Some(Doubt::new("the schema of the footer is taken, not the one that was given".to_owned(), why))
}

/// The name that most writers give the root.
const ROOT: &str = "schema";
const ONE_DAMAGED: &str = "one of both may be damaged";
const NOT_KNOWN: &str = "it may be of a later version of the format, or damaged";
/// Field 2 of a struct, behind field 1: an empty list of structs.
const EMPTY_LIST: [u8; 2] = [0x19, 0x0c];
const NEWER_UNKNOWN: &str =
    "its newer annotation is not known, and such have no older one: one of both may be damaged";
const HAS_DIGITS: &str = "it has a scale or precision, as only decimals have: the footer may be damaged";
/// QUIRK: DuckDB writes only older annotations for its integers, and that of 8 bits differs from this one in one bit.
const NOT_OF_DUCKDB: &str = "DuckDB's times are in microseconds: the footer may be damaged";
const NOT_LEGAL: &str = "it does not fit the type: the footer may be damaged";
const OTHER_NAME: &str = "chunks of it are called so in the footer: one of both may be damaged";
const NAMED_BY_CHUNKS: &str =
    "its chunks are called so, and its name in the schema is not text: the footer may be damaged";

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_format::{ColumnChunk, ColumnMetaData, Repetition, RowGroup};
    use std::time::{Duration, Instant};

    /// Each column is looked up in each row group: not by all columns of it.
    #[test]
    fn many_columns_of_another_type_take_no_time() {
        let root = SchemaElement { num_children: Some(COLUMNS), ..SchemaElement::default() };
        let leaf = |i: i32| SchemaElement {
            name: format!("c{i}").as_str().into(),
            type_: Some(Type::INT32),
            repetition_type: Some(Repetition::REQUIRED),
            ..SchemaElement::default()
        };
        let chunk = |i: i32| {
            let path_in_schema = vec![format!("c{i}").as_str().into()];
            let meta = ColumnMetaData { type_: Type::INT64, path_in_schema, ..ColumnMetaData::default() };
            ColumnChunk { meta_data: Some(meta), ..ColumnChunk::default() }
        };
        let group = RowGroup { columns: (0..COLUMNS).map(chunk).collect(), ..RowGroup::default() };
        let schema = std::iter::once(root).chain((0..COLUMNS).map(leaf)).collect();
        let footer = FileMetaData { schema, row_groups: vec![group], ..FileMetaData::default() };
        let metadata = ParquetMetaData::from_thrift(footer, &Limits::default()).unwrap();
        let started = Instant::now();
        let (_, doubts) = sound_elements(&metadata);
        assert_eq!(doubts.len(), 20_000);
        assert_eq!(doubts[7].what, "column c7 is of INT32");
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }

    const COLUMNS: i32 = 20_000;
}
