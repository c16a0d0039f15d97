//! The kinds of geometries, and their names.

/// The kind of a geometry, by its code in well-known binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// One position, or none.
    Point = 1,
    /// Straight edges from position to position.
    LineString = 2,
    /// An outer ring, and rings that are holes in it.
    Polygon = 3,
    /// Points.
    MultiPoint = 4,
    /// Line strings.
    MultiLineString = 5,
    /// Polygons.
    MultiPolygon = 6,
    /// Geometries of any kind.
    GeometryCollection = 7,
    /// Arcs of circles, defined by three positions each.
    CircularString = 8,
    /// Line strings and circular strings, end to end.
    CompoundCurve = 9,
    /// Rings that may be curves.
    CurvePolygon = 10,
    /// Curves.
    MultiCurve = 11,
    /// Polygons that may have curves.
    MultiSurface = 12,
    /// Polygons that share edges.
    PolyhedralSurface = 15,
    /// Triangles that share edges.
    Tin = 16,
    /// A polygon with three corners.
    Triangle = 17,
}

/// The parts of the body of a geometry.
pub(crate) enum Body {
    Position,
    Positions,
    Rings,
    Members,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Kind; 15] = [
        Kind::Point,
        Kind::LineString,
        Kind::Polygon,
        Kind::MultiPoint,
        Kind::MultiLineString,
        Kind::MultiPolygon,
        Kind::GeometryCollection,
        Kind::CircularString,
        Kind::CompoundCurve,
        Kind::CurvePolygon,
        Kind::MultiCurve,
        Kind::MultiSurface,
        Kind::PolyhedralSurface,
        Kind::Tin,
        Kind::Triangle,
    ];

    /// Returns the kind of a code without the thousands, which stand for dimensions.
    pub fn of_code(code: u32) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u32 == code)
    }

    /// The name in GeoJSON and GeoParquet: `MultiPoint`. GeoJSON has only the first seven kinds.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Point => "Point",
            Kind::LineString => "LineString",
            Kind::Polygon => "Polygon",
            Kind::MultiPoint => "MultiPoint",
            Kind::MultiLineString => "MultiLineString",
            Kind::MultiPolygon => "MultiPolygon",
            Kind::GeometryCollection => "GeometryCollection",
            Kind::CircularString => "CircularString",
            Kind::CompoundCurve => "CompoundCurve",
            Kind::CurvePolygon => "CurvePolygon",
            Kind::MultiCurve => "MultiCurve",
            Kind::MultiSurface => "MultiSurface",
            Kind::PolyhedralSurface => "PolyhedralSurface",
            Kind::Tin => "TIN",
            Kind::Triangle => "Triangle",
        }
    }

    /// Returns the kind of a name, ignoring case.
    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Whether the kind consists only of points. A collection may do so, too.
    pub fn is_of_points(self) -> bool {
        matches!(self, Kind::Point | Kind::MultiPoint)
    }

    pub(crate) fn body(self) -> Body {
        match self {
            Kind::Point => Body::Position,
            Kind::LineString | Kind::CircularString => Body::Positions,
            Kind::Polygon | Kind::Triangle => Body::Rings,
            _ => Body::Members,
        }
    }

    /// Whether a geometry of this kind may contain `member`.
    pub(crate) fn holds(self, member: Kind) -> bool {
        use Kind::*;
        let is_curve = matches!(member, LineString | CircularString | CompoundCurve);
        match self {
            MultiPoint => member == Point,
            MultiLineString => member == LineString,
            MultiPolygon | PolyhedralSurface => member == Polygon,
            Tin => member == Triangle,
            GeometryCollection => true,
            CompoundCurve => matches!(member, LineString | CircularString),
            CurvePolygon | MultiCurve => is_curve,
            MultiSurface => matches!(member, Polygon | CurvePolygon),
            _ => false,
        }
    }

    /// The kind of members that have no name in text: all members if only one kind is allowed, and SPEC: a line string in a curve.
    pub(crate) fn unnamed_member(self) -> Option<Kind> {
        match self {
            Kind::MultiPoint => Some(Kind::Point),
            Kind::MultiLineString => Some(Kind::LineString),
            Kind::MultiPolygon | Kind::PolyhedralSurface => Some(Kind::Polygon),
            Kind::Tin => Some(Kind::Triangle),
            Kind::CompoundCurve | Kind::CurvePolygon | Kind::MultiCurve => Some(Kind::LineString),
            // SPEC: a polygon of a multi-surface has no name either.
            Kind::MultiSurface => Some(Kind::Polygon),
            _ => None,
        }
    }

    /// Whether a geometry of this kind may bulge beyond its positions.
    pub(crate) fn has_arcs(self) -> bool {
        use Kind::*;
        matches!(self, CircularString | CompoundCurve | CurvePolygon | MultiCurve | MultiSurface)
    }

    pub(crate) fn has_edges(self) -> bool {
        !matches!(self, Kind::Point | Kind::MultiPoint | Kind::GeometryCollection)
    }
}

/// The numbers that a position has besides x and y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dimensions {
    /// A height, or whatever z stands for.
    pub z: bool,
    /// A measure.
    pub m: bool,
}

impl Dimensions {
    /// The number of numbers in a position.
    pub fn count(self) -> usize {
        2 + usize::from(self.z) + usize::from(self.m)
    }

    /// Returns those numbers of a position that these dimensions include.
    pub(crate) fn numbers(self, position: [f64; 4]) -> impl Iterator<Item = f64> {
        let [x, y, z, m] = position;
        [Some(x), Some(y), self.z.then_some(z), self.m.then_some(m)].into_iter().flatten()
    }
}

/// Returns the ISO code of a kind with these dimensions: 1000 is added for Z, 2000 for M, 3000 for both.
pub fn iso_code(kind: Kind, dimensions: Dimensions) -> i32 {
    kind as i32 + 1000 * i32::from(dimensions.z) + 2000 * i32::from(dimensions.m)
}

/// Returns the dimensions of an ISO code.
pub fn dimensions_of_code(code: i32) -> Dimensions {
    Dimensions { z: matches!(code / 1000, 1 | 3), m: matches!(code / 1000, 2 | 3) }
}

/// Returns the name of an ISO code in GeoParquet, such as `Point Z`; `None` if the code stands for no kind.
pub fn code_name(code: i32) -> Option<String> {
    let code = u32::try_from(code).ok()?;
    let suffix = ["", " Z", " M", " ZM"].get(code as usize / 1000)?;
    Some(format!("{}{suffix}", Kind::of_code(code % 1000)?.name()))
}

/// Returns the ISO code of a name in GeoParquet.
pub fn code_of_name(name: &str) -> Option<i32> {
    let (kind, dimensions) = match name.split_once(' ') {
        None => (name, Dimensions::default()),
        Some((kind, "Z")) => (kind, Dimensions { z: true, m: false }),
        Some((kind, "M")) => (kind, Dimensions { z: false, m: true }),
        Some((kind, "ZM")) => (kind, Dimensions { z: true, m: true }),
        Some(_) => return None,
    };
    Some(iso_code(Kind::ALL.into_iter().find(|it| it.name() == kind)?, dimensions))
}
