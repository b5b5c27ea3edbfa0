//! The statement about one check: its two shapes (section 18), what to do next (section 19), and the offline
//! check of a receipt (section 20).

use crate::check::finding::Count;
use crate::check::name::CheckName;
use crate::check::report::{self, Report};
use crate::check::request::{Detail, Hashes, Request};
use crate::check::wording;
use crate::document::Document;
use crate::statement::{Context, Unsigned};
use crate::time::Timestamp;
use std::borrow::Cow;

mod verify;
mod verify_request;

pub use verify::{HashCheck, Outcome, SignatureCheck, Supplied, Verified, verify, verify_value};
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

impl Issuer<'_> {
    /// The member `verify`, the same in every signed answer.
    pub(crate) fn write_verify(&self, document: &mut Document) {
        document.object("verify", |verify| {
            verify.text_of(
                "public_key_url",
                &[self.public_url, "/.well-known/agent-card.json"],
            );
            verify.text("key_version", self.key_version);
            verify.word("canonicalization", "RFC 8785 (JCS)");
            verify.word("hash_algorithm", "SHA-256");
            verify.text("service", self.service_name);
            verify.text_of("mcp", &[self.public_url, "/mcp"]);
        });
    }
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
        let mut document = Document::default();
        self.write(full, &mut document);
        issuer.write_verify(&mut document);
        Unsigned::new(Context::Check, issuer.key_version, attested_at, document)
    }

    /// All but `verify` and `attestation`, in the contract's order; compact without a report.
    fn write(&self, full: Option<&Report>, document: &mut Document) {
        let result = if self.passed() { "pass" } else { "fail" };
        document.object("summary", |summary| {
            summary.word("result", result);
            summary.list("blocking_checks", |names| {
                self.blocking_checks
                    .iter()
                    .for_each(|name| names.word("", name.as_str()));
            });
        });
        document.list("next_actions", |actions| {
            self.next_actions(full.is_none(), actions);
        });
        document.word("result", result);
        document.uuid("verification_id", &self.verification_id);
        document.text("task_id", &self.task_id);
        document.text_or_null("agent_id", self.agent_id.as_deref());
        document.hash("output_hash", &self.hashes.output);
        document.hash("schema_hash", &self.hashes.schema);
        document.hash("rules_hash", &self.hashes.rules);
        if full.is_some() {
            document.hash("request_hash", &self.hashes.request);
        }
        document.time("verified_at", self.verified_at);
        document.text("verifier_version", &self.verifier_version);
        document.bool("enforce_rules", self.enforce_rules);
        document.bool("strict_content_check", self.strict_content_check);
        if let Some(report) = full {
            findings(report, document);
        }
    }

    fn next_actions(&self, compact: bool, actions: &mut Document) {
        let mut action = |name: &'static str, with: &'static str, what: &'static str| {
            actions.object("", |action| {
                action.word("action", name);
                action.word(with, what);
            });
        };
        let flagged = self.flags_total > 0;
        if self.passed() {
            action("attach_receipt", "for", "seller");
            action("proceed_to_payment", "for", "buyer");
            if flagged {
                action("review_flags", "using", "flags");
            }
        } else {
            action("repair_and_reverify", "using", "hints");
        }
        if compact && (!self.passed() || flagged) {
            action("request_full_detail", "detail", "full");
        }
    }
}

fn findings(report: &Report, document: &mut Document) {
    let shown: Vec<_> = report
        .errors()
        .map(|(source, finding)| {
            let message = wording::cut(report::message(source, finding).into());
            (
                source,
                finding,
                wording::cut(report::path(finding).into()),
                message,
            )
        })
        .collect();
    let total = report.errors_total();
    let omitted = total - shown.len() as u64;

    document.list("errors", |list| {
        shown.iter().for_each(|(.., message)| list.text("", message));
    });
    document.integer("errors_total", total);
    document.integer("errors_omitted", omitted);

    document.list("errors_detail", |list| {
        for (_, finding, path, message) in &shown {
            list.object("", |detail| {
                detail.word("check", finding.check.as_str());
                detail.text("path", path);
                detail.text("expected", &cut(&finding.expected));
                detail.text("found", &cut(&finding.found));
                detail.text("message", message);
            });
        }
    });
    document.integer("errors_detail_total", total);
    document.integer("errors_detail_omitted", omitted);

    let mut flags_shown = 0;
    document.list("flags", |list| {
        for (blocks, finding) in report.flags() {
            flags_shown += 1;
            list.object("", |flag| {
                flag.word("check", finding.check.as_str());
                flag.text("field", &cut(&finding.field));
                flag.word("severity", if blocks { "error" } else { "warning" });
                flag.text("detail", &cut(&finding.detail));
            });
        }
    });
    document.integer("flags_total", report.flags_total());
    document.integer("flags_omitted", report.flags_total() - flags_shown);

    document.list("hints", |list| {
        for (source, finding, path, _) in &shown {
            list.object("", |hint| {
                hint.word("source", source.as_str());
                hint.word("check", finding.check.as_str());
                hint.text("path", path);
                hint.text("expected", &cut(&finding.expected));
                hint.text("found", &cut(&finding.found));
            });
        }
    });
    document.integer("hints_total", total);
    document.integer("hints_omitted", omitted);

    let (schema, integrity) = (report.schema_compliance(), report.integrity_checks());
    count("schema_compliance", schema, document);
    count("integrity_checks", integrity, document);
    count("overall", schema + integrity, document);
}

fn cut(text: &str) -> Cow<'_, str> {
    wording::cut(text.into())
}

fn count(name: &'static str, count: Count, document: &mut Document) {
    document.object(name, |object| {
        object.ratio("ratio", report::ratio(count));
        object.integer("passed", count.passed);
        object.integer("total", count.total);
    });
}
