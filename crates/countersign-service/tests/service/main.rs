//! The service from outside: started in this process on a free port of the loopback, spoken to over TCP.

#![allow(clippy::unwrap_used, reason = "a test rig: what fails here fails the test")]

mod checks;
mod door;
mod lifetime;
mod limits;
mod nodes;
mod pages;
mod receipts;
mod rig;
mod scores;
