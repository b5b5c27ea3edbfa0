//! `vectors/score`: a record in lines, and the score that it gives.

use super::run_all;
use countersign_core::score::{CountedCheck, HalfLife, History};
use serde_json::{Value, json};

/// The history, or the number of the first line that is none.
fn history(input: &Value) -> Result<History, usize> {
    let mut history = History::default();
    for (index, line) in input["lines"].as_array().unwrap().iter().enumerate() {
        let check = CountedCheck::parse(line.as_str().unwrap().as_bytes());
        let kept = check.and_then(|check| history.push(check));
        kept.map_err(|_| index + 1)?;
    }
    Ok(history)
}

fn told(history: &History, half_life: HalfLife) -> Value {
    let Some(record) = history.record(half_life) else {
        return json!({
            "trust_score": null, "confidence_interval_95": null, "sample_size": 0, "passed": 0, "failed": 0,
            "first_seen": null, "last_seen": null,
        });
    };
    let estimate = record.estimate().unwrap();
    json!({
        "trust_score": estimate.trust_score,
        "confidence_interval_95": [estimate.low, estimate.high],
        "sample_size": record.verified(),
        "passed": record.passed,
        "failed": record.failed,
        "first_seen": record.first_seen.to_string(),
        "last_seen": record.last_seen().to_string(),
    })
}

fn scored(case: &Value) -> Result<(), String> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let days = u32::try_from(input["half_life_days"].as_u64().unwrap()).unwrap();
    let half_life = HalfLife::of_days(days).unwrap();
    let answer = match history(input) {
        Ok(history) => told(&history, half_life),
        Err(line) => json!({"refused": {"line": line}}),
    };
    if answer == *expect {
        Ok(())
    } else {
        Err(format!("{answer} is not {expect}"))
    }
}

#[test]
fn scores() {
    run_all("score", 75, scored);
}
