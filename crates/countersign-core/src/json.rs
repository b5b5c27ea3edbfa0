//! Strict JSON (verification.md, section 5): one reading of every text that is accepted.
//!
//! No duplicate names, no lone surrogates, no number that RFC 8785 could not give back, bounded depth. Members
//! are kept in the order that RFC 8785 sorts them in, so canonical bytes, places and findings need no second
//! sort. Each number remembers whether it was an integer literal; only message texts use that.

pub(crate) mod plain;
mod position;
mod reader;
mod value;

pub use position::position;
pub use reader::{Fault, FaultKind, read, read_nested};
pub use value::{Member, Number, Object, Value, compare_names};
