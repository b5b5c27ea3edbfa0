use super::*;
#[test]
fn smoke() {
    let mut steps = 1000;
    assert_eq!(
        Pattern::compile(r"^\d+$").unwrap().is_match("12", &mut steps),
        Ok(true)
    );
}
