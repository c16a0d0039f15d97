//! The footer: `FileMetaData`.
use crate::thrift::{Reader, ThriftString, Wire, Writer};
use crate::{EncryptionAlgorithm, KeyValue, RowGroup, SchemaElement};
use marquetry_base::Result;

/// The footer of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileMetaData {
    /// The version of the format, 1 or 2; it decides nothing.
    pub version: i32,
    /// The nodes of the schema, depth first.
    pub schema: Vec<SchemaElement>,
    /// The number of rows in all row groups, as the writer counted.
    pub num_rows: i64,
    /// The row groups.
    pub row_groups: Vec<RowGroup>,
    /// The key-value metadata, which writers use freely.
    pub key_value_metadata: Option<Vec<KeyValue>>,
    /// The name and version of the writer.
    pub created_by: Option<ThriftString>,
    /// The sort order of the bounds of each column.
    pub column_orders: Option<Vec<ColumnOrder>>,
    /// The encryption algorithm of a file with encrypted columns and a plaintext footer.
    pub encryption_algorithm: Option<EncryptionAlgorithm>,
    /// The key metadata of the key that signs a plaintext footer.
    pub footer_signing_key_metadata: Option<Vec<u8>>,
}

impl FileMetaData {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let pairs = |r: &mut Reader<'_>| r.list(Wire::Struct, KeyValue::read);
        let (mut out, row_groups, key_values) = FileMetaData::read_with(r, RowGroup::read, pairs)?;
        out.row_groups = row_groups;
        out.key_value_metadata = key_values;
        Ok(out)
    }

    /// Reads the struct except row groups and key-value metadata. `read_group` reads each row group, and `read_pairs`
    /// the list of key-value pairs.
    pub(crate) fn read_with<'a, G, K>(
        r: &mut Reader<'a>,
        mut read_group: impl FnMut(&mut Reader<'a>) -> Result<G>,
        mut read_pairs: impl FnMut(&mut Reader<'a>) -> Result<Option<K>>,
    ) -> Result<(Self, Vec<G>, Option<K>)> {
        let mut schema = None;
        let mut version = Default::default();
        let mut num_rows = Default::default();
        let mut row_groups = None;
        let mut key_values = None;
        let mut created_by = None;
        let mut column_orders = None;
        let mut encryption_algorithm = None;
        let mut footer_signing_key_metadata = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => version = r.i32()?,
                (2, Wire::List) => {
                    schema = r.list(Wire::Struct, SchemaElement::read)?;
                }
                (3, Wire::INT) => num_rows = r.i64()?,
                (4, Wire::List) => {
                    row_groups = r.list(Wire::Struct, &mut read_group)?;
                }
                (5, Wire::List) => {
                    key_values = read_pairs(r)?;
                }
                (6, Wire::Binary) => created_by = Some(r.string()?),
                (7, Wire::List) => {
                    column_orders = r.list(Wire::Struct, ColumnOrder::read)?;
                }
                (8, Wire::Struct) => encryption_algorithm = Some(EncryptionAlgorithm::read(r)?),
                (9, Wire::Binary) => footer_signing_key_metadata = Some(r.binary()?.to_vec()),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        let schema = schema.ok_or_else(|| r.missing("FileMetaData.schema"))?;
        let row_groups = row_groups.ok_or_else(|| r.missing("FileMetaData.row_groups"))?;
        let out = Self {
            version,
            schema,
            num_rows,
            row_groups: Vec::new(),
            key_value_metadata: None,
            created_by,
            column_orders,
            encryption_algorithm,
            footer_signing_key_metadata,
        };
        Ok((out, row_groups, key_values))
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.version);
            w.list_field(2, Wire::Struct, &self.schema, |w, value| value.write(w));
            w.i64_field(3, self.num_rows);
            w.list_field(4, Wire::Struct, &self.row_groups, |w, value| value.write(w));
            if let Some(value) = &self.key_value_metadata {
                w.list_field(5, Wire::Struct, value, |w, value| value.write(w));
            }
            if let Some(value) = &self.created_by {
                w.binary_field(6, value.as_bytes());
            }
            if let Some(value) = &self.column_orders {
                w.list_field(7, Wire::Struct, value, |w, value| value.write(w));
            }
            if let Some(value) = &self.encryption_algorithm {
                w.nested_field(8, |w| value.write(w));
            }
            if let Some(value) = &self.footer_signing_key_metadata {
                w.binary_field(9, value);
            }
        });
    }
}

/// The sort order of the bounds of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnOrder {
    /// The order of the logical type, or of the physical type if there is none.
    TypeOrder,
    /// The total order of IEEE 754.
    Ieee754TotalOrder,
    /// INT96 ordered by point in time.
    Int96TimestampOrder,
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl ColumnOrder {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        // PERF: nearly all columns have `TypeOrder`.
        if let [0x1c, 0, 0, ..] = r.bookmark().rest() {
            return r.pass_bytes(3).map(|()| Self::TypeOrder);
        }
        let mut member = Self::Unknown(0);
        r.fields(|r, field| {
            member = match field.id {
                1 => Self::TypeOrder,
                2 => Self::Ieee754TotalOrder,
                3 => Self::Int96TimestampOrder,
                other => Self::Unknown(other),
            };
            r.skip(field.wire)
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match *self {
            Self::TypeOrder => w.empty_field(1),
            Self::Ieee754TotalOrder => w.empty_field(2),
            Self::Int96TimestampOrder => w.empty_field(3),
            Self::Unknown(0) => {}
            Self::Unknown(id) => w.empty_field(id),
        });
    }
}
