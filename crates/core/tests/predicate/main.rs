//! Predicates: what they mean, and that pruning by them loses no row.

#[path = "../chunk/data.rs"]
#[allow(dead_code)]
mod data;

mod ask;
mod bind;
mod corpus;
mod damage;
mod geometries;
mod kinds;
mod sample;
mod soundness;
mod text;
