//! The tests of formats that are answered differently, by name, with the reason for each.

/// How many tests of formats the five drafts have in `optional/format`.
pub(crate) const TESTS: usize = 1_775;

/// `draft file / group / test` and why our answer stands.
pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[];
