//! Finds a file's fields for those of a table, by the rules of schema evolution.

use crate::evolution::MatchBy;
use crate::schema::FIELD_ID_KEY;
use arrow_schema::{Field, FieldRef, Fields};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Finds fields, and caches an index of each list of fields.
///
/// PERF: a query may look for all of 20,000 columns, so comparing each with each would be too slow.
pub(super) struct FieldFinder<'a> {
    by: MatchBy,
    lookups: Cell<usize>,
    /// By the address of the fields, which stay there as long as this lives.
    known: RefCell<HashMap<*const FieldRef, Rc<Names<'a>>>>,
}

/// An index of a list of fields.
#[derive(Default)]
struct Names<'a> {
    exact: HashMap<&'a str, Vec<&'a Field>>,
    lower: HashMap<String, Vec<&'a Field>>,
    ids: HashMap<i32, Vec<&'a Field>>,
}

impl<'a> FieldFinder<'a> {
    pub(super) fn new(by: MatchBy) -> Self {
        FieldFinder { by, lookups: Cell::new(0), known: RefCell::default() }
    }

    /// Returns the first field of this name.
    pub(super) fn named(&self, fields: &'a Fields, name: &str) -> Option<&'a Field> {
        self.lookups.set(self.lookups.get() + 1);
        if self.lookups.get() <= FEW_LOOKUPS {
            return fields.iter().find(|field| field.name() == name).map(|field| &**field);
        }
        self.names(fields).exact.get(name)?.first().copied()
    }

    /// Returns the fields that may be the wanted one.
    pub(super) fn of(&self, fields: &'a Fields, wanted: &Field) -> Vec<&'a Field> {
        let names = self.names(fields);
        let exact = names.exact.get(&**wanted.name());
        let found = match self.by {
            MatchBy::Name => exact,
            MatchBy::NameIgnoringCase => exact.or_else(|| names.lower.get(&wanted.name().to_lowercase())),
            MatchBy::FieldId => id(wanted).and_then(|id| names.ids.get(&id)),
        };
        found.cloned().unwrap_or_default()
    }

    fn names(&self, fields: &'a Fields) -> Rc<Names<'a>> {
        let mut known = self.known.borrow_mut();
        known.entry(fields.as_ptr()).or_insert_with(|| Rc::new(Names::new(fields, self.by))).clone()
    }
}

impl<'a> Names<'a> {
    fn new(fields: &'a Fields, by: MatchBy) -> Self {
        let mut names = Names::default();
        for field in fields {
            names.exact.entry(field.name()).or_default().push(field);
            match by {
                MatchBy::Name => {}
                MatchBy::NameIgnoringCase => {
                    names.lower.entry(field.name().to_lowercase()).or_default().push(field);
                }
                MatchBy::FieldId => {
                    if let Some(id) = id(field) {
                        names.ids.entry(id).or_default().push(field);
                    }
                }
            }
        }
        names
    }
}

/// Number of lookups up to which searching all names is faster than building a map.
const FEW_LOOKUPS: usize = 32;

/// Returns the field id in a field's metadata.
pub(super) fn id(field: &Field) -> Option<i32> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}
