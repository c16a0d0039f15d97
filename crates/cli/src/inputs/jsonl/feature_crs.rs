//! The reference system of all features of a collection.

use super::line_reader::broken;
use marquetry_geo::geojson;
use serde_json::Value;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The reference system, as far as it is known. Clones share it: it is found while the text is read, after the geometry
/// column was created.
#[derive(Debug, Clone, Default)]
pub(in crate::inputs) struct FeatureCrs(Arc<Mutex<Option<String>>>);

impl FeatureCrs {
    /// The one that was found so far, or the default; from now on no other is accepted.
    pub(in crate::inputs) fn settled(&self) -> String {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| DEFAULT.to_owned()).clone()
    }

    /// Reads the member `crs` of the collection.
    pub(super) fn find(&self, value: &Value) -> io::Result<()> {
        let found = parsed(value)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(known) if *known != found => Err(broken(&format!(
                "`crs` says {found} where {known} was taken: it must stand once, and before `features`"
            ))),
            _ => {
                *known = Some(found);
                Ok(())
            }
        }
    }

    /// Why a `crs` of a feature, or of its geometry, is not accepted: it differs.
    pub(super) fn differs(&self, value: &Value) -> io::Result<Option<String>> {
        let found = parsed(value)?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_deref().unwrap_or(DEFAULT);
        Ok((found != known).then(|| {
            format!(
                "has {found} as its own `crs`, where the collection is in {known}: name it in the collection"
            )
        }))
    }
}

fn parsed(value: &Value) -> io::Result<String> {
    geojson::crs(value).map_err(|error| broken(error.message()))
}

const DEFAULT: &str = "OGC:CRS84";
