//! Equality of a geometry with WKT: whether it is the geometry that the text shows.

use super::Literal;
use crate::logical_type::LogicalType;
use crate::schema::Leaf;
use marquetry_encoding::PhysicalType;
use marquetry_geo::wkt;

/// A geometry as values are shown, in well-known text. The same geometry may be stored in several ways: with bytes in either order, with
/// an SRID or without.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GeometryText {
    wkt: String,
    /// The text as it was written, where the column need not be one of geometries.
    text: Option<String>,
}

impl GeometryText {
    /// Of a literal that is well-known text, where a column may have geometries: before the format had a type for them they were in byte
    /// strings of which nothing is said.
    pub(super) fn of(leaf: &Leaf, literal: &Literal) -> Option<Self> {
        let Literal::Text(text) = literal else { return None };
        let text_may_be_value = match (leaf.logical(), leaf.physical()) {
            (Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. }), _) => false,
            (None, PhysicalType::ByteArray) => true,
            _ => return None,
        };
        let wkt = wkt::to_string(&wkt::parse(text).ok()?).ok()?;
        Some(GeometryText { wkt, text: text_may_be_value.then(|| text.clone()) })
    }

    pub(super) fn is_match(&self, value: &[u8]) -> bool {
        if self.text.as_ref().is_some_and(|text| text.as_bytes() == value) {
            return true;
        }
        let mut shown = String::new();
        wkt::write_start(value, self.wkt.len() + 1, &mut shown).is_ok() && shown == self.wkt
    }
}
