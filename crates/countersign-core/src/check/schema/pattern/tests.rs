use super::*;
use crate::limits::{PATTERN_BYTES_MAX, PATTERN_STEPS_MAX};
use proptest::prelude::*;

fn compile(pattern: &str) -> Pattern {
    Pattern::compile(pattern).unwrap()
}

/// Whether it matches, and how many steps that took of a check's.
fn run(pattern: &str, text: &str) -> (Result<bool, OutOfSteps>, u64) {
    let mut steps = PATTERN_STEPS_MAX;
    let matched = compile(pattern).is_match(text, &mut steps);
    (matched, PATTERN_STEPS_MAX - steps)
}

fn run_vectors(file: &str) -> usize {
    let vectors: serde_json::Value = serde_json::from_str(file).unwrap();
    let rows = vectors["rows"].as_array().unwrap();
    for row in rows {
        let [pattern, text, expected] = ["pattern", "text", "expect"].map(|name| row[name].as_str().unwrap());
        let mut steps = PATTERN_STEPS_MAX;
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
            (Err(OutOfSteps), PATTERN_STEPS_MAX),
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
fn short_texts_take_no_step_from_patterns_of_few_states() {
    let rows = [
        ("^INV-[0-9]{4}$", "INV-7731", true),
        ("^INV-[0-9]{4}$", "INV-77310", false),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "someone@example.com", true),
        (
            "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            true,
        ),
        (
            r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$",
            "2024-02-29T12:00:00",
            false,
        ),
        (r"^\p{Lu}\p{L}{0,29}$", "Ärger", true),
        (r"\bcat\b", "concatenate", false),
        ("^(?:EUR|USD|GBP|CHF|JPY)$", "USD", true),
    ];
    for (pattern, text, expected) in rows {
        assert_eq!(run(pattern, text), (Ok(expected), 0), "{pattern}");
    }
}

#[test]
fn long_texts_take_few_steps() {
    let long = "lorem ipsum ".repeat(50_000);
    let table = long.len() as u64 / 64;
    let rows = [
        (r"\d+", false, table),
        (r"^[\s\S]*z$", false, table),
        (r"^(a|a)*$", false, 0),
        (r"(?:[a-z]+ )*x", false, table),
        (r"(?:lorem|ipsum|dolor|sit|amet) [^l]*$", true, table + 1_000),
        (r"\bipsum $", true, table),
        // Too many states for a table, but few of them met.
        (r"^[\s\S]{1,2000}$", false, 8_000),
        (r"[a-z ]{1,200}\d", false, table + 5_000),
        (r"ip[a-z ]{300}\d", false, table + 30_000),
    ];
    for (pattern, expected, at_most) in rows {
        let (matched, steps) = run(pattern, &long);
        assert_eq!(matched, Ok(expected), "{pattern}");
        assert!(steps <= at_most, "{pattern}: {steps}");
    }
    let (matched, steps) = run(r"^\p{L}+$", &"語".repeat(350_000));
    assert_eq!(matched, Ok(true));
    assert!(steps <= 350_000 / 8, "{steps}");
}

/// Letters `a` and `b` without order.
fn noise(count: usize) -> String {
    let mut random = 1_u32;
    let mut letter = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { 'a' } else { 'b' }
    };
    (0..count).map(|_| letter()).collect()
}

#[test]
fn ways_that_keep_parting_end_when_the_steps_do() {
    // Which of the last 10,000 letters were `a`: nearly each character leads to a state never met before.
    let noise = noise(64 << 10);
    for pattern in ["a[ab]{10000}c", "a[^c]{10000}c", r"\p{L}[\p{L}\d]{10000}\d"] {
        let spent = (Err(OutOfSteps), PATTERN_STEPS_MAX);
        assert_eq!(run(pattern, &noise), spent, "{pattern}");
    }
    for (pattern, expected) in [("a[ab]{8}c", false), ("a[ab]{30}c", false), ("a[ab]{30}b", true)] {
        assert_eq!(run(pattern, &noise).0, Ok(expected), "{pattern}");
    }
}

#[test]
fn many_short_texts_pay_as_one_long_text_does() {
    let pattern = compile("a[ab]{500}c");
    let noise = noise(20_000);
    let mut steps = PATTERN_STEPS_MAX;
    let decided = (0..20_000 - 600)
        .take_while(|from| pattern.is_match(&noise[*from..from + 600], &mut steps) == Ok(false))
        .count();
    assert!((100..10_000).contains(&decided), "{decided}");
    assert_eq!(steps, 0);
}

#[test]
fn a_match_takes_the_same_steps_after_others_and_beside_them() {
    // 300 characters on which it branches.
    let letters: String = (0..300).filter_map(|n| char::from_u32(0x4e00 + n)).collect();
    let branches = |letters: &str| -> String {
        let one = |c| format!("{c}[^{c}]{{3}}{c}");
        letters.chars().map(one).collect::<Vec<_>>().join("|")
    };
    let text: Vec<char> = letters.chars().cycle().step_by(7).take(5_000).collect();
    let mut with_match = text.clone();
    with_match[4_003] = with_match[3_999];
    let (text, with_match) = (String::from_iter(text), String::from_iter(with_match));
    let alphabet = "abcdefghijklmnopqrstuvwxyz";
    let noise = noise(20_000);
    let rows = [
        ("few states", "^[ab]*$".to_owned(), &*noise, true),
        ("more classes than are kept", branches(&letters), &*text, false),
        ("one of them matches", branches(&letters), &*with_match, true),
        ("some states", branches(alphabet), &*noise, true),
        (
            "more states than are kept",
            "a[ab]{40}c".to_owned(),
            &*noise,
            false,
        ),
        (
            "states on a short text",
            "a[ab]{40}c".to_owned(),
            &noise[..200],
            false,
        ),
    ];
    for (name, pattern, text, expected) in rows {
        let shared = compile(&pattern);
        let take = |text: &str| {
            let mut steps = PATTERN_STEPS_MAX;
            (shared.is_match(text, &mut steps), steps)
        };
        let first = take(text);
        assert_eq!(first.0, Ok(expected), "{name}");
        assert!(take(&noise[1..]).0.is_ok());
        assert!(take(&"other text, ".repeat(500)).0.is_ok());
        std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| take(text)));
            for thread in threads {
                assert_eq!(thread.join().unwrap(), first, "{name}");
            }
        });
        // Just enough steps are enough, and one fewer is not.
        let mut steps = PATTERN_STEPS_MAX - first.1;
        if steps > 0 {
            assert_eq!(shared.is_match(text, &mut (steps - 1)), Err(OutOfSteps), "{name}");
        }
        assert_eq!(shared.is_match(text, &mut steps), Ok(expected), "{name}");
        assert_eq!(steps, 0, "{name}");
    }
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
            let (mut few, mut steps) = (100, 10_000_000);
            let found = backtracking.is_match(&text, &mut steps);
            prop_assert_eq!(linear.is_match(&text, &mut few), found, "{}", text);
            // The same within a text long enough that states are kept, where no match begins or ends elsewhere.
            let long = format!("{}{text}", "a".repeat(1_024));
            let (mut many, mut steps) = (100_000, 10_000_000);
            // `(?:a*)*1` has the backtracking one try every split of the letters: it may run out, and says nothing.
            if let Ok(found) = backtracking.is_match(&long, &mut steps) {
                prop_assert_eq!(linear.is_match(&long, &mut many), Ok(found), "{}", text);
            }
        }
    }
}
