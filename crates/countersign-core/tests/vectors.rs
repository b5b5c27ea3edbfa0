//! Every file of `vectors/`: cases that any implementation of the contract must answer alike.

// What a test cannot read fails it; reading the vectors is its business.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[path = "vectors/check.rs"]
mod check;
#[path = "vectors/receipt.rs"]
mod receipt;
#[path = "vectors/score.rs"]
mod score;

use countersign_core::canonical;
use countersign_core::json::{FaultKind, read};
use serde_json::Value;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../vectors", name]
        .iter()
        .collect()
}

/// The cases of every file in a folder of vectors, with the file's name.
fn cases(folder_name: &str) -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder(folder_name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "json"))
    {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let content: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        // Any other file holds data that cases refer to.
        if let Value::Array(list) = content {
            cases.extend(list.into_iter().map(|case| (name.clone(), case)));
        }
    }
    cases
}

/// A text of a vector: a string, or a list of strings and repeats, in a row.
fn text(notation: &Value) -> String {
    match notation {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces.iter().map(text).collect(),
        repeat => {
            let times = usize::try_from(repeat["times"].as_u64().unwrap()).unwrap();
            let between = repeat["between"].as_str().unwrap_or_default();
            let piece = |index: usize| {
                text(&repeat["repeat"])
                    .replace("<i>", &index.to_string())
                    .replace("<i+1>", &(index + 1).to_string())
            };
            (0..times).map(piece).collect::<Vec<_>>().join(between)
        }
    }
}

/// The input's bytes: its text, or its hex digits.
fn bytes(input: &Value) -> Vec<u8> {
    match input.get("hex") {
        Some(hex) => {
            let digits = hex.as_str().unwrap();
            (0..digits.len() / 2)
                .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
                .collect()
        }
        None => text(&input["text"]).into_bytes(),
    }
}

/// Runs every case, tells all that went wrong, and holds the number of cases.
fn run_all(folder: &str, at_least: usize, run: impl Fn(&Value) -> Result<(), String>) {
    let cases = cases(folder);
    assert!(
        cases.len() >= at_least,
        "only {} cases in vectors/{folder}",
        cases.len()
    );
    let mut wrong = Vec::new();
    for (file, case) in &cases {
        if let Err(difference) = run(case) {
            wrong.push(format!(
                "{file}: {}\n    {difference}",
                case["why"].as_str().unwrap_or_default()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

fn class(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Empty => "empty",
        FaultKind::Syntax => "syntax",
        FaultKind::ByteOrderMark => "byte_order_mark",
        FaultKind::InvalidUtf8 => "invalid_utf8",
        FaultKind::TrailingText => "trailing_text",
        FaultKind::DuplicateName => "duplicate_name",
        FaultKind::LoneSurrogate => "lone_surrogate",
        FaultKind::NumberTooLarge => "number_too_large",
        FaultKind::IntegerNotExact => "integer_not_exact",
        FaultKind::TooDeep => "too_deep",
    }
}

fn strict_reading(case: &Value) -> Result<(), String> {
    let expect = &case["expect"];
    match (read(&bytes(&case["input"])), expect["canonical"].as_str()) {
        (Ok(value), Some(canonical)) => {
            let ours = String::from_utf8(canonical::bytes(&value)).unwrap();
            if ours != canonical {
                return Err(format!("{ours:.200} is not {canonical:.200}"));
            }
            let again =
                read(ours.as_bytes()).map_err(|fault| format!("canonical form refused: {fault:?}"))?;
            if again == value {
                Ok(())
            } else {
                Err("the canonical form reads back otherwise".to_owned())
            }
        }
        (Ok(value), None) => Err(format!(
            "accepted as {:.200?}",
            String::from_utf8(canonical::bytes(&value))
        )),
        (Err(fault), Some(_)) => Err(format!("refused: {fault:?}")),
        (Err(fault), None) => {
            let refused = &expect["refused"];
            let place = match fault.place.to_string() {
                root if root == "$" => "body".to_owned(),
                place => place,
            };
            let class_differs = refused
                .get("class")
                .is_some_and(|wanted| *wanted != class(fault.kind));
            if class_differs || refused.get("place").is_some_and(|wanted| *wanted != *place) {
                return Err(format!("{fault:?} is not {refused}"));
            }
            Ok(())
        }
    }
}

#[test]
fn json() {
    run_all("json", 250, strict_reading);
}

#[test]
fn canonical_forms() {
    run_all("canonical", 750, strict_reading);
}
