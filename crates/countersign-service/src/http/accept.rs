//! Which of two forms a client would rather have (RFC 9110, 12.5.1).

use hyper::header::{GetAll, HeaderValue};

/// Whether `Accept` prefers a page to JSON. A tie is JSON, so `*/*` and no header at all are.
pub(super) fn prefers_page(accept: &GetAll<'_, HeaderValue>) -> bool {
    let ranges = ranges(accept);
    let (page, json) = (
        quality(&ranges, "text", "html"),
        quality(&ranges, "application", "json"),
    );
    page > json
}

fn ranges(accept: &GetAll<'_, HeaderValue>) -> Vec<(String, f32)> {
    let lists = accept.iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).filter_map(range).collect()
}

/// Whether `Accept` admits JSON or a stream of events. No header admits everything.
pub(super) fn admits_json_or_events(accept: &GetAll<'_, HeaderValue>) -> bool {
    let ranges = ranges(accept);
    let admitted = |kind, subtype| quality(&ranges, kind, subtype) > 0.0;
    ranges.is_empty() || admitted("application", "json") || admitted("text", "event-stream")
}

/// A media range in lower case, and its quality from 0 to 1. Parameters but `q` are not told apart.
fn range(text: &str) -> Option<(String, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let quality: f32 = quality.map_or(Some(1.0), |text| text.parse().ok())?;
    (0.0..=1.0).contains(&quality).then_some((name, quality))
}

/// The quality of a type by the most exact range that has it; 0 if none has.
fn quality(ranges: &[(String, f32)], kind: &str, subtype: &str) -> f32 {
    let exact = format!("{kind}/{subtype}");
    let whole = format!("{kind}/*");
    [exact.as_str(), whole.as_str(), "*/*"]
        .into_iter()
        .find_map(|wanted| {
            let of = ranges.iter().filter(|(name, _)| name == wanted);
            of.map(|(_, quality)| *quality).reduce(f32::max)
        })
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{ACCEPT, HeaderMap};

    #[test]
    fn a_page_goes_to_who_asks_for_one() {
        let cases: &[(&[&str], bool)] = &[
            (&[], false),
            (&["*/*"], false),
            (&["text/html"], true),
            (&["text/*"], true),
            (&["TEXT/HTML; Q=0.2"], true),
            (
                &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
                true,
            ),
            (&["application/json, text/html"], false),
            (&["application/json;q=0.5, text/html"], true),
            (&["text/html;q=0, */*"], false),
            (&["text/html;q=0.9, application/json"], false),
            (&["text/html;q=0.9", "application/json;q=0.8"], true),
            (&["text/html;q=2"], false),
            (&["text/html;q=x"], false),
            (&["", ",,", ";q=1"], false),
        ];
        for (values, page) in cases {
            let mut headers = HeaderMap::new();
            for value in *values {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(prefers_page(&headers.get_all(ACCEPT)), *page, "{values:?}");
        }
    }
}
