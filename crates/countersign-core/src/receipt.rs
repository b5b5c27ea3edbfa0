//! The statement about one check: its two shapes (section 18), what to do next (section 19), and the offline
//! check of a receipt (section 20).

use crate::check::finding::Count;
use crate::check::name::CheckName;
use crate::check::report::{self, Report};
use crate::check::request::{Detail, Hashes, Request};
use crate::check::wording;
use crate::statement::{Context, Members, Part, Unsigned};
use crate::time::Timestamp;

mod verify;
mod verify_request;

pub use verify::{HashCheck, Outcome, SignatureCheck, Supplied, Verified, rules_hash, verify, verify_value};
pub use verify_request::VerifyRequest;

/// What a receipt says in both shapes, and what a stored check remembers of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The id of the check: a UUID.
    pub verification_id: [u8; 16],
    /// As sent.
    pub task_id: String,
    /// As sent.
    pub agent_id: Option<String>,
    /// What the receipt binds.
    pub hashes: Hashes,
    /// The names of the checks that block, in order of first appearance; empty for a pass.
    pub blocking_checks: Vec<CheckName>,
    /// How many flags there are.
    pub flags_total: u64,
    /// As applied.
    pub enforce_rules: bool,
    /// As applied.
    pub strict_content_check: bool,
    /// When the check ran.
    pub verified_at: Timestamp,
    /// The version of the program that checked.
    pub verifier_version: String,
}

/// Who issues receipts: the settings that stand in `verify`.
#[derive(Clone, Copy, Debug)]
pub struct Issuer<'a> {
    /// The public base URL, without a trailing slash.
    pub public_url: &'a str,
    /// `verify.service`.
    pub service_name: &'a str,
    /// The key that is going to sign.
    pub key_version: &'a str,
}

impl Facts {
    /// What a check found, under the id and time that the caller hands in.
    pub fn new(
        request: &Request,
        report: &Report,
        verification_id: [u8; 16],
        verified_at: Timestamp,
        verifier_version: &str,
    ) -> Self {
        Facts {
            verification_id,
            task_id: request.task_id.clone(),
            agent_id: request.agent_id.clone(),
            hashes: request.hashes,
            blocking_checks: report.blocking_checks(),
            flags_total: report.flags_total(),
            enforce_rules: request.demand.enforce_rules,
            strict_content_check: request.demand.strict_content_check,
            verified_at,
            verifier_version: verifier_version.to_owned(),
        }
    }

    /// `pass` when nothing blocks.
    pub fn passed(&self) -> bool {
        self.blocking_checks.is_empty()
    }

    /// The receipt in the shape that was asked for, ready to be signed.
    pub fn receipt<'a>(&self, report: &Report, detail: Detail, issuer: &Issuer<'a>) -> Unsigned<'a> {
        let report = (detail == Detail::Full).then_some(report);
        self.unsigned(report, issuer, self.verified_at)
    }

    /// The compact receipt made anew; `attested_at` is the time of signing, or `verified_at` when the key of
    /// the original signs.
    pub fn compact<'a>(&self, issuer: &Issuer<'a>, attested_at: Timestamp) -> Unsigned<'a> {
        self.unsigned(None, issuer, attested_at)
    }

    fn unsigned<'a>(
        &self,
        full: Option<&Report>,
        issuer: &Issuer<'a>,
        attested_at: Timestamp,
    ) -> Unsigned<'a> {
        let mut members = self.head(full.is_none());
        if let Some(report) = full {
            findings(report, &mut members);
        }
        members.push(("verify", verify_block(issuer)));
        Unsigned::new(Context::Check, issuer.key_version, attested_at, members)
    }

    fn head(&self, compact: bool) -> Members<'_> {
        let result = if self.passed() { "pass" } else { "fail" };
        let names = self
            .blocking_checks
            .iter()
            .map(|name| name.as_str().into())
            .collect();
        // The whole of a full receipt has 33 members.
        let mut members = Vec::with_capacity(if compact { 15 } else { 33 });
        members.extend([
            (
                "summary",
                Part::Object(vec![
                    ("result", result.into()),
                    ("blocking_checks", Part::List(names)),
                ]),
            ),
            ("next_actions", self.next_actions(compact)),
            ("result", result.into()),
            ("verification_id", Part::Uuid(self.verification_id)),
            ("task_id", self.task_id.as_str().into()),
            (
                "agent_id",
                self.agent_id.as_deref().map_or(Part::Null, Part::from),
            ),
            ("output_hash", Part::Hash(self.hashes.output)),
            ("schema_hash", Part::Hash(self.hashes.schema)),
            ("rules_hash", Part::Hash(self.hashes.rules)),
        ]);
        if !compact {
            members.push(("request_hash", Part::Hash(self.hashes.request)));
        }
        members.extend([
            ("verified_at", Part::Time(self.verified_at)),
            ("verifier_version", self.verifier_version.as_str().into()),
            ("enforce_rules", Part::Bool(self.enforce_rules)),
            ("strict_content_check", Part::Bool(self.strict_content_check)),
        ]);
        members
    }

    fn next_actions(&self, compact: bool) -> Part<'static> {
        let action = |name: &'static str, with: &'static str, what: &'static str| {
            Part::Object(vec![("action", name.into()), (with, what.into())])
        };
        let flagged = self.flags_total > 0;
        let mut actions = Vec::with_capacity(4);
        if self.passed() {
            actions.push(action("attach_receipt", "for", "seller"));
            actions.push(action("proceed_to_payment", "for", "buyer"));
            if flagged {
                actions.push(action("review_flags", "using", "flags"));
            }
        } else {
            actions.push(action("repair_and_reverify", "using", "hints"));
        }
        if compact && (!self.passed() || flagged) {
            actions.push(action("request_full_detail", "detail", "full"));
        }
        Part::List(actions)
    }
}

