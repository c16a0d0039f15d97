//! Edits of a schema: columns left out, and fields renamed.

use arrow_schema::{DataType, Field, Fields, Schema as ArrowSchema};
use marquetry::errors::{Error, Limits};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::internals::format::{LogicalType as ThriftLogicalType, SchemaElement, SortingColumn};
use marquetry::schema::{Leaf, Node, NodeKind, Schema};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::predicate::names_of;
use marquetry_core::schema::no_such_column;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A schema derived from another one.
pub(crate) struct Edit {
    /// The new schema, as in the footer.
    pub(crate) elements: Vec<SchemaElement>,
    pub(crate) schema: Schema,
    /// The column of the old schema for each of the new one.
    pub(crate) leaves: Vec<usize>,
    /// The new names of fields, by their old paths.
    renames: HashMap<Vec<String>, String>,
    /// The old paths of the fields above these. PERF: each of 20,000 columns may be renamed, and the fields above each
    /// are looked up.
    above_renames: HashSet<Vec<String>>,
    keeps: Vec<bool>,
}

impl Edit {
    /// Keeps the columns with `true` in `keeps`. `renames` are old paths, as in options, and new names.
    pub(crate) fn new(
        metadata: &ParquetMetaData,
        keeps: Vec<bool>,
        renames: &[(String, String)],
    ) -> Result<Self, Error> {
        let old = metadata.schema();
        // A file may have rows without columns; it stays as it is.
        if !keeps.is_empty() && !keeps.contains(&true) {
            return Err(Error::argument("no column is left"));
        }
        let renames = found(renames, old)?;
        let above = |path: &Vec<String>| (1..path.len()).map(|end| path[..end].to_vec()).collect::<Vec<_>>();
        let mut edit = Edit {
            elements: Vec::new(),
            schema: Schema::clone(old),
            leaves: (0..keeps.len()).filter(|leaf| keeps[*leaf]).collect(),
            above_renames: renames.keys().flat_map(above).collect(),
            renames,
            keeps,
        };
        old.fields().iter().try_for_each(|field| edit.check_parts(field))?;
        let mut walk = Walk { rest: &metadata.head().schema, leaf: 0 };
        edit.elements = walk.take(&edit, &mut Vec::new(), true).unwrap_or_default();
        edit.schema = Schema::from_thrift(&edit.elements, &Limits::default())?;
        if !edit.renames.is_empty() {
            // Names that were already repeated in the file may stay so.
            check_names(edit.schema.fields(), "")?;
        }
        Ok(edit)
    }

    /// Changes the annotation of a root column, and returns its index in the new schema.
    pub(crate) fn set_logical_type(
        &mut self,
        name: &str,
        logical: Option<ThriftLogicalType>,
    ) -> Result<usize, Error> {
        let is_it = |leaf: &Leaf| leaf.path().len() == 1 && leaf.name() == name;
        let column = self.schema.columns().iter().position(is_it);
        let known = self.schema.columns().iter().map(|leaf| &**leaf.dotted());
        let column = column.ok_or_else(|| no_such_column(name, known))?;
        let elements = self.elements.iter_mut().filter(|element| element.type_.is_some());
        // Columns have the order of the schema's leaves.
        elements.skip(column).take(1).for_each(|element| {
            (element.logical_type, element.converted_type) = (logical.clone(), None);
        });
        self.schema = Schema::from_thrift(&self.elements, &Limits::default())?;
        Ok(column)
    }

    /// Whether the new schema differs.
    pub(crate) fn changes(&self) -> bool {
        !self.renames.is_empty() || self.keeps.contains(&false)
    }

    /// The new name of a field of the old root; `None` if none of its columns is kept.
    pub(crate) fn new_name(&self, field: &Node) -> Option<String> {
        let name = self.renames.get(&[field.name().to_owned()][..]).map_or(field.name(), String::as_str);
        (self.kept(field).0 > 0).then(|| name.to_owned())
    }

    /// The sorting columns, up to the first that is dropped.
    pub(crate) fn sorting(&self, old: &[SortingColumn]) -> Vec<SortingColumn> {
        let place = |column: &SortingColumn| {
            let leaf = usize::try_from(column.column_idx).ok()?;
            let new = self.leaves.binary_search(&leaf).ok()?;
            Some(SortingColumn { column_idx: i32::try_from(new).ok()?, ..column.clone() })
        };
        old.iter().map_while(place).collect()
    }

