//! Footers as plain Python values, from which `marquetry/metadata` makes classes.

use crate::errors::to_python;
use crate::shown_footer::shown;
use marquetry::errors::{Error, Limits, Result};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::internals::format::{
    self, ColumnChunk, ColumnMetaData, EncryptionAlgorithm, GeospatialStatistics, LogicalType, SchemaElement,
    Statistics, ThriftString, TimeUnit,
};
use marquetry::prune::bounds_are_believed;
use marquetry::schema::types::SortOrder;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::HashMap;
use std::sync::Arc;

/// The footer of a file.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Footer {
    metadata: Arc<ParquetMetaData>,
}

impl Footer {
    pub(crate) fn new(metadata: Arc<ParquetMetaData>) -> Self {
        Footer { metadata }
    }

    fn chunk(&self, py: Python<'_>, row_group: usize, column: usize) -> PyResult<ColumnChunk> {
        let groups = self.metadata.num_row_groups();
        if row_group >= groups || column >= self.metadata.row_group(row_group).num_columns() {
            return Err(PyIndexError::new_err(format!("{column} out of bounds")));
        }
        // Column keys are retrieved when columns are read, by a thread that must not hold the interpreter's lock.
        let chunk = || self.metadata.row_group(row_group).column(column)?.to_thrift();
        py.detach(chunk).map_err(|error| to_python(py, &error))
    }

    /// A copy of this footer, changed by `change`.
    fn changed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut format::FileMetaData) -> Result<()>,
    ) -> PyResult<Self> {
        let make = || {
            let mut thrift = self.metadata.to_thrift()?;
            change(&mut thrift)?;
            ParquetMetaData::from_thrift(thrift, &Limits::default())
        };
        make().map(|metadata| Footer::new(Arc::new(metadata))).map_err(|error| to_python(py, &error))
    }
}

#[pymethods]
impl Footer {
    /// Parses a footer from its Thrift bytes, without the length and the magic bytes that follow it in a file.
    #[staticmethod]
    fn parse(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let parsed = ParquetMetaData::parse(bytes.to_vec(), &Limits::default());
        parsed.map(|metadata| Footer::new(Arc::new(metadata))).map_err(|error| to_python(py, &error))
    }

