//! `countersign agent` and `countersign score`: the record of an agent, and the score computed anew from it.

use super::serve::{Served, exchange};
use super::{countersign, json, path, run, status, with_input};

fn check(served: &Served, agent: &str, output: &str) {
    let body = format!(
        r#"{{"task_id":"t","agent_id":"{agent}","expected_schema":{{"type":"integer"}},"submitted_output":{output}}}"#
    );
    let (status, _) = exchange(&served.address, "POST", "/verify/schema", body.as_bytes()).unwrap();
    assert_eq!(status, 200);
}

fn lines(output: &std::process::Output) -> Vec<String> {
    assert_eq!(status(output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

fn complaint(output: &std::process::Output) -> String {
    assert_eq!((status(output), output.stdout.len()), (2, 0));
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn anyone_computes_the_score_of_a_running_service_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let mut served = Served::start(folder.path());
    for output in ["1", "2", "\"3\"", "4"] {
        check(&served, "org/agent:7", output);
        check(&served, "another", "1");
    }
    // While it is served.
    let record = run(&["agent", "org/agent:7", "--data", data]);
    let printed = lines(&record);
    assert_eq!(printed.len(), 4);
    for (line, (sequence, result)) in printed
        .iter()
        .zip([(1, "pass"), (3, "pass"), (5, "fail"), (7, "pass")])
    {
        assert!(
            line.starts_with(&format!("{{\"sequence\":{sequence},\"verified_at\":\"20")),
            "{line}"
        );
        assert!(
            line.ends_with(&format!("+00:00\",\"result\":\"{result}\"}}")),
            "{line}"
        );
    }
    let again = with_input(&["score", "--from", "-"], &record.stdout);
    let again = json(&again);
    let (_, signed) = exchange(&served.address, "GET", "/score/org/agent:7", b"").unwrap();
    let signed: serde_json::Value = serde_json::from_slice(&signed).unwrap();
    for member in [
        "trust_score",
        "confidence_interval_95",
        "sample_size",
        "passed",
        "failed",
        "first_seen",
        "last_seen",
    ] {
        assert_eq!(again[member], signed[member], "{member}");
    }
    assert_eq!(
        (&again["sample_size"], &again["trust_score"]),
        (&4.into(), &0.75.into())
    );
    // The service goes on as before, and the record is the same when it has ended.
    check(&served, "org/agent:7", "5");
    served.terminate();
    assert!(served.child.wait().unwrap().success());
    let later = lines(&run(&["agent", "org/agent:7", "--data", data]));
    assert_eq!((later.len(), &later[..4]), (5, &printed[..]));
    let database = format!("sqlite:{}", path(&folder.path().join("countersign.db")));
    assert_eq!(
        lines(&run(&["agent", "org/agent:7", "--store", &database])),
        later
    );
    let nobody = run(&["agent", "nobody", "--data", data]);
    assert_eq!(lines(&nobody).len(), 0);
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("no check of this agent is counted"));
}

#[test]
fn an_agent_is_not_looked_for_where_no_database_is() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(&["agent", "a", "--data", path(folder.path())]);
    assert!(complaint(&missing).contains("no database file at this path"));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "and nothing is made"
    );
    assert!(complaint(&run(&["agent", "a", "--store", "mysql:x"])).contains("setting store must be"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let served = Served::start(folder.path());
    check(&served, "a", "1");
    let mut command = countersign(&["agent", "a", "--data", path(folder.path())]);
    let output = command.stdout(full).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the answer"));
}

const RECORD: &str = r#"{"sequence":1,"verified_at":"2026-08-08T00:00:00.000000+00:00","result":"pass"}
{"sequence":5,"verified_at":"2026-09-07T00:00:00.000000+00:00","result":"fail"}
{"sequence":6,"verified_at":"2026-10-07T00:00:00.000000+00:00","result":"pass"}
"#;

#[test]
fn a_score_is_computed_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.ndjson");
    std::fs::write(&file, RECORD).unwrap();
    let printed = run(&["score", "--from", path(&file)]);
    let expected = r#"{
  "trust_score": 0.7143,
  "confidence_interval_95": [
    0.2005,
    0.9614
  ],
  "sample_size": 3,
  "passed": 2,
  "failed": 1,
  "first_seen": "2026-08-08T00:00:00.000000+00:00",
  "last_seen": "2026-10-07T00:00:00.000000+00:00",
  "half_life_days": 30
}
"#;
    assert_eq!(String::from_utf8_lossy(&printed.stdout), expected);
    let score = |more: &[&str], input: &str| {
        let arguments = [&["score", "--from", "-"], more].concat();
        json(&with_input(&arguments, input.as_bytes()))
    };
    assert_eq!(score(&["--half-life-days", "15"], RECORD)["trust_score"], 0.8095);
    assert_eq!(
        score(&[], RECORD.trim_end())["sample_size"],
        3,
        "the last line may lack its end"
    );
    assert_eq!(score(&[], &RECORD.replace('\n', "\r\n"))["sample_size"], 3);
    let nothing = score(&[], "");
    assert_eq!(
        (&nothing["sample_size"], &nothing["trust_score"]),
        (&0.into(), &serde_json::Value::Null)
    );
    for days in ["0", "3651", "-1", "30.5", "x"] {
        assert_eq!(
            status(&run(&["score", "--from", path(&file), "--half-life-days", days])),
            2,
            "{days}"
        );
    }
    assert!(complaint(&run(&["score", "--from", "no-such-file"])).contains("cannot read no-such-file"));
    assert_eq!(status(&run(&["score"])), 2);
}

#[test]
fn a_line_that_is_no_check_is_told_by_its_number() {
    let long = " ".repeat(2_000);
    let rows = [
        (
            RECORD.replace("\"sequence\":5", "\"sequence\":1"),
            "line 2 has a sequence that is not above the one before",
        ),
        (
            RECORD.replace("\"sequence\":6", "\"sequence\":2"),
            "line 3 has a sequence that is not above",
        ),
        (
            RECORD.replace("\"fail\"", "\"failed\""),
            "line 2 has a result that is neither pass nor fail",
        ),
        (
            RECORD.replace("2026-10-07T", "2026-10-07 "),
            "line 3 has a verified_at",
        ),
        (RECORD.replacen('\n', "\n\n", 1), "line 2 is not a JSON object"),
        (format!("{RECORD}\n"), "line 4 is not a JSON object"),
        (format!("[{RECORD}]"), "line 1 is not a JSON object"),
        (RECORD.replacen('}', "},", 1), "line 1 is not a JSON object"),
        (format!("{RECORD}{long}"), "line 4 is longer than 1024 bytes"),
        (format!("\u{feff}{RECORD}"), "line 1 is not a JSON object"),
        (RECORD[..100].to_owned(), "line 2 is not a JSON object"),
    ];
    for (record, expected) in rows {
        let output = with_input(&["score", "--from", "-"], record.as_bytes());
        let complaint = complaint(&output);
        assert!(
            complaint.contains(&format!("-: {expected}")),
            "{expected}: {complaint}"
        );
    }
}
