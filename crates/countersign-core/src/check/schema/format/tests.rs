use super::*;

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