    /// Returns the footer as Thrift bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.thrift(py)?))
    }

    /// Returns the footer as Thrift bytes for an unencrypted file: without what reveals encrypted values.
    fn to_shown_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        // This may call a Python key retriever, for which the thread must not hold the interpreter's lock.
        let bytes = py.detach(|| shown(&self.metadata).map(|thrift| bytes_of(&thrift)));
        Ok(PyBytes::new(py, &bytes.map_err(|error| to_python(py, &error))?))
    }

    #[getter]
    fn created_by(&self) -> Option<&str> {
        self.metadata.created_by()
    }

    #[getter]
    fn num_rows(&self) -> u64 {
        self.metadata.num_rows()
    }

    #[getter]
    fn num_row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    #[getter]
    fn num_columns(&self) -> usize {
        self.metadata.schema().num_columns()
    }

    #[getter]
    fn version(&self) -> i32 {
        self.metadata.version()
    }

    /// How the file is encrypted; `None` if it is not.
    #[getter]
    fn encryption<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(encryption) = self.metadata.encryption() else { return Ok(None) };
        let (name, parameters) = match encryption.algorithm {
            EncryptionAlgorithm::AesGcmV1(parameters) => (Some("AES_GCM_V1"), Some(parameters)),
            EncryptionAlgorithm::AesGcmCtrV1(parameters) => (Some("AES_GCM_CTR_V1"), Some(parameters)),
            EncryptionAlgorithm::Unknown(_) => (None, None),
        };
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        let prefix = parameters.and_then(|parameters| parameters.aad_prefix.as_deref());
        let is_supplied = parameters.is_some_and(|parameters| parameters.supply_aad_prefix == Some(true));
        let out = PyDict::new(py);
        out.set_item("algorithm", name)?;
        out.set_item("has_encrypted_footer", encryption.has_encrypted_footer)?;
        out.set_item("footer_key_metadata", encryption.footer_key_metadata.map(bytes))?;
        out.set_item("aad_prefix", prefix.map(bytes))?;
        out.set_item("wants_aad_prefix", is_supplied)?;
        Ok(Some(out))
    }

    /// Size of the footer in its file, in bytes; 0 if it is not from a file.
    #[getter]
    fn size(&self) -> usize {
        self.metadata.footer_bytes().len()
    }

    /// The schema as text.
    #[getter]
    fn schema_text(&self) -> String {
        self.metadata.schema().to_string()
    }

    #[getter]
    fn key_values<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>)> {
        let bytes = |text: &ThriftString| PyBytes::new(py, text.as_bytes());
        let pairs = self.metadata.key_value_metadata().iter();
        pairs.map(|pair| (bytes(&pair.key), pair.value.as_ref().map(bytes))).collect()
    }

    /// Returns the nodes of the schema, depth first, including the root.
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let nodes = self.metadata.head().schema.iter().map(|node| element(py, node));
        PyList::new(py, nodes.collect::<PyResult<Vec<_>>>()?)
    }

    fn row_group<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        if index >= self.metadata.num_row_groups() {
            return Err(PyIndexError::new_err(format!("{index} out of bounds")));
        }
        let group = self.metadata.row_group(index);
        let sorting = group.sorting_columns().iter();
        let sorting: Vec<_> =
            sorting.map(|column| (column.column_idx, column.descending, column.nulls_first)).collect();
        let out = PyDict::new(py);
        out.set_item("num_columns", group.num_columns())?;
        out.set_item("num_rows", group.num_rows())?;
        out.set_item("total_byte_size", group.total_byte_size())?;
        out.set_item("sorting_columns", sorting)?;
        Ok(out)
    }

    fn column<'py>(&self, py: Python<'py>, row_group: usize, column: usize) -> PyResult<Bound<'py, PyDict>> {
        let chunk = self.chunk(py, row_group, column)?;
        let out = PyDict::new(py);
        out.set_item("file_path", chunk.file_path.as_deref())?;
        out.set_item("file_offset", chunk.file_offset)?;
        out.set_item("has_offset_index", chunk.offset_index_offset.is_some())?;
        out.set_item("has_column_index", chunk.column_index_offset.is_some())?;
        out.set_item("is_encrypted", chunk.crypto_metadata.is_some())?;
        if let Some(meta) = &chunk.meta_data {
            column_metadata(py, meta, &out)?;
            out.set_item("bounds", self.trusted_bounds(column, meta))?;
        }
        Ok(out)
    }

    /// Returns the dotted paths of the columns at and below `names`. Roots are in the order of the names, columns of a root in file order.
    fn paths_below(&self, names: Vec<String>) -> Vec<String> {
        let columns = self.metadata.schema().columns();
        let mut below: HashMap<&str, Vec<usize>> = names.iter().map(|name| (&**name, Vec::new())).collect();
        for (leaf, column) in columns.iter().enumerate() {
            for path in column.dotted_ancestors() {
                if let Some(leaves) = below.get_mut(path) {
                    leaves.push(leaf);
                }
            }
        }
        let mut leaves: Vec<usize> = names.iter().flat_map(|name| &below[&**name]).copied().collect();
        let mut roots = HashMap::new();
        for leaf in &leaves {
            let next = roots.len();
            roots.entry(columns[*leaf].root()).or_insert(next);
        }
        leaves.sort_unstable_by_key(|leaf| (roots[&columns[*leaf].root()], *leaf));
        leaves.dedup();
        leaves.into_iter().map(|leaf| columns[leaf].dotted().to_string()).collect()
    }

    /// Returns the footer with the row groups of `other` appended.
    fn append(&self, py: Python<'_>, other: &Footer) -> PyResult<Self> {
        self.changed(py, |thrift| {
            let theirs = other.metadata.to_thrift()?;
            let rows = thrift.num_rows.checked_add(theirs.num_rows);
            thrift.num_rows = rows.ok_or_else(|| Error::argument("more than 2^63 - 1 rows"))?;
            thrift.row_groups.extend(theirs.row_groups);
            Ok(())
        })
    }

    /// Returns the footer with `path` as the file path of all column chunks.
    fn with_file_path(&self, py: Python<'_>, path: &str) -> PyResult<Self> {
        self.changed(py, |thrift| {
            let chunks = thrift.row_groups.iter_mut().flat_map(|group| &mut group.columns);
            chunks.for_each(|chunk| chunk.file_path = Some(path.into()));
            Ok(())
        })
    }

    /// Returns whether the contents are equal, whichever files they are from.
    fn __eq__(&self, py: Python<'_>, other: &Footer) -> bool {
        let is_same_thrift = || Some(self.thrift(py).ok()? == other.thrift(py).ok()?);
        self.metadata == other.metadata || is_same_thrift() == Some(true)
    }
}

