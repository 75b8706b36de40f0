//! The `index` family: which skills the prompt and `skills_list` show, and how.
//!
//! The folders are walked here, in memory, by the rules of `hermes_skills::index`; what
//! `skill_view` shows comes from a store on a real folder.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a vector that is not as described is a defect"
)]

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use hermes_skills::{
    frontmatter::SkillDoc,
    index::{Entry, Folder, block, cut, fits, index_category, list_category, runs_on},
};
use serde_json::{Value, json};

use super::index_views;

/// Compares every vector of `dir/index.jsonl` and returns the line of figures, after up to `show`
/// differing vectors.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let path = dir.join("index.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        return format!("oracle index absent ({})", path.display());
    };
    let (mut equal, mut excepted, mut different, mut shown) = (0, 0, 0, String::new());
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a line of JSON");
        let id = vector["id"].as_str().unwrap_or_default();
        let differences = compare(&vector);
        if differences.is_empty() {
            equal += 1;
        } else if EXCEPTIONS.iter().any(|(listed, _)| *listed == id) {
            excepted += 1;
        } else {
            different += 1;
            if different <= show {
                for (ours, theirs) in differences {
                    let _ = writeln!(shown, "{id}\n  ours   {ours}\n  theirs {theirs}");
                }
            }
        }
    }
    let total = equal + excepted + different;
    format!(
        "{shown}oracle index equal={equal} excepted={excepted} different={different} total={total}"
    )
}

/// Returns the pairs, ours and theirs, that are not the same.
fn compare(vector: &Value) -> Vec<(String, String)> {
    let home = Home::read(vector);
    let theirs = vector["raw_block"].as_str().unwrap_or_default().to_owned();
    let theirs_list = json!({
        "skills": trimmed(&vector["skills_list"]["skills"]),
        "categories": vector["skills_list"]["categories"],
    });
    let pairs = [(home.block(), theirs), (home.list().to_string(), theirs_list.to_string())];
    let mut differences: Vec<(String, String)> =
        pairs.into_iter().filter(|(ours, theirs)| ours != theirs).collect();
    let disabled = disabled(&config(vector), &vector["env"]);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    differences.extend(runtime.block_on(index_views::differences(vector, &disabled)));
    differences
}

/// The rows without the line break that a description in a literal block ends with.
fn trimmed(rows: &Value) -> Value {
    let mut rows = rows.clone();
    for row in rows.as_array_mut().into_iter().flatten() {
        if let Some(about) = row["description"].as_str() {
            row["description"] = about.trim_end().into();
        }
    }
    rows
}

/// A skill where it was found.
struct Found {
    folder: String,
    name: String,
    doc: SkillDoc,
}

impl Found {
    fn new(folder: &str, doc: SkillDoc) -> Self {
        let mut found = Self { folder: folder.to_owned(), name: String::new(), doc };
        found.name = found.doc.name.clone().unwrap_or_else(|| found.folder_name().to_owned());
        found
    }

    fn folder_name(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or_default()
    }

    fn entry(&self) -> Entry<'_> {
        Entry {
            category: index_category(&self.folder),
            name: &self.name,
            description: &self.doc.description,
        }
    }
}

/// What a vector sets up.
struct Home {
    skills: Vec<Found>,
    categories: Vec<(String, String)>,
    tools: Option<(Vec<String>, Vec<String>)>,
}

impl Home {
    fn read(vector: &Value) -> Self {
        let config = config(vector);
        let mut home = Self { skills: Vec::new(), categories: Vec::new(), tools: tools(vector) };
        home.add(&files(&vector["files"]));
        if texts(&config["external_dirs"]).iter().any(|folder| folder == "ext") {
            home.add(&files(&vector["ext_files"]));
        }
        let disabled = disabled(&config, &vector["env"]);
        home.skills.retain(|found| {
            !disabled.iter().any(|name| *name == found.name || name == found.folder_name())
                && runs_on(&found.doc.platforms, "linux")
                && fits(&found.doc.environments, &[])
        });
        home
    }

    fn add(&mut self, files: &BTreeMap<String, String>) {
        for (path, text) in files {
            let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
            if !is_reached(folder, files) {
                continue;
            }
            let doc = SkillDoc::parse(text);
            if file == "SKILL.md" {
                self.skills.push(Found::new(folder, doc));
            } else if file == "DESCRIPTION.md"
                && !self.categories.iter().any(|(category, _)| category == folder)
            {
                self.categories.push((folder.to_owned(), doc.description));
            }
        }
    }

