//! Geometries in Parquet columns: well-known binary, which is read without copying it; where geometries are; their text
//! formats; and the GeoParquet metadata, which describe columns of geometries.
//!
//! ```
//! use marquetry_geo::{BBox, geojson, wkt};
//! let wkb = geojson::parse(r#"{"type": "LineString", "coordinates": [[1, 2], [3, 4.5]]}"#)?;
//! assert_eq!(wkt::to_string(&wkb)?, "LINESTRING (1 2, 3 4.5)");
//! assert!(BBox::new(0.0, 0.0, 2.0, 2.0)?.intersects(&wkb, false)?);
//! # Ok::<(), marquetry_base::Error>(())
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `kind.rs` | kinds of geometries, their codes and names |
//! | `wkb.rs` | a walk over well-known binary, and a writer |
//! | `summary.rs`, `bbox.rs` | where the positions of a geometry are; boxes that are asked for |
//! | `hilbert.rs` | the place of a point on a Hilbert curve |
//! | `wkt.rs`, `geojson.rs` | texts, both ways |
//! | `geoparquet.rs` | the metadata of GeoParquet |
//! | `number.rs` | digits |
#![forbid(unsafe_code)]

mod bbox;
pub mod geojson;
pub mod geoparquet;
pub mod hilbert;
mod kind;
mod number;
mod summary;
pub mod wkb;
pub mod wkt;

pub use bbox::BBox;
pub use geoparquet::GeoParquet;
pub use kind::{Dimensions, Kind, code_name, code_of_name, dimensions_of_code, iso_code};
pub use marquetry_base::{Error, Result};
pub use summary::{Extent, Longitudes, Shape, positions};
