//! Looks up values inside others, by name and by path.

use crate::path::{Path, Step};
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::Result;

impl<'a> Variant<'a> {
    /// Returns the field of an object; `None` if there is no field of that name, or if this is not an object.
    ///
    /// # Errors
    ///
    /// If a part that is read on the way is damaged.
    pub fn get(&self, name: &str) -> Result<Option<Variant<'a>>> {
        match self.value()? {
            Value::Object(object) => object.get(name),
            _ => Ok(None),
        }
    }

    /// Returns the value at a path; `None` if there is none. For a path over all elements of an array, it is the first that exists.
    ///
    /// # Errors
    ///
    /// If a part that is read on the way is damaged.
    pub fn get_path(&self, path: &Path) -> Result<Option<Variant<'a>>> {
        let mut found = None;
        self.visit(path.steps(), &mut |variant| {
            found = Some(variant);
            false
        })?;
        Ok(found)
    }

    /// Returns all values at a path, in the order of the elements that it passes.
    ///
    /// # Errors
    ///
    /// As [`get_path`](Self::get_path).
    pub fn get_all(&self, path: &Path) -> Result<Vec<Variant<'a>>> {
        let mut found = Vec::new();
        self.visit(path.steps(), &mut |variant| {
            found.push(variant);
            true
        })?;
        Ok(found)
    }

    /// Calls `visit` with each value at the steps, in the order of the elements that they pass, until it returns false.
    /// Returns whether it never did.
    ///
    /// # Errors
    ///
    /// As [`get_path`](Self::get_path).
    pub fn visit(&self, steps: &[Step], visit: &mut dyn FnMut(Variant<'a>) -> bool) -> Result<bool> {
        let mut here = *self;
        for (i, step) in steps.iter().enumerate() {
            let next = match (step, here.value()?) {
                (Step::Field(name), Value::Object(object)) => object.get(name)?,
                (Step::Element(at), Value::Array(array)) => array.get(*at)?,
                (Step::AllElements, Value::Array(array)) => {
                    for element in array.iter() {
                        if !element?.visit(&steps[i + 1..], visit)? {
                            return Ok(false);
                        }
                    }
                    return Ok(true);
                }
                _ => None,
            };
            match next {
                Some(next) => here = next,
                None => return Ok(true),
            }
        }
        Ok(visit(here))
    }
}
