//! Encrypted files: those of others, and our own.
#![cfg(feature = "encryption")]

#[path = "../cells/mod.rs"]
mod cells;
#[path = "../corpus/mod.rs"]
mod corpus;
mod damage;
mod files;
mod growing;
mod key_management;
mod reading;
mod sample;
mod without_keys;
mod writing;
