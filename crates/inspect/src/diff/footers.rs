//! The differences between footers: schemas, metadata, layouts and statistics.

use crate::stats::{ColumnStats, StatsOptions, footer_stats};
use crate::value_texts::value_texts;
use arrow_array::Array;
use arrow_schema::FieldRef;
use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use marquetry_arrow::schema::{ARROW_SCHEMA_KEY, parse_stored};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::{Node, NodeKind, Schema};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;

/// The subject of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Aspect {
    /// Columns, their types, and their repetition.
    Schema,
    /// Key-value metadata, and the writer of the file.
    Metadata,
    /// Bounds and counts of columns, over all row groups.
    Statistics,
    /// Row groups, encodings, codecs, sizes, indexes.
    Layout,
}

impl Aspect {
    /// Returns the name: `schema`, `metadata`, `statistics`, `layout`.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Schema => "schema",
            Aspect::Metadata => "metadata",
            Aspect::Statistics => "statistics",
            Aspect::Layout => "layout",
        }
    }
}

/// A fact that differs between both files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Its subject.
    pub aspect: Aspect,
    /// The column that it is about, or the key of metadata, with the field if that is a stored Arrow schema. `None` for
    /// the file.
    pub of: Option<String>,
    /// The name of the fact: `type`, `encodings`, `nulls`, ...
    pub fact: &'static str,
    /// Its value in the left file, or `None` if there is none.
    pub left: Option<String>,
    /// Its value in the right file, or `None` if there is none.
    pub right: Option<String>,
}

/// Returns all differences between two footers: those of the schemas first, and those of each aspect in the order of
/// the left file's columns.
///
/// Only the footers are read. Fails if a footer has a chunk that cannot be read.
///
/// ```
/// use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
/// use marquetry_inspect::diff_footers;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
/// assert_eq!(diff_footers(&metadata, &metadata)?, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn diff_footers(left: &ArrowReaderMetadata, right: &ArrowReaderMetadata) -> Result<Vec<Difference>> {
    let mut facts = Differences::default();
    schemas(left.parquet_schema(), right.parquet_schema(), &mut facts);
    metadata(left.metadata(), right.metadata(), &mut facts);
    statistics(left, right, &mut facts)?;
    layouts(left.metadata(), right.metadata(), &mut facts)?;
    Ok(facts.0)
}

#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn compare<T: PartialEq + Display>(
        &mut self,
        aspect: Aspect,
        of: Option<&str>,
        fact: &'static str,
        (left, right): (Option<T>, Option<T>),
    ) {
        if left != right {
            let [left, right] = [left, right].map(|value| value.map(|value| value.to_string()));
            self.0.push(Difference { aspect, of: of.map(str::to_owned), fact, left, right });
        }
    }
}

/// Numbers the columns with the same path, counted from 0: a path alone does not tell them apart.
fn numbered<T>(columns: Vec<T>, path: impl Fn(&T) -> &str) -> Vec<((String, usize), T)> {
    let mut seen = HashMap::<String, usize>::new();
    let key = |column: &T| {
        let count = seen.entry(path(column).to_owned()).or_default();
        *count += 1;
        (path(column).to_owned(), *count - 1)
    };
    let keys: Vec<_> = columns.iter().map(key).collect();
    keys.into_iter().zip(columns).collect()
}

/// Returns every field of a schema: its dotted path and number, and its description.
fn fields(schema: &Schema) -> Vec<((String, usize), String)> {
    let mut out = Vec::new();
    schema.fields().iter().for_each(|field| add_field(schema, field, "", &mut out));
    let numbered = numbered(out, |(path, _)| path);
    numbered.into_iter().map(|(key, (_, text))| (key, text)).collect()
}

fn add_field(schema: &Schema, field: &Node, above: &str, out: &mut Vec<(String, String)>) {
    let path = format!("{above}{}", field.name());
    let mut text = field.repetition().to_string();
    match field.kind() {
        NodeKind::Group(_) => text.push_str(" group"),
        NodeKind::Leaf(leaf) => text.push_str(&format!(" {}", schema.column(*leaf).physical())),
    }
    if let Some(logical) = field.logical() {
        text.push_str(&format!(" ({logical})"));
    }
    if let Some(id) = field.field_id() {
        text.push_str(&format!(" = {id}"));
    }
    out.push((path.clone(), text));
    if let NodeKind::Group(children) = field.kind() {
        children.iter().for_each(|child| add_field(schema, child, &format!("{path}."), out));
    }
}

