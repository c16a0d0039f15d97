//! Assembles a row of a shredded column into one value.
//!
//! SPEC: the metadata has the names of all fields, shredded or not. So an assembled value keeps its metadata: each
//! shredded name is looked up there once, binary values are copied, and rows with the same metadata share the lookup.
//! If a writer left a name out, all names are written anew.

use super::group::{Group, ObjectField, Typed, in_both, rest_of, shredded_too};
use marquetry_base::{Error, Result};
use marquetry_variant::{Metadata, Value, ValueWriter, Variant, Writer};

/// Assembles values, one after the other.
#[derive(Debug)]
pub(super) struct Assembler<'a> {
    /// The names of all shredded fields, sorted.
    names: Vec<&'a str>,
    /// The id of each name in `metadata`, or [`MISSING`].
    ids: Vec<u32>,
    metadata: Option<Metadata<'a>>,
    values: ValueWriter,
    /// Writes rows whose names are written anew.
    writer: Writer,
    written: (Vec<u8>, Vec<u8>),
}

/// The reason why a value was not assembled.
enum Failure {
    /// A name is missing in the metadata.
    NoName,
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

impl<'a> Assembler<'a> {
    /// Creates an assembler for groups whose fields have these sorted `names`.
    pub(super) fn new(names: Vec<&'a str>) -> Self {
        Assembler {
            ids: vec![MISSING; names.len()],
            names,
            metadata: None,
            values: ValueWriter::new(),
            writer: Writer::new(),
            written: Default::default(),
        }
    }

    /// Returns the value of a row of a group. A missing one is null.
    pub(super) fn value(&mut self, group: &Group<'a>, row: usize, metadata: &'a [u8]) -> Result<Variant<'_>> {
        if self.try_value(group, row, metadata)? {
            return Variant::new(metadata, self.values.bytes()?);
        }
        // Clears what an earlier error left behind.
        self.writer.clear();
        if !group.write(row, metadata, &mut self.writer)? {
            self.writer.write(&Value::Null)?;
        }
        self.written = self.writer.finish()?;
        Variant::new(&self.written.0, &self.written.1)
    }

    /// Returns the bytes of the value of a row that keeps its metadata; `None` if that lacks a name.
    pub(super) fn bytes(
        &mut self,
        group: &Group<'a>,
        row: usize,
        metadata: &'a [u8],
    ) -> Result<Option<&[u8]>> {
        Ok(if self.try_value(group, row, metadata)? { Some(self.values.bytes()?) } else { None })
    }

    /// Writes the value of a row to `values`. Returns `false` if the metadata lacks a name.
    fn try_value(&mut self, group: &Group<'a>, row: usize, metadata: &'a [u8]) -> Result<bool> {
        // If only typed columns are read, there are no names.
        if metadata.is_empty() {
            return Ok(false);
        }
        let metadata = self.look_up(metadata)?;
        self.values.clear();
        let put = Put { ids: &self.ids, metadata, values: &mut self.values }.value(group, row);
        match put {
            Ok(true) => Ok(true),
            Ok(false) => self.values.write(&Value::Null).map(|()| true),
            Err(Failure::NoName) => Ok(false),
            Err(Failure::Other(error)) => Err(error),
        }
    }

    /// Looks up the names, unless the metadata is the same as for the previous value.
    #[inline]
    fn look_up(&mut self, bytes: &'a [u8]) -> Result<Metadata<'a>> {
        if let Some(known) = self.metadata.filter(|known| known.as_bytes() == bytes) {
            return Ok(known);
        }
        let metadata = Metadata::new(bytes)?;
        self.metadata = None;
        self.ids.fill(MISSING);
        for id in 0..metadata.len() {
            if let Ok(at) = self.names.binary_search(&metadata.name(id)?) {
                self.ids[at] = u32::try_from(id).unwrap_or(MISSING);
            }
        }
        self.metadata = Some(metadata);
        Ok(metadata)
    }
}

/// The destination of a value.
struct Put<'p, 'a> {
    ids: &'p [u32],
    metadata: Metadata<'a>,
    values: &'p mut ValueWriter,
}

impl<'a> Put<'_, 'a> {
    /// Writes the value of a row of a group. Returns whether there is one.
    fn value(&mut self, group: &Group<'a>, row: usize) -> Result<bool, Failure> {
        match (group.bytes(row), group.typed_at(row)) {
            (None, None) => return Ok(false),
            (Some(bytes), None) => {
                let whole = Variant::new(self.metadata.as_bytes(), bytes)?;
                self.values.write_bytes(whole.bytes())?;
            }
            (bytes, Some(Typed::Object { fields, .. })) => self.object(fields, row, bytes)?,
            (Some(_), Some(_)) => return Err(in_both().into()),
            (None, Some(Typed::Primitive(primitive))) => self.values.write(&primitive.value(row)?)?,
            (None, Some(Typed::Array { lists, element })) => {
                self.values.begin_array()?;
                for row in lists.elements(row) {
                    // SPEC: elements cannot be missing; a missing one reads as null.
                    if !self.value(element, row)? {
                        self.values.write(&Value::Null)?;
                    }
                }
                self.values.end()?;
            }
        }
        Ok(true)
    }

    /// Writes an object of the shredded fields and those in `value`.
    fn object(
        &mut self,
        fields: &[ObjectField<'a>],
        row: usize,
        value: Option<&'a [u8]>,
    ) -> Result<(), Failure> {
        let rest = match value {
            Some(bytes) => Some(rest_of(Variant::new(self.metadata.as_bytes(), bytes)?)?),
            None => None,
        };
        self.values.begin_object()?;
        let mut next = 0;
        if let Some(rest) = rest {
            for field in rest.entries() {
                let (at, name, value) = field?;
                while let Some(shredded) = fields.get(next).filter(|shredded| shredded.name <= name) {
                    if shredded.name == name {
                        return Err(shredded_too(name).into());
                    }
                    self.field(shredded, row)?;
                    next += 1;
                }
                self.values.field(u32::try_from(rest.id(at)?).unwrap_or(MISSING))?;
                self.values.write_bytes(value.bytes())?;
            }
        }
        fields[next..].iter().try_for_each(|field| self.field(field, row))?;
        Ok(self.values.end()?)
    }

    /// Writes a shredded field, if the row has it.
    fn field(&mut self, field: &ObjectField<'a>, row: usize) -> Result<(), Failure> {
        if !field.group.is_present(row) {
            return Ok(());
        }
        match self.ids[field.at] {
            MISSING => Err(Failure::NoName),
            id => {
                self.values.field(id)?;
                self.value(&field.group, row)?;
                Ok(())
            }
        }
    }
}

/// Stands for a name without id.
const MISSING: u32 = u32::MAX;
