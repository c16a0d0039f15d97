//! Column projection: which columns to read.

use marquetry_base::{Error, Result};
use marquetry_core::predicate::names_of;
use marquetry_core::schema::{Node, NodeKind, Schema, unknown_column};
use std::collections::{HashMap, HashSet};

/// A choice of a file's columns, by leaf. Structs and lists are read with those of their leaves that are chosen.
///
/// Columns are always read in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectionMask {
    /// One flag for each leaf; `None` if all are chosen.
    leaves: Option<Vec<bool>>,
}

impl ProjectionMask {
    /// Chooses all columns.
    pub fn all() -> Self {
        ProjectionMask { leaves: None }
    }

    /// Chooses none of `len` leaves: batches then have rows but no columns.
    pub fn none(len: usize) -> Self {
        ProjectionMask { leaves: Some(vec![false; len]) }
    }

    /// Chooses the leaves of these numbers. Numbers that do not exist choose nothing.
    pub fn leaves(schema: &Schema, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut leaves = vec![false; schema.num_columns()];
        for index in indices {
            if let Some(leaf) = leaves.get_mut(index) {
                *leaf = true;
            }
        }
        ProjectionMask { leaves: Some(leaves) }
    }

    /// Chooses all leaves of the root's fields of these numbers.
    pub fn roots(schema: &Schema, indices: impl IntoIterator<Item = usize>) -> Self {
        let indices: HashSet<usize> = indices.into_iter().collect();
        let mut mask = ProjectionMask::none(schema.num_columns());
        mask.choose(|i| indices.contains(&schema.column(i).root()));
        mask
    }

