//! `countersign store`: make, look over, copy and move a store, also while it is served.

use super::serve::{Served, exchange};
use super::{json, path, run, status, with_input};
use std::path::Path;
use std::process::Output;

/// Has a running service keep so many receipts.
fn keep(served: &Served, count: usize) {
    for output in 0..count {
        let body = format!(
            r#"{{"task_id":"t","agent_id":"a","expected_schema":{{"type":"integer"}},"submitted_output":{output}}}"#
        );
        let (status, _) = exchange(&served.address, "POST", "/verify/schema", body.as_bytes()).unwrap();
        assert_eq!(status, 200);
    }
}

fn complaint(output: &Output) -> String {
    assert_eq!(status(output), 2, "{output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn counted(output: &Output) -> (i32, u64, u64) {
    let line = json(output);
    let count = |name: &str| line[name].as_u64().unwrap();
    (status(output), count("receipts"), count("problems"))
}

#[test]
fn a_store_is_made_looked_over_copied_and_moved_while_it_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let data = file("data");
    let served = Served::start(Path::new(&data));
    keep(&served, 5);
    let store = ["--data", data.as_str()];
    let with = |arguments: &[&str]| run(&[&["store"], arguments, &store].concat());

    let checked = with(&["check"]);
    assert_eq!(counted(&checked), (0, 5, 0));
    assert_eq!(checked.stdout.split(|byte| *byte == b'\n').count(), 2, "one line");
    let backup = with(&["backup", &file("backup.db")]);
    assert_eq!((status(&backup), backup.stdout.len()), (0, 0), "{backup:?}");
    assert!(complaint(&with(&["backup", &file("backup.db")])).contains("never replaces"));
    let exported = with(&["export", "-"]);
    assert_eq!(status(&exported), 0);
    assert_eq!(String::from_utf8_lossy(&exported.stderr), "wrote 5 receipts\n");
    assert_eq!(status(&with(&["export", &file("lines")])), 0);
    assert_eq!(std::fs::read(file("lines")).unwrap(), exported.stdout);
    assert!(complaint(&with(&["export", &file("lines")])).contains("File exists"));
    let refused = complaint(&with(&["import", &file("lines")]));
    assert!(
        refused.contains("another process serves this database"),
        "{refused}"
    );
    keep(&served, 2);
    drop(served);

    // The copy is a store like any other.
    let copy = format!("sqlite:{}", file("backup.db"));
    assert_eq!(counted(&run(&["store", "check", "--store", &copy])), (0, 5, 0));

    let moved = format!("sqlite:{}", file("moved.db"));
    let missing = complaint(&run(&["store", "import", &file("lines"), "--store", &moved]));
    assert!(missing.contains("create the store first"), "{missing}");
    let made = run(&["store", "create", "--store", &moved]);
    assert_eq!(
        String::from_utf8_lossy(&made.stdout),
        format!("there is a store at {moved}\n")
    );
    for said in [
        "kept 5 receipts; 0 were there already\n",
        "kept 0 receipts; 5 were there already\n",
    ] {
        let imported = with_input(&["store", "import", "-", "--store", &moved], &exported.stdout);
        assert_eq!(
            (
                status(&imported),
                String::from_utf8_lossy(&imported.stderr).as_ref()
            ),
            (0, said)
        );
    }
    assert_eq!(
        run(&["store", "export", "-", "--store", &moved]).stdout,
        exported.stdout
    );
    let migrated = run(&["store", "migrate", "--store", &moved]);
    assert_eq!(status(&migrated), 0, "{migrated:?}");
}

#[test]
fn a_store_that_does_not_hold_together_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.db");
    let store = format!("sqlite:{}", path(&file));
    assert_eq!(status(&run(&["store", "create", "--store", &store])), 0);
    let sql = rusqlite::Connection::open(&file).unwrap();
    sql.execute_batch("UPDATE receipt_counter SET last = 3").unwrap();
    let checked = run(&["store", "check", "--store", &store]);
    assert_eq!(counted(&checked), (1, 0, 1));
    assert!(String::from_utf8_lossy(&checked.stderr).contains("the counter says 3"));
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(folder.path());
    let rows = [
        (
            &["check", "--store", "sqlite:/nowhere/s.db"][..],
            "create the store first",
        ),
        (&["check", "--store", "mysql:x"], "setting store must be sqlite:"),
        (
            &["check", "--store", "postgres://me:hunter2@host/db"],
            "must not hold a password",
        ),
        (
            &["check", "--store", "postgres://me@127.0.0.1:1/db"],
            "the database is away",
        ),
        (
            &["backup", "x", "--store", "postgres://me@127.0.0.1:1/db"],
            "pg_dump",
        ),
        (
            &["import", "/nowhere/lines", "--data", file],
            "cannot read /nowhere/lines",
        ),
    ];
    for (arguments, expected) in rows {
        let said = complaint(&run(&[&["store"], arguments].concat()));
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!said.contains("hunter2") && said.lines().count() == 1, "{said}");
    }
    assert_eq!(status(&run(&["store", "create", "--data", file])), 0);
    let bad = with_input(&["store", "import", "-", "--data", file], b"{}\n");
    assert!(complaint(&bad).contains("-: line 1: the line must have every member"));
}
