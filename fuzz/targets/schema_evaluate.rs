//! A schema and an instance, parted by a NUL, which no JSON text holds: no panic, no hang, counts that agree with
//! findings, and the same answer for canonical bytes.
#![no_main]

use countersign_core::check::budget::Budget;
use countersign_core::check::schema::Schema;
use countersign_core::json::Value;
use countersign_core::{canonical, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let mut read = || json::read(parts.next()?).ok();
    let (Some(schema), Some(instance)) = (read(), read()) else {
        return;
    };
    let Ok(compiled) = Schema::compile(&schema) else {
        return;
    };
    let canonical =
        |value: &Value| json::read(&canonical::bytes(value)).expect("canonical bytes are strict JSON");
    let again = Schema::compile(&canonical(&schema)).expect("canonical bytes of a schema that compiles");
    let first = compiled.evaluate(&instance, &mut Budget::default());
    let second = again.evaluate(&canonical(&instance), &mut Budget::default());
    match (first, second) {
        (Ok(first), Ok(second)) => {
            assert!(first.count.passed <= first.count.total);
            assert_eq!(first.findings.total == 0, first.count.passed == first.count.total);
            assert_eq!(first.count, second.count);
            assert_eq!(first.findings.total, second.findings.total);
            assert_eq!(first.findings.checks, second.findings.checks);
        }
        (Err(first), Err(second)) => assert_eq!(first, second),
        _ => panic!("canonical bytes spend another budget"),
    }
});
