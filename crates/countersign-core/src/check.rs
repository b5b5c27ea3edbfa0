//! The check: a demand and an output in, a report out. What the rooms below make together.

pub mod bound;
pub mod budget;
mod comparable;
pub mod content;
mod date;
pub mod demand;
mod equality;
pub mod finding;
pub mod invalid;
mod member;
pub mod name;
mod offence;
pub mod path;
pub mod report;
pub mod request;
pub mod rule;
pub mod schema;
pub mod selection;
pub mod wording;
