//! The pages for people: who gets one, what it says, and what it may load.

use crate::rig::{FAILING, MINIMAL, Rig};

const BROWSER: (&str, &str) = (
    "Accept",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
);

#[test]
fn a_receipt_is_a_page_for_a_browser_and_json_for_the_others() {
    let rig = Rig::start();
    let path = format!(
        "/receipts/{}",
        rig.post("/verify/schema", FAILING.as_bytes())
            .member("verification_id")
    );
    let json = rig.get(&path);
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(json.header("vary"), Some("Accept"));
    let any = rig.request("GET", &path, &[("Accept", "*/*")], b"");
    assert_eq!(any.body, json.body);

    let page = rig.request("GET", &path, &[BROWSER], b"");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("vary"), Some("Accept"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    let text = page.text();
    let escaped = json.text().replace('&', "&amp;").replace('"', "&quot;");
    assert!(text.contains(&escaped), "the receipt itself is on the page");
    for part in [
        "Receipt: <span class=\"fail\">fail</span>",
        "<svg class=\"qr\"",
        "id=\"signature\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let head = rig.request("HEAD", &path, &[BROWSER], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn what_a_caller_sent_is_only_ever_text_on_a_page() {
    let rig = Rig::start();
    let hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>&amp;'";
    let request = MINIMAL.replacen("\"task_id\":\"", &format!("\"task_id\":\"{hostile}"), 1);
    assert_ne!(request, MINIMAL);
    let answer = rig.post("/verify/schema", request.as_bytes());
    let path = format!("/receipts/{}", answer.member("verification_id"));
    let text = rig.request("GET", &path, &[BROWSER], b"").text();
    assert_eq!(text.matches("<script").count(), 1, "ours alone");
    assert!(!text.contains("<img"));
    assert!(text.contains("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn there_is_no_page_for_what_there_is_not() {
    let rig = Rig::start();
    for path in [
        "/receipts/01890a5d-ac96-774b-bcce-b302099a8057",
        "/assets/none.js",
        "/assets/",
        "/nothing",
    ] {
        let answer = rig.request("GET", path, &[BROWSER], b"");
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    }
}

#[test]
fn the_front_page_and_the_assets_can_be_kept() {
    let rig = Rig::start();
    let page = rig.request("GET", "/", &[BROWSER], b"");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("vary"), Some("Accept"));
    assert!(
        page.header("content-security-policy")
            .unwrap()
            .contains("style-src 'self'")
    );
    assert_eq!(rig.get("/").header("vary"), Some("Accept"));
    for (path, kind) in [
        ("/assets/page.css", "text/css; charset=utf-8"),
        ("/assets/receipt.js", "text/javascript; charset=utf-8"),
    ] {
        let asset = rig.get(path);
        assert_eq!((asset.status, asset.header("content-type")), (200, Some(kind)));
        let tag = asset.header("etag").unwrap().to_owned();
        let again = rig.request("GET", path, &[("If-None-Match", &tag)], b"");
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
}
