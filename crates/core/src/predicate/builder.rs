//! The predicate builder: columns, literals, and the conditions between them.

use super::column_path::ColumnPath;
use super::like::plain_like;
use super::{BBox, Comparison, Literal, Pattern, Predicate, Quantifier};

impl Predicate {
    /// Combines both predicates with `and`.
    #[must_use]
    pub fn and(self, other: Predicate) -> Predicate {
        match self {
            Predicate::And(mut all) => {
                all.push(other);
                Predicate::And(all)
            }
            first => Predicate::And(vec![first, other]),
        }
    }

    /// Combines both predicates with `or`.
    #[must_use]
    pub fn or(self, other: Predicate) -> Predicate {
        match self {
            Predicate::Or(mut any) => {
                any.push(other);
                Predicate::Or(any)
            }
            first => Predicate::Or(vec![first, other]),
        }
    }
}

impl Predicate {
    /// Whether at least one element of a list passes the predicate.
    ///
    /// ```
    /// use marquetry_core::predicate::{Predicate, col};
    /// assert_eq!(col("tags").eq("x").any(), Predicate::parse("any(tags) = 'x'")?);
    /// assert_eq!(col("points.x").between(1, 2).any(), Predicate::parse("any(points.x between 1 and 2)")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    #[must_use]
    pub fn any(self) -> Predicate {
        Predicate::Elements { quantifier: Quantifier::Any, of: Box::new(self) }
    }

    /// Whether every element of a list passes the predicate.
    #[must_use]
    pub fn all(self) -> Predicate {
        Predicate::Elements { quantifier: Quantifier::All, of: Box::new(self) }
    }

    /// Whether the value of a map at `key` passes the predicate. A null or absent value passes only if the predicate is
    /// true for null.
    ///
    /// ```
    /// use marquetry_core::predicate::{Predicate, col};
    /// assert_eq!(col("attributes").eq("red").at_key("colour"), Predicate::parse("attributes['colour'] = 'red'")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    #[must_use]
    pub fn at_key(self, key: impl Into<Literal>) -> Predicate {
        let at_key = |key: Literal, parts: Vec<Predicate>| {
            parts.into_iter().map(|part| part.at_key(key.clone())).collect()
        };
        match self {
            Predicate::And(parts) => Predicate::And(at_key(key.into(), parts)),
            Predicate::Or(parts) => Predicate::Or(at_key(key.into(), parts)),
            Predicate::Not(of) => !of.at_key(key),
            of => Predicate::AtKey { key: key.into(), of: Box::new(of) },
        }
    }
}

impl Predicate {
    /// Compares columns with as many literals, by the first pair that differs, as paging through sorted rows needs.
    ///
    /// ```
    /// use marquetry_core::predicate::{Comparison, Literal, Predicate};
    /// let after = Predicate::compare_tuple(Comparison::Gt, [("day", Literal::from("2024-01-31")), ("id", 5.into())]);
    /// assert_eq!(after, Predicate::parse("(day, id) > ('2024-01-31', 5)")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn compare_tuple<C: Into<ColumnPath>>(
        is: Comparison,
        pairs: impl IntoIterator<Item = (C, Literal)>,
    ) -> Predicate {
        let pairs: Vec<(ColumnPath, Literal)> =
            pairs.into_iter().map(|(column, literal)| (column.into(), literal)).collect();
        let equal = |(column, literal): &(ColumnPath, Literal)| col(column).eq(literal.clone());
        let all_equal = || Predicate::And(pairs.iter().map(equal).collect());
        let first = match is {
            Comparison::Eq => return all_equal(),
            Comparison::Ne => return !all_equal(),
            Comparison::Lt | Comparison::Le => Comparison::Lt,
            Comparison::Gt | Comparison::Ge => Comparison::Gt,
        };
        let any = pairs.iter().enumerate().map(|(i, (column, literal))| {
            let is = if i + 1 == pairs.len() { is } else { first };
            let mut all: Vec<Predicate> = pairs[..i].iter().map(equal).collect();
            all.push(col(column).compare(is, literal.clone()));
            if all.len() == 1 { all.swap_remove(0) } else { Predicate::And(all) }
        });
        Predicate::Or(any.collect())
    }
}

impl std::ops::Not for Predicate {
    type Output = Predicate;

    fn not(self) -> Predicate {
        Predicate::Not(Box::new(self))
    }
}

/// Creates the column with this dotted path, to be compared.
pub fn col(path: impl Into<ColumnPath>) -> Column {
    Column { path: path.into() }
}

/// A column to be compared: see [`col`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    path: ColumnPath,
}