    fn block(&self) -> String {
        let offered = |found: &&Found| match &self.tools {
            None => true,
            Some((tools, toolsets)) => {
                let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
                let toolsets: Vec<&str> = toolsets.iter().map(String::as_str).collect();
                found.doc.conditions.hold_with_toolsets(&tools, &toolsets)
            }
        };
        let entries: Vec<Entry<'_>> =
            self.skills.iter().filter(offered).map(Found::entry).collect();
        let categories: Vec<(&str, &str)> =
            self.categories.iter().map(|(name, about)| (name.as_str(), about.as_str())).collect();
        if entries.is_empty() { String::new() } else { block(&entries, &categories) }
    }

    fn list(&self) -> Value {
        let mut rows: BTreeMap<(Option<&str>, String), String> = BTreeMap::new();
        for Found { folder, name, doc } in &self.skills {
            let name: String = name.chars().take(64).collect();
            if !rows.keys().any(|(_, listed)| *listed == name) {
                let about = cut(doc.description_or_first_line(), 1_024);
                rows.insert((list_category(folder), name), about);
            }
        }
        let categories: std::collections::BTreeSet<&str> =
            rows.keys().filter_map(|(category, _)| *category).collect();
        let row = |((category, name), about): (&(Option<&str>, String), &String)| json!({ "category": category, "name": name, "description": about });
        json!({ "skills": rows.iter().map(row).collect::<Vec<_>>(), "categories": categories })
    }
}

/// Whether the search for skills gets to `folder`.
fn is_reached(folder: &str, files: &BTreeMap<String, String>) -> bool {
    let mut parent = String::new();
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        let prefix = if parent.is_empty() { String::new() } else { format!("{parent}/") };
        let is_skill = files.contains_key(&format!("{prefix}SKILL.md"));
        let kind = if is_skill { Folder::Skill } else { Folder::Category };
        if !kind.enters(name) {
            return false;
        }
        parent = format!("{prefix}{name}");
    }
    true
}

/// The files that are text; links and binary files hold no skills here.
fn files(value: &Value) -> BTreeMap<String, String> {
    let Some(files) = value.as_object() else { return BTreeMap::new() };
    let text = |(path, text): (&String, &Value)| Some((path.clone(), text.as_str()?.to_owned()));
    files.iter().filter_map(text).collect()
}

fn config(vector: &Value) -> Value {
    let yaml = vector["config_yaml"].as_str().unwrap_or_default();
    let doc = SkillDoc::parse(&format!("---\n{yaml}\n---\n"));
    doc.metadata.get("skills").cloned().unwrap_or_default()
}

fn disabled(config: &Value, env: &Value) -> Vec<String> {
    let platform = env["HERMES_PLATFORM"].as_str().unwrap_or_default();
    let mut names = texts(&config["disabled"]);
    names.extend(texts(&config["platform_disabled"][platform]));
    names
}

fn tools(vector: &Value) -> Option<(Vec<String>, Vec<String>)> {
    let kwargs = vector["kwargs"].as_object()?;
    let named = |key| kwargs.get(key).map(texts).unwrap_or_default();
    Some((named("available_tools"), named("available_toolsets")))
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Ids, and why ours differ there.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("idx-desc-md-multiline", "a description is one line, so that the block keeps its structure"),
    ("idx-desc-types", "a list or mapping is no description, and a number or boolean is one"),
    ("idx-disabled-dir", "a hidden skill is hidden from the index and from the list alike"),
    ("idx-cond-string", "one tool as text means that tool, not each of its letters"),
    ("idx-long-fm-4000", "a frontmatter is read to its end, not for 4,000 characters"),
    ("idx-root-skillmd", "a SKILL.md in the root is reported: its folder would be all skills"),
    ("idx-flat-md", "a loose file is no skill; nothing lists it"),
    ("idx-support-dirs", "every supporting file is listed, or nobody could ask for it"),
    ("idx-linked-files", "every supporting file is listed, and no file beside the four folders"),
    ("idx-ext-dir", "a skill of the home hides one of its name in an external folder"),
    ("idx-glob-name", "a name is no pattern"),
    ("idx-injection-desc", "a description cannot end the list"),
    ("idx-injection-name", "a name with a line break is no name, so the folder's is shown"),
];
