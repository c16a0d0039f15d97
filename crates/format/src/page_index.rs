//! The page index: the positions of pages, and the bounds of their values.
use crate::BoundaryOrder;
use crate::thrift::{Reader, Wire, Writer};
use marquetry_base::Result;

/// The location of a data page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageLocation {
    /// Offset of the page header in the file, in bytes.
    pub offset: i64,
    /// Size of the page with its header, in bytes.
    pub compressed_page_size: i32,
    /// Index of the first row of the page in the row group.
    pub first_row_index: i64,
}

impl PageLocation {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut offset = None;
        let mut compressed_page_size = None;
        let mut first_row_index = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => offset = Some(r.i64()?),
                (2, Wire::INT) => compressed_page_size = Some(r.i32()?),
                (3, Wire::INT) => first_row_index = Some(r.i64()?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            offset: offset.ok_or_else(|| r.missing("PageLocation.offset"))?,
            compressed_page_size: compressed_page_size
                .ok_or_else(|| r.missing("PageLocation.compressed_page_size"))?,
            first_row_index: first_row_index.ok_or_else(|| r.missing("PageLocation.first_row_index"))?,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i64_field(1, self.offset);
            w.i32_field(2, self.compressed_page_size);
            w.i64_field(3, self.first_row_index);
        });
    }
}

/// The offset index: the locations of the data pages of a column chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetIndex {
    /// The locations, in the order of the pages.
    pub page_locations: Vec<PageLocation>,
    /// Total length of the byte strings of each page, in bytes.
    pub unencoded_byte_array_data_bytes: Option<Vec<i64>>,
}

impl OffsetIndex {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut page_locations = None;
        let mut unencoded_byte_array_data_bytes = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::List) => {
                    page_locations = r.list(Wire::Struct, PageLocation::read)?;
                }
                (2, Wire::List) => {
                    unencoded_byte_array_data_bytes = r.list(Wire::I64, Reader::i64)?;
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            page_locations: page_locations.ok_or_else(|| r.missing("OffsetIndex.page_locations"))?,
            unencoded_byte_array_data_bytes,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.list_field(1, Wire::Struct, &self.page_locations, |w, value| value.write(w));
            if let Some(value) = &self.unencoded_byte_array_data_bytes {
                w.list_field(2, Wire::I64, value, |w, value| w.i64(*value));
            }
        });
    }
}

/// The column index: the bounds of each data page of a column chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnIndex {
    /// Whether each page holds only nulls.
    pub null_pages: Vec<bool>,
    /// Lower bound of each page.
    pub min_values: Vec<Vec<u8>>,
    /// Upper bound of each page.
    pub max_values: Vec<Vec<u8>>,
    /// The order of the bounds.
    pub boundary_order: BoundaryOrder,
    /// The number of nulls in each page.
    pub null_counts: Option<Vec<i64>>,
    /// The histograms of repetition levels of all pages, end to end.
    pub repetition_level_histograms: Option<Vec<i64>>,
    /// The histograms of definition levels of all pages, end to end.
    pub definition_level_histograms: Option<Vec<i64>>,
    /// The number of NaNs in each page.
    pub nan_counts: Option<Vec<i64>>,
}

impl ColumnIndex {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut null_pages = None;
        let mut min_values = None;
        let mut max_values = None;
        let mut boundary_order = None;
        let mut null_counts = None;
        let mut repetition_level_histograms = None;
        let mut definition_level_histograms = None;
        let mut nan_counts = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::List) => null_pages = r.list(Wire::True, Reader::bool_element)?,
                (2, Wire::List) => {
                    min_values = r.list(Wire::Binary, |r| r.binary().map(<[u8]>::to_vec))?;
                }
                (3, Wire::List) => {
                    max_values = r.list(Wire::Binary, |r| r.binary().map(<[u8]>::to_vec))?;
                }
                (4, Wire::INT) => boundary_order = Some(BoundaryOrder(r.i32()?)),
                (5, Wire::List) => {
                    null_counts = r.list(Wire::I64, Reader::i64)?;
                }
                (6, Wire::List) => {
                    repetition_level_histograms = r.list(Wire::I64, Reader::i64)?;
                }
                (7, Wire::List) => {
                    definition_level_histograms = r.list(Wire::I64, Reader::i64)?;
                }
                (8, Wire::List) => {
                    nan_counts = r.list(Wire::I64, Reader::i64)?;
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            null_pages: null_pages.ok_or_else(|| r.missing("ColumnIndex.null_pages"))?,
            min_values: min_values.ok_or_else(|| r.missing("ColumnIndex.min_values"))?,
            max_values: max_values.ok_or_else(|| r.missing("ColumnIndex.max_values"))?,
            boundary_order: boundary_order.ok_or_else(|| r.missing("ColumnIndex.boundary_order"))?,
            null_counts,
            repetition_level_histograms,
            definition_level_histograms,
            nan_counts,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.list_field(1, Wire::True, &self.null_pages, |w, value| w.bool_element(*value));
            w.list_field(2, Wire::Binary, &self.min_values, |w, value| w.binary(value));
            w.list_field(3, Wire::Binary, &self.max_values, |w, value| w.binary(value));
            w.i32_field(4, self.boundary_order.0);
            if let Some(value) = &self.null_counts {
                w.list_field(5, Wire::I64, value, |w, value| w.i64(*value));
            }
            if let Some(value) = &self.repetition_level_histograms {
                w.list_field(6, Wire::I64, value, |w, value| w.i64(*value));
            }
            if let Some(value) = &self.definition_level_histograms {
                w.list_field(7, Wire::I64, value, |w, value| w.i64(*value));
            }
            if let Some(value) = &self.nan_counts {
                w.list_field(8, Wire::I64, value, |w, value| w.i64(*value));
            }
        });
    }
}
