//! The evaluator against two others: random schemas of all five drafts, instances that nearly fit, and the same
//! answer from all three but for what is settled by name (`docs/conformance.md`).
//!
//! The seed is fixed, so a run in CI is the same everywhere. `COUNTERSIGN_DIFFERENTIAL_PAIRS` asks for more pairs,
//! `COUNTERSIGN_DIFFERENTIAL_SEED` for others.
#![allow(
    clippy::disallowed_methods,
    reason = "the environment may ask for a longer run"
)]

#[path = "differential/choices.rs"]
mod choices;
#[path = "differential/faulty.rs"]
mod faulty;
#[path = "differential/instances.rs"]
mod instances;
#[path = "differential/oracles.rs"]
mod oracles;
#[path = "differential/patterns.rs"]
mod patterns;
#[path = "differential/schemas.rs"]
mod schemas;
#[path = "differential/settled.rs"]
mod settled;

use choices::{Choices, choices};
use countersign_core::canonical;
use countersign_core::check::budget::Budget;
use countersign_core::check::name::CheckName;
use countersign_core::check::schema::{Evaluation, Schema};
use countersign_core::json;
use instances::Sampler;
use oracles::Boon;
use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use settled::{Answers, SETTLED};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Pairs of one schema and one instance, when the environment does not ask for more.
const PAIRS: usize = 40_000;
/// Instances drawn for each schema.
const INSTANCES: usize = 4;
/// The least share of pairs that must fail, in percent.
const FAILING_PERCENT_MIN: usize = 30;
/// How many pairs must hit each check at least.
const HITS_MIN: usize = 100;

/// The variable that asks for other cases.
const SEED: &str = "COUNTERSIGN_DIFFERENTIAL_SEED";

/// What a run has seen.
#[derive(Default)]
struct Tally {
    pairs: usize,
    failing: usize,
    hits: BTreeMap<&'static str, usize>,
    settled: BTreeMap<&'static str, usize>,
}

#[test]
fn three_evaluators_agree_on_random_schemas() {
    let pairs = asked("COUNTERSIGN_DIFFERENTIAL_PAIRS")
        .unwrap_or(PAIRS)
        .max(PAIRS);
    let tally = RefCell::new(Tally::default());
    let strategy = (choices(20..320), vec(choices(10..120), INSTANCES));
    run(pairs.div_ceil(INSTANCES), &strategy, |(schema, instances)| {
        compare(schema, instances, &mut tally.borrow_mut())
    });
    let tally = tally.into_inner();
    let report = format!(
        "{} pairs, {} failing\nhits: {:#?}\nsettled disagreements: {:#?}",
        tally.pairs, tally.failing, tally.hits, tally.settled
    );
    println!("{report}");
    assert!(tally.pairs >= pairs);
    assert!(
        tally.failing * 100 >= tally.pairs * FAILING_PERCENT_MIN,
        "{report}"
    );
    for name in CheckName::ALL
        .iter()
        .map(|check| check.as_str())
        .filter(|name| name.starts_with("schema:"))
    {
        let hits = tally.hits.get(name).copied().unwrap_or(0);
        assert!(hits >= HITS_MIN, "{name} has {hits} hits: {report}");
    }
    // Another seed may miss the rarest.
    for entry in SETTLED.iter().filter(|_| asked(SEED).is_none()) {
        assert!(
            tally.settled.contains_key(entry.reason),
            "no case needs this any more: {}",
            entry.reason
        );
    }
}

#[test]
fn what_a_meta_schema_refuses_is_refused_and_the_rest_compiles() {
    use schemas::Draft;
    for (keyword, value, first, last) in faulty::rows() {
        for draft in [Draft::D4, Draft::D6, Draft::D7, Draft::D2019, Draft::D2020] {
            let good = !(first..=last).contains(&draft);
            let fault = serde_json::json!({ keyword: value });
            let mut at_the_root = fault.clone();
            at_the_root["$schema"] = draft.uri().into();
            let in_a_property = serde_json::json!({"$schema": draft.uri(), "properties": {"a": fault}});
            let unused = serde_json::json!({"$schema": draft.uri(), draft.definitions(): {"a": fault}});
            for schema in [at_the_root, in_a_property, unused] {
                let ours = Schema::compile(&json::read(schema.to_string().as_bytes()).unwrap()).is_ok();
                assert_eq!(ours, good, "ours: {schema}");
                // The oracles' own meta-schemas differ in places; one of the two must say the same.
                let (jsonschema, boon) = (
                    oracles::jsonschema(&schema).is_ok(),
                    Boon::compile(&schema, draft).is_ok(),
                );
                assert!(jsonschema == good || boon == good, "both oracles: {schema}");
            }
        }
    }
}

