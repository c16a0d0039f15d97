//! A node of the schema: `SchemaElement`.
use crate::thrift::{Reader, ThriftString, Wire, Writer};
use crate::{ConvertedType, LogicalType, Repetition, Type};
use marquetry_base::Result;

/// A node of the schema. The footer lists all nodes depth first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchemaElement {
    /// The physical type; absent for groups.
    pub type_: Option<Type>,
    /// The length of FIXED_LEN_BYTE_ARRAY in bytes.
    pub type_length: Option<i32>,
    /// The repetition; absent for the root.
    pub repetition_type: Option<Repetition>,
    /// The name. PERF: shared with the schema tree, because a wide file has many names.
    pub name: ThriftString,
    /// The number of children of a group.
    pub num_children: Option<i32>,
    /// The older annotation, which `logical_type` succeeded.
    pub converted_type: Option<ConvertedType>,
    /// The scale of a DECIMAL that is annotated the older way.
    pub scale: Option<i32>,
    /// The precision of a DECIMAL that is annotated the older way.
    pub precision: Option<i32>,
    /// The field id that the writer assigned.
    pub field_id: Option<i32>,
    /// The logical type.
    pub logical_type: Option<LogicalType>,
}

impl SchemaElement {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut name = None;
        let mut type_ = None;
        let mut type_length = None;
        let mut repetition_type = None;
        let mut num_children = None;
        let mut converted_type = None;
        let mut scale = None;
        let mut precision = None;
        let mut field_id = None;
        let mut logical_type = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => type_ = Some(Type(r.i32()?)),
                (2, Wire::INT) => type_length = Some(r.i32()?),
                (3, Wire::INT) => repetition_type = Some(Repetition(r.i32()?)),
                (4, Wire::Binary) => name = Some(r.string()?),
                (5, Wire::INT) => num_children = Some(r.i32()?),
                (6, Wire::INT) => converted_type = Some(ConvertedType(r.i32()?)),
                (7, Wire::INT) => scale = Some(r.i32()?),
                (8, Wire::INT) => precision = Some(r.i32()?),
                (9, Wire::INT) => field_id = Some(r.i32()?),
                (10, Wire::Struct) => logical_type = Some(LogicalType::read(r)?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            type_,
            type_length,
            repetition_type,
            name: name.ok_or_else(|| r.missing("SchemaElement.name"))?,
            num_children,
            converted_type,
            scale,
            precision,
            field_id,
            logical_type,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            if let Some(value) = &self.type_ {
                w.i32_field(1, value.0);
            }
            if let Some(value) = &self.type_length {
                w.i32_field(2, *value);
            }
            if let Some(value) = &self.repetition_type {
                w.i32_field(3, value.0);
            }
            w.binary_field(4, self.name.as_bytes());
            if let Some(value) = &self.num_children {
                w.i32_field(5, *value);
            }
            if let Some(value) = &self.converted_type {
                w.i32_field(6, value.0);
            }
            if let Some(value) = &self.scale {
                w.i32_field(7, *value);
            }
            if let Some(value) = &self.precision {
                w.i32_field(8, *value);
            }
            if let Some(value) = &self.field_id {
                w.i32_field(9, *value);
            }
            if let Some(value) = &self.logical_type {
                w.nested_field(10, |w| value.write(w));
            }
        });
    }
}