impl Footer {
    /// Which bounds of a chunk are trusted, by the rules of pruning: `value` are those in the order that the footer
    /// declares, `deprecated` the older ones. `None` if neither are.
    fn trusted_bounds(&self, column: usize, meta: &ColumnMetaData) -> Option<&'static str> {
        let bounds = meta.statistics.as_ref()?;
        let leaf = self.metadata.schema().column(column);
        let declared = self.metadata.column_orders().and_then(|orders| orders.get(column));
        let order = SortOrder::for_reading(leaf, declared)
            .filter(|_| bounds_are_believed(self.metadata.created_by(), leaf));
        let has_bounds = bounds.min_value.is_some() || bounds.max_value.is_some();
        match order.is_some() && has_bounds {
            true => Some("value"),
            false => SortOrder::for_deprecated(leaf).map(|_| "deprecated"),
        }
    }

    fn thrift(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let thrift = self.metadata.to_thrift().map_err(|error: Error| to_python(py, &error))?;
        Ok(bytes_of(&thrift))
    }
}

fn bytes_of(thrift: &format::FileMetaData) -> Vec<u8> {
    let mut writer = format::Writer::new();
    thrift.write(&mut writer);
    writer.finish()
}

fn element<'py>(py: Python<'py>, node: &SchemaElement) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("name", &*node.name)?;
    out.set_item("type", node.type_.map(|physical| physical.to_string()))?;
    out.set_item("type_length", node.type_length)?;
    out.set_item("repetition", node.repetition_type.map(|repetition| repetition.to_string()))?;
    out.set_item("num_children", node.num_children)?;
    out.set_item("converted", node.converted_type.map(|converted| converted.to_string()))?;
    out.set_item("scale", node.scale)?;
    out.set_item("precision", node.precision)?;
    out.set_item("field_id", node.field_id)?;
    out.set_item(
        "logical",
        node.logical_type.as_ref().map(|logical| logical_type(py, logical)).transpose()?,
    )?;
    Ok(out)
}

/// The name of a logical type, and its parameters.
fn logical_type<'py>(py: Python<'py>, logical: &LogicalType) -> PyResult<(&'static str, Bound<'py, PyDict>)> {
    let facts = PyDict::new(py);
    let name = match logical {
        LogicalType::String => "String",
        LogicalType::Map => "Map",
        LogicalType::List => "List",
        LogicalType::Enum => "Enum",
        LogicalType::Decimal { scale, precision } => {
            facts.set_item("precision", precision)?;
            facts.set_item("scale", scale)?;
            "Decimal"
        }
        LogicalType::Date => "Date",
        LogicalType::Time { is_adjusted_to_utc, unit } => {
            facts.set_item("utc", is_adjusted_to_utc)?;
            facts.set_item("unit", unit_name(*unit))?;
            "Time"
        }
        LogicalType::Timestamp { is_adjusted_to_utc, unit } => {
            facts.set_item("utc", is_adjusted_to_utc)?;
            facts.set_item("unit", unit_name(*unit))?;
            "Timestamp"
        }
        LogicalType::Integer { bit_width, is_signed } => {
            facts.set_item("bits", bit_width)?;
            facts.set_item("signed", is_signed)?;
            "Int"
        }
        LogicalType::Null => "Null",
        LogicalType::Json => "JSON",
        LogicalType::Bson => "BSON",
        LogicalType::Uuid => "UUID",
        LogicalType::Float16 => "Float16",
        LogicalType::Variant { .. } => "Variant",
        LogicalType::Geometry { crs } => {
            facts.set_item("crs", crs)?;
            "Geometry"
        }
        LogicalType::Geography { crs, algorithm } => {
            facts.set_item("crs", crs)?;
            facts.set_item(
                "algorithm",
                algorithm.map(|algorithm| algorithm.to_string().to_ascii_lowercase()),
            )?;
            "Geography"
        }
        LogicalType::File => "File",
        LogicalType::Unknown(_) => "Undefined",
    };
    Ok((name, facts))
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Micros => "microseconds",
        TimeUnit::Nanos => "nanoseconds",
        TimeUnit::Unknown(_) => "unknown",
    }
}

