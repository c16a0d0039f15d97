//! What is left of a file is found: every whole row group, and nothing that was not in it.

#[path = "../../../core/tests/chunk/mod.rs"]
mod chunk;

mod again;
mod agreement;
mod beside_pages;
mod corpus;
mod cuts;

mod damage;
mod doubts;
mod hidden_levels;
mod key_values;
mod misplaced;
mod page_statistics;
mod sample;
mod schemas;
mod shapes;