    /// The stored Arrow schema with the same changes; `None` if it does not show how they apply.
    pub(crate) fn arrow(&self, old: &Schema, arrow: &ArrowSchema) -> Option<ArrowSchema> {
        let fields = self.arrow_fields(old.fields(), arrow.fields(), &[])?;
        Some(ArrowSchema::new_with_metadata(fields, arrow.metadata().clone()))
    }

    fn arrow_fields(&self, nodes: &[Node], fields: &Fields, above: &[String]) -> Option<Fields> {
        if nodes.len() != fields.len() {
            return None;
        }
        let mut out = Vec::new();
        for (node, field) in nodes.iter().zip(fields) {
            if node.name() != field.name() {
                return None;
            }
            let path = [above, &[node.name().to_owned()]].concat();
            let name = self.renames.get(&path).map_or(node.name(), String::as_str);
            let (kept, of) = self.kept(node);
            if kept == 0 && of > 0 {
                continue;
            }
            let is_inside = self.above_renames.contains(&path);
            if node.logical() != Some(&LogicalType::Null) && !is_known(field.data_type()) {
                return None;
            }
            let mut field = Field::clone(field).with_name(name);
            if kept < of || is_inside {
                // Writers name the parts of lists and maps differently; fields of structs have one name.
                let (NodeKind::Group(nodes), DataType::Struct(fields), None) =
                    (node.kind(), field.data_type(), node.logical())
                else {
                    return None;
                };
                let fields = self.arrow_fields(nodes, fields, &path)?;
                field = field.with_data_type(DataType::Struct(fields));
            }
            out.push(Arc::new(field));
        }
        Some(out.into())
    }

    /// The number of kept leaves below the node, and of all.
    fn kept(&self, node: &Node) -> (usize, usize) {
        match node.kind() {
            NodeKind::Leaf(leaf) => (usize::from(self.keeps[*leaf]), 1),
            NodeKind::Group(fields) => {
                let both = fields.iter().map(|field| self.kept(field));
                both.fold((0, 0), |(kept, of), (k, o)| (kept + k, of + o))
            }
        }
    }

    /// Fails if only a part is kept of a field that makes no sense in part.
    fn check_parts(&self, node: &Node) -> Result<(), Error> {
        let NodeKind::Group(fields) = node.kind() else { return Ok(()) };
        let (kept, of) = self.kept(node);
        if kept == 0 || kept == of {
            return Ok(());
        }
        let keys = match (node.logical(), fields.as_slice()) {
            (Some(LogicalType::Map | LogicalType::MapKeyValue), [entries]) => match entries.kind() {
                NodeKind::Group(entries) => entries.first(),
                NodeKind::Leaf(_) => None,
            },
            _ => None,
        };
        if let Some((kept, of)) = keys.map(|keys| self.kept(keys))
            && kept < of
        {
            return Err(Error::argument(format!("the map {} needs its keys", node.name())));
        }
        if matches!(node.logical(), Some(LogicalType::Variant { .. })) {
            return Err(Error::argument(format!("the VARIANT {} needs all its parts", node.name())));
        }
        fields.iter().try_for_each(|field| self.check_parts(field))
    }
}

/// The rest of the footer's list of fields, which is read from front to back.
struct Walk<'a> {
    rest: &'a [SchemaElement],
    leaf: usize,
}

impl Walk<'_> {
    /// Takes the next field and all below it; `None` if none of its columns is kept.
    fn take(&mut self, edit: &Edit, path: &mut Vec<String>, is_root: bool) -> Option<Vec<SchemaElement>> {
        let (element, rest) = self.rest.split_first()?;
        self.rest = rest;
        let mut element = element.clone();
        if !is_root {
            path.push(element.name.to_string());
            if let Some(name) = edit.renames.get(path) {
                element.name = name.as_str().into();
            }
        }
        let children = element.num_children.unwrap_or(0);
        let kept = if children == 0 && element.type_.is_some() && !is_root {
            self.leaf += 1;
            edit.keeps[self.leaf - 1].then(|| vec![element])
        } else {
            let below: Vec<_> = (0..children).filter_map(|_| self.take(edit, path, false)).collect();
            element.num_children = Some(below.len() as i32);
            // A group that never had columns stays.
            let is_kept = is_root || children == 0 || !below.is_empty();
            is_kept.then(|| std::iter::once(element).chain(below.into_iter().flatten()).collect())
        };
        if !is_root {
            path.pop();
        }
        kept
    }
}

