//! Finds the values at a path in the values of a column, one after the other.

use crate::container::Container;
use crate::metadata::Metadata;
use crate::object::Object;
use crate::path::{Path, Step};
use crate::variant::Variant;
use marquetry_base::{Error, Result};

/// Finds the value at a path in many values. Names are looked up once for all values with the same metadata. If the
/// metadata lacks one of them, no value is searched.
///
/// ```
/// use marquetry_variant::{PathFinder, Value, json};
/// let rows = [r#"{"user": {"id": 7}}"#, r#"{"user": {"id": 8}}"#, "1"].map(|row| json::parse(row).unwrap());
/// let mut finder = PathFinder::new(&"user.id".parse()?)?;
/// let mut found = Vec::new();
/// for (metadata, value) in &rows {
///     found.push(finder.find(metadata, value)?.map(|id| id.value()).transpose()?);
/// }
/// assert_eq!(found, [Some(Value::Int8(7)), Some(Value::Int8(8)), None]);
/// # Ok::<(), marquetry_variant::Error>(())
/// ```
#[derive(Debug)]
pub struct PathFinder<'a> {
    steps: Vec<Step>,
    metadata: Option<Metadata<'a>>,
    /// For each step, its name in the current metadata.
    names: Vec<Name>,
    /// Whether the metadata lacks one of the names.
    lacks_name: bool,
}

/// The name of a step in the metadata.
#[derive(Debug, Clone, Copy)]
enum Name {
    Id(usize),
    /// Several ids have this name.
    Several,
    /// The step does not lead to a field, or the metadata lacks the name.
    None,
}

impl<'a> PathFinder<'a> {
    /// Creates a finder for a path to one value.
    ///
    /// # Errors
    ///
    /// If the path leads to all elements of an array.
    pub fn new(path: &Path) -> Result<Self> {
        if path.steps().contains(&Step::AllElements) {
            return Err(Error::argument(format!("{path} leads to several values")));
        }
        Ok(PathFinder { steps: path.steps().to_vec(), metadata: None, names: Vec::new(), lacks_name: false })
    }

    /// Returns the value at the path; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If a part that is read on the way is damaged.
    #[inline]
    pub fn find(&mut self, metadata: &'a [u8], value: &'a [u8]) -> Result<Option<Variant<'a>>> {
        let metadata = match self.metadata {
            Some(known) if known.as_bytes() == metadata => known,
            _ => self.look_up(metadata)?,
        };
        let mut here = Variant::with_metadata(metadata, value)?.bytes();
        if self.lacks_name {
            return Ok(None);
        }
        for (step, name) in self.steps.iter().zip(&self.names) {
            let next = match step {
                Step::Field(text) => match Container::of_object(here)? {
                    Some(fields) => field(metadata, &fields, *name, text)?,
                    None => None,
                },
                Step::Element(at) => match Container::of_array(here)? {
                    Some(elements) if *at < elements.len => Some(elements.value(*at)?),
                    _ => None,
                },
                Step::AllElements => None,
            };
            match next {
                Some(next) => here = next,
                None => return Ok(None),
            }
        }
        Ok(Some(Variant::inside(metadata, here)))
    }

    fn look_up(&mut self, bytes: &'a [u8]) -> Result<Metadata<'a>> {
        self.metadata = None;
        let metadata = Metadata::new(bytes)?;
        self.names.clear();
        self.lacks_name = false;
        for step in &self.steps {
            let Step::Field(name) = step else {
                self.names.push(Name::None);
                continue;
            };
            self.names.push(match metadata.id_of(name.as_bytes())? {
                Some((id, true)) => Name::Id(id),
                Some((_, false)) => Name::Several,
                None => {
                    self.lacks_name = true;
                    Name::None
                }
            });
        }
        self.metadata = Some(metadata);
        Ok(metadata)
    }
}

/// Finds the value of a field. PERF: among few fields it compares ids and no names; among many, the field is most
/// likely where the order of the names has it.
#[inline]
fn field<'a>(
    metadata: Metadata<'a>,
    fields: &Container<'a>,
    name: Name,
    text: &str,
) -> Result<Option<&'a [u8]>> {
    let object = Object::new(metadata, *fields);
    let Name::Id(id) = name else { return Ok(object.get(text)?.map(|field| field.bytes())) };
    let place = match fields.has_few() {
        true => fields.position_of(id),
        false => object.search(text)?.or_else(|| fields.position_of(id)),
    };
    place.map(|at| fields.value(at)).transpose()
}
