//! Serves: owns the clock, the randomness, the network and the private keys.
//!
//! Open mode only: every valid request is served, nothing is charged. [`serve`] is the whole of it; the journey
//! of one check is in `actions/check_output.rs`.

mod a2a;
mod actions;
mod agent_id;
mod app;
mod bench;
pub mod config;
mod http;
mod kept;
mod key_watch;
mod mcp;
mod origin;
mod pages;
mod pay;
pub mod problem;
mod rpc;
mod schemas;
mod service;
pub mod signer;
mod telemetry;
mod wire;

pub use actions::check_once::{Checked, check_once};
pub use actions::list_counted_checks::list_counted_checks;
pub use app::{VERSION, now};
pub use http::Patience;
pub use origin::Origin;
pub use service::{ServeError, Service, create_store, first_key, open_keys, serve, store_target};
pub use wire::public_keys;
