//! Pages for people: a receipt, and the front door. Made here, readable without a script; what a page loads comes
//! from inside the binary and from nowhere else.

use crate::actions::read_receipt::Reissued;
use crate::app::{App, VERSION};
use countersign_core::key::{ALGORITHM, KeyStatus};
use countersign_core::time::Timestamp;
use qrcode::{Color, QrCode};
use std::fmt::{Display, Write as _};
use uuid::Uuid;

/// Modules of white around a QR code (ISO/IEC 18004).
const QUIET_ZONE: usize = 4;

/// A file that a page loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asset {
    pub(crate) media_type: &'static str,
    pub(crate) text: &'static str,
}

/// The file of this name under `/assets/`.
pub(crate) fn asset(name: &str) -> Option<Asset> {
    let (media_type, text) = match name {
        "page.css" => ("text/css; charset=utf-8", include_str!("pages/page.css")),
        "receipt.js" => ("text/javascript; charset=utf-8", include_str!("pages/receipt.js")),
        _ => return None,
    };
    Some(Asset { media_type, text })
}

/// The page of one receipt.
pub(crate) fn receipt(app: &App, receipt: &Reissued) -> String {
    let (facts, row) = (&receipt.facts, &receipt.stored.row);
    let result = if facts.passed() { "pass" } else { "fail" };
    let id = Uuid::from_bytes(facts.verification_id);
    let public_url = &app.letterhead.public_url;
    let address = format!("{public_url}/receipts/{id}");

    let mut page = Page::begin(&format!("Receipt {id}: {result}"), "../");
    page.raw("<script type=\"module\" src=\"../assets/receipt.js\"></script>\n</head>\n<body>\n<main>\n<header>\n<div>\n");
    page.element("p", "service", &app.letterhead.service_name);
    page.raw("<h1>Receipt: ");
    page.element("span", result, result);
    page.raw("</h1>\n");
    page.element(
        "p",
        "",
        "A signed statement about one check of an agent's output.",
    );
    page.raw("</div>\n");
    page.raw(&qr(&address).unwrap_or_default());
    page.raw("</header>\n");

    page.section("What was checked");
    page.list(&[
        ("Receipt", &id),
        ("Task", &facts.task_id),
        ("Agent", &facts.agent_id.as_deref().unwrap_or("not named")),
        ("Checked at", &time(facts.verified_at)),
        ("Result", &result),
        (
            "Blocking checks",
            &or_none(&row.blocking_checks.replace(',', ", ")),
        ),
        (
            "Rules",
            &if facts.enforce_rules {
                "enforced: a broken rule fails the output"
            } else {
                "reported: a broken rule is a flag"
            },
        ),
        (
            "Content",
            &if facts.strict_content_check {
                "checked strictly"
            } else {
                "not checked strictly"
            },
        ),
        ("Checked by", &format!("countersign {}", facts.verifier_version)),
    ]);
    page.element("p", "note", &format!(
        "Counted at the time, and not part of the signed text: {} of {} schema checks passed, {} of {} content and rule \
         checks; findings: {}, flags: {}.",
        row.schema.0, row.schema.1, row.integrity.0, row.integrity.1, row.findings, row.flags,
    ));

    page.section("What it binds");
    page.element(
        "p",
        "",
        "SHA-256 of the RFC 8785 form. Whoever has the same output, schema and rules gets the same hashes.",
    );
    page.hashes(&[
        ("Output", &facts.hashes.output),
        ("Schema", &facts.hashes.schema),
        ("Rules and bounds", &facts.hashes.rules),
    ]);

    page.section("Who signed");
    let keys = app.signer.list(app.now());
    let listed = keys.iter().find(|key| key.key_version == receipt.key_version);
    let status = listed
        .and_then(|key| key.status)
        .map_or("not listed", KeyStatus::as_str);
    page.list(&[
        ("Key", &format!("{} ({status})", receipt.key_version)),
        ("Algorithm", &ALGORITHM),
        ("Signed at", &time(receipt.attested_at)),
    ]);

    page.section("How to verify it");
    page.raw("<p id=\"signature\" role=\"status\">Not checked here: the check in the browser needs a script. Use the commands below.</p>\n");
    page.element(
        "p",
        "note",
        "The check in the browser uses the keys that this site lists. To rest on no site, keep a key list \
        that you trust and check offline:",
    );
    page.element(
        "pre",
        "",
        &format!(
            "curl -s {address} > receipt.json\ncurl -s {public_url}/.well-known/agent-card.json > keys.json\n\
         countersign receipt verify receipt.json --keys keys.json"
        ),
    );

    page.section("The receipt itself");
    page.raw("<pre id=\"receipt\">");
    page.text(&String::from_utf8_lossy(&receipt.json));
    page.raw("</pre>\n");
    page.end()
}

