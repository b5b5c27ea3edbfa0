//! Judgement: parses, checks and signs. Pure functions from values to values; no clock, randomness, network
//! or files.
//!
//! Read in this order: [`json`] and [`canonical`] (what a value is), [`decimal`] (how numbers are compared),
//! `check` (what a demand finds in an output), `receipt` (the statement about it).

pub mod canonical;
pub mod check;
pub mod decimal;
pub mod document;
pub mod json;
pub mod key;
pub mod limits;
pub mod place;
pub mod receipt;
pub mod score;
pub mod statement;
pub mod time;
