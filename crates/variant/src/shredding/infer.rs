//! Infers a shredding from a sample of values.

use super::kinds::{Kind, Kinds};
use super::shape::{MAX_SHREDDED_COLUMNS, MAX_SHREDDING_DEPTH, Shredding};
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::Result;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Options for inferring a shredding.
#[derive(Debug, Clone, PartialEq)]
pub struct InferShreddingOptions {
    max_rows: usize,
    max_bytes: usize,
    min_share: f64,
    max_columns: usize,
    max_depth: usize,
    exact_widths: bool,
}

impl Default for InferShreddingOptions {
    fn default() -> Self {
        InferShreddingOptions {
            max_rows: 4096,
            max_bytes: 64 << 20,
            min_share: 0.1,
            max_columns: 300,
            max_depth: MAX_SHREDDING_DEPTH,
            exact_widths: false,
        }
    }
}

impl InferShreddingOptions {
    /// Creates the default options: 4,096 rows or 64 MiB, fields in a tenth of the rows, 300 columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of values in the sample. Default 4,096.
    pub fn with_max_rows(mut self, rows: usize) -> Self {
        self.max_rows = rows;
        self
    }

    /// Sets the number of bytes of values after which the sample ends. Default 64 MiB.
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the share of the sample, 0 to 1, in which a field must have its most common type. Inside an array, it is
    /// the share of the elements. Default 0.1.
    pub fn with_min_share(mut self, share: f64) -> Self {
        self.min_share = share.clamp(0.0, 1.0);
        self
    }

    /// Sets the maximum number of [columns](Shredding::columns). Fields that more rows have take precedence. Default
    /// 300, at most [`MAX_SHREDDED_COLUMNS`].
    pub fn with_max_columns(mut self, columns: usize) -> Self {
        self.max_columns = columns.min(MAX_SHREDDED_COLUMNS);
        self
    }

    /// Sets the maximum number of nested objects and arrays. Default and maximum [`MAX_SHREDDING_DEPTH`].
    pub fn with_max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth.min(MAX_SHREDDING_DEPTH);
        self
    }

    /// Sets whether integers and decimals of different widths are different types. Default false: integers become
    /// `int64`, and decimals have at least 18 digits, so that values after the sample fit, too.
    pub fn with_exact_widths(mut self, exact: bool) -> Self {
        self.exact_widths = exact;
        self
    }
}

/// Infers from a sample of values how they are best shredded.
///
/// At each place the most common type wins. Values that fewer rows have than the options require stay in binary, and so
/// do nulls, which have no type.
///
/// ```
/// use marquetry_variant::{InferShreddingOptions, ShreddingInference, Variant, json};
///
/// let mut sample = ShreddingInference::new(InferShreddingOptions::new());
/// for text in [r#"{"id": 1, "tags": ["a"], "price": 1.50}"#, r#"{"id": 2000, "price": 2.25, "rare": null}"#] {
///     let (metadata, value) = json::parse(text)?;
///     sample.add(Variant::new(&metadata, &value)?)?;
/// }
/// assert_eq!(sample.shredding().unwrap().to_string(), "{id: int64, price: decimal(18, 2), tags: [string]}");
/// # Ok::<(), marquetry_variant::Error>(())
/// ```
#[derive(Debug)]
pub struct ShreddingInference {
    options: InferShreddingOptions,
    root: Place,
    places: usize,
    bytes: usize,
}

/// The kinds of values that were seen at one place.
#[derive(Debug, Default)]
struct Place {
    kinds: Kinds,
    fields: BTreeMap<String, Place>,
    element: Option<Box<Place>>,
    /// Number of values that were seen, including nulls.
    values: u64,
}

impl ShreddingInference {
    /// Creates an empty sample.
    pub fn new(options: InferShreddingOptions) -> Self {
        ShreddingInference { options, root: Place::default(), places: 0, bytes: 0 }
    }

    /// Whether the sample is as large as the options allow.
    pub fn is_full(&self) -> bool {
        self.root.values >= self.options.max_rows as u64 || self.bytes >= self.options.max_bytes
    }

    /// Adds a value to the sample. Does nothing once the sample is [full](Self::is_full).
    ///
    /// # Errors
    ///
    /// If the value is damaged.
    pub fn add(&mut self, variant: Variant<'_>) -> Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.bytes += variant.bytes().len();
        self.root.add(variant, &self.options, &mut self.places, 0)
    }