fn below(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") }
}

/// The paths of the fields to rename: a path with exactly these names, or else, without quotes, any path with these dots.
fn found(renames: &[(String, String)], schema: &Schema) -> Result<HashMap<Vec<String>, String>, Error> {
    let (mut exact, mut dotted) = (HashSet::new(), HashMap::new());
    if !renames.is_empty() {
        collect_paths(schema.fields(), &[], &mut |path| {
            dotted.entry(path.join(".")).or_insert_with(Vec::new).push(path.to_vec());
            exact.insert(path.to_vec());
        });
    }
    let mut out = HashMap::new();
    for (old, new) in renames {
        let names = names_of(old);
        let is_path = names.join(".") != *old && names.len() > 1;
        match exact.contains(&names) {
            true => drop(out.insert(names, new.clone())),
            false => {
                let others = dotted.get(&names.join(".")).filter(|_| !is_path);
                let others = others.ok_or_else(|| Error::argument(format!("no field {old}")))?;
                out.extend(others.iter().map(|path| (path.clone(), new.clone())));
            }
        }
    }
    Ok(out)
}

/// Calls `tell` with the paths of all fields.
fn collect_paths(fields: &[Node], above: &[String], tell: &mut dyn FnMut(&[String])) {
    for field in fields {
        let path = [above, &[field.name().to_owned()]].concat();
        if let NodeKind::Group(fields) = field.kind() {
            collect_paths(fields, &path, tell);
        }
        tell(&path);
    }
}

/// Fails if a rename gives two fields of a group the same name.
fn check_names(fields: &[Node], above: &str) -> Result<(), Error> {
    let mut names: Vec<&str> = fields.iter().map(Node::name).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::argument(format!("two fields would be called {}", below(above, pair[0]))));
    }
    fields.iter().try_for_each(|field| match field.kind() {
        NodeKind::Group(fields) => check_names(fields, &below(above, field.name())),
        NodeKind::Leaf(_) => Ok(()),
    })
}

/// Whether every part of a stored type was understood when it was decoded: others became Null.
pub(crate) fn is_known(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => false,
        DataType::Struct(fields) => fields.iter().all(|field| is_known(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_known(field.data_type()),
        DataType::Dictionary(_, values) => is_known(values),
        DataType::RunEndEncoded(_, values) => is_known(values.data_type()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example, without its price, and with other names.
    fn edit(renames: &[(&str, &str)]) -> (marquetry::OpenFile, Edit) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
        let file = marquetry::open(path).unwrap();
        let columns = file.metadata().schema().columns();
        let keeps = columns.iter().map(|leaf| leaf.name() != "price").collect();
        let renames: Vec<_> =
            renames.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
        let edit = Edit::new(file.metadata(), keeps, &renames).unwrap();
        (file, edit)
    }

    #[test]
    fn the_stored_arrow_schema_follows() {
        let (file, edit) = edit(&[("producer.name", "title"), ("grapes", "sorts")]);
        let stored = file.schema().unwrap();
        let arrow = edit.arrow(file.metadata().schema(), &stored).unwrap();
        let names: Vec<&str> = arrow.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["name", "country", "year", "rating", "sorts", "producer", "tasted"]);
        let DataType::Struct(producer) = arrow.field(5).data_type() else { panic!("{arrow}") };
        assert_eq!(producer[0].name(), "title");
        assert_eq!(arrow.field(4).data_type(), stored.field(5).data_type());
        assert_eq!(edit.schema.column(5).path_in_schema(), ["producer", "title"]);
    }

    #[test]
    fn what_cannot_follow_is_given_up() {
        let (file, edit) = edit(&[("grapes.list.element", "item")]);
        assert!(edit.arrow(file.metadata().schema(), &file.schema().unwrap()).is_none());
        let (file, edit) = self::edit(&[]);
        let other = ArrowSchema::new(vec![Field::new("name", DataType::Utf8, false)]);
        assert!(edit.arrow(file.metadata().schema(), &other).is_none());
    }

    #[test]
    fn sorting_ends_where_a_column_is_gone() {
        let (_, edit) = edit(&[]);
        let sorted = |column_idx| SortingColumn { column_idx, descending: true, nulls_first: false };
        assert_eq!(edit.sorting(&[sorted(4), sorted(3), sorted(0)]), [sorted(3)]);
        assert_eq!(edit.sorting(&[sorted(-1), sorted(0)]), []);
    }
}
