//! Validates a whole value: every header, offset, name and text in it.

use crate::container::Container;
use crate::depth::check_depth;
use crate::metadata::Metadata;
use crate::object::out_of_order;
use crate::primitive::validate_primitive;
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::Result;

/// What is known of all names.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Unknown,
    Text,
    /// In the order of their ids, too.
    Sorted,
}

impl Names {
    /// Looks at a name that was not looked at.
    #[inline]
    fn check(self, metadata: Metadata<'_>, id: usize) -> Result<()> {
        match self {
            Names::Unknown => metadata.name(id).map(drop),
            _ if id < metadata.len() => Ok(()),
            _ => metadata.bytes(id).map(drop),
        }
    }

    /// Whether the first name comes before the second. Both are there.
    #[inline]
    fn is_order(self, metadata: Metadata<'_>, one: usize, other: usize) -> bool {
        match self {
            Names::Sorted => one < other,
            _ => metadata.bytes(one).ok() < metadata.bytes(other).ok(),
        }
    }
}

/// Looks at a value, which has exactly these bytes.
fn validate(metadata: Metadata<'_>, value: &[u8], depth: usize, names: Names) -> Result<()> {
    check_depth(depth)?;
    let (container, is_object) = match (Container::of_object(value)?, Container::of_array(value)?) {
        (Some(fields), _) => (fields, true),
        (None, Some(elements)) => (elements, false),
        // PERF: the length was looked at, and of most types there is no more to say.
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
    /// Looks at every byte: names, types, texts, offsets, the order and uniqueness of an object's fields.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong; more than [`MAX_DEPTH`](crate::MAX_DEPTH) objects and arrays inside each other.
    pub fn validate(&self) -> Result<()> {
        self.metadata().validate()?;
        self.validate_below(0, if self.metadata().is_sorted() { Names::Sorted } else { Names::Text })
    }

    /// The same without the names that no field has: for values that share their metadata.
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

    /// Whether both are the same: types and values, fields by name. How wide offsets are, in which order values stand, and
    /// which ids names have, makes no difference. NaN is equal to NaN of the same bits.
    ///
    /// # Errors
    ///
    /// As [`validate`](Self::validate), of both.
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
