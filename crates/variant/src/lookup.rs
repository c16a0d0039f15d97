//! Looks up values inside others, by name and by path.

use crate::path::{Path, Step};
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::Result;

impl<'a> Variant<'a> {
    /// The field of an object; `None` if there is none of that name, or this is no object.
    ///
    /// # Errors
    ///
    /// If what is looked at on the way is damaged.
    pub fn get(&self, name: &str) -> Result<Option<Variant<'a>>> {
        match self.value()? {
            Value::Object(object) => object.get(name),
            _ => Ok(None),
        }
    }

    /// What a path leads to; `None` if it leads nowhere. Of a path over all elements it is the first that is there.
    ///
    /// # Errors
    ///
    /// If what is looked at on the way is damaged.
    pub fn get_path(&self, path: &Path) -> Result<Option<Variant<'a>>> {
        let mut found = None;
        self.visit(path.steps(), &mut |variant| {
            found = Some(variant);
            false
        })?;
        Ok(found)
    }

    /// All that a path leads to, in the order of the elements that it goes over.
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

    /// Calls `visit` with what the steps lead to, in the order of the elements that they go over, until it returns false. Returns whether
    /// it never did.
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
