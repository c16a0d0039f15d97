//! How the values of a column are ordered.
