//! SARIF 2.1.0 (OASIS): what a check found, with line and column of each finding in the file as it was written.

use countersign_core::check::finding::Finding;
use countersign_core::check::name::CheckName;
use countersign_core::check::report::{Source, message};
use countersign_core::check::wording::cut;
use countersign_core::json::{Fault, FaultKind, position};
use countersign_core::place::Place;
use countersign_service::{Checked, VERSION};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::{Component, Path};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The file that findings are shown in.
pub(crate) struct Shown<'a> {
    path: &'a Path,
    text: &'a [u8],
    /// Where in it the output stands.
    output: Place,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(path: &'a Path, text: &'a [u8], output: Place) -> Self {
        Shown { path, text, output }
    }

    /// A scalar as a whole; of a container its opening bracket, so that no viewer paints half the file.
    fn range(&self, place: &Place) -> Range<usize> {
        let steps = self.output.0.iter().chain(&place.0).cloned();
        let range = position(self.text, &Place(steps.collect()));
        match self.text.get(range.start) {
            Some(b'{' | b'[') => range.start..range.start + 1,
            _ => range,
        }
    }
}

/// The log of a check that came to a result. Findings that decide it are errors, all others warnings.
pub(crate) fn findings(shown: &Shown<'_>, checked: &Checked) -> String {
    let report = &checked.report;
    let errors = report
        .errors()
        .map(|(source, finding)| (source, finding, "error"));
    let flags = report.flags().filter(|(blocks, _)| !blocks);
    // Without the prefix of what decides: this one does not.
    let flags = flags.map(|(_, finding)| (Source::Schema, finding, "warning"));
    let lines = Lines::of(shown.text);
    let mut rules: Vec<CheckName> = Vec::new();
    let results: Vec<Value> = errors
        .chain(flags)
        .map(|(source, finding, level)| {
            if !rules.contains(&finding.check) {
                rules.push(finding.check);
            }
            let index = rules.iter().position(|name| *name == finding.check);
            let mut result = result(shown, &lines, finding, &cut(message(source, finding).into()));
            result["level"] = level.into();
            result["ruleIndex"] = index.into();
            result
        })
        .collect();
    let rules: Vec<Value> = rules.iter().map(|name| rule(*name)).collect();
    let receipt = serde_json::from_slice::<Value>(&checked.answer).unwrap_or_default();
    let member = |name: &str| receipt[name].clone();
    let properties = json!({
        "result": member("result"),
        "verification_id": member("verification_id"),
        "request_hash": member("request_hash"),
        "output_hash": member("output_hash"),
        "findings_total": report.errors_total(),
        "flags_total": report.flags_total(),
    });
    log(
        &rules,
        &results,
        &json!({"executionSuccessful": true}),
        Some(&properties),
    )
}

/// The log of a request that decides nothing: a notification, and no result.
pub(crate) fn problem(path: &Path, problem: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fields = problem["fields"].as_array().map_or(&[][..], Vec::as_slice);
    let mut notifications: Vec<Value> = fields
        .iter()
        .map(|field| {
            let told = ["field", "problem"].map(|name| text(&field[name])).join(" ");
            notification(
                path,
                None,
                &text(&problem["code"]),
                &format!("{told}. {}", text(&field["fix"])),
            )
        })
        .collect();
    if notifications.is_empty() {
        notifications.push(notification(
            path,
            None,
            &text(&problem["code"]),
            &text(&problem["message"]),
        ));
    }
    failed(&notifications)
}

/// The log of an output that is not strict JSON.
pub(crate) fn unreadable(path: &Path, text: &[u8], fault: &Fault, told: &str) -> String {
    let at = fault.at.min(text.len());
    let region = Lines::of(text).region(at..at);
    failed(&[notification(path, Some(region), "invalid_request", told)])
}

