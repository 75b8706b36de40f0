//! A process that dies in the middle of a turn: another one brings the turn to the same end.
//!
//! The tests start this very program again as a child that aborts itself at a named point, and go on
//! with what it left in its database.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a test with its helpers"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::Write,
    path::Path,
    process::{self, Command},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hermes_core::{
    Agent, Session,
    agent::{Finish, FinishedTurn, Limits, Step},
    approval::{AllowAll, NeedsApproval},
    async_trait,
    compress::Summariser,
    message::{Call, Message, Part, Role, StopReason, Usage},
    schemars::{self, JsonSchema},
    store::{
        SearchHit, SessionId, SessionLock, SessionState, SessionStore, StoreError, StoredSession,
    },
    testing::ScriptedProvider,
    tool::{self, Extensions, Tool, ToolSpec},
};
use hermes_memory::SqliteSessions;
use serde::Deserialize;
use serde_json::json;

/// Where a child works, and after how many writes of the store, or in which call, it aborts.
const HOME: &str = "CRASH_HOME";
const AT: &str = "CRASH_AT";
const IN: &str = "CRASH_IN";

/// What the model calls in each of its replies, by number: 12 calls.
const ROUNDS: [&[u32]; 9] = [&[1], &[2, 3], &[4, 5], &[6], &[7, 8], &[9], &[10], &[11], &[12]];

/// Returns the tool for call `number`: some only look, some may be repeated, one needs approval.
fn tool_of(number: u32) -> &'static str {
    match number {
        2 | 3 | 8 | 12 => "look",
        6 | 10 => "set",
        9 => "sign",
        _ => "note",
    }
}

fn may_run_again(number: u32) -> bool {
    matches!(tool_of(number), "look" | "set")
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    /// The number of the call.
    number: u32,
}

/// Writes a line per effect, and aborts in the middle if told to.
fn effect(
    home: &Path,
    name: &'static str,
    configure: fn(ToolSpec) -> ToolSpec,
) -> impl Tool + use<> {
    let home = home.to_owned();
    tool::from_fn(name, "Leaves a line.", move |Number { number }, _| {
        let home = home.clone();
        async move {
            abort_if(&format!("before {number}"));
            let mut file = fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(home.join("effects"))
                .unwrap();
            writeln!(file, "{name} {number}").unwrap();
            abort_if(&format!("after {number}"));
            Ok(format!("{name} {number}: {}", "detail ".repeat(120)))
        }
    })
    .configure(configure)
}

fn abort_if(place: &str) {
    if env::var(IN).is_ok_and(|it| it == place) {
        process::abort();
    }
}

fn effects(home: &Path) -> Vec<String> {
    let text = fs::read_to_string(home.join("effects")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A model that goes by nothing but what it is shown.
fn model() -> ScriptedProvider {
    ScriptedProvider::from_fn(|request| {
        let Some(last) = request.messages.last() else { panic!("an empty request") };
        if request.tools.is_empty() {
            return Message::assistant("GOAL: count to 12. DONE: some of it.");
        }
        let is_told = |part: &Part| matches!(part, Part::Context(it) if it.contains("budget"));
        if last.parts.iter().any(is_told) {
            return Message::assistant("Counted to 12.");
        }
        let results = request.messages.iter().flat_map(|it| it.call_results());
        let reached = results.filter_map(|it| number_of(it.call.as_str())).max().unwrap_or(0);
        if reached == 6 && last.role == Role::Tool {
            return Message::assistant("Half of it is").with_stop(StopReason::Length);
        }
        let next = ROUNDS.iter().find(|round| reached < round[0]);
        let Some(next) = next else { return Message::assistant("Counted to 12.") };
        let calls = next.iter().map(|number| {
            let id = format!("call-{number}");
            Part::Call(Call::new(id.as_str(), tool_of(*number), json!({"number": number})))
        });
        Message::new(Role::Assistant, calls.collect())
    })
    .usage(Usage::default())
}

fn number_of(call: &str) -> Option<u32> {
    call.strip_prefix("call-")?.parse().ok()
}

/// A store that aborts the process after it has written so many times, and says at which step.
#[derive(Debug)]
struct Mortal {
    inner: SqliteSessions,
    written: AtomicUsize,
    at: Option<usize>,
}

impl Mortal {
    async fn open(home: &Path, at: Option<usize>) -> Self {
        let inner = SqliteSessions::open(home.join("sessions.db")).await.unwrap();
        Self { inner, written: AtomicUsize::new(0), at }
    }

    fn wrote(&self, state: &SessionState) {
        let count = self.written.fetch_add(1, Ordering::SeqCst) + 1;
        let step = state.turn.as_ref().map(hermes_core::agent::Turn::next_step);
        println!("write {count}: {}", name_of(step.as_ref()));
        if self.at == Some(count) {
            process::abort();
        }
    }
}

/// Returns the step by its name in the picture of the turn.
fn name_of(step: Option<&Step>) -> String {
    let Some(step) = step else { return "over".to_owned() };
    let text = format!("{step:?}");
    text.chars().take_while(char::is_ascii_alphabetic).collect()
}

#[async_trait]
impl SessionStore for Mortal {
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        self.inner.load(id).await
    }

    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        self.inner.append(id, expected, messages, state).await?;
        self.wrote(state);
        Ok(())
    }

    async fn compact(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        self.inner.compact(id, expected, messages, state).await?;
        self.wrote(state);
        Ok(())
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.inner.search(query, limit).await
    }

    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError> {
        self.inner.lock(id).await
    }
}

