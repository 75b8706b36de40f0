//! The `skill_manage` family: what each call says, and what is in the skills folder afterwards.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a vector that is not as described is a defect"
)]

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, sync::Arc};

use hermes_core::{
    durable,
    message::CallStatus,
    origin::Origin,
    skill::{SkillAction, SkillChange, SkillName, SkillStore},
    tool::{Tool, ToolContext, ToolRegistry},
};
use hermes_skills::{
    FsSkills, HiddenSkills,
    tool::{SkillManage, SkillView},
};
use serde_json::{Map, Value, json};

/// Compares every vector of `dir/skill_manage.jsonl` and returns the line of figures, after up to
/// `show` differing vectors.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let path = dir.join("skill_manage.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        return format!("oracle skill_manage absent ({})", path.display());
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut equal, mut excepted, mut different, mut shown) = (0, 0, 0, String::new());
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a line of JSON");
        let id = vector["id"].as_str().unwrap_or_default();
        let differences = runtime.block_on(compare(&vector));
        if differences.is_empty() {
            equal += 1;
        } else if EXCEPTIONS.iter().any(|(listed, _)| *listed == id) {
            excepted += 1;
        } else {
            different += 1;
            if different <= show {
                for difference in differences {
                    let _ = writeln!(shown, "{id} {difference}");
                }
            }
        }
    }
    let total = equal + excepted + different;
    format!(
        "{shown}oracle skill_manage equal={equal} excepted={excepted} different={different} \
         total={total}"
    )
}

/// Vectors where ours is another on purpose, and why.
const EXCEPTIONS: [(&str, &str); 16] = [
    ("skm-create-category", "blanks around a category are no part of a folder's name"),
    (
        "skm-create-bad-content",
        "a name that is not the folder's is found before what else is wrong",
    ),
    ("skm-create-crlf", "a file keeps its line ends when it is patched"),
    (
        "skm-create-desc-types",
        "a description must be text, and be there, or nobody finds the skill",
    ),
    ("skm-edit", "the name in the head stays that of the folder"),
    ("skm-patch-skillmd-via-path", "demo/SKILL.md is no file of a skill, there or not"),
    ("skm-patch-skillmd-path-breaks", "SKILL.md is checked however it is named"),
    ("skm-write-skillmd-breaks", "SKILL.md is checked however it is named"),
    ("skm-remove-skillmd", "a skill goes by delete, which has its own rules"),
    ("skm-approval-on", "writes are not held for a person yet"),
    ("skm-bg-create", "a review has seen what it has just written itself"),
    ("skm-bg-write", "a review has seen what it has just written itself"),
    ("skm-rand-31", "`- item 1` is not the `- item 2` that was quoted"),
    ("skm-rand-44", "`- item 3` and `- item 1` are not the `- item 2` that was quoted"),
    ("skm-rand-59", "what was quoted is not there at all, so it is not ambiguous"),
    ("skm-write-over-dir", "a folder in the way is refused; theirs breaks"),
];

async fn compare(vector: &Value) -> Vec<String> {
    let bench = Bench::set_up(vector);
    let mut differences = Vec::new();
    for (number, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let op = unpacked(&step["op"]);
        if op.contains_key("_") {
            bench.help(&op).await;
            continue;
        }
        let (is_done, content) = bench.call("skill_manage", Value::Object(op.clone())).await;
        let theirs = step["kind"].as_str().unwrap_or_default();
        let wanted = step["success"].as_bool().unwrap_or_default();
        if is_done != wanted || !(is_done || is_kind(&content, theirs)) {
            differences.push(format!(
                "step {number}\n  ours   {is_done} {content}\n  theirs {wanted} {theirs} {}",
                step["result"]
            ));
        }
    }
    let (ours, theirs) = (bench.tree(), listed(&vector["final_tree"]));
    if ours != theirs {
        differences.push(format!("tree\n  ours   {ours:?}\n  theirs {theirs:?}"));
    }
    differences
}

/// A home folder with the tools on it.
struct Bench {
    /// Removes the folder in the end.
    _home: tempfile::TempDir,
    store: Arc<FsSkills>,
    tools: ToolRegistry,
    context: ToolContext,
}

