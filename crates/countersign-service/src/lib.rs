//! Serves: owns the clock, the randomness, the network and the private keys.
//!
//! Open mode only: every valid request is served, nothing is charged.

pub mod config;
pub mod signer;