fn schemas(left: &Schema, right: &Schema, out: &mut Differences) {
    let (lefts, rights) = (fields(left), fields(right));
    let of_right: HashMap<_, &str> = rights.iter().map(|(key, text)| (key, text.as_str())).collect();
    for (key, text) in &lefts {
        let sides = (Some(text.as_str()), of_right.get(key).copied());
        out.compare(Aspect::Schema, Some(&key.0), "type", sides);
    }
    let of_left: HashMap<_, &str> = lefts.iter().map(|(key, text)| (key, text.as_str())).collect();
    for (key, text) in rights.iter().filter(|(key, _)| !of_left.contains_key(key)) {
        out.compare(Aspect::Schema, Some(&key.0), "type", (None, Some(text.as_str())));
    }
    let common = |fields: &[((String, usize), String)], others: &HashMap<&(String, usize), &str>| {
        let both = fields.iter().filter(|(key, _)| others.contains_key(key));
        both.map(|(key, _)| key.0.clone()).collect::<Vec<_>>()
    };
    let (lefts, rights) = (common(&lefts, &of_right), common(&rights, &of_left));
    if let Some((left, right)) = lefts.iter().zip(&rights).find(|(left, right)| left != right) {
        out.compare(
            Aspect::Schema,
            None,
            "order of columns, from",
            (Some(left.as_str()), Some(right.as_str())),
        );
    }
}

fn metadata(left: &ParquetMetaData, right: &ParquetMetaData, out: &mut Differences) {
    let pairs = |metadata: &ParquetMetaData| {
        let pair = |pair: marquetry_format::KeyValueView<'_>| {
            (
                String::from_utf8_lossy(pair.key).into_owned(),
                pair.value_text().map(|value| value.into_owned()),
            )
        };
        metadata.key_values().map(pair).collect::<BTreeMap<_, _>>()
    };
    let (lefts, rights) = (pairs(left), pairs(right));
    for key in lefts.keys().chain(rights.keys()).collect::<BTreeSet<_>>() {
        let shown = |value: Option<&Option<String>>| value.map(|value| value.clone().unwrap_or_default());
        let (left, right) = (shown(lefts.get(key)), shown(rights.get(key)));
        if key == ARROW_SCHEMA_KEY && left != right {
            stored_types(left.as_deref(), right.as_deref(), out);
        }
        out.compare(Aspect::Metadata, Some(key), "value", (left, right));
    }
    out.compare(Aspect::Metadata, None, "created by", (left.created_by(), right.created_by()));
}

/// Compares the types in stored Arrow schemas, whose texts mean nothing to a reader.
fn stored_types(left: Option<&str>, right: Option<&str>, out: &mut Differences) {
    let types = |text: Option<&str>| {
        let schema = text.and_then(parse_stored)?;
        let of = |field: &FieldRef| (field.name().clone(), field.data_type().to_string());
        Some(schema.fields().iter().map(of).collect::<Vec<_>>())
    };
    let (Some(lefts), Some(rights)) = (types(left), types(right)) else { return };
    let rights: HashMap<&str, &str> = rights.iter().map(|(name, of)| (name.as_str(), of.as_str())).collect();
    for (name, of) in &lefts {
        if let Some(other) = rights.get(name.as_str()) {
            let field = format!("{ARROW_SCHEMA_KEY}, {name}");
            out.compare(Aspect::Metadata, Some(&field), "type", (Some(of.as_str()), Some(*other)));
        }
    }
}

fn statistics(left: &ArrowReaderMetadata, right: &ArrowReaderMetadata, out: &mut Differences) -> Result<()> {
    let rows = |metadata: &ArrowReaderMetadata| Some(metadata.metadata().num_rows());
    out.compare(Aspect::Statistics, None, "rows", (rows(left), rows(right)));
    let options = StatsOptions::default();
    let (lefts, rights) = (footer_stats(left, &options)?, footer_stats(right, &options)?);
    let [lefts, rights] =
        [lefts, rights].map(|stats| numbered(stats, |stats: &ColumnStats| stats.column.as_str()));
    let of_right: HashMap<_, &ColumnStats> = rights.iter().map(|(key, stats)| (key, stats)).collect();
    for (key, left) in &lefts {
        let Some(right) = of_right.get(key) else { continue };
        let of = Some(left.column.as_str());
        // A fact that one file does not state is not a different value.
        let are_known = |stats: &ColumnStats| Some(stats.nulls.is_some());
        out.compare(Aspect::Layout, of, "nulls are counted", (are_known(left), are_known(right)));
        if let (nulls @ Some(_), others @ Some(_)) = (left.nulls, right.nulls) {
            out.compare(Aspect::Statistics, of, "nulls", (nulls, others));
        }
        let are_known = |stats: &ColumnStats| Some(stats.bounds.is_some());
        out.compare(Aspect::Layout, of, "bounds are known", (are_known(left), are_known(right)));
        if left.bounds.is_some() && right.bounds.is_some() {
            for (i, fact) in ["min", "max"].into_iter().enumerate() {
                out.compare(Aspect::Statistics, of, fact, (bound(left, i), bound(right, i)));
            }
        }
    }
    Ok(())
}

