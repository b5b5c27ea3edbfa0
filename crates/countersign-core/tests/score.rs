//! The score of an agent, from outside: the worked values of the contract, the promises of the interval, and the
//! carried sums against the direct ones.

// What a test cannot read fails it.
#![allow(clippy::unwrap_used)]

mod score {
    pub(crate) mod histories;
}

use countersign_core::score::{CountedCheck, Estimate, HalfLife, History, Sums};
use countersign_core::time::Timestamp;
use proptest::prelude::*;
use score::histories::{Random, history};

const DAY: i64 = 86_400_000_000;
/// The contract allows 1e-9; the worst that was seen is 1.4e-14.
const CLOSE: f64 = 1e-12;
/// 2026-11-05.
const NOW: i64 = 1_793_836_800_000_000;

/// The sums of checks one after the other.
fn carried(checks: &[(i64, bool)], half_life: HalfLife) -> Sums {
    let of = |(time, passed): &(i64, bool)| Sums::of(*time, *passed);
    let all = checks.iter().map(of);
    all.reduce(|sums, next| sums.with(next, half_life)).unwrap()
}

/// The sums by the contract's own formula, in the order of the checks.
fn direct(checks: &[(i64, bool)], half_life: HalfLife) -> Sums {
    let newest_micros = checks.iter().map(|(time, _)| *time).max().unwrap();
    let mut sums = Sums {
        newest_micros,
        weights: 0.0,
        passed_weights: 0.0,
        squares: 0.0,
    };
    for (time, passed) in checks {
        let age_days = (newest_micros - time) as f64 / 86_400e6;
        let weight = 0.5_f64.powf(age_days / f64::from(half_life.days()));
        sums.weights += weight;
        sums.passed_weights += if *passed { weight } else { 0.0 };
        sums.squares += weight * weight;
    }
    sums
}

/// What is published of these sums: `0.9 [0.5958, 0.9821]`.
fn published(sums: &Sums) -> String {
    let [score, low, high] = numbers(Estimate::of(sums).unwrap().rounded());
    format!("{score:?} [{low:?}, {high:?}]")
}

fn numbers(estimate: Estimate) -> [f64; 3] {
    [estimate.trust_score, estimate.low, estimate.high]
}

fn assert_close(sums: &Sums, expected: &Sums, story: &str) {
    assert_eq!(sums.newest_micros, expected.newest_micros, "{story}");
    let (got, wanted) = (Estimate::of(sums).unwrap(), Estimate::of(expected).unwrap());
    for (got, wanted) in numbers(got).into_iter().zip(numbers(wanted)) {
        assert!((got - wanted).abs() < CLOSE, "{story}: {got} and {wanted}");
    }
}

#[test]
fn the_worked_values_of_the_contract_come_out() {
    let days = |ages: &[(i64, bool)]| -> Vec<_> {
        let mut checks: Vec<_> = ages
            .iter()
            .map(|(age, passed)| (NOW - age * DAY, *passed))
            .collect();
        checks.sort_by_key(|(time, _)| *time);
        checks
    };
    let nine_of_ten: Vec<_> = (0..10).map(|index| (0, index != 4)).collect();
    let rows = [
        (days(&[(0, true)]), "1.0 [0.2065, 1.0]"),
        (days(&nine_of_ten), "0.9 [0.5958, 0.9821]"),
        (
            days(&[(0, true), (30, false), (60, true)]),
            "0.7143 [0.2005, 0.9614]",
        ),
        (
            days(&[(0, true), (30, true), (60, false), (90, false)]),
            "0.8 [0.267, 0.9777]",
        ),
        (days(&[(0, false)]), "0.0 [0.0, 0.7935]"),
    ];
    for (checks, expected) in rows {
        let thirty = HalfLife::DEFAULT;
        assert_eq!(published(&carried(&checks, thirty)), expected, "{checks:?}");
        assert_eq!(published(&direct(&checks, thirty)), expected, "{checks:?}");
        // The same agent a thousand days later: all weights have shrunk alike.
        let older: Vec<_> = checks
            .iter()
            .map(|(time, passed)| (time - 1_000 * DAY, *passed))
            .collect();
        assert_eq!(published(&carried(&older, thirty)), expected, "{checks:?}");
    }
}

#[test]
fn a_shorter_half_life_forgets_faster() {
    let checks = [(NOW - 30 * DAY, false), (NOW, true)];
    for (days, expected) in [(15, "0.8 ["), (30, "0.6667 ["), (60, "0.5858 [")] {
        let half_life = HalfLife::of_days(days).unwrap();
        let shown = published(&carried(&checks, half_life));
        assert!(shown.starts_with(expected), "{days}: {shown}");
    }
    assert_eq!((HalfLife::of_days(0), HalfLife::of_days(3_651)), (None, None));
}

