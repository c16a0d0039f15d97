//! The test of `bbox_intersects`: whether a geometry intersects a box.

use marquetry_base::{Error, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Values};
use marquetry_geo::BBox;

/// A box, and what edges of the geometries are that are asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BoxTest {
    pub(crate) bbox: BBox,
    pub(crate) are_edges_curved: bool,
}

impl BoxTest {
    /// Which values are in the box. Slots that are null are passed over: they may have any bytes. Fails if a value is no geometry.
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

    /// The same of indices into a dictionary. An entry that is no geometry is an error only where a slot has it.
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
                format!("value {slot} of a batch is no geometry that `{text}` can be asked of: {error}");
            Error::new(error.kind(), message)
        })
    }
}