    /// Returns the shredding; `None` if no type is common enough.
    pub fn shredding(&self) -> Option<Shredding> {
        let mut candidates =
            Candidates { least: self.options.min_share, all: Vec::new(), waiting: BinaryHeap::new() };
        candidates.add(Candidate::new(None, "", &self.root, self.root.values, 1.0));
        let mut chosen: Vec<Chosen<'_>> = Vec::new();
        let mut columns = 0;
        while let Some((share, candidate)) = candidates.next() {
            let Some((kind, _)) = candidate.place.kinds.most_common() else { continue };
            let more = if matches!(kind, Kind::Primitive(_)) { 2 } else { 1 };
            if columns + more > self.options.max_columns {
                continue;
            }
            columns += more;
            let here = chosen.len();
            if let Some(parent) = candidate.parent {
                chosen[parent].children.push((candidate.name, here));
            }
            chosen.push(Chosen { kind, children: Vec::new() });
            match kind {
                Kind::Primitive(_) => {}
                Kind::Object => {
                    for (name, field) in &candidate.place.fields {
                        let (of, weight) = (candidate.of, candidate.weight);
                        candidates.add(Candidate::new(Some(here), name, field, of, weight));
                    }
                }
                Kind::Array => {
                    if let Some(element) = &candidate.place.element {
                        candidates.add(Candidate::new(Some(here), "", element, element.values, share));
                    }
                }
            }
        }
        if chosen.is_empty() { None } else { shape(&chosen, 0) }
    }
}

impl Place {
    fn add(
        &mut self,
        variant: Variant<'_>,
        options: &InferShreddingOptions,
        places: &mut usize,
        depth: usize,
    ) -> Result<()> {
        let value = variant.value()?;
        self.values += 1;
        match value {
            Value::Object(_) | Value::Array(_) if depth >= options.max_depth => return Ok(()),
            Value::Object(object) => {
                for field in object.iter() {
                    let (name, value) = field?;
                    if !self.fields.contains_key(name) {
                        if *places == MAX_PLACES {
                            continue;
                        }
                        *places += 1;
                        self.fields.insert(name.to_owned(), Place::default());
                    }
                    if let Some(field) = self.fields.get_mut(name) {
                        field.add(value, options, places, depth + 1)?;
                    }
                }
            }
            Value::Array(array) => {
                for element in array.iter() {
                    self.element.get_or_insert_default().add(element?, options, places, depth + 1)?;
                }
            }
            _ => {}
        }
        self.kinds.add(&value, options.exact_widths);
        Ok(())
    }
}

/// A place that may be shredded.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    /// The index of the chosen place that contains it.
    parent: Option<usize>,
    name: &'a str,
    place: &'a Place,
    /// The number of values that the share refers to: all values, or those in the array around it.
    of: u64,
    /// The share that these values have among all.
    weight: f64,
}

impl<'a> Candidate<'a> {
    fn new(parent: Option<usize>, name: &'a str, place: &'a Place, of: u64, weight: f64) -> Self {
        Candidate { parent, name, place, of, weight }
    }
}

struct Candidates<'a> {
    /// The minimum share.
    least: f64,
    all: Vec<Candidate<'a>>,
    /// The candidates by share, as bits that have the order of the numbers. Of equal shares, the earliest candidate comes first.
    waiting: BinaryHeap<(u64, Reverse<usize>)>,
}

impl<'a> Candidates<'a> {
    fn add(&mut self, candidate: Candidate<'a>) {
        let Some((_, count)) = candidate.place.kinds.most_common() else { return };
        let share = count as f64 / candidate.of as f64;
        if share >= self.least {
            self.waiting.push(((share * candidate.weight).to_bits(), Reverse(self.all.len())));
            self.all.push(candidate);
        }
    }

    /// Takes the candidate that most rows have, and its share among all rows.
    fn next(&mut self) -> Option<(f64, Candidate<'a>)> {
        let (share, Reverse(at)) = self.waiting.pop()?;
        Some((f64::from_bits(share), self.all[at]))
    }
}

/// A place that is shredded.
struct Chosen<'a> {
    kind: Kind,
    children: Vec<(&'a str, usize)>,
}

