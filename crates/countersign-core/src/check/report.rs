//! The report of one check: findings, counts and what follows from them (sections 13, 14 and 16).
//!
//! A report always exists once a request is valid; a fail is an answer, not an error.

use super::content::Content;
use super::finding::{Count, Finding, Findings};
use super::name::CheckName;
use super::schema::Evaluation;
use crate::limits::LIST_ENTRIES_MAX;
use crate::place::root_marked;

/// All findings and counts of one check.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the schema found.
    pub schema: Evaluation,
    /// What the content checks found, and the member paths they went through.
    pub content: Content,
    /// What the rules found, in request order, then the bounds by key.
    pub integrity: Findings,
    /// How many of the rules and bounds passed.
    pub integrity_count: Count,
    /// Whether rule and bound findings block.
    pub enforce_rules: bool,
    /// Whether content findings block.
    pub strict_content_check: bool,
}

/// Where a finding that blocks came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The schema.
    Schema,
    /// A content check.
    Content,
    /// A rule or a bound.
    Rule,
}

impl Source {
    /// `source` in hints.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Schema => "schema",
            Source::Content | Source::Rule => "integrity",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Source::Schema => "",
            Source::Content => "strict_content_check: ",
            Source::Rule => "enforce_rules: ",
        }
    }
}

impl Report {
    /// The findings that block, by source, in the order of section 13.
    fn blocking(&self) -> impl Iterator<Item = (Source, &Findings)> {
        [
            (true, Source::Schema, &self.schema.findings),
            (self.strict_content_check, Source::Content, &self.content.findings),
            (self.enforce_rules, Source::Rule, &self.integrity),
        ]
        .into_iter()
        .filter_map(|(blocks, source, findings)| blocks.then_some((source, findings)))
    }

    /// The distinct names of what blocks, in order of first appearance. Empty means that the result is a pass.
    pub fn blocking_checks(&self) -> Vec<CheckName> {
        let mut names = Vec::new();
        for name in self.blocking().flat_map(|(_, findings)| &findings.checks) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    }

    /// How many findings block.
    pub fn errors_total(&self) -> u64 {
        self.blocking().map(|(_, findings)| findings.total).sum()
    }

    /// The first [`LIST_ENTRIES_MAX`] findings that block.
    pub fn errors(&self) -> impl Iterator<Item = (Source, &Finding)> {
        self.blocking()
            .flat_map(|(source, findings)| findings.shown.iter().map(move |finding| (source, finding)))
            .take(LIST_ENTRIES_MAX)
    }

    /// How many flags there are: all content, rule and bound findings, whether they block or not.
    pub fn flags_total(&self) -> u64 {
        self.content.findings.total + self.integrity.total
    }

    /// The first [`LIST_ENTRIES_MAX`] flags, and whether each blocks.
    pub fn flags(&self) -> impl Iterator<Item = (bool, &Finding)> {
        let content = self
            .content
            .findings
            .shown
            .iter()
            .map(|finding| (self.strict_content_check, finding));
        let integrity = self
            .integrity
            .shown
            .iter()
            .map(|finding| (self.enforce_rules, finding));
        content.chain(integrity).take(LIST_ENTRIES_MAX)
    }

    /// `schema_compliance`: assertion keywords per instance location.
    pub fn schema_compliance(&self) -> Count {
        self.schema.count
    }

    /// `integrity_checks`: member paths of the output, rules and bounds.
    pub fn integrity_checks(&self) -> Count {
        self.content.member_paths + self.integrity_count
    }
}

/// A finding's place or field with its root marker, as `errors_detail` and `hints` give it.
pub fn path(finding: &Finding) -> String {
    if finding.is_root {
        "$".to_owned()
    } else {
        root_marked(&finding.field)
    }
}

/// The text of `errors` and `message`: `<prefix><check> at '<field>': <detail>`. Schema findings name the path,
/// all others the field.
pub fn message(source: Source, finding: &Finding) -> String {
    let path;
    let place = if source == Source::Schema {
        path = self::path(finding);
        &path
    } else {
        &finding.field
    };
    let (prefix, check) = (source.prefix(), finding.check.as_str());
    [prefix, check, " at '", place, "': ", &finding.detail].concat()
}

/// `passed / total` rounded to 6 decimals, ties to even; 1.0 when there is nothing to count.
pub fn ratio(count: Count) -> f64 {
    if count.passed == count.total {
        return 1.0;
    }
    // Counts have the size of a request, or of a budget: millions.
    let (passed, total) = (count.passed * 1_000_000, count.total);
    let (millionths, rest) = (passed / total, passed % total);
    let up = match (2 * rest).cmp(&total) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => millionths % 2 == 1,
        std::cmp::Ordering::Less => false,
    };
    // One correctly rounded division of two exact doubles: the double nearest to the decimal.
    (millionths + u64::from(up)) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_six_decimals_and_ties_go_to_even() {
        let rows = [
            (29, 30, 0.966_667),
            (7, 8, 0.875),
            (1, 128, 0.007_812),
            (3, 128, 0.023_438),
            (0, 0, 1.0),
            (22, 22, 1.0),
            (0, 9, 0.0),
            (2_000_000, 3_000_000, 0.666_667),
        ];
        for (passed, total, expected) in rows {
            assert_eq!(
                ratio(Count { passed, total }).to_bits(),
                f64::to_bits(expected),
                "{passed}/{total}"
            );
        }
    }
}
