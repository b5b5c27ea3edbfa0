//! Bytes through the strict reader: no panic, and what is accepted has one canonical form that reads back equal.
#![no_main]

use countersign_core::{canonical, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    match json::read(text) {
        Ok(value) => {
            let bytes = canonical::bytes(&value);
            let again = json::read(&bytes).expect("canonical bytes are strict JSON");
            assert_eq!(again, value);
            assert_eq!(canonical::bytes(&again), bytes);
        }
        Err(fault) => {
            assert!(fault.at <= text.len() && fault.line >= 1 && fault.column >= 1);
            let _ = fault.place.to_string();
        }
    }
});