fn bound(stats: &ColumnStats, i: usize) -> Option<String> {
    let bounds = stats.bounds.as_ref()?;
    let text = value_texts(bounds).ok()?.into_iter().nth(i)??;
    // The sign of a bound that is zero is up to the writer: it stands for both zeros.
    match bounds.data_type().is_floating() && text == "-0.0" {
        true => Some("0.0".to_owned()),
        false => Some(text),
    }
}

/// The layout of all chunks of a column together.
#[derive(Default)]
struct ColumnLayout {
    compressed: i64,
    uncompressed: i64,
    codecs: BTreeSet<String>,
    encodings: BTreeSet<String>,
    column_indexes: u64,
    bloom_filters: u64,
}

fn layouts(left: &ParquetMetaData, right: &ParquetMetaData, out: &mut Differences) -> Result<()> {
    let groups = |metadata: &ParquetMetaData| Some(metadata.num_row_groups());
    out.compare(Aspect::Layout, None, "row groups", (groups(left), groups(right)));
    let most = |metadata: &ParquetMetaData| metadata.row_groups().map(|group| group.num_rows()).max();
    out.compare(Aspect::Layout, None, "rows of the largest row group", (most(left), most(right)));
    let (lefts, rights) = (column_layouts(left)?, column_layouts(right)?);
    let [lefts, rights] =
        [lefts, rights].map(|layouts| numbered(layouts, |(path, _): &(String, _)| path.as_str()));
    let of_right: HashMap<_, &ColumnLayout> = rights.iter().map(|(key, (_, layout))| (key, layout)).collect();
    for (key, (path, left)) in &lefts {
        let Some(right) = of_right.get(key) else { continue };
        let of = Some(path.as_str());
        let list = |names: &BTreeSet<String>| Some(names.iter().cloned().collect::<Vec<_>>().join(", "));
        out.compare(Aspect::Layout, of, "codecs", (list(&left.codecs), list(&right.codecs)));
        out.compare(Aspect::Layout, of, "encodings", (list(&left.encodings), list(&right.encodings)));
        out.compare(Aspect::Layout, of, "compressed bytes", (Some(left.compressed), Some(right.compressed)));
        out.compare(
            Aspect::Layout,
            of,
            "uncompressed bytes",
            (Some(left.uncompressed), Some(right.uncompressed)),
        );
        out.compare(
            Aspect::Layout,
            of,
            "column indexes",
            (Some(left.column_indexes), Some(right.column_indexes)),
        );
        out.compare(
            Aspect::Layout,
            of,
            "bloom filters",
            (Some(left.bloom_filters), Some(right.bloom_filters)),
        );
    }
    Ok(())
}

fn column_layouts(metadata: &ParquetMetaData) -> Result<Vec<(String, ColumnLayout)>> {
    let leaves = metadata.schema().columns().iter();
    let mut columns: Vec<_> =
        leaves.map(|leaf| (leaf.dotted().to_string(), ColumnLayout::default())).collect();
    for group in metadata.row_groups() {
        for ((_, layout), chunk) in columns.iter_mut().zip(group.columns()) {
            let chunk = chunk?;
            layout.compressed = layout.compressed.saturating_add(chunk.compressed_size());
            layout.uncompressed = layout.uncompressed.saturating_add(chunk.uncompressed_size());
            layout.codecs.insert(chunk.compression().to_string());
            layout.encodings.extend(chunk.encodings().iter().map(|encoding| encoding.to_string()));
            layout.column_indexes += u64::from(chunk.column_index_range().is_some());
            layout.bloom_filters += u64::from(chunk.bloom_filter_offset().is_some());
        }
    }
    Ok(columns)
}