    /// Chooses all leaves at or below these dotted paths. Paths that do not exist choose nothing.
    pub fn columns<'a>(schema: &Schema, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = names.into_iter().map(|name| (name, 0)).collect();
        ProjectionMask::named(schema, &mut names)
    }

    /// Chooses all leaves at or below the fields with these field ids, at any depth.
    ///
    /// Iceberg and Delta Lake identify columns this way. Ids that do not exist choose nothing. The id is the leaf's
    /// own, or that of a list, map or struct around it.
    ///
    /// ```
    /// use marquetry_arrow::arrow_reader::ProjectionMask;
    /// use marquetry_core::schema::Schema;
    /// let schema = Schema::parse(
    ///     "message m { required int64 id = 1; optional group at = 2 { optional double x = 3; optional double y = 4; } }",
    /// )?;
    /// let mask = ProjectionMask::field_ids(&schema, [1, 4]);
    /// assert_eq!([0, 1, 2].map(|leaf| mask.leaf_included(leaf)), [true, false, true]);
    /// assert!(ProjectionMask::field_ids(&schema, [2]).leaf_included(1));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn field_ids(schema: &Schema, ids: impl IntoIterator<Item = i32>) -> Self {
        let ids: HashSet<i32> = ids.into_iter().collect();
        let mut leaves = Vec::new();
        schema.fields().iter().for_each(|field| leaves_of_ids(field, &ids, false, &mut leaves));
        ProjectionMask::leaves(schema, leaves)
    }

    /// Like [`field_ids`](Self::field_ids), but fails if no field has one of the ids.
    pub fn existing_field_ids(schema: &Schema, ids: impl IntoIterator<Item = i32>) -> Result<Self> {
        let ids: Vec<i32> = ids.into_iter().collect();
        let mut known = HashSet::new();
        schema.fields().iter().for_each(|field| collect_ids(field, &mut known));
        match ids.iter().find(|id| !known.contains(id)) {
            Some(unknown) => Err(Error::argument(format!("no field has the id {unknown}"))),
            None => Ok(ProjectionMask::field_ids(schema, ids)),
        }
    }

    /// Like [`columns`](Self::columns), but fails if a path does not exist; the error names similar ones.
    ///
    /// Names may be in double quotes, as in predicates: `"a,b".c`. A dot in quotes is part of the name, unless no
    /// column has that name.
    ///
    /// ```
    /// use marquetry_arrow::arrow_reader::ProjectionMask;
    /// use marquetry_core::schema::Schema;
    /// let schema = "message m { optional group s { optional int32 x.y; optional group x { optional int32 y; } } optional int32 s.x; }";
    /// let schema = Schema::parse(schema)?;
    /// let chosen = |name: &str| {
    ///     let mask = ProjectionMask::existing_columns(&schema, [name])?;
    ///     Ok::<_, marquetry_base::Error>([0, 1, 2].map(|leaf| mask.leaf_included(leaf)))
    /// };
    /// assert_eq!(chosen("s.x.y")?, [true, true, false]);
    /// assert_eq!(chosen(r#"s."x.y""#)?, [true, false, false]);
    /// assert_eq!(chosen(r#""s".x.y"#)?, [false, true, false]);
    /// assert_eq!(chosen(r#""s.x""#)?, [false, false, true]);
    /// assert_eq!(chosen(r#""s.x.y""#)?, [true, true, false]);
    /// assert!(chosen(r#""s.x"."z""#).is_err());
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn existing_columns<'a>(schema: &Schema, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let names: Vec<&str> = names.into_iter().collect();
        let (mask, are_there) = ProjectionMask::of_names(schema, &names);
        match names.iter().zip(are_there).find(|(_, is_there)| !is_there) {
            Some((name, _)) => Err(unknown_column(schema, name)),
            None => Ok(mask),
        }
    }

    /// Chooses the columns of these names that exist, and returns for each name whether it does. PERF: one pass over
    /// the leaves for all names.
    pub(crate) fn of_names(schema: &Schema, names: &[&str]) -> (Self, Vec<bool>) {
        let mut counts = names.iter().map(|name| (*name, 0)).collect();
        let mut mask = ProjectionMask::named(schema, &mut counts);
        // As in predicates, a dot in quotes is part of the name.
        let unquoted = |name: &&str| (counts.get(name) == Some(&0)).then(|| names_of(name));
        let unquoted: Vec<Option<Vec<String>>> = names.iter().map(unquoted).collect();
        fn parts(path: &[String]) -> Vec<&str> {
            path.iter().map(String::as_str).collect()
        }
        let mut paths: HashMap<Vec<&str>, usize> =
            unquoted.iter().flatten().map(|path| (parts(path), 0)).collect();
        if !paths.is_empty() {
            mask.union(&ProjectionMask::at(schema, &mut paths));
        }
        // A name that no column has may be another path with these dots.
        let dotted = |path: &Option<Vec<String>>| {
            let path = path.as_ref()?;
            (paths.get(&*parts(path)) == Some(&0)).then(|| path.join("."))
        };
        let dotted: Vec<Option<String>> = unquoted.iter().map(dotted).collect();
        let mut counts: HashMap<&str, usize> = dotted.iter().flatten().map(|name| (&**name, 0)).collect();
        if !counts.is_empty() {
            mask.union(&ProjectionMask::named(schema, &mut counts));
        }
        let is_there = |name: &Option<String>| match name {
            Some(dotted) => counts.get(&**dotted).is_some_and(|count| *count > 0),
            None => true,
        };
        let are_there = dotted.iter().map(is_there).collect();
        (mask, are_there)
    }

    /// Chooses all leaves at or below these paths, and counts the leaves that each path chooses.
    fn at<'a>(schema: &'a Schema, paths: &mut HashMap<Vec<&'a str>, usize>) -> Self {
        let mut mask = ProjectionMask::none(schema.num_columns());
        mask.choose(|leaf| {
            let path: Vec<&str> = schema.column(leaf).path().iter().map(|name| &**name).collect();
            // Each path is counted, so no `any`.
            (1..=path.len()).fold(false, |is_chosen, count| match paths.get_mut(&path[..count]) {
                Some(count) => {
                    *count += 1;
                    true
                }
                None => is_chosen,
            })
        });
        mask
    }

    /// Chooses all leaves at or below these dotted paths, and counts the leaves that each path chooses.
    fn named(schema: &Schema, names: &mut HashMap<&str, usize>) -> Self {
        let mut mask = ProjectionMask::none(schema.num_columns());
        mask.choose(|leaf| {
            // Each path is counted, so no `any`.
            schema.column(leaf).dotted_ancestors().fold(false, |is_chosen, path| match names.get_mut(path) {
                Some(count) => {
                    *count += 1;
                    true
                }
                None => is_chosen,
            })
        });
        mask
    }

    /// Returns whether leaf `index` is chosen.
    pub fn leaf_included(&self, index: usize) -> bool {
        self.leaves.as_ref().is_none_or(|leaves| leaves.get(index).copied().unwrap_or(false))
    }

    /// Adds the leaves that `other` chooses.
    pub fn union(&mut self, other: &Self) {
        match (&mut self.leaves, &other.leaves) {
            (Some(ours), Some(theirs)) => {
                ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours |= theirs);
            }
            _ => self.leaves = None,
        }
    }

    /// Adds the leaves for which `wanted` is true.
    fn choose(&mut self, mut wanted: impl FnMut(usize) -> bool) {
        let leaves = self.leaves.iter_mut().flatten().enumerate();
        leaves.for_each(|(leaf, chosen)| *chosen |= wanted(leaf));
    }
}

/// Appends the leaves at or below `node` that have one of the ids, or lie in a field that has one.
fn leaves_of_ids(node: &Node, ids: &HashSet<i32>, is_chosen: bool, out: &mut Vec<usize>) {
    let is_chosen = is_chosen || node.field_id().is_some_and(|id| ids.contains(&id));
    match node.kind() {
        NodeKind::Leaf(leaf) => out.extend(is_chosen.then_some(*leaf)),
        NodeKind::Group(fields) => {
            fields.iter().for_each(|field| leaves_of_ids(field, ids, is_chosen, out));
        }
    }
}

fn collect_ids(node: &Node, ids: &mut HashSet<i32>) {
    ids.extend(node.field_id());
    if let NodeKind::Group(fields) = node.kind() {
        fields.iter().for_each(|field| collect_ids(field, ids));
    }
}
