use super::*;
use proptest::prelude::*;

#[test]
fn every_format_is_found_by_its_name() {
    for format in Format::ALL {
        assert_eq!(Format::named(format.name()), Some(*format));
    }
    for name in ["Date", "datetime", "", "uri ", "color", "host-name"] {
        assert_eq!(Format::named(name), None, "{name}");
    }
    assert_eq!(Format::ALL.len(), 19);
}

#[test]
fn formats_are_those_of_their_rfcs() {
    let file = include_str!("../../../../../../vectors/format/formats.json");
    let vectors: serde_json::Value = serde_json::from_str(file).unwrap();
    let rows = vectors["rows"].as_array().unwrap();
    assert_eq!(rows.len(), Format::ALL.len());
    for row in rows {
        let format = Format::named(row["format"].as_str().unwrap()).unwrap();
        for (list, expected) in [("valid", true), ("invalid", false)] {
            for text in row[list].as_array().unwrap() {
                assert_eq!(
                    format.matches(text.as_str().unwrap()),
                    expected,
                    "{} {text}",
                    format.name()
                );
            }
        }
    }
}

#[test]
fn a_host_name_has_at_most_253_characters() {
    let longest = format!("{}{}", "a23456789.".repeat(25), "abc");
    for format in [Format::Hostname, Format::IdnHostname] {
        assert!(format.matches(&longest));
        assert!(!format.matches(&format!("{longest}d")));
    }
    // Counted as DNS carries it: 36 characters a label.
    let label = "ü".repeat(30);
    assert!(Format::IdnHostname.matches(&[label.as_str(); 6].join(".")));
    assert!(!Format::IdnHostname.matches(&[label.as_str(); 7].join(".")));
}

#[test]
fn long_texts_take_no_long_time() {
    // What grew with the square of a text would take minutes here.
    let pieces = [
        "a", "é", "\u{200c}", "xn--", "a.", "。", "~", "%41", "{a}", "1", "P1Y", "::", "\\u{", "(", "[",
        "\"\\", "@",
    ];
    for piece in pieces {
        let text = piece.repeat((1 << 16) / piece.len());
        for format in Format::ALL {
            for prefix in ["", "http://", "/", "P", "\"", "0", "x@"] {
                let _ = format.matches(&format!("{prefix}{text}"));
            }
        }
    }
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,24}", near in "[0-9a-zA-Z:.@%{}~/+#é٠\u{200d}\\-\\[\\]\\\\]{0,24}") {
        for format in Format::ALL {
            let _ = format.matches(&text);
            let _ = format.matches(&near);
        }
    }

    #[test]
    fn each_format_is_part_of_a_wider_one(text in "[0-9a-zA-Z:.@%~/+#\\-\\[\\]]{0,16}") {
        let wider = [
            (Format::Hostname, Format::IdnHostname),
            (Format::Email, Format::IdnEmail),
            (Format::Uri, Format::UriReference),
            (Format::Uri, Format::Iri),
            (Format::Iri, Format::IriReference),
            (Format::UriReference, Format::IriReference),
        ];
        for (narrow, wide) in wider {
            prop_assert!(!narrow.matches(&text) || wide.matches(&text), "{}", narrow.name());
        }
    }
}
