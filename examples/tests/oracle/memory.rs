//! The `memory` family: what the tool answers, what is on disk, and what stands in the prompt.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a vector that is not as described is a defect"
)]

use std::{fmt::Write as _, fs, path::Path, sync::Arc};

use hermes_core::{
    durable,
    memory::{MemoryBackend as _, Target},
    message::CallId,
    prompt::PromptSource as _,
    serde_json::{self, Value, json},
    store::SessionId,
    tool::{Tool as _, ToolContext, TurnScope},
};
use hermes_memory::{FileMemory, Memory, MemoryTool};

/// A name, what a vector must hold for it, and why ours differs.
type Exception = (&'static str, fn(&Value) -> bool, &'static str);

/// Where ours differs on purpose.
const EXCEPTIONS: [Exception; 6] = [
    ("delimiter", writes_delimiter, "content that would come back in pieces is refused"),
    ("twin", makes_twin, "replacing into an entry that is there leaves one of them at once"),
    (
        "carriage-return",
        writes_carriage_return,
        "line ends become those of Unix when they are stored",
    ),
    ("withheld", shows_withheld, "another wording, and the usage counts what is stored"),
    ("drift-on-add", adds_to_drifted, "adding rewrites the file, so it is refused like the others"),
    ("nets-nothing", nets_nothing, "a batch that changes nothing writes nothing, not even a file"),
];

/// Compares every vector of `dir/memory.jsonl` and returns the line of figures, after up to `show`
/// differing vectors.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let path = dir.join("memory.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        return format!("oracle memory absent ({})", path.display());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (mut equal, mut excepted, mut different, mut shown) = (0, 0, 0, String::new());
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a line of JSON");
        let differences = runtime.block_on(compare(&vector));
        let exception = EXCEPTIONS.iter().find(|(_, applies, _)| applies(&vector));
        if differences.is_empty() {
            equal += 1;
        } else if exception.is_some() {
            excepted += 1;
        } else {
            different += 1;
            if different <= show {
                let _ = writeln!(shown, "{} {}", vector["id"], differences.join("\n  "));
            }
        }
    }
    let total = equal + excepted + different;
    format!(
        "{shown}oracle memory equal={equal} excepted={excepted} different={different} total={total}"
    )
}

fn contents(vector: &Value) -> impl Iterator<Item = &str> {
    let steps = vector["steps"].as_array().into_iter().flatten();
    steps.flat_map(|step| {
        let operations = step["op"]["operations"].as_array().into_iter().flatten();
        operations.chain([&step["op"]]).filter_map(|op| op["content"].as_str())
    })
}

fn writes_delimiter(vector: &Value) -> bool {
    contents(vector).any(|it| it.trim().contains("\n§\n") || it.trim().ends_with("\n§"))
}

fn writes_carriage_return(vector: &Value) -> bool {
    contents(vector).any(|it| it.trim().contains('\r'))
}

fn makes_twin(vector: &Value) -> bool {
    let steps = vector["steps"].as_array().into_iter().flatten();
    let mut lists = steps.flat_map(|step| ["memory", "user"].map(|name| &step["entries"][name]));
    lists.any(|list| {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().enumerate().any(|(at, entry)| list[..at].contains(entry))
    })
}

fn shows_withheld(vector: &Value) -> bool {
    let snapshots = [&vector["snapshot_start"], &vector["snapshot_end"]];
    let mut blocks = snapshots.into_iter().flat_map(|it| [&it["memory"], &it["user"]]);
    blocks.any(|it| it.as_str().is_some_and(|it| it.contains("[BLOCKED: ")))
}

/// Whether text of somebody else stands in a file that rewriting would lose, and an entry is added.
fn adds_to_drifted(vector: &Value) -> bool {
    let init = vector["init"].as_object().into_iter().flat_map(|it| it.values());
    let steps = vector["steps"].as_array().into_iter().flatten();
    let mut texts = init.chain(steps.map(|step| &step["op"]["text"])).filter_map(Value::as_str);
    let is_clean = |it: &str| !it.is_empty() && it.trim() == it;
    texts.any(|it| !it.trim().replace("\r\n", "\n").split("\n§\n").all(is_clean))
}

