//! The schema step.

pub mod format;
pub mod pattern;
