//! The `fts` family: what a search over stored conversations finds, and in which order.
//!
//! Ours has no counterpart of `sanitized`: it reads a query into terms instead of rewriting its text.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a vector that is not as described is a defect"
)]

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    fs,
    path::Path,
};

use hermes_core::{
    message::{CallResult, CallStatus, Message, MessageId, Role},
    serde_json::{self, Value},
    store::{SessionId, SessionState, SessionStore as _},
};
use hermes_memory::{Order, SearchOptions, SqliteSessions};
use tempfile::TempDir;

/// A name, whether it holds for a vector and what ours found, and why ours differs.
type Exception = (&'static str, fn(&Value, &Found) -> bool, &'static str);

/// Where ours differs on purpose.
const EXCEPTIONS: [Exception; 8] = [
    (
        "syntax",
        |vector, _| !vector["fts_syntax_error"].is_null(),
        "theirs gives up on a syntax error",
    ),
    ("any-word", falls_back, "where no message has all words, those with most of them are found"),
    ("operators", has_dense_operators, "AND and NOT mean the same in every script"),
    (
        "dense-rank",
        is_ranked_otherwise,
        "CJK words are ranked by pairs, theirs by triples or by date",
    ),
    ("dense-prefix", has_dense_prefix, "a star asks for a prefix in every script"),
    ("rewound", is_rewound, "what was taken back is found by no query"),
    ("glued", is_glued, "a Latin word is found where it touches CJK characters"),
    ("signs", is_signs_only, "a query without a letter or digit finds nothing"),
];

/// What ours found, in order.
type Found = Vec<i64>;

/// Compares every vector of `dir/fts.jsonl` and returns the line of figures, after up to `show`
/// differing vectors.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let path = dir.join("fts.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        return format!("oracle fts absent ({})", path.display());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (mut equal, mut excepted, mut different, mut shown) = (0, 0, 0, String::new());
    let mut corpora: HashMap<String, Corpus> = HashMap::new();
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a line of JSON");
        let name = vector["corpus"].as_str().expect("a corpus").to_owned();
        let corpus = corpora
            .entry(name.clone())
            .or_insert_with(|| runtime.block_on(Corpus::open(&dir.join("fts_corpora"), &name)));
        let ours = runtime.block_on(corpus.find(&vector["args"]));
        if is_equal(&vector, &ours) {
            equal += 1;
        } else if let Some((name, ..)) = EXCEPTIONS.iter().find(|it| it.1(&vector, &ours)) {
            excepted += 1;
            if excepted <= show {
                let _ = writeln!(shown, "excepted as {name}: {}", vector["id"]);
            }
        } else {
            different += 1;
            if different <= show {
                let (id, args, theirs) = (&vector["id"], &vector["args"], &vector["ids"]);
                let _ = writeln!(shown, "{id} {args}\n  ours   {ours:?}\n  theirs {theirs}");
            }
        }
    }
    let total = equal + excepted + different;
    format!(
        "{shown}oracle fts equal={equal} excepted={excepted} different={different} total={total}"
    )
}

/// Compares in order, or as sets of equal rank where theirs left the order of ties open.
fn is_equal(vector: &Value, ours: &Found) -> bool {
    let theirs: Found = numbers(&vector["ids"]);
    if vector["order"] == "exact" {
        return theirs == *ours;
    }
    let ranks = &vector["ranks"];
    let tied = |ids: &Found| -> Vec<(String, BTreeSet<i64>)> {
        let mut groups: Vec<(String, BTreeSet<i64>)> = Vec::new();
        for id in ids {
            let rank = ranks[id.to_string()].to_string();
            match groups.last_mut().filter(|(last, _)| *last == rank) {
                Some((_, group)) => drop(group.insert(*id)),
                None => groups.push((rank, BTreeSet::from([*id]))),
            }
        }
        groups
    };
    let (mut theirs, mut ours) = (tied(&theirs), tied(ours));
    // A limit cuts the last group anywhere.
    if !vector["args"]["limit"].is_null() {
        theirs.iter_mut().chain(&mut ours).for_each(|(rank, group)| {
            if rank != "null" && group.len() > 1 {
                *group = BTreeSet::new();
            }
        });
    }
    theirs == ours
}

fn numbers(list: &Value) -> Found {
    list.as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
}

fn query(vector: &Value) -> &str {
    vector["args"]["query"].as_str().unwrap_or_default()
}

fn falls_back(vector: &Value, ours: &Found) -> bool {
    numbers(&vector["ids"]).is_empty() && !ours.is_empty() && query(vector).contains(' ')
}

fn is_dense(vector: &Value) -> bool {
    vector["is_cjk"] == true
}

fn has_dense_operators(vector: &Value, _: &Found) -> bool {
    is_dense(vector) && query(vector).trim().contains(char::is_whitespace)
}

/// Whether both found the same messages, as far as a limit lets that be seen.
fn is_ranked_otherwise(vector: &Value, ours: &Found) -> bool {
    let theirs: BTreeSet<i64> = numbers(&vector["ids"]).into_iter().collect();
    let is_cut = 20 <= theirs.len() || !vector["args"]["limit"].is_null();
    let ours: BTreeSet<i64> = ours.iter().copied().collect();
    is_dense(vector) && (theirs == ours || (is_cut && theirs.len() == ours.len()))
}

