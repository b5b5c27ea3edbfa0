use super::*;
use crate::limits::{BACKTRACKING_STEPS_MAX, PATTERN_BYTES_MAX};
use proptest::prelude::*;

fn compile(pattern: &str) -> Pattern {
    Pattern::compile(pattern).unwrap()
}

/// Whether it matches, and how many steps that took of a check's.
fn run(pattern: &str, text: &str) -> (Result<bool, OutOfSteps>, u64) {
    let mut steps = BACKTRACKING_STEPS_MAX;
    let matched = compile(pattern).is_match(text, &mut steps);
    (matched, BACKTRACKING_STEPS_MAX - steps)
}

fn run_vectors(file: &str) -> usize {
    let vectors: serde_json::Value = serde_json::from_str(file).unwrap();
    let rows = vectors["rows"].as_array().unwrap();
    for row in rows {
        let [pattern, text, expected] = ["pattern", "text", "expect"].map(|name| row[name].as_str().unwrap());
        let mut steps = BACKTRACKING_STEPS_MAX;
        let found = match Pattern::compile(pattern) {
            Err(BadPattern::Syntax) => "invalid",
            Err(BadPattern::TooLarge) => "too large",
            Ok(pattern) if pattern.is_match(text, &mut steps).unwrap() => "match",
            Ok(_) => "no match",
        };
        assert_eq!(found, expected, "{row}");
        assert_eq!(Pattern::is_valid(pattern), expected != "invalid", "{row}");
    }
    rows.len()
}

#[test]
fn patterns_mean_what_ecma_262_says() {
    assert!(run_vectors(include_str!("../../../../../../vectors/pattern/ecma-262.json")) > 800);
}

#[test]
fn any_ascii_punctuation_may_follow_a_backslash() {
    run_vectors(include_str!("../../../../../../vectors/pattern/punctuation.json"));
    for c in (0..128_u8).map(char::from) {
        let escaped = [format!("^\\{c}$"), format!("^[\\{c}]$")];
        for pattern in escaped.into_iter().filter(|_| c.is_ascii_punctuation()) {
            assert_eq!(run(&pattern, &c.to_string()), (Ok(true), 0), "{pattern}");
        }
    }
}

#[test]
fn a_place_between_characters_is_not_inside_one() {
    // Between the two bytes, or the two UTF-16 units, of a character there is no place to match at.
    for text in ["aéa", "a😀a"] {
        assert_eq!(run(r"\B", text), (Ok(false), 0));
        assert_eq!(run(r"(?=\B)", text).0, Ok(false));
    }
}

#[test]
fn what_grows_beyond_a_mebibyte_is_refused_before_it_is_built() {
    let nested =
        |inner: &str, count: usize, outer: &str| format!("{}a{}", inner.repeat(count), outer.repeat(count));
    let rows = [
        ("repetitions of repetitions", "(a{1000}){1000}".to_owned()),
        ("the highest repetition", "a{4294967295}".to_owned()),
        (
            "a repetition beyond 32 bits",
            "a{99999999999999999999}".to_owned(),
        ),
        ("optional ones", "(?:a?){0,1000000}".to_owned()),
        ("repetitions in look-ahead", "(?=(a{1000}){1000})".to_owned()),
        ("100,000 open groups", "(".repeat(100_000)),
        ("201 groups inside one another", nested("(", 201, ")")),
        ("doubled 60 times", nested("(?:", 60, "{0,2})")),
        ("100,000 sets of letters", r"\p{L}".repeat(100_000)),
        (
            "a class of 200,000 sets",
            format!("[{}]", r"\p{L}".repeat(200_000)),
        ),
        (
            "a class of 200,000 characters",
            format!("[{}]", "é".repeat(200_000)),
        ),
        ("100,000 characters", "a".repeat(100_000)),
    ];
    for (name, pattern) in rows {
        assert_eq!(
            Pattern::compile(&pattern).err(),
            Some(BadPattern::TooLarge),
            "{name}"
        );
    }
}

#[test]
fn what_fits_is_compiled() {
    let nested =
        |inner: &str, count: usize, outer: &str| format!("{}a{}", inner.repeat(count), outer.repeat(count));
    let rows = [
        ("200 groups inside one another", nested("(", 200, ")"), "a", true),
        (
            "a text of up to 40,000 characters",
            r"^[\s\S]{0,40000}$".to_owned(),
            "text",
            true,
        ),
        (
            "what takes nothing, often",
            "^(?:){4294967295}(?:(?=a)){4294967295}a".to_owned(),
            "a",
            true,
        ),
        (
            "150 sets of letters",
            format!("^{}$", r"\p{L}".repeat(150)),
            "short",
            false,
        ),
        ("20,000 alternatives", vec!["a"; 20_000].join("|"), "b", false),
    ];
    for (name, pattern, text, expected) in rows {
        let pattern = compile(&pattern);
        assert!(
            pattern.size() <= PATTERN_BYTES_MAX + size_of::<Pattern>(),
            "{name}"
        );
        assert_eq!(pattern.is_match(text, &mut 1_000_000), Ok(expected), "{name}");
    }
}

#[test]
fn backtracking_ends_when_the_steps_do() {
    let text = "a".repeat(5_000);
    for pattern in [r"^(?:a|a)*(?=b)", r"(a*)*\1b", r"(.*)\1{3}b", r"(?<=b(?:a*)*)a"] {
        assert_eq!(
            run(pattern, &text),
            (Err(OutOfSteps), BACKTRACKING_STEPS_MAX),
            "{pattern}"
        );
    }
    let mut steps = 1_000;
    let pattern = compile(r"^(?!.*b)");
    assert_eq!(pattern.is_match(&text[..50], &mut steps), Ok(true));
    let spent = 1_000 - steps;
    assert!((50..500).contains(&spent), "{spent}");
    assert_eq!(pattern.is_match(&text[..50], &mut (spent - 1)), Err(OutOfSteps));
}

