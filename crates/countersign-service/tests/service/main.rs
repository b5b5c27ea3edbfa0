//! The service from outside: started in this process on a free port of the loopback, spoken to over TCP.

#![allow(clippy::unwrap_used, reason = "a test rig: what fails here fails the test")]

mod a2a;
mod checks;
mod door;
mod lifetime;
mod limits;
mod mcp;
mod nodes;
mod one_request;
mod pages;
mod receipts;
mod rig;
mod scores;