async fn agent(home: &Path, at: Option<usize>) -> (Agent, Arc<Mortal>, ScriptedProvider) {
    let model = model();
    let store = Arc::new(Mortal::open(home, at).await);
    let mut limits = Limits::default();
    limits.requests = 11;
    let agent = Agent::builder(model.clone())
        .model("scripted")
        .identity("You count.")
        .tool(effect(home, "note", |spec| spec))
        .tool(effect(home, "look", ToolSpec::read_only))
        .tool(effect(home, "set", ToolSpec::idempotent))
        .tool(effect(home, "sign", |spec| spec.with_approval(NeedsApproval::Always)))
        .approver(AllowAll)
        .compressor(Summariser::new(900).head_messages(0).tail_messages(4).tail_tokens(0))
        .sessions(Arc::clone(&store))
        .limits(limits)
        .build()
        .unwrap();
    (agent, store, model)
}

fn id() -> SessionId {
    SessionId::new("crash")
}

/// What a process did.
struct Work {
    session: Session,
    turn: Option<FinishedTurn>,
    writes: usize,
    /// The calls of which the model was told that they may have had an effect.
    told: BTreeSet<u32>,
}

/// Starts the turn, or goes on with it where it was broken off.
async fn work(home: &Path, at: Option<usize>) -> Work {
    let (agent, store, model) = agent(home, at).await;
    let session = match agent.resume(&id()).await.unwrap() {
        Some(session) => session,
        None => agent.session_as(id()),
    };
    let turn = if session.broken_off().is_some() {
        Some(session.continue_turn(Extensions::default()).await.unwrap())
    } else if session.history().is_empty() {
        Some(session.send("Count to 12.").await.unwrap())
    } else {
        None
    };
    session.close().await;
    let writes = store.written.load(Ordering::SeqCst);
    Work { session, turn, writes, told: told(&model) }
}

fn told(model: &ScriptedProvider) -> BTreeSet<u32> {
    let requests = model.requests();
    let messages = requests.iter().flat_map(|request| request.messages.iter());
    let results = messages.flat_map(|message| message.call_results());
    let open = results.filter(|it| it.content.contains("may have had an effect"));
    open.filter_map(|it| number_of(it.call.as_str())).collect()
}

/// Does what a child does; nothing when the tests run by themselves.
#[tokio::test]
async fn child() {
    let Ok(home) = env::var(HOME) else { return };
    let at = env::var(AT).ok().map(|it| it.parse().unwrap());
    work(Path::new(&home), at).await;
}

/// Runs a child and returns what it printed last, and whether it came to its end.
fn run_child(home: &Path, aborts: (&str, String)) -> (String, bool) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(HOME, home)
        .env(aborts.0, aborts.1)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().rfind(|it| it.starts_with("write ")).unwrap_or_default();
    let name = last.split(": ").nth(1).unwrap_or_default().to_owned();
    (name, output.status.success())
}