/// The page at `/`.
pub(crate) fn front(app: &App) -> String {
    let mut page = Page::begin(&app.letterhead.service_name, "");
    page.raw("</head>\n<body>\n<main>\n<header>\n<div>\n");
    page.element("h1", "", &app.letterhead.service_name);
    page.element(
        "p",
        "",
        "Checks an agent's output against a JSON Schema, rules and bounds, and signs what it found.",
    );
    page.raw("</div>\n</header>\n");
    page.section("For programs");
    page.list(&[
        ("Check", &"POST /verify/schema"),
        ("Receipt", &"GET /receipts/{verification_id}"),
        ("Verify a receipt", &"POST /receipts/verify"),
        ("Keys and agent card", &"GET /.well-known/agent-card.json"),
        ("Health", &"GET /health/ready"),
    ]);
    page.element(
        "p",
        "note",
        &format!(
            "The same as JSON: curl -s {}/. Served by countersign {VERSION}.",
            app.letterhead.public_url
        ),
    );
    page.end()
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn time(at: Timestamp) -> String {
    at.to_string()
}

/// A page being written. Whatever came from outside goes through [`Page::text`].
struct Page(String);

impl Page {
    /// Opens a page; `root` leads from it to the root of the site. The head stays open.
    fn begin(title: &str, root: &str) -> Self {
        let mut page = Page(String::with_capacity(8 << 10));
        page.raw(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                  <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
                  <meta name=\"robots\" content=\"noindex\">\n",
        );
        page.element("title", "", title);
        page.raw("<link rel=\"stylesheet\" href=\"");
        page.raw(root);
        page.raw("assets/page.css\">\n");
        page
    }

    fn end(mut self) -> String {
        self.raw("</main>\n</body>\n</html>\n");
        self.0
    }

    fn raw(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// Text, with every character escaped that means something in HTML.
    fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\'' => self.raw("&#39;"),
                other => self.0.push(other),
            }
        }
    }

    fn element(&mut self, name: &str, class: &str, text: &str) {
        let _ = if class.is_empty() {
            write!(self.0, "<{name}>")
        } else {
            write!(self.0, "<{name} class=\"{class}\">")
        };
        self.text(text);
        let _ = write!(self.0, "</{name}>");
        if name != "span" {
            self.raw("\n");
        }
    }

    fn section(&mut self, title: &str) {
        self.element("h2", "", title);
    }

    /// Names and values. A value may be in any script and direction, so each stands alone.
    fn list(&mut self, entries: &[(&str, &dyn Display)]) {
        self.raw("<dl>\n");
        for (name, value) in entries {
            self.element("dt", "", name);
            self.raw("<dd><bdi>");
            self.text(&value.to_string());
            self.raw("</bdi></dd>\n");
        }
        self.raw("</dl>\n");
    }

    fn hashes(&mut self, entries: &[(&str, &dyn Display)]) {
        self.raw("<dl>\n");
        for (name, hash) in entries {
            self.element("dt", "", name);
            self.raw("<dd><code>");
            self.text(&hash.to_string());
            self.raw("</code></dd>\n");
        }
        self.raw("</dl>\n");
    }
}

/// A QR code as SVG; none if the text is too long for one.
fn qr(text: &str) -> Option<String> {
    let code = QrCode::new(text).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let whole = width + 2 * QUIET_ZONE;
    let mut svg = format!(
        "<svg class=\"qr\" viewBox=\"0 0 {whole} {whole}\" role=\"img\" aria-label=\"QR code of this page's address\" \
         shape-rendering=\"crispEdges\"><path fill=\"currentColor\" d=\""
    );
    for (index, _) in colors
        .iter()
        .enumerate()
        .filter(|(_, color)| **color == Color::Dark)
    {
        let (x, y) = (index % width + QUIET_ZONE, index / width + QUIET_ZONE);
        let _ = write!(svg, "M{x},{y}h1v1h-1z");
    }
    svg.push_str("\"/></svg>\n");
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_only_ever_text() {
        let mut page = Page(String::new());
        page.list(&[("Task", &"<script>alert('1')</script> & \"x\"")]);
        assert!(
            page.0
                .contains("<bdi>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;</bdi>")
        );
    }

    #[test]
    fn only_named_files_are_assets() {
        assert!(asset("page.css").is_some() && asset("receipt.js").is_some());
        for name in ["", "page.css/", "../page.css", "PAGE.CSS", "receipt.html"] {
            assert_eq!(asset(name), None, "{name}");
        }
    }
}
