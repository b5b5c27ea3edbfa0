//! The service from outside: started in this process on a free port of the loopback, spoken to over TCP.

mod checks;
mod door;
mod lifetime;
mod limits;
mod receipts;
mod rig;