fn findings<'a>(report: &'a Report, members: &mut Members<'a>) {
    let cut = |text: &'a str| Part::Text(wording::cut(text.into()));
    let path = |finding| Part::Text(wording::cut(report::path(finding).into()));
    let messages: Vec<_> = report
        .errors()
        .map(|(source, finding)| wording::cut(report::message(source, finding).into()))
        .collect();
    let errors = messages
        .iter()
        .map(|message| Part::Text(message.clone()))
        .collect();
    let details = report.errors().zip(messages).map(|((_, finding), message)| {
        Part::Object(vec![
            ("check", finding.check.as_str().into()),
            ("path", path(finding)),
            ("expected", cut(&finding.expected)),
            ("found", cut(&finding.found)),
            ("message", Part::Text(message)),
        ])
    });
    let details = details.collect();
    let flags = report.flags().map(|(blocks, finding)| {
        Part::Object(vec![
            ("check", finding.check.as_str().into()),
            ("field", cut(&finding.field)),
            ("severity", if blocks { "error" } else { "warning" }.into()),
            ("detail", cut(&finding.detail)),
        ])
    });
    let flags = flags.collect();
    let hints = report.errors().map(|(source, finding)| {
        Part::Object(vec![
            ("source", source.as_str().into()),
            ("check", finding.check.as_str().into()),
            ("path", path(finding)),
            ("expected", cut(&finding.expected)),
            ("found", cut(&finding.found)),
        ])
    });
    let hints = hints.collect();
    let errors_total = report.errors_total();
    list(
        members,
        ["errors", "errors_total", "errors_omitted"],
        errors,
        errors_total,
    );
    list(
        members,
        ["errors_detail", "errors_detail_total", "errors_detail_omitted"],
        details,
        errors_total,
    );
    list(
        members,
        ["flags", "flags_total", "flags_omitted"],
        flags,
        report.flags_total(),
    );
    list(
        members,
        ["hints", "hints_total", "hints_omitted"],
        hints,
        errors_total,
    );
    let (schema, integrity) = (report.schema_compliance(), report.integrity_checks());
    members.push(("schema_compliance", count(schema)));
    members.push(("integrity_checks", count(integrity)));
    members.push(("overall", count(schema + integrity)));
}

fn list<'a>(members: &mut Members<'a>, names: [&'static str; 3], parts: Vec<Part<'a>>, total: u64) {
    let omitted = total - parts.len() as u64;
    members.push((names[0], Part::List(parts)));
    members.push((names[1], Part::Integer(total)));
    members.push((names[2], Part::Integer(omitted)));
}

fn count(count: Count) -> Part<'static> {
    Part::Object(vec![
        ("ratio", Part::Ratio(report::ratio(count))),
        ("passed", Part::Integer(count.passed)),
        ("total", Part::Integer(count.total)),
    ])
}

fn verify_block<'a>(issuer: &Issuer<'a>) -> Part<'a> {
    Part::Object(vec![
        (
            "public_key_url",
            format!("{}/.well-known/agent-card.json", issuer.public_url).into(),
        ),
        ("key_version", issuer.key_version.into()),
        ("canonicalization", "RFC 8785 (JCS)".into()),
        ("hash_algorithm", "SHA-256".into()),
        ("service", issuer.service_name.into()),
        ("mcp", format!("{}/mcp", issuer.public_url).into()),
    ])
}
