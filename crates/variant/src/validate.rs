//! Validates a whole value: every header, offset, name and text in it.

use crate::container::Container;
use crate::depth::check_depth;
use crate::metadata::Metadata;
use crate::object::out_of_order;
use crate::primitive::validate_primitive;
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::Result;

/// The checks that all names in the metadata have passed.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Unknown,
    Text,
    /// UTF-8, and sorted in the order of their ids.
    Sorted,
}

impl Names {
    /// Checks a name, unless all names have been checked.
    #[inline]
    fn check(self, metadata: Metadata<'_>, id: usize) -> Result<()> {
        match self {
            Names::Unknown => metadata.name(id).map(drop),
            _ if id < metadata.len() => Ok(()),
            _ => metadata.bytes(id).map(drop),
        }
    }

    /// Whether the first name comes before the second. Both must exist.
    #[inline]
    fn is_order(self, metadata: Metadata<'_>, one: usize, other: usize) -> bool {
        match self {
            Names::Sorted => one < other,
            _ => metadata.bytes(one).ok() < metadata.bytes(other).ok(),
        }
    }
}

/// Validates a value that has exactly these bytes.
fn validate(metadata: Metadata<'_>, value: &[u8], depth: usize, names: Names) -> Result<()> {
    check_depth(depth)?;
    let (container, is_object) = match (Container::of_object(value)?, Container::of_array(value)?) {
        (Some(fields), _) => (fields, true),
        (None, Some(elements)) => (elements, false),
        // PERF: the length has been checked, and most types need no more.
        (None, None) => return validate_primitive(value),
    };
    let (mut before, mut bytes) = (None, 0);
    for i in 0..container.len {
        if is_object {
            let id = container.id(i)?;
            names.check(metadata, id)?;
            if before.is_some_and(|before| !names.is_order(metadata, before, id)) {
                return Err(out_of_order(i));
            }
            before = Some(id);
        }
        let value = container.value(i)?;
        bytes += value.len();
        container.check_room(bytes)?;
        validate(metadata, value, depth + 1, names)?;
    }
    Ok(())
}

impl Variant<'_> {
    /// Validates every byte: names, types, texts, offsets, and the order and uniqueness of the fields of objects.
    ///
    /// # Errors
    ///
    /// The first error found. Nesting of more than [`MAX_DEPTH`](crate::MAX_DEPTH) objects and arrays is an error, too.
    pub fn validate(&self) -> Result<()> {
        self.metadata().validate()?;
        self.validate_below(0, if self.metadata().is_sorted() { Names::Sorted } else { Names::Text })
    }

    /// Like [`validate`](Self::validate), but skips names that no field uses. For values that share their metadata.
    ///
    /// # Errors
    ///
    /// As [`validate`](Self::validate).
    pub fn validate_value(&self) -> Result<()> {
        self.validate_below(0, Names::Unknown)
    }

    fn validate_below(&self, depth: usize, names: Names) -> Result<()> {
        validate(self.metadata(), self.bytes(), depth, names)
    }

    /// Whether both are the same: types and values, fields by name. The widths of offsets, the order in which values
    /// are stored, and the ids of names make no difference. A NaN equals a NaN with the same bits.
    ///
    /// # Errors
    ///
    /// As [`validate`](Self::validate), for both.
    pub fn is_same(&self, other: &Variant<'_>) -> Result<bool> {
        self.is_same_below(other, 0)
    }

    fn is_same_below(&self, other: &Variant<'_>, depth: usize) -> Result<bool> {
        check_depth(depth)?;
        match (self.value()?, other.value()?) {
            (Value::Object(a), Value::Object(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    let ((a_name, a), (b_name, b)) = (a?, b?);
                    if a_name != b_name || !a.is_same_below(&b, depth + 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    if !a?.is_same_below(&b?, depth + 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Double(a), Value::Double(b)) => Ok(a.to_bits() == b.to_bits()),
            (Value::Float(a), Value::Float(b)) => Ok(a.to_bits() == b.to_bits()),
            (a, b) => Ok(a == b),
        }
    }
}
