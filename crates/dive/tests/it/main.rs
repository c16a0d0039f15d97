//! Screens that keys lead to: each as it was, and each question answered.
//!
//! One program, as linking takes longer than running: tests that measure a whole process are programs of their own beside it.

mod driven;

mod random_keys;
mod recording;
mod screens;
mod ten_questions;