/// Returns the shape of a chosen place; `None` if nothing in it is shredded.
fn shape(chosen: &[Chosen<'_>], at: usize) -> Option<Shredding> {
    let Chosen { kind, children } = &chosen[at];
    match kind {
        Kind::Primitive(primitive) => Some(Shredding::Primitive(*primitive)),
        Kind::Object => {
            let fields =
                children.iter().filter_map(|(name, at)| Some(((*name).to_owned(), shape(chosen, *at)?)));
            let fields: BTreeMap<String, Shredding> = fields.collect();
            if fields.is_empty() { None } else { Some(Shredding::Object(fields)) }
        }
        Kind::Array => {
            let (_, element) = children.first()?;
            Some(Shredding::Array(Box::new(shape(chosen, *element)?)))
        }
    }
}

/// Maximum number of fields that are tracked. Fields seen after that are not shredded.
const MAX_PLACES: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn inferred(options: InferShreddingOptions, texts: &[String]) -> Option<String> {
        let mut sample = ShreddingInference::new(options);
        for text in texts {
            let (metadata, value) = json::parse(text).unwrap();
            sample.add(Variant::new(&metadata, &value).unwrap()).unwrap();
        }
        sample.shredding().map(|shredding| shredding.to_string())
    }

    #[test]
    fn the_most_common_type_wins() {
        let texts = ["1", "2", "\"a\"", "null", "null", "null", "null"].map(str::to_owned);
        assert_eq!(inferred(InferShreddingOptions::new(), &texts).as_deref(), Some("int64"));
        let exact = InferShreddingOptions::new().with_exact_widths(true);
        assert_eq!(inferred(exact, &texts).as_deref(), Some("int8"));
        let texts = ["1", "\"a\"", "\"b\""].map(str::to_owned);
        assert_eq!(inferred(InferShreddingOptions::new(), &texts).as_deref(), Some("string"));
        let texts = ["1.5", "2.25", "3.75", "12345678901234567890.25"].map(str::to_owned);
        assert_eq!(inferred(InferShreddingOptions::new(), &texts).as_deref(), Some("decimal(38, 2)"));
    }

    #[test]
    fn what_few_rows_have_stays_in_binary() {
        let texts: Vec<String> = (0..100)
            .map(|i| match i {
                0..=8 => r#"{"a": 1, "nine": 1}"#.to_owned(),
                9..=18 => r#"{"a": 1, "ten": {"x": "y"}}"#.to_owned(),
                _ => r#"{"a": 1, "l": [{"k": 1}, {"k": 2, "e": null}], "n": null, "o": {}, "m": []}"#
                    .to_owned(),
            })
            .collect();
        let found = inferred(InferShreddingOptions::new(), &texts);
        assert_eq!(found.as_deref(), Some("{a: int64, l: [{k: int64}], ten: {x: string}}"));
        let found = inferred(InferShreddingOptions::new().with_max_columns(6), &texts);
        assert_eq!(
            found.as_deref(),
            Some("{a: int64}"),
            "two for `a`, one for the object and the list around it"
        );
        let found = inferred(InferShreddingOptions::new().with_max_depth(1), &texts);
        assert_eq!(found.as_deref(), Some("{a: int64}"));
        assert_eq!(inferred(InferShreddingOptions::new(), &["{}".to_owned(), "null".to_owned()]), None);
        assert_eq!(inferred(InferShreddingOptions::new(), &[]), None);
    }

    #[test]
    fn a_sample_ends() {
        let mut sample = ShreddingInference::new(InferShreddingOptions::new().with_max_rows(2));
        for text in ["1", "2", "\"a\"", "\"b\"", "\"c\""] {
            let (metadata, value) = json::parse(text).unwrap();
            sample.add(Variant::new(&metadata, &value).unwrap()).unwrap();
        }
        assert!(sample.is_full());
        assert_eq!(sample.shredding().unwrap().to_string(), "int64");
    }

    #[test]
    fn many_names_take_no_more_columns_than_there_may_be() {
        let texts: Vec<String> = (0..10)
            .map(|_| {
                let fields: Vec<String> = (0..1000).map(|i| format!("\"f{i}\": {i}")).collect();
                format!("{{{}}}", fields.join(","))
            })
            .collect();
        let found = inferred(InferShreddingOptions::new(), &texts).unwrap();
        assert!(found.parse::<Shredding>().unwrap().columns() <= 300);
    }
}