#[test]
fn reading_each_character_once_takes_no_steps() {
    let long = "lorem ipsum ".repeat(50_000);
    let rows = [
        (r"\d+", false),
        (r"^[\s\S]*z$", false),
        (r"^(a|a)*$", false),
        (r"(?:[a-z]+ )*x", false),
        (r"^[\s\S]{1,2000}$", false),
        (r"[a-z ]{1,200}\d", false),
        (r"(?:lorem|ipsum|dolor|sit|amet) [^l]*$", true),
        (r"\bipsum $", true),
    ];
    for (pattern, expected) in rows {
        assert_eq!(run(pattern, &long), (Ok(expected), 0), "{pattern}");
    }
}

#[test]
fn ways_that_keep_parting_end_when_the_steps_do() {
    // Which of the last 10,000 letters were `a`: nearly each character leads to a state never met before.
    let mut random = 1_u32;
    let mut letter = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..40_000).map(|_| letter()).collect();
    assert_eq!(
        run("a[ab]{10000}c", &text),
        (Err(OutOfSteps), BACKTRACKING_STEPS_MAX)
    );
    assert_eq!(run("a[ab]{8}c", &text), (Ok(false), 0));
}

#[test]
fn a_pattern_gives_one_answer_however_often_it_is_asked() {
    // 300 characters on which it branches, and more states than it keeps.
    let letters: String = (0..300).filter_map(|n| char::from_u32(0x4e00 + n)).collect();
    let alternatives: Vec<String> = letters.chars().map(|c| format!("{c}[^{c}]{{3}}{c}")).collect();
    let pattern = compile(&alternatives.join("|"));
    let text: Vec<char> = letters.chars().cycle().step_by(7).take(5_000).collect();
    let mut with_match = text.clone();
    with_match[4_003] = with_match[3_999];
    for _ in 0..3 {
        assert_eq!(
            pattern.is_match(&String::from_iter(&text), &mut 1_000_000),
            Ok(false)
        );
        assert_eq!(
            pattern.is_match(&String::from_iter(&with_match), &mut 1_000_000),
            Ok(true)
        );
    }
}

#[test]
fn the_steps_of_a_text_do_not_depend_on_earlier_texts() {
    let steps = |pattern: &Pattern, text: &str| {
        let mut left = 1_000_000;
        let answer = pattern.is_match(text, &mut left);
        (answer, left)
    };
    // Ways part at every `a` and do not meet again for 60 characters, so that each text teaches much.
    let source = "a[ab]{60}c";
    let mut number = 1_u64;
    let texts: Vec<String> = (0..12)
        .map(|length| {
            let letter = |_| {
                number = number
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                if number >> 63 == 0 { 'a' } else { 'b' }
            };
            (0..400 << (length % 8)).map(letter).collect()
        })
        .collect();
    let used = compile(source);
    let mut taken = 0;
    for text in texts.iter().chain(&texts) {
        let fresh = steps(&compile(source), text);
        assert_eq!(steps(&used, text), fresh, "{} characters", text.len());
        taken += 1_000_000 - fresh.1;
        used.rest();
    }
    assert!(taken > 0, "the texts are long enough to take steps");
}

/// Patterns of the parts that patterns are made of, most of them valid.
fn any_pattern() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "a", "b", "é", ".", r"\d", r"\W", r"\s", "[a-c]", "[^b]", "[]", "[^]", r"\p{Lu}", "^", "$", r"\b",
        r"\B", "",
    ])
    .prop_map(str::to_owned);
    let quantifier = prop::sample::select(vec!["", "*", "+", "?", "{2}", "{0,2}", "{1,}?", "{0}"]);
    atom.prop_recursive(4, 24, 4, move |inner| {
        let repeated = (inner.clone(), quantifier.clone()).prop_map(|(inner, q)| format!("(?:{inner}){q}"));
        prop_oneof![
            repeated,
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join("|"))),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(pattern in r"[ -~é😀\n]{0,40}", text in "\\PC{0,20}") {
        if let Ok(pattern) = Pattern::compile(&pattern) {
            let _ = pattern.is_match(&text, &mut 10_000);
        }
    }

    #[test]
    fn pieces_of_syntax_do_not_make_it_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "(", ")", "[", "]", "{", "}", "(?<n>", r"\k<n>", "(?=", "(?<!", r"\1", r"\u{", r"\u", "D83D", r"\p{", "L}",
            "a", "-", "1", ",", "*", "?", "|", "^", r"\", "é",
        ]), 0..16),
        text in "[aé1]{0,8}",
    ) {
        if let Ok(pattern) = Pattern::compile(&pieces.concat()) {
            let _ = pattern.is_match(&text, &mut 10_000);
        }
    }

    #[test]
    fn both_machines_agree(pattern in any_pattern(), texts in prop::collection::vec("[abé\n1 A😀]{0,8}", 4)) {
        let linear = compile(&pattern);
        prop_assert!(matches!(linear.0, Machine::Linear(_)));
        // The look-ahead is always true, but it takes the other machine.
        let backtracking = compile(&format!("(?:{pattern})(?=)"));
        prop_assert!(matches!(backtracking.0, Machine::Backtracking(_)));
        for text in texts {
            let (mut unspent, mut steps) = (5, 10_000_000);
            let found = linear.is_match(&text, &mut unspent);
            prop_assert_eq!(found, backtracking.is_match(&text, &mut steps), "{}", text);
            prop_assert_eq!(unspent, 5);
        }
    }
}
