//! The house rules that a compiler does not know: which crate stands on which, where dependencies come from and
//! under which licences, and which room may use which.

// What a test cannot read fails it.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(workspace().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Package id to the ids it depends on, without what only tests and build scripts need.
fn edges(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let needed = |dependency: &&Value| {
        dependency["dep_kinds"]
            .as_array()
            .unwrap()
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    nodes
        .iter()
        .map(|node| {
            let dependencies = node["deps"].as_array().unwrap().iter().filter(needed);
            (
                text(node, "id"),
                dependencies.map(|dependency| text(dependency, "pkg")).collect(),
            )
        })
        .collect()
}

fn names(metadata: &Value) -> BTreeMap<&str, &str> {
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| (text(package, "id"), text(package, "name")))
        .collect()
}

#[test]
fn crates_stand_on_each_other_downwards_only() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("countersign-core", &[][..]),
        ("countersign-store", &["countersign-core"]),
        ("countersign-service", &["countersign-core", "countersign-store"]),
        (
            "countersign",
            &["countersign-core", "countersign-service", "countersign-store"],
        ),
    ]);
    let metadata = metadata();
    let (names, edges) = (names(&metadata), edges(&metadata));
    let mut seen = 0;
    for (id, dependencies) in &edges {
        let Some(allowed) = allowed.get(names[id]) else {
            continue;
        };
        seen += 1;
        for dependency in dependencies
            .iter()
            .map(|id| names[id])
            .filter(|name| name.starts_with("countersign"))
        {
            assert!(
                allowed.contains(&dependency),
                "{} must not stand on {dependency}",
                names[id]
            );
        }
    }
    assert_eq!(seen, allowed.len());
}

#[test]
fn core_reaches_no_network_no_runtime_and_no_database() {
    let metadata = metadata();
    let (names, edges) = (names(&metadata), edges(&metadata));
    let core = names
        .iter()
        .find(|(_, name)| **name == "countersign-core")
        .unwrap()
        .0;
    let (mut reached, mut next) = (BTreeSet::new(), vec![*core]);
    while let Some(id) = next.pop() {
        if reached.insert(id) {
            next.extend(&edges[id]);
        }
    }
    let reached: BTreeSet<&str> = reached.iter().map(|id| names[id]).collect();
    for forbidden in [
        "tokio",
        "hyper",
        "reqwest",
        "rustls",
        "mio",
        "socket2",
        "rusqlite",
        "libsqlite3-sys",
        "tracing",
        "getrandom",
        "uuid",
    ] {
        assert!(!reached.contains(forbidden), "core reaches {forbidden}");
    }
    assert!(reached.contains("sha2"), "the walk sees core's dependencies");
}

#[test]
fn dependencies_come_from_the_registry_under_known_licences() {
    let known = [
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "Unlicense",
        "CC0-1.0",
        "BSL-1.0",
        "OpenSSL",
        "0BSD",
        "MIT-0",
        "Apache-2.0 WITH LLVM-exception",
        "CDLA-Permissive-2.0",
    ];
    for package in metadata()["packages"].as_array().unwrap() {
        let name = text(package, "name");
        if name.starts_with("countersign") {
            continue;
        }
        assert!(
            text(package, "source").starts_with("registry+"),
            "{name} is not from the registry"
        );
        // `A OR B`, `(A OR B) AND C`, the old `A/B`: every part that is not an alternative must be known.
        let licence = text(package, "license")
            .replace(['(', ')'], "")
            .replace('/', " OR ");
        let satisfied = licence
            .split(" AND ")
            .all(|part| part.split(" OR ").any(|one| known.contains(&one.trim())));
        assert!(satisfied, "{name} is under {licence}");
    }
}

/// Rooms of one crate, and what their files must not name.
#[test]
fn rooms_do_not_reach_over_their_floor() {
    let rules: [(&str, &[&str], &[&str]); 4] = [
        (
            "countersign-core/src",
            &[
                "json",
                "place",
                "limits",
                "canonical",
                "decimal",
                "time",
                "key",
                "statement",
            ],
            &["crate::check", "crate::receipt"],
        ),
        (
            "countersign-core/src",
            &["check"],
            &["crate::receipt", "crate::statement", "crate::key"],
        ),
        (
            "countersign-service/src",
            &["http"],
            &["countersign_store", "crate::signer", "aws_lc_rs"],
        ),
        (
            "countersign-service/src",
            &["signer", "config"],
            &["crate::http", "crate::actions", "crate::app", "countersign_store"],
        ),
    ];
    for (crate_folder, rooms, forbidden) in rules {
        for room in rooms {
            let folder = workspace().join("crates").join(crate_folder);
            let files = files_of(&folder, room);
            assert!(!files.is_empty(), "{crate_folder} has no room {room}");
            for file in files {
                let source = std::fs::read_to_string(&file).unwrap();
                // What a room's own tests use is not an arrow.
                let source = source.split("#[cfg(test)]").next().unwrap_or_default();
                for name in forbidden {
                    assert!(!source.contains(name), "{} must not use {name}", file.display());
                }
            }
        }
    }
}

fn files_of(folder: &Path, room: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Some(folder.join(format!("{room}.rs")))
        .into_iter()
        .filter(|file| file.exists())
        .collect();
    let mut folders = vec![folder.join(room)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