fn has_dense_prefix(vector: &Value, _: &Found) -> bool {
    is_dense(vector) && query(vector).ends_with('*')
}

/// Whether all that ours lacks was taken back.
fn is_rewound(vector: &Value, ours: &Found) -> bool {
    let theirs = numbers(&vector["ids"]);
    let is_hidden = vector["corpus"].as_str().is_some_and(|it| it.ends_with("+inactive"));
    is_hidden && is_dense(vector) && ours.iter().all(|id| theirs.contains(id))
}

/// Whether ours found all of theirs and more, for a Latin word.
fn is_glued(vector: &Value, ours: &Found) -> bool {
    let theirs = numbers(&vector["ids"]);
    !is_dense(vector) && theirs.len() < ours.len() && theirs.iter().all(|id| ours.contains(id))
}

fn is_signs_only(vector: &Value, _: &Found) -> bool {
    !query(vector).chars().any(char::is_alphanumeric)
}

/// The messages that a vector searches.
struct Corpus {
    store: SqliteSessions,
    _home: TempDir,
}

impl Corpus {
    async fn open(folder: &Path, name: &str) -> Self {
        let text = fs::read_to_string(folder.join(format!("{name}.json"))).expect("a corpus");
        let corpus: Value = serde_json::from_str(&text).expect("a corpus of JSON");
        let home = tempfile::tempdir().expect("a folder");
        let store =
            SqliteSessions::open(home.path().join("sessions.db")).await.expect("a database");
        let hidden = hidden(&corpus["updates"]);
        let mut lengths: HashMap<String, usize> = HashMap::new();
        for message in corpus["messages"].as_array().into_iter().flatten() {
            let session = message["session"].as_str().expect("a session");
            let source = corpus["sessions"][session].as_str().expect("a source");
            let store = store.for_source(source);
            let id = message["id"].as_i64().expect("an id");
            // A message taken back is put in a conversation of its own, for only ends can be.
            let name =
                if hidden.contains(&id) { format!("{session}-{id}") } else { session.to_owned() };
            let length = lengths.entry(name.clone()).or_default();
            let (name, state) = (SessionId::new(name), SessionState::default());
            store.append(&name, *length, &[read(message)], &state).await.expect("an append");
            *length += 1;
            if hidden.contains(&id) {
                store.rewind(&name, 0).await.expect("a rewind");
            }
        }
        Self { store, _home: home }
    }

    async fn find(&self, args: &Value) -> Found {
        let query = args["query"].as_str().expect("a query");
        let hits = self.store.find(query, options(args)).await.expect("no query is an error");
        hits.iter().map(|hit| i64::try_from(hit.message.0).expect("a small id")).collect()
    }
}

/// Returns the messages that were taken back: not active, and not merely compacted.
fn hidden(updates: &Value) -> BTreeSet<i64> {
    let mut hidden = BTreeSet::new();
    for update in updates.as_array().into_iter().flatten() {
        let ids = numbers(&update["ids"]);
        if update["sql"] == "active=0" {
            hidden.extend(ids);
        } else {
            hidden.retain(|id| !ids.contains(id));
        }
    }
    hidden
}

/// Reads a message; theirs indexes tool names and calls behind the text.
fn read(message: &Value) -> Message {
    let content = match &message["content"] {
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join(" ")
        }
        content => content.as_str().unwrap_or_default().to_owned(),
    };
    let name = message["tool_name"].as_str().unwrap_or_default();
    let calls = match &message["tool_calls"] {
        Value::Null => String::new(),
        calls => calls.to_string(),
    };
    let text = format!("{content} {name} {calls}");
    let id = MessageId(message["id"].as_u64().expect("an id"));
    let message = match message["role"].as_str() {
        Some("user") => Message::user(text),
        Some("assistant") => Message::assistant(text),
        _ => Message::results([CallResult::new("c".into(), CallStatus::Done, text)]),
    };
    message.with_id(id)
}

fn options(args: &Value) -> SearchOptions {
    let names = |key: &str| -> Option<Vec<String>> {
        let list = args[key].as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let mut options = SearchOptions::default();
    options.background_sources = Vec::new();
    options.roles = names("role_filter")
        .unwrap_or_default()
        .iter()
        .map(|role| match role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Tool,
        })
        .collect();
    options.sources = names("source_filter");
    options.excluded_sources = names("exclude_sources").unwrap_or_default();
    options.order = match args["sort"].as_str().map(|it| it.trim().to_lowercase()).as_deref() {
        Some("newest") => Order::Newest,
        Some("oldest") => Order::Oldest,
        _ => Order::Best,
    };
    let number = |key: &str| args[key].as_i64();
    options.limit = number("limit").map_or(20, |it| usize::try_from(it).unwrap_or(usize::MAX));
    options.offset = number("offset").map_or(0, |it| usize::try_from(it).unwrap_or(0));
    options.with_rewound = args["include_inactive"] == true;
    options
}