fn column_metadata<'py>(py: Python<'py>, meta: &ColumnMetaData, out: &Bound<'py, PyDict>) -> PyResult<()> {
    let path: Vec<&str> = meta.path_in_schema.iter().map(|name| &**name).collect();
    let encodings: Vec<String> = meta.encodings.iter().map(ToString::to_string).collect();
    let pages = meta.encoding_stats.iter().flatten();
    let pages: Vec<_> =
        pages.map(|pages| (pages.page_type.to_string(), pages.encoding.to_string(), pages.count)).collect();
    let pairs = meta.key_value_metadata.as_ref().map(|pairs| {
        let bytes = |text: &ThriftString| PyBytes::new(py, text.as_bytes());
        pairs.iter().map(|pair| (bytes(&pair.key), pair.value.as_ref().map(bytes))).collect::<Vec<_>>()
    });
    out.set_item("physical_type", meta.type_.to_string())?;
    out.set_item("path", path)?;
    out.set_item("encodings", encodings)?;
    out.set_item("pages", pages)?;
    out.set_item("compression", meta.codec.to_string())?;
    out.set_item("num_values", meta.num_values)?;
    out.set_item("total_uncompressed_size", meta.total_uncompressed_size)?;
    out.set_item("total_compressed_size", meta.total_compressed_size)?;
    out.set_item("key_values", pairs)?;
    out.set_item("data_page_offset", meta.data_page_offset)?;
    out.set_item("index_page_offset", meta.index_page_offset)?;
    out.set_item("dictionary_page_offset", meta.dictionary_page_offset)?;
    out.set_item("bloom_filter_offset", meta.bloom_filter_offset)?;
    out.set_item("bloom_filter_length", meta.bloom_filter_length)?;
    out.set_item("statistics", meta.statistics.as_ref().map(|bounds| statistics(py, bounds)).transpose()?)?;
    let extent = meta.geospatial_statistics.as_ref().map(|extent| geospatial(py, extent)).transpose()?;
    out.set_item("geospatial", extent)
}

fn statistics<'py>(py: Python<'py>, bounds: &Statistics) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let bytes = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| PyBytes::new(py, bytes));
    out.set_item("min", bytes(&bounds.min))?;
    out.set_item("max", bytes(&bounds.max))?;
    out.set_item("min_value", bytes(&bounds.min_value))?;
    out.set_item("max_value", bytes(&bounds.max_value))?;
    out.set_item("is_min_exact", bounds.is_min_value_exact)?;
    out.set_item("is_max_exact", bounds.is_max_value_exact)?;
    out.set_item("null_count", bounds.null_count)?;
    out.set_item("distinct_count", bounds.distinct_count)?;
    Ok(out)
}

fn geospatial<'py>(py: Python<'py>, extent: &GeospatialStatistics) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("types", &extent.geospatial_types)?;
    if let Some(bbox) = &extent.bbox {
        out.set_item("xmin", bbox.xmin)?;
        out.set_item("xmax", bbox.xmax)?;
        out.set_item("ymin", bbox.ymin)?;
        out.set_item("ymax", bbox.ymax)?;
        out.set_item("zmin", bbox.zmin)?;
        out.set_item("zmax", bbox.zmax)?;
        out.set_item("mmin", bbox.mmin)?;
        out.set_item("mmax", bbox.mmax)?;
    }
    Ok(out)
}
