//! Bytes as a schema: no panic, no hang, faults that say something, and the same answer for canonical bytes.
#![no_main]

use countersign_core::check::schema::Schema;
use countersign_core::{canonical, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(value) = json::read(text) else { return };
    let again = json::read(&canonical::bytes(&value)).expect("canonical bytes are strict JSON");
    match (Schema::compile(&value), Schema::compile(&again)) {
        (Ok(_), Ok(_)) => {}
        (Err(faults), Err(faults_again)) => {
            assert!(!faults.is_empty());
            assert!(
                faults
                    .iter()
                    .all(|fault| !fault.problem.is_empty() && !fault.fix.is_empty())
            );
            assert_eq!(faults.len(), faults_again.len());
        }
        _ => panic!("canonical bytes compile differently"),
    }
});