impl Bench {
    fn set_up(vector: &Value) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let store = Arc::new(FsSkills::new(home.path()));
        let shared: Arc<dyn SkillStore> = Arc::clone(&store) as Arc<dyn SkillStore>;
        let hidden = HiddenSkills::default();
        let tools: [Arc<dyn Tool>; 2] = [
            Arc::new(SkillView::new(Arc::clone(&shared), hidden.clone())),
            Arc::new(SkillManage::new(shared, hidden)),
        ];
        let tools = ToolRegistry::new(tools).expect("two names");
        let is_background = vector["origin"] == "background_review";
        let origin = if is_background { Origin::review("oracle") } else { Origin::user() };
        let context = ToolContext::detached().with_origin(origin);
        let bench = Self { _home: home, store, tools, context };
        fs::create_dir_all(bench.store.root()).expect("a folder");
        for (path, content) in vector["setup"].as_object().into_iter().flatten() {
            bench.put(path, content);
        }
        bench
    }

    fn put(&self, path: &str, content: &Value) {
        let path = self.store.root().join(path);
        if let Some(target) = content["symlink"].as_str() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, path).expect("a link");
            return;
        }
        let bytes = match (content.as_str(), content["hex"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(hex)) => from_hex(hex),
            (None, None) => unpack(content).as_str().expect("text").as_bytes().to_vec(),
        };
        durable::replace(&path, &bytes).expect("a file");
    }

    /// Does what a vector does beside the calls.
    async fn help(&self, op: &Map<String, Value>) {
        let name = op["name"].as_str().expect("a name");
        let skill = SkillName::existing(name).expect("a name");
        match op["_"].as_str().expect("a word") {
            "view" => {
                let args = json!({ "name": name, "file_path": op.get("file_path") });
                self.call("skill_view", args).await;
            }
            "pin" => {
                let change = SkillChange::new(skill, SkillAction::Pin(true), Origin::user());
                self.store.commit(change).await.expect("a pin");
            }
            "mark_agent_created" => {
                let record = json!({ name: { "created_by": "agent" } });
                let path = self.store.root().join(".usage.json");
                durable::replace(&path, record.to_string().as_bytes()).expect("a file");
            }
            other => panic!("the oracle does not know {other}"),
        }
    }

    /// Calls a tool as the loop does, and returns whether it was done and what it said.
    async fn call(&self, name: &str, arguments: Value) -> (bool, String) {
        let wrong = self.tools.check(name, &arguments);
        if !wrong.is_empty() {
            return (false, wrong.join(" "));
        }
        match self.tools.get(name).expect("a tool").call(arguments, &self.context).await {
            Ok(output) => (output.status == CallStatus::Done, output.content),
            Err(err) => (false, err.to_string()),
        }
    }

    fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        collect(self.store.root(), "", &mut tree);
        tree
    }
}

/// Lists what is below `folder`, but for our journal and the records at the top.
fn collect(folder: &Path, prefix: &str, tree: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, kind) = (format!("{prefix}{name}"), entry.file_type().expect("a kind"));
        let is_record = prefix.is_empty() && name.starts_with('.') && kind.is_file();
        if is_record || path == ".journal" {
            continue;
        }
        if kind.is_symlink() {
            tree.insert(path, "link".to_owned());
        } else if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), tree);
            tree.insert(format!("{path}/"), "folder".to_owned());
        } else {
            let bytes = fs::read(entry.path()).expect("a file");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let chars = text.chars().count();
            tree.insert(path, if 5_000 < chars { format!("{chars} characters") } else { text });
        }
    }
}

fn listed(tree: &Value) -> BTreeMap<String, String> {
    let show = |content: &Value| match (&content["text"], &content["len"]) {
        (Value::String(text), _) => text.clone(),
        (_, Value::Number(chars)) => format!("{chars} characters"),
        _ if content["symlink"] == true => "link".to_owned(),
        _ => "folder".to_owned(),
    };
    let entries = tree.as_object().into_iter().flatten();
    entries.map(|(path, content)| (path.clone(), show(content))).collect()
}

/// Whether our refusal is of the kind that theirs is.
fn is_kind(content: &str, kind: &str) -> bool {
    let words: &[&str] = match kind {
        "skill_not_found" => &["No skill is called"],
        "exists" => &["already exists"],
        "bad_subdir" | "traversal" | "dir_not_file" => &["is not a file of a skill"],
        "file_not_found" => &["has no file"],
        "ambiguous" => &["places", "matches"],
        "no_match" => &["not found", "not in the"],
        "empty_body" => &["nothing after the frontmatter"],
        "content_missing" => &["content is required"],
        "empty" => &["content is empty"],
        "no_open_fence" => &["there is no frontmatter", "There is no frontmatter"],
        "missing_description" => &["no description"],
        "missing_name" => &["no name"],
        "not_closed" => &["not closed"],
        "not_mapping" => &["`key: value`"],
        "yaml_error" => &["not valid YAML"],
        "description_too_long" => &["he description has"],
        "too_large_chars" => &["characters, at most"],
        "too_large_bytes" => &["bytes, at most", "characters, at most"],
        "old_missing" => &["old_string is required"],
        "new_missing" => &["new_string is required"],
        "identical" => &["identical"],
        "file_path_missing" => &["file_path is required"],
        "unknown_action" => &["Unknown action", "\"action\" must be"],
        "pinned" => &["pinned"],
        "bg_read_required" => &["_read_before_write_required"],
        "absorbed_self" => &["absorbed_into must name another"],
        "absorbed_missing" => &["No skill is called", "is no skill"],
        "exception" => &["is not text"],
        _ => &[],
    };
    let content = content.to_lowercase();
    words.iter().any(|word| content.contains(&word.to_lowercase()))
}

/// Returns the arguments of a call with long texts unpacked.
fn unpacked(op: &Value) -> Map<String, Value> {
    let fields = op.as_object().expect("an object");
    fields.iter().map(|(key, value)| (key.clone(), unpack(value))).collect()
}

fn unpack(value: &Value) -> Value {
    let Some([before, letter, count, after]) = value["__rle__"].as_array().map(Vec::as_slice)
    else {
        return value.clone();
    };
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let count = count.as_u64().and_then(|it| usize::try_from(it).ok()).expect("a count");
    Value::String(format!("{}{}{}", text(before), text(letter).repeat(count), text(after)))
}

pub(super) fn from_hex(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16);
    pairs.map(|pair| byte(pair).expect("hexadecimal")).collect()
}