/// Whether a batch fills and empties a list that has no file.
fn nets_nothing(vector: &Value) -> bool {
    let steps = vector["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_empty =
        |step: &Value, target: &str| step["entries"][target].as_array().is_none_or(Vec::is_empty);
    let first_batch = |target: &str| {
        let is_batch =
            |step: &&Value| step["op"]["target"] == target && step["op"]["operations"].is_array();
        let steps = steps.iter().take_while(|step| is_empty(step, target));
        steps.filter(is_batch).any(|step| step["success"] == true)
    };
    first_batch("memory") || first_batch("user")
}

async fn compare(vector: &Value) -> Vec<String> {
    let home = tempfile::tempdir().expect("a folder");
    let limit =
        |key: &str| vector[key].as_u64().and_then(|it| usize::try_from(it).ok()).expect("a limit");
    let files = FileMemory::new(home.path())
        .limit(Target::Memory, limit("memory_char_limit"))
        .limit(Target::User, limit("user_char_limit"));
    let desk = Desk { tool: MemoryTool::new(files.clone()), files, turn: 1 };
    desk.replay(vector, home.path()).await
}

/// A home folder with its tool.
struct Desk {
    files: FileMemory,
    tool: MemoryTool,
    turn: u64,
}

impl Desk {
    async fn replay(mut self, vector: &Value, home: &Path) -> Vec<String> {
        for (name, text) in vector["init"].as_object().into_iter().flatten() {
            put(home, name, text);
        }
        let mut found = Vec::new();
        let mut check = |place: &str, ours: &Value, theirs: &Value| {
            if ours != theirs {
                found.push(format!("{place}\n    ours   {ours}\n    theirs {theirs}"));
            }
        };
        check("snapshot_start", &self.snapshot().await, &vector["snapshot_start"]);
        for (number, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
            let ours = self.step(step, home).await;
            for (key, ours) in ours.as_object().into_iter().flatten() {
                check(&format!("step {number} {key}"), ours, &step[key]);
            }
        }
        check("snapshot_end", &self.snapshot().await, &vector["snapshot_end"]);
        check("final_files", &files_in(home), &vector["final_files"]);
        found
    }

    /// Returns what the vector says of a step, as ours does it; an empty object for other events.
    async fn step(&mut self, step: &Value, home: &Path) -> Value {
        match step["op"]["_"].as_str() {
            Some("new_turn") => self.turn += 1,
            Some("external_write") => {
                put(home, step["op"]["file"].as_str().expect("a file"), &step["op"]["text"]);
            }
            Some(other) => return json!({ "op": other }),
            None => return self.call(step).await,
        }
        json!({})
    }

    async fn call(&self, step: &Value) -> Value {
        let mut scope = TurnScope::new(SessionId::new("oracle"));
        scope.turn = self.turn;
        let context = ToolContext::new(Arc::new(scope), CallId::new("c"));
        let output = self.tool.call(step["op"].clone(), &context).await.expect("an answer");
        let reply: Value = serde_json::from_str(&output.content).expect("an object");
        let mut entries = json!({});
        for target in Target::ALL {
            let read = self.files.read(target).await.expect("a list");
            entries[target.as_str()] = read.value.entries.into();
        }
        if step["kind"] == "exception" {
            // Theirs broke; ours must answer, and whatever names the fault will do.
            return json!({"success": reply["success"], "entries": entries});
        }
        json!({
            "success": reply["success"], "kind": kind(&reply, &step["op"]), "usage": reply["usage"],
            "entry_count": reply["entry_count"], "entries": entries,
        })
    }

    async fn snapshot(&self) -> Value {
        let memory = Memory::new(self.files.clone());
        let notes = memory.clone().user_profile_enabled(false).section().render(&[]).await.text;
        let user = memory.memory_enabled(false).section().render(&[]).await.text;
        let or_null = |text: String| if text.is_empty() { Value::Null } else { text.into() };
        json!({"memory": or_null(notes), "user": or_null(user)})
    }
}

fn put(home: &Path, name: &str, text: &Value) {
    let text = text.as_str().expect("a text");
    durable::replace(&home.join("memories").join(name), text.as_bytes()).expect("a file");
}

/// Returns the files of the folder, without lock files and our journal, and without the time in the
/// names of copies.
fn files_in(home: &Path) -> Value {
    let mut files = json!({});
    for entry in fs::read_dir(home.join("memories")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().extension().is_some_and(|it| it == "lock") || name.starts_with('.') {
            continue;
        }
        let name = name.split_once(".bak.").map_or(name.clone(), |(it, _)| format!("{it}.bak.TS"));
        files[name] = fs::read_to_string(entry.path()).expect("a text").into();
    }
    files
}

/// Returns the vector's name for the outcome that ours calls `reply.kind`.
fn kind(reply: &Value, op: &Value) -> String {
    let is_batch = op["operations"].as_array().is_some_and(|it| !it.is_empty());
    let batch = if is_batch { "batch_" } else { "" };
    let action = op["action"].as_str().unwrap_or_default();
    let is_blank = op["content"].as_str().is_some_and(|it| !it.is_empty());
    match reply["kind"].as_str().expect("a kind") {
        "saved" | "unchanged" => "ok".to_owned(),
        "full" if is_batch => "over_limit_batch".to_owned(),
        "full" => format!("over_limit_{action}"),
        "no_match" => format!("{batch}no_match"),
        "ambiguous" => format!("{batch}multi_match"),
        "capped" => "consolidation_capped".to_owned(),
        "invalid_action" => format!("{batch}unknown_action"),
        "invalid_operations" => "operations_not_list".to_owned(),
        "missing_old_text" => format!("{batch}old_text_missing"),
        "invalid_old_text" => "old_text_blank".to_owned(),
        "invalid_content" if is_blank && action == "replace" => "new_content_blank".to_owned(),
        "invalid_content" if is_blank => "content_blank".to_owned(),
        "invalid_content" => format!("{batch}content_missing"),
        "blocked" => {
            let is_invisible = reply["error"].as_str().is_some_and(|it| it.contains("invisible_"));
            format!("{batch}blocked_{}", if is_invisible { "invisible" } else { "threat" })
        }
        other => other.to_owned(),
    }
}