#[test]
fn three_engines_agree_on_random_patterns() {
    let pairs = asked("COUNTERSIGN_DIFFERENTIAL_PAIRS")
        .unwrap_or(PAIRS)
        .max(PAIRS);
    let matching = Cell::new(0);
    let strategy = (choices(5..40), vec(choices(1..20), INSTANCES));
    run(pairs.div_ceil(INSTANCES), &strategy, |(mut pattern, strings)| {
        let pattern = patterns::pattern(&mut pattern);
        let schema = serde_json::json!({"pattern": pattern.text});
        let ours = json::read(schema.to_string().as_bytes()).expect("a schema for the strict reader");
        let ours = Schema::compile(&ours)
            .map_err(|faults| format!("ours refuses {schema}: {}", faults[0].problem))?;
        let jsonschema = match oracles::jsonschema(&schema) {
            Ok(validator) => validator,
            // Its engine knows no repeated group around nothing but look-around.
            Err(_) if pattern.looks_around => return Ok(()),
            Err(problem) => return Err(format!("jsonschema refuses {schema}: {problem}")),
        };
        let boon = Boon::compile(&schema, schemas::Draft::D2020);
        if boon.is_err() && !pattern.looks_around {
            return Err(format!("boon refuses {schema}"));
        }
        for mut choices in strings {
            let text = pattern.string(&mut choices);
            let value = json::Value::String(text.as_str().into());
            let evaluation = ours
                .evaluate(&value, &mut Budget::default())
                .map_err(|spent| format!("{schema}: {spent}"))?;
            let (matches, text) = (evaluation.findings.total == 0, serde_json::Value::from(text));
            let others = [
                Some(jsonschema.is_valid(&text)),
                boon.as_ref().ok().map(|boon| boon.is_valid(&text)),
            ];
            if others.into_iter().flatten().any(|other| other != matches) {
                return Err(format!(
                    "{schema} matches {text}? ours: {matches}, jsonschema and boon: {others:?}"
                ));
            }
            matching.set(matching.get() + usize::from(matches));
        }
        Ok(())
    });
    println!("{} strings match", matching.get());
    assert!(
        matching.get() * 10 >= pairs,
        "too few strings match: {}",
        matching.get()
    );
}

/// A number from the environment.
fn asked(name: &str) -> Option<usize> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// Runs a property on so many cases of the seed; panics with what it says of the simplest case that breaks it.
fn run<S: Strategy>(cases: usize, strategy: &S, property: impl Fn(S::Value) -> Result<(), String>) {
    let seed = asked(SEED).unwrap_or(0) as u64;
    let mut seed_bytes = [0; 32];
    seed_bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed_bytes);
    let cases = cases as u32;
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let outcome = TestRunner::new_with_rng(config, rng)
        .run(strategy, |case| property(case).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        // The reason tells the case as JSON; the stream of choices behind it says nothing to a reader.
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Compares the three on one schema and its instances; `Err` tells the first case that differs.
fn compare(mut schema: Choices, instances: Vec<Choices>, tally: &mut Tally) -> Result<(), String> {
    let (draft, schema) = schemas::schema(&mut schema);
    let text = schema.to_string();
    let ours = json::read(text.as_bytes()).expect("a schema for the strict reader");
    let ours_again = json::read(&canonical::bytes(&ours)).expect("canonical bytes for the strict reader");
    let compile = |schema| {
        let faults = |faults: Vec<countersign_core::check::schema::SchemaFault>| {
            let faults = faults
                .iter()
                .map(|fault| format!("{} {}", fault.place, fault.problem));
            format!("ours refuses {text}: {}", faults.collect::<Vec<_>>().join("; "))
        };
        Schema::compile(schema).map_err(faults)
    };
    let (ours, ours_again) = (compile(&ours)?, compile(&ours_again)?);
    let jsonschema = oracles::jsonschema(&schema);
    let boon = Boon::compile(&schema, draft);
    let sampler = Sampler { root: &schema, draft };
    for mut choices in instances {
        let instance = sampler.sample(&mut choices);
        let evaluation = evaluate(&ours, &ours_again, &instance)
            .map_err(|problem| format!("{problem}\nschema:   {text}\ninstance: {instance}"))?;
        let answers = Answers {
            draft,
            schema: &schema,
            instance: &instance,
            ours: evaluation.findings.total == 0,
            jsonschema: jsonschema
                .as_ref()
                .ok()
                .map(|validator| validator.is_valid(&instance)),
            boon: boon.as_ref().ok().map(|boon| boon.is_valid(&instance)),
        };
        if !answers.agree() {
            let Some(entry) = SETTLED.iter().find(|entry| (entry.covers)(&answers)) else {
                return Err(format!(
                    "valid? ours: {}, jsonschema: {:?}, boon: {:?}\nschema:   {text}\ninstance: {instance}\n\
                     ours finds: {:#?}\nboon: {:?}\njsonschema: {:?}",
                    answers.ours,
                    answers.jsonschema,
                    answers.boon,
                    evaluation.findings.shown,
                    boon.err(),
                    jsonschema.err(),
                ));
            };
            *tally.settled.entry(entry.reason).or_default() += 1;
        }
        tally.pairs += 1;
        tally.failing += usize::from(!answers.ours);
        for check in &evaluation.findings.checks {
            *tally.hits.entry(check.as_str()).or_default() += 1;
        }
    }
    Ok(())
}

/// Our answer, held to what must be true of any: findings and counts say the same, and canonical bytes of schema
/// and instance give the same counts and findings.
fn evaluate(schema: &Schema, again: &Schema, instance: &serde_json::Value) -> Result<Evaluation, String> {
    let value = json::read(instance.to_string().as_bytes()).expect("an instance for the strict reader");
    let first = schema
        .evaluate(&value, &mut Budget::default())
        .map_err(|spent| format!("a budget ran out: {spent}"))?;
    let (found, count) = (first.findings.total, first.count);
    if (found == 0) != (count.passed == count.total) || count.passed > count.total {
        return Err(format!(
            "{found} findings, but {} of {} passed",
            count.passed, count.total
        ));
    }
    let value = json::read(&canonical::bytes(&value)).expect("canonical bytes for the strict reader");
    let second = again
        .evaluate(&value, &mut Budget::default())
        .map_err(|spent| format!("a budget ran out: {spent}"))?;
    let places = |evaluation: &Evaluation| {
        evaluation
            .findings
            .shown
            .iter()
            .map(|finding| (finding.check, finding.field.clone()))
            .collect::<Vec<_>>()
    };
    let same = (second.count, second.findings.total) == (count, found) && places(&second) == places(&first);
    same.then_some(first)
        .ok_or_else(|| "canonical bytes are answered differently".to_owned())
}