#[test]
fn carried_sums_agree_with_direct_ones_over_a_hundred_thousand_histories() {
    let mut random = Random::new(1);
    let mut checks = 0;
    for number in 0..100_000 {
        let seed = random.next();
        let (half_life, history) = history(seed);
        checks += history.len();
        let story = format!("history {number}, seed {seed:#x}");
        let expected = direct(&history, half_life);
        assert_close(&carried(&history, half_life), &expected, &story);
        // In groups, as a writer commits them.
        let mut rest = history.as_slice();
        let mut groups = Vec::new();
        while !rest.is_empty() {
            let (group, left) = rest.split_at(random.from(1, rest.len().min(64)));
            groups.push(carried(group, half_life));
            rest = left;
        }
        let merged = groups
            .into_iter()
            .reduce(|sums, group| sums.with(group, half_life))
            .unwrap();
        assert_close(&merged, &expected, &story);
    }
    assert!(
        checks > 10_000_000,
        "{checks} checks: the histories are long enough to mean something"
    );
}

#[test]
fn carried_sums_agree_with_direct_ones_over_a_million_checks() {
    let mut random = Random::new(2);
    // Five years; one day, where all weights are near 1; and one moment.
    for span in [5 * 365 * DAY, DAY, 1] {
        let mut time = NOW;
        let history: Vec<_> = (0..1_000_000)
            .map(|_| {
                time += random.from(0, 2 * span.unsigned_abs() as usize / 1_000_000) as i64;
                let late = if random.one_of(10) {
                    random.from(0, 600_000_000) as i64
                } else {
                    0
                };
                (time - late.min(span), random.one_of(3))
            })
            .collect();
        let story = format!("a million checks in {span} us");
        assert_close(
            &carried(&history, HalfLife::DEFAULT),
            &direct(&history, HalfLife::DEFAULT),
            &story,
        );
    }
}

#[test]
fn the_history_takes_the_very_sums_of_the_contract() {
    for seed in 0..200 {
        let (half_life, checks) = history(seed);
        let mut history = History::default();
        for (index, (time, passed)) in checks.iter().enumerate() {
            let check = CountedCheck {
                sequence: index as u64 * 3 + 1,
                verified_at: Timestamp(*time),
                passed: *passed,
            };
            history.push(check).unwrap();
        }
        let record = history.record(half_life).unwrap();
        assert_close(&record.sums, &direct(&checks, half_life), &format!("seed {seed}"));
        assert_eq!(record.verified(), checks.len() as u64);
        assert_eq!(
            record.first_seen.0,
            checks.iter().map(|(time, _)| *time).min().unwrap()
        );
        let published = record.estimate().unwrap();
        assert_eq!(published, Estimate::of(&record.sums).unwrap().rounded());
    }
}

proptest! {
    #[test]
    fn the_interval_lies_within_0_and_1_and_holds_the_score(
        ages in proptest::collection::vec((0..5 * 365 * DAY, any::<bool>()), 1..60),
        days in 1_u32..=3_650,
    ) {
        let checks: Vec<_> = ages.iter().map(|(age, passed)| (NOW - age, *passed)).collect();
        let half_life = HalfLife::of_days(days).unwrap();
        let exact = Estimate::of(&carried(&checks, half_life)).unwrap();
        for estimate in [exact, exact.rounded()] {
            let [score, low, high] = numbers(estimate);
            prop_assert!(0.0 <= low && low <= score && score <= high && high <= 1.0, "{estimate:?}");
            prop_assert!(low < high, "{estimate:?}");
            prop_assert!(low < 1.0 && high > 0.0, "no history is certain: {estimate:?}");
        }
        let passed = checks.iter().filter(|(_, passed)| *passed).count();
        prop_assert_eq!(exact.trust_score <= 0.0, passed == 0);
        if passed == checks.len() {
            prop_assert!(exact.trust_score >= 1.0);
        }
    }

    #[test]
    fn a_pass_more_never_lowers_a_score_and_a_fail_more_never_raises_it(
        ages in proptest::collection::vec((0..400 * DAY, any::<bool>()), 1..60),
        later in 0..100 * DAY,
    ) {
        let checks: Vec<_> = ages.iter().map(|(age, passed)| (NOW - age, *passed)).collect();
        let before = carried(&checks, HalfLife::DEFAULT);
        let score = |sums: &Sums| Estimate::of(sums).unwrap().trust_score;
        let after = |passed| score(&before.with(Sums::of(NOW + later, passed), HalfLife::DEFAULT));
        prop_assert!(after(true) >= score(&before) - 1e-15);
        prop_assert!(after(false) <= score(&before) + 1e-15);
    }

    #[test]
    fn more_checks_of_one_kind_narrow_the_interval(count in 1_usize..200, share in 0_usize..=4) {
        let width = |count: usize| {
            let checks: Vec<_> = (0..4 * count).map(|index| (NOW, index % 4 < share)).collect();
            let estimate = Estimate::of(&carried(&checks, HalfLife::DEFAULT)).unwrap();
            estimate.high - estimate.low
        };
        prop_assert!(width(count + 1) < width(count));
    }
}
