//! Formats of strings.
