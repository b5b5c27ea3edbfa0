//! The check: a demand and an output in, a report out. What the rooms below make together.

pub mod budget;
pub mod finding;
pub mod invalid;
pub mod name;
pub mod schema;
pub mod wording;
