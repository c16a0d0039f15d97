//! What is left of a file is found: every whole row group, and nothing that was not in it.

#[path = "../chunk/mod.rs"]
mod chunk;

mod corpus;
mod cuts;

mod damage;
mod sample;
mod schemas;
mod shapes;
