//! Equality of a geometry with well-known text (WKT).

use super::Literal;
use crate::logical_type::LogicalType;
use crate::schema::Leaf;
use marquetry_encoding::PhysicalType;
use marquetry_geo::wkt;

/// A geometry as values are printed, in well-known text. Equal geometries may be stored in several ways: with bytes in
/// either order, with an SRID or without.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GeometryText {
    wkt: String,
    /// The text as it was written, if the column may have text instead of geometries.
    text: Option<String>,
}

impl GeometryText {
    /// Creates the test for a literal that is well-known text, if the column may have geometries: those were in byte
    /// strings without a logical type before the format had types for them.
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
