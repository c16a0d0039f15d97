//! The test of `bbox_intersects`: whether a geometry intersects a box.

use marquetry_base::{Error, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Values};
use marquetry_geo::BBox;

/// A box to test geometries against, and whether their edges are curved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BoxTest {
    pub(crate) bbox: BBox,
    pub(crate) are_edges_curved: bool,
}

impl BoxTest {
    /// Returns which values intersect the box. Null slots are skipped, because they may have any bytes. Fails if a
    /// value is not a geometry.
    pub(super) fn passes(&self, text: &str, values: &Values, validity: Option<&Bitmap>) -> Result<Bitmap> {
        let Values::Bytes(views) = values else {
            return Err(Error::argument(format!("{:?} values for a test of geometries", values.shape())));
        };
        let is_null = |i: usize| validity.is_some_and(|validity| !validity.get(i));
        let each = (0..views.len()).map(|i| match is_null(i) {
            true => Ok(false),
            false => self.intersects(text, i, views.get(i)),
        });
        each.collect()
    }

    /// Like [`passes`](Self::passes), for indices into a dictionary. An entry that is not a geometry is an error only
    /// if a slot refers to it.
    pub(super) fn look_up(
        &self,
        text: &str,
        keys: &[u32],
        dictionary: &Dictionary,
        validity: Option<&Bitmap>,
    ) -> Result<Bitmap> {
        let Values::Bytes(views) = dictionary.values() else {
            return Err(Error::argument("a dictionary that has no geometries"));
        };
        let mut known: Vec<Option<bool>> = vec![None; views.len()];
        let is_null = |i: usize| validity.is_some_and(|validity| !validity.get(i));
        let each = keys.iter().enumerate().map(|(i, &key)| match known.get_mut(key as usize) {
            _ if is_null(i) => Ok(false),
            None => Err(Error::corrupt(format!("entry {key} of a dictionary of {}", views.len()))),
            Some(Some(found)) => Ok(*found),
            Some(entry) => {
                let found = self.intersects(text, i, views.get(key as usize))?;
                *entry = Some(found);
                Ok(found)
            }
        });
        each.collect()
    }

    fn intersects(&self, text: &str, slot: usize, wkb: &[u8]) -> Result<bool> {
        self.bbox.intersects(wkb, self.are_edges_curved).map_err(|error| {
            let message =
                format!("value {slot} of a batch is not a geometry that `{text}` can be asked of: {error}");
            Error::new(error.kind(), message)
        })
    }
}
