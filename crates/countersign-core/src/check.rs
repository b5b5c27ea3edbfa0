//! The check: a demand and an output in, a report out. What the rooms below make together.

pub mod bound;
pub mod budget;
pub mod content;
pub mod demand;
pub mod finding;
pub mod invalid;
pub mod name;
pub mod path;
pub mod report;
pub mod request;
pub mod rule;
pub mod schema;
pub mod wording;
