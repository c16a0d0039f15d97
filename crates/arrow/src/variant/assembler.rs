//! A row of a shredded column as one value.
//!
//! SPEC: the names of all fields stand in the metadata, shredded or not. So what is put together again keeps the metadata that it has: each
//! shredded name is looked up in it once, values in binary are copied, and rows with the same metadata are looked up together. Where a
//! writer left a name out, all names are written anew.

use super::group::{Group, ObjectField, Typed, in_both, rest_of, shredded_too};
use marquetry_base::{Error, Result};
use marquetry_variant::{Metadata, Value, ValueWriter, Variant, Writer};

/// Puts values together, one after the other.
#[derive(Debug)]
pub(super) struct Assembler<'a> {
    /// All names of shredded fields, in their order.
    names: Vec<&'a str>,
    /// The id of each of them in `metadata`, or [`MISSING`].
    ids: Vec<u32>,
    metadata: Option<Metadata<'a>>,
    values: ValueWriter,
    /// For rows whose names are written anew.
    writer: Writer,
    written: (Vec<u8>, Vec<u8>),
}

/// Why a value was not put together.
enum Failure {
    /// A name is not in the metadata.
    NoName,
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

impl<'a> Assembler<'a> {
    /// For groups whose fields have these `names`, in their order.
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

    /// The value of a row of a group; one that is missing is null.
    pub(super) fn value(&mut self, group: &Group<'a>, row: usize, metadata: &'a [u8]) -> Result<Variant<'_>> {
        if self.try_value(group, row, metadata)? {
            return Variant::new(metadata, self.values.bytes()?);
        }
        // What an error left behind.
        self.writer.clear();
        if !group.write(row, metadata, &mut self.writer)? {
            self.writer.write(&Value::Null)?;
        }
        self.written = self.writer.finish()?;
        Variant::new(&self.written.0, &self.written.1)
    }

    /// The bytes of the value of a row that keeps its metadata; `None` if these have not all names.
    pub(super) fn bytes(
        &mut self,
        group: &Group<'a>,
        row: usize,
        metadata: &'a [u8],
    ) -> Result<Option<&[u8]>> {
        Ok(if self.try_value(group, row, metadata)? { Some(self.values.bytes()?) } else { None })
    }

    /// Writes the value of a row to `values`; `false` if the metadata have not all names.
    fn try_value(&mut self, group: &Group<'a>, row: usize, metadata: &'a [u8]) -> Result<bool> {
        // Where only typed columns are read there are no names.
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

    /// Looks up the names, unless they are those of the value before.
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

/// Where a value is put.
struct Put<'p, 'a> {
    ids: &'p [u32],
    metadata: Metadata<'a>,
    values: &'p mut ValueWriter,
}

impl<'a> Put<'_, 'a> {
    /// Writes the value of a row of a group, and says whether there is one.
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
                    // SPEC: elements cannot be missing; one that is reads as null.
                    if !self.value(element, row)? {
                        self.values.write(&Value::Null)?;
                    }
                }
                self.values.end()?;
            }
        }
        Ok(true)
    }

    /// Writes an object of shredded fields, and of those that `value` has besides.
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

/// No id of a name.
const MISSING: u32 = u32::MAX;
