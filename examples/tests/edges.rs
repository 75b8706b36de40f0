//! The crates depend on each other in one direction only.

use std::{collections::BTreeMap, fs, path::Path};

/// What each crate may depend on, tests apart.
const ALLOWED: [(&str, &[&str]); 5] = [
    ("hermes-core", &[]),
    ("hermes-memory", &["hermes-core"]),
    ("hermes-skills", &["hermes-core"]),
    ("hermes-review", &["hermes-core", "hermes-skills"]),
    ("hermes-providers", &["hermes-core"]),
];

#[derive(serde::Deserialize)]
struct Manifest {
    dependencies: BTreeMap<String, toml::Value>,
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, allowed) in ALLOWED {
        let text = fs::read_to_string(root.join(name).join("Cargo.toml")).unwrap();
        let manifest: Manifest = toml::from_str(&text).unwrap();
        for dependency in manifest.dependencies.keys().filter(|it| it.starts_with("hermes-")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not use {dependency}");
        }
    }
}

#[test]
fn every_member_is_known_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<String> = fs::read_dir(root)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.starts_with("hermes-"))
        .collect();
    folders.sort();
    let mut known = ALLOWED.map(|(name, _)| name.to_owned());
    known.sort();
    assert_eq!(folders, known);
}