/// The turn as it is when nobody dies.
struct Whole {
    history: Vec<Message>,
    effects: Vec<String>,
    writes: usize,
}

async fn whole() -> Whole {
    let home = tempfile::tempdir().unwrap();
    let Work { session, turn, writes, .. } = work(home.path(), None).await;
    let turn = turn.unwrap();
    assert_eq!((turn.finish, turn.calls), (Finish::OutOfRounds, 12));
    assert_eq!(turn.text, "Counted to 12.");
    Whole { history: session.history().to_vec(), effects: effects(home.path()), writes }
}

fn count(effects: &[String], line: &str) -> usize {
    effects.iter().filter(|it| *it == line).count()
}

#[tokio::test]
async fn a_turn_comes_to_the_same_end_wherever_its_process_dies() {
    let whole = whole().await;
    let mut names = BTreeMap::<String, usize>::new();
    for at in 1..=whole.writes {
        let home = tempfile::tempdir().unwrap();

        let (name, ended) = run_child(home.path(), (AT, at.to_string()));
        assert!(!ended, "the child was to abort at write {at}");
        let (agent, ..) = agent(home.path(), None).await;
        let session = agent.resume(&id()).await.unwrap().unwrap();
        assert_eq!(name_of(session.broken_off().as_ref()), name, "the same next step");
        session.close().await;
        let Work { session, told, .. } = work(home.path(), None).await;

        let effects = effects(home.path());
        println!("died at write {at} of {}, before {name}; told of {told:?}", whole.writes);
        for number in (1..=12).filter(|it| !may_run_again(*it)) {
            let times = count(&effects, &format!("{} {number}", tool_of(number)));
            let expected = usize::from(!told.contains(&number));
            assert_eq!(times, expected, "call {number} after write {at} ({name})");
        }
        if told.is_empty() {
            assert_eq!(*session.history(), whole.history, "after write {at} ({name})");
            assert_eq!(effects.len(), whole.effects.len());
        } else {
            // A call that was announced and not run: only the model can tell, so it is told.
            assert_eq!((told.len(), name.as_str()), (1, "RunTools"));
            assert_eq!(session.history().last().unwrap().text(), "Counted to 12.");
        }
        *names.entry(name).or_default() += 1;
    }
    println!("{names:?}");
    for step in [
        "Compress",
        "CallModel",
        "AwaitApproval",
        "RunTools",
        "Deliver",
        "Continue",
        "Grace",
        "Finish",
    ] {
        assert!(names.contains_key(step), "no child died before {step}: {names:?}");
    }
}

#[tokio::test]
async fn a_call_under_way_is_not_repeated_unless_it_may_be() {
    for number in 1..=12 {
        for place in ["before", "after"] {
            let home = tempfile::tempdir().unwrap();

            let (_, ended) = run_child(home.path(), (IN, format!("{place} {number}")));
            assert!(!ended, "the child was to abort {place} {number}");
            let before = effects(home.path());
            let Work { session, turn, .. } = work(home.path(), None).await;

            let line = format!("{} {number}", tool_of(number));
            let (once, twice) = (count(&before, &line), count(&effects(home.path()), &line));
            assert_eq!(twice, once + usize::from(may_run_again(number)), "{place} {line}");
            assert_eq!(turn.unwrap().text, "Counted to 12.");
            assert_eq!(session.history().last().unwrap().text(), "Counted to 12.");
        }
    }
}

#[tokio::test]
async fn a_process_that_dies_again_and_again_comes_to_the_end() {
    let whole = whole().await;
    let home = tempfile::tempdir().unwrap();

    // Every child gets one step further than the one before.
    let mut children = 0;
    while !run_child(home.path(), (AT, "2".to_owned())).1 {
        children += 1;
        assert!(children <= whole.writes, "no end after {children} children");
    }

    let session = work(home.path(), None).await.session;
    println!("{children} children died");
    assert!(5 < children);
    assert_eq!(session.history().last().unwrap().text(), "Counted to 12.");
    for number in 1..=12 {
        let line = format!("{} {number}", tool_of(number));
        assert!(count(&effects(home.path()), &line) <= 1, "{line}");
    }
}
