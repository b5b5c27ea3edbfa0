//! Text through the path parser: no panic, and the limits of a path hold for what is accepted.
#![no_main]

use countersign_core::check::path::Path;
use countersign_core::limits::PATH_CHARS_MAX;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if Path::parse(text).is_ok() {
        assert!(!text.is_empty() && text.chars().count() <= PATH_CHARS_MAX);
    }
});