/// What the strict reader has against a text.
pub(crate) fn fault(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Empty => "it is empty",
        FaultKind::Syntax => "it is not valid JSON",
        FaultKind::ByteOrderMark => "it begins with a byte order mark; remove it",
        FaultKind::InvalidUtf8 => "it is not UTF-8",
        FaultKind::TrailingText => "something stands after the JSON value",
        FaultKind::DuplicateName => "two members have the same name",
        FaultKind::LoneSurrogate => "a surrogate escape lacks its other half",
        FaultKind::NumberTooLarge => "a number is beyond the range of a double",
        FaultKind::IntegerNotExact => {
            "not every JSON reader gives this integer back digit for digit; write it as a string"
        }
        FaultKind::TooDeep => "it is nested deeper than 64 levels",
    }
}

fn result(shown: &Shown<'_>, lines: &Lines<'_>, finding: &Finding, message: &str) -> Value {
    json!({
        "ruleId": finding.check.as_str(),
        "message": {"text": message},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(shown.path)},
                "region": lines.region(shown.range(&finding.place)),
            },
            "logicalLocations": [{"fullyQualifiedName": cut(finding.place.with_root().into())}],
        }],
    })
}

fn rule(name: CheckName) -> Value {
    let (kind, check) = name.as_str().split_once(':').unwrap_or_default();
    let asked = match kind {
        "schema" => "The schema's",
        "content" => "The content check's",
        "bounds" => "A bound's",
        _ => "The rule's",
    };
    json!({"id": name.as_str(), "shortDescription": {"text": format!("{asked} {check} does not hold.")}})
}

fn notification(path: &Path, region: Option<Value>, code: &str, text: &str) -> Value {
    let mut location = json!({"artifactLocation": {"uri": uri(path)}});
    if let Some(region) = region {
        location["region"] = region;
    }
    json!({
        "level": "error",
        "descriptor": {"id": code},
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    })
}

fn failed(notifications: &[Value]) -> String {
    let invocation = json!({"executionSuccessful": false, "toolExecutionNotifications": notifications});
    log(&[], &[], &invocation, None)
}

fn log(rules: &[Value], results: &[Value], invocation: &Value, properties: Option<&Value>) -> String {
    let mut run = json!({
        "tool": {"driver": {"name": "countersign", "semanticVersion": VERSION, "rules": rules}},
        "columnKind": "utf16CodeUnits",
        "invocations": [invocation],
        "results": results,
    });
    if let Some(properties) = properties {
        run["properties"] = properties.clone();
    }
    json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}).to_string()
}

/// A file name as a URI reference (RFC 3986): relative as it was given, absolute with its scheme.
fn uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    if path == Path::new("-") {
        return "stdin".to_owned();
    }
    let prefix = if path.is_absolute() { "file://" } else { "" };
    let path: std::path::PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let mut uri = prefix.to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

/// The lines of a text; they end as SARIF says (section 3.30.2): with CRLF, LF or CR.
struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t [u8]) -> Self {
        let mut starts = vec![0];
        for (index, byte) in text.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && text.get(index + 1) != Some(&b'\n')) {
                starts.push(index + 1);
            }
        }
        Lines { text, starts }
    }

    /// Line and column, both from 1; columns in UTF-16 code units.
    fn at(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = String::from_utf8_lossy(&self.text[self.starts[line - 1]..offset]);
        (line, before.encode_utf16().count() + 1)
    }

    fn region(&self, range: Range<usize>) -> Value {
        let ((line, column), (end_line, end_column)) = (self.at(range.start), self.at(range.end));
        json!({"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_code_units_and_every_line_end_counts() {
        let lines = Lines::of("a\r\n\u{1F600}é\rb\nc".as_bytes());
        let rows = [
            (0, (1, 1)),
            (3, (2, 1)),
            (7, (2, 3)),
            (9, (2, 4)),
            (10, (3, 1)),
            (12, (4, 1)),
            (13, (4, 2)),
        ];
        for (offset, expected) in rows {
            assert_eq!(lines.at(offset), expected, "{offset}");
        }
    }

    #[test]
    fn file_names_are_uri_references() {
        let rows = [
            ("out.json", "out.json"),
            ("./a/b c.json", "a/b%20c.json"),
            ("/x/é:1.json", "file:///x/%C3%A9%3A1.json"),
            ("-", "stdin"),
        ];
        for (path, expected) in rows {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