impl Column {
    /// `=`
    pub fn eq(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Eq, literal)
    }

    /// `!=`
    pub fn ne(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Ne, literal)
    }

    /// `<`
    pub fn lt(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Lt, literal)
    }

    /// `<=`
    pub fn le(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Le, literal)
    }

    /// `>`
    pub fn gt(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Gt, literal)
    }

    /// `>=`
    pub fn ge(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Ge, literal)
    }

    /// Compares the column with a literal.
    pub fn compare(self, is: Comparison, literal: impl Into<Literal>) -> Predicate {
        Predicate::Compare { column: self.path, is, literal: literal.into() }
    }

    /// Compares the column with another one of the same row.
    ///
    /// Numbers compare with numbers of any widths, signs and scales, without rounding; dates and timestamps as points
    /// in time, a date as its midnight; times as times of day; byte strings by their bytes. Values with a zone (UTC) do
    /// not compare with values without one, nor decimals with floats, nor text with numbers: that is an error when the
    /// predicate is bound.
    ///
    /// ```
    /// use marquetry_core::predicate::{Comparison, Predicate, col};
    /// let late = col("commit_date").compare_column(Comparison::Lt, "receipt_date");
    /// assert_eq!(late, Predicate::parse("commit_date < receipt_date")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn compare_column(self, is: Comparison, other: impl Into<ColumnPath>) -> Predicate {
        Predicate::CompareColumns { left: self.path, is, right: other.into() }
    }

    /// Whether the column differs from another one of the same row, where null equals null.
    pub fn is_distinct_from(self, other: impl Into<ColumnPath>) -> Predicate {
        Predicate::Distinct { left: self.path, right: other.into() }
    }

    /// Whether the column differs from a literal, where null equals null: true or false, never unknown.
    pub fn is_distinct_from_literal(self, literal: impl Into<Literal>) -> Predicate {
        match literal.into() {
            Literal::Null => self.is_not_null(),
            literal => Predicate::Or(vec![self.clone().ne(literal), self.is_null()]),
        }
    }

    /// Whether the value is between `low` and `high`, both included.
    pub fn between(self, low: impl Into<Literal>, high: impl Into<Literal>) -> Predicate {
        self.clone().ge(low).and(self.le(high))
    }

    /// Whether the value equals one of these.
    pub fn is_in<L: Into<Literal>>(self, list: impl IntoIterator<Item = L>) -> Predicate {
        Predicate::In { column: self.path, list: list.into_iter().map(Into::into).collect() }
    }

    /// Whether a string begins with `prefix`.
    pub fn starts_with(self, prefix: impl Into<Literal>) -> Predicate {
        Predicate::StartsWith { column: self.path, prefix: prefix.into() }
    }

    /// Whether text matches a LIKE pattern: `%` matches any text, `_` any character, and a backslash makes the next
    /// character literal.
    ///
    /// ```
    /// use marquetry_core::predicate::{Predicate, col};
    /// assert_eq!(col("url").like("%google%"), Predicate::parse("url like '%google%'")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn like(self, pattern: impl Into<String>) -> Predicate {
        let pattern = pattern.into();
        match plain_like(&pattern) {
            Some((plain, true)) => self.starts_with(plain),
            Some((plain, false)) => self.eq(plain),
            None => self.matches(Pattern::Like(pattern)),
        }
    }

    /// Whether text matches a pattern.
    pub fn matches(self, pattern: Pattern) -> Predicate {
        Predicate::Matches { column: self.path, pattern }
    }

    /// Whether a string contains `part`.
    pub fn contains(self, part: impl Into<Literal>) -> Predicate {
        self.matches(Pattern::Contains(part.into()))
    }

    /// Whether a string ends with `end`.
    pub fn ends_with(self, end: impl Into<Literal>) -> Predicate {
        self.matches(Pattern::EndsWith(end.into()))
    }

    /// Whether the value is null.
    pub fn is_null(self) -> Predicate {
        Predicate::IsNull { column: self.path }
    }

    /// Whether the value is not null.
    pub fn is_not_null(self) -> Predicate {
        !self.is_null()
    }

    /// Whether a list has no elements, or a map no entries.
    pub fn is_empty(self) -> Predicate {
        Predicate::IsEmpty { column: self.path }
    }

    /// Compares the number of elements of a list, or of entries of a map.
    ///
    /// ```
    /// use marquetry_core::predicate::{Comparison, Predicate, col};
    /// assert_eq!(col("tags").cardinality(Comparison::Gt, 3), Predicate::parse("cardinality(tags) > 3")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn cardinality(self, is: Comparison, count: u64) -> Predicate {
        Predicate::Cardinality { column: self.path, is, count }
    }

    /// Whether the row has a variant without a value at the path.
    ///
    /// ```
    /// use marquetry_core::predicate::{Predicate, col};
    /// assert_eq!(col("payload:user.id").is_missing(), Predicate::parse("payload:user.id is missing")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn is_missing(self) -> Predicate {
        Predicate::IsMissing { column: self.path }
    }

    /// Whether the value at the path is a variant null: `payload:user.id is variant null`.
    pub fn is_variant_null(self) -> Predicate {
        Predicate::IsVariantNull { column: self.path }
    }

    /// Whether a geometry in well-known binary intersects a box, edges included. For GEOMETRY, GEOGRAPHY, or BYTE_ARRAY
    /// without a logical type.
    ///
    /// - In the plane the box is compared with the smallest box around the geometry's positions; for points this is
    ///   exact.
    /// - For GEOGRAPHY, points are compared. A value with edges counts as being in every box, because their course is
    ///   not computed.
    /// - Arcs of circles bulge beyond their positions, and are in every box as well.
    /// - If `xmin` is greater than `xmax`, the box contains x from `xmin` up and x up to `xmax`, as across the
    ///   antimeridian.
    /// - An empty geometry is in no box. One without z or m is in a box with any z or m; one whose z are all NaN is in
    ///   none.
    ///
    /// A value that is not a geometry is an error when the rows are read.
    ///
    /// ```
    /// use marquetry_core::predicate::{BBox, Predicate, col};
    /// let pacific = col("geom").bbox_intersects(BBox::new(170.0, -20.0, -170.0, 20.0)?);
    /// assert_eq!(pacific, Predicate::parse("bbox_intersects(geom, 170, -20, -170, 20)")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn bbox_intersects(self, bbox: BBox) -> Predicate {
        Predicate::BboxIntersects { column: self.path, bbox, are_edges_curved: false }
    }

    /// Whether the value is NaN.
    pub fn is_nan(self) -> Predicate {
        Predicate::IsNan { column: self.path }
    }
}
