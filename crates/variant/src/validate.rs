//! Looking at all of a value.

use crate::depth::check_depth;
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::Result;

impl Variant<'_> {
    /// Looks at every byte: names, types, texts, offsets, the order and uniqueness of an object's fields.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong; more than [`MAX_DEPTH`](crate::MAX_DEPTH) objects and arrays inside each other.
    pub fn validate(&self) -> Result<()> {
        self.metadata().validate()?;
        self.validate_value()
    }

    /// The same without the names that no field has: for values that share their metadata.
    ///
    /// # Errors
    ///
    /// As [`validate`](Self::validate).
    pub fn validate_value(&self) -> Result<()> {
        self.validate_below(0)
    }

    fn validate_below(&self, depth: usize) -> Result<()> {
        check_depth(depth)?;
        match self.value()? {
            Value::Object(object) => object.iter().try_for_each(|field| field?.1.validate_below(depth + 1)),
            Value::Array(array) => array.iter().try_for_each(|element| element?.validate_below(depth + 1)),
            _ => Ok(()),
        }
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
