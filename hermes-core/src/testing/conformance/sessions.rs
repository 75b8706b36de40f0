//! The contract of [`SessionStore`].

use futures::future::join_all;
use serde_json::json;

use super::{fails, succeeds};
use crate::{
    agent::{Limits, Turn},
    cost::{Cost, Spending},
    message::{
        Call, CallResult, CallStatus, Image, Message, MessageId, Part, Reasoning, Role, StopReason,
        Usage,
    },
    store::{
        Counts, ListOptions, SessionId, SessionState, SessionStore, StoreError, StoredSession,
    },
    tool::ToolSpec,
    version::Version,
};

/// Checks a [`SessionStore`] against its contract.
///
/// It needs an empty store and leaves some sessions behind, whose ids begin with `suite-`.
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::testing::{InMemorySessions, conformance};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// conformance::session_store(&InMemorySessions::default()).await;
/// # }
/// ```
pub async fn session_store(store: &dyn SessionStore) {
    let suite = Suite { store };
    suite.starts_empty().await;
    suite.is_faithful().await;
    suite.only_appends().await;
    suite.forgets_nothing().await;
    suite.searches().await;
    suite.takes_any_query().await;
    suite.has_one_writer().await;
    suite.lists().await;
    suite.forgets_on_demand().await;
}

struct Suite<'a> {
    store: &'a dyn SessionStore,
}

/// What `list` and `delete` return where a store leaves them out.
fn offered<T>(promise: &str, result: Result<T, StoreError>) -> Option<T> {
    match result {
        Err(StoreError::Unsupported(_)) => None,
        other => Some(succeeds(promise, other)),
    }
}

impl Suite<'_> {
    /// Adds a session with `texts`.
    async fn say(&self, id: &SessionId, texts: &[&str]) {
        let number = |at: usize| MessageId(u64::try_from(at).unwrap_or_default() + 1);
        let messages: Vec<Message> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Message::user(*text).with_id(number(at)))
            .collect();
        let state = SessionState::default();
        succeeds("append", self.store.append(id, 0, &messages, &state).await);
    }

    async fn lists(&self) {
        const PROMISE: &str = "list";
        let ids = ["suite-list/a", "suite-list/b%", "suite-list/c", "suite-listed"];
        let [first, second, third, other] = ids.map(SessionId::new);
        for id in [&first, &second, &third, &other] {
            self.say(id, &["hello", "again"]).await;
        }
        let last = [Message::user("and again").with_id(MessageId(3))];
        succeeds("append", self.store.append(&first, 2, &last, &SessionState::default()).await);

        let options = ListOptions::default().prefix("suite-list/");
        let Some(all) = offered(PROMISE, self.store.list(&options).await) else { return };

        let mut counts: Vec<_> = all.iter().map(|it| (&it.id, it.messages)).collect();
        counts.sort_unstable();
        let expected = [(&first, 3), (&second, 2), (&third, 2)];
        assert_eq!(counts, expected, "{PROMISE}: not what there is of a prefix");
        let is_sorted = all.is_sorted_by(|one, next| next.updated <= one.updated);
        assert!(is_sorted, "{PROMISE}: {all:?} are not the last written to first");
        let are_dated = all.iter().all(|it| it.created <= it.updated);
        assert!(are_dated, "{PROMISE}: {all:?} were written to before they began");
        let page = succeeds(PROMISE, self.store.list(&options.limit(1).skip(1)).await);
        let expected = all.get(1..2).unwrap_or_default();
        assert_eq!(page, expected, "{PROMISE}: another page than asked for");
        let odd = ListOptions::default().prefix("suite-list/b%");
        let odd = succeeds(PROMISE, self.store.list(&odd).await);
        assert_eq!(odd.len(), 1, "{PROMISE}: a prefix is not taken as it is");
        let none = ListOptions::default().prefix("suite-list/%");
        let none = succeeds(PROMISE, self.store.list(&none).await);
        assert_eq!(none, [], "{PROMISE}: a prefix is not taken as it is");
    }

    async fn forgets_on_demand(&self) {
        const PROMISE: &str = "gone is gone";
        let (id, other) = (SessionId::new("suite-gone"), SessionId::new("suite-stays"));
        self.say(&id, &["a bilby", "another bilby", "日本の話"]).await;
        self.say(&other, &["a bilby that stays"]).await;
        let summary = [Message::user("all of it").with_id(MessageId(4))];
        let state = SessionState::default();
        succeeds(PROMISE, self.store.compact(&id, 3, &summary, &state).await);
        let nobody = SessionId::new("suite-nobody");
        let Some(was_there) = offered(PROMISE, self.store.delete(&nobody).await) else { return };
        assert!(!was_there, "{PROMISE}: a session that nobody stored was deleted");

        let lock = succeeds(PROMISE, self.store.lock(&id).await);
        let err = fails(PROMISE, self.store.delete(&id).await);
        assert!(matches!(err, StoreError::Locked(_)), "{PROMISE}: {err:?} under a lock");
        drop(lock);
        assert!(succeeds(PROMISE, self.store.delete(&id).await), "{PROMISE}: it was not there");

        assert_eq!(succeeds(PROMISE, self.store.load(&id).await), None, "{PROMISE}: still loaded");
        for query in ["bilby", "日本", "all of it"] {
            let hits = succeeds(PROMISE, self.store.search(query, 9).await);
            assert!(hits.iter().all(|it| it.session != id), "{PROMISE}: {query:?} is still found");
        }
        let hits = succeeds(PROMISE, self.store.search("bilby", 9).await);
        assert_eq!(hits.len(), 1, "{PROMISE}: what others said is lost with it");
        let again = succeeds(PROMISE, self.store.delete(&id).await);
        assert!(!again, "{PROMISE}: it was deleted twice");
        self.say(&id, &["a dugong"]).await;
        let hits = succeeds(PROMISE, self.store.search("dugong", 9).await);
        assert_eq!(hits.len(), 1, "{PROMISE}: another under its id is not found");
    }

    async fn starts_empty(&self) {
        let nobody = SessionId::new("suite-nobody");
        let loaded = succeeds("load", self.store.load(&nobody).await);
        assert_eq!(loaded, None, "load: an unknown session is there");
        let found = succeeds("search", self.store.search("zanzibar", 9).await);
        assert_eq!(found, [], "search: the suite needs an empty store");
    }

    async fn is_faithful(&self) {
        const PROMISE: &str = "faithful";
        let id = SessionId::new("suite-faithful/with ünusual");
        let (messages, state) = (every_kind_of_message(), every_kind_of_state());

        succeeds(PROMISE, self.store.append(&id, 0, &messages, &state).await);

        let expected = StoredSession::new(messages.clone(), state);
        let loaded = succeeds(PROMISE, self.store.load(&id).await);
        assert_eq!(loaded, Some(expected), "{PROMISE}: not what was stored");
        let state = SessionState { turns: 9, ..SessionState::default() };
        succeeds(PROMISE, self.store.append(&id, messages.len(), &[], &state).await);
        let loaded = succeeds(PROMISE, self.store.load(&id).await);
        let expected = StoredSession::new(messages, state);
        assert_eq!(loaded, Some(expected), "{PROMISE}: a new state alone is not stored");
    }

    async fn only_appends(&self) {
        const PROMISE: &str = "append-only";
        let id = SessionId::new("suite-appended");
        let state = SessionState::default();
        let said =
            |number: u64| Message::user(format!("number {number}")).with_id(MessageId(number));
        succeeds(PROMISE, self.store.append(&id, 0, &[said(1), said(2)], &state).await);
        succeeds(PROMISE, self.store.append(&id, 2, &[said(3)], &state).await);
        self.expect(&id, &[said(1), said(2), said(3)], PROMISE).await;

        let later = SessionState { turns: 7, ..SessionState::default() };
        for wrong in [0, 2, 4] {
            for change in [
                self.store.append(&id, wrong, &[said(4)], &later).await,
                self.store.compact(&id, wrong, &[said(4)], &later).await,
            ] {
                let err = fails(PROMISE, change);
                let is_right = matches!(&err, StoreError::Conflict { id: it, expected, actual }
                    if *it == id && *expected == wrong && *actual == 3);
                assert!(is_right, "{PROMISE}: not `Conflict` of {wrong} with 3 but {err:?}");
            }
        }
        let unknown = SessionId::new("suite-never-made");
        fails(PROMISE, self.store.append(&unknown, 1, &[said(1)], &state).await);
        let made = succeeds("load", self.store.load(&unknown).await);
        assert_eq!(made, None, "{PROMISE}: a refused append made a session");
        self.expect(&id, &[said(1), said(2), said(3)], PROMISE).await;
        let turns = succeeds("load", self.store.load(&id).await).map(|it| it.state.turns);
        assert_eq!(turns, Some(0), "{PROMISE}: a refused append changed the state");

        let writers = [4, 5].map(|number| {
            let (id, state) = (&id, &state);
            async move { self.store.append(id, 3, &[said(number)], state).await }
        });
        let won = join_all(writers).await.into_iter().flatten().count();
        assert_eq!(won, 1, "{PROMISE}: of two writers at one place, {won} succeeded");
    }

    async fn forgets_nothing(&self) {
        const PROMISE: &str = "nothing is forgotten";
        let (id, state) = (SessionId::new("suite-compacted"), SessionState::default());
        let old = [
            Message::user("where is the quokka").with_id(MessageId(1)),
            Message::assistant("on the island").with_id(MessageId(2)),
            Message::user("thanks for the wombat").with_id(MessageId(3)),
        ];
        succeeds(PROMISE, self.store.append(&id, 0, &old, &state).await);
        let [_, _, kept] = &old;
        let new = [Message::user("summary: numbat found").with_id(MessageId(4)), kept.clone()];
        let later = SessionState { turns: 5, ..SessionState::default() };

        succeeds(PROMISE, self.store.compact(&id, 3, &new, &later).await);

        self.expect(&id, &new, "compact: not what replaces the old").await;
        let turns = succeeds("load", self.store.load(&id).await).map(|it| it.state.turns);
        assert_eq!(turns, Some(5), "compact: the state is not stored");
        for (word, message) in [("quokka", 1), ("numbat", 4), ("wombat", 3)] {
            let hits = succeeds(PROMISE, self.store.search(word, 9).await);
            let found: Vec<_> = hits.iter().map(|hit| (&hit.session, hit.message.0)).collect();
            assert_eq!(found, [(&id, message)], "{PROMISE}: where {word} was said");
        }
        let next = Message::user("and on").with_id(MessageId(5));
        succeeds(PROMISE, self.store.append(&id, 2, std::slice::from_ref(&next), &later).await);
        self.expect(&id, &[new.as_slice(), &[next]].concat(), "append after compact").await;
    }

    async fn searches(&self) {
        let state = SessionState::default();
        let (first, second) = (SessionId::new("suite-search-1"), SessionId::new("suite-search-2"));
        let said = [
            Message::user("the Axolotl lives in a lake").with_id(MessageId(1)),
            Message::assistant("an axolotl is a salamander").with_id(MessageId(2)),
            Message::results([CallResult::new("c".into(), CallStatus::Done, "axolotl")])
                .with_id(MessageId(3)),
        ];
        succeeds("append", self.store.append(&first, 0, &said, &state).await);
        let message = Message::user("nothing but a newt").with_id(MessageId(1));
        succeeds("append", self.store.append(&second, 0, &[message], &state).await);

        let hits = succeeds("search", self.store.search("axolotl", 9).await);

        let mut found: Vec<_> =
            hits.iter().map(|hit| (&hit.session, hit.message.0, hit.role)).collect();
        found.sort_by_key(|(_, message, _)| *message);
        let expected = [(&first, 1, Role::User), (&first, 2, Role::Assistant)];
        assert_eq!(found, expected, "search: not the user and assistant messages that say it");
        let shows = hits.iter().all(|hit| hit.snippet.to_lowercase().contains("axolotl"));
        assert!(shows, "search: a snippet does not show what was found: {hits:?}");
        let best = succeeds("search", self.store.search("axolotl lake", 9).await);
        let best = best.first().map(|hit| hit.message.0);
        assert_eq!(best, Some(1), "search: the best hit is not first");
        for limit in [0, 1] {
            let hits = succeeds("search", self.store.search("axolotl", limit).await);
            assert_eq!(hits.len(), limit, "search: the limit is not kept");
        }
    }

    async fn takes_any_query(&self) {
        let long = "word ".repeat(2_000);
        let queries = [
            "",
            " ",
            "\"",
            "'",
            "\"unclosed",
            "(",
            "AND",
            "NOT axolotl",
            "axolotl OR",
            "NEAR(",
            "*",
            "a*",
            "-",
            "--",
            "%",
            "_",
            "\\",
            ":",
            "text:axolotl",
            "^",
            "{}",
            "\0",
            "日本",
            "🦎",
            "'; DROP TABLE messages; --",
            &long,
        ];
        for query in queries {
            let shown: String = query.chars().take(40).collect();
            succeeds(
                &format!("no query is an error: {shown:?}"),
                self.store.search(query, 3).await,
            );
        }
        let hits = succeeds("search", self.store.search("zanzibar \"", usize::MAX).await);
        assert_eq!(hits, [], "search: finds what nobody said");
    }

    async fn has_one_writer(&self) {
        const PROMISE: &str = "one writer";
        let (id, other) = (SessionId::new("suite-locked"), SessionId::new("suite-other"));
        let held = succeeds(PROMISE, self.store.lock(&id).await);
        let err = fails(PROMISE, self.store.lock(&id).await);
        let is_right = matches!(&err, StoreError::Locked(it) if *it == id);
        assert!(is_right, "{PROMISE}: not `Locked` but {err:?}");
        drop(succeeds("one writer: of another session", self.store.lock(&other).await));
        let (message, state) = (Message::user("mine"), SessionState::default());
        let write = self.store.append(&id, 0, &[message], &state).await;
        succeeds("one writer: who has the lock writes", write);

        drop(held);

        let again = succeeds("one writer: a dropped lock lets in", self.store.lock(&id).await);
        let err = fails(PROMISE, self.store.lock(&id).await);
        assert!(matches!(err, StoreError::Locked(_)), "{PROMISE}: not `Locked` but {err:?}");
        drop(again);
    }

    async fn expect(&self, id: &SessionId, messages: &[Message], promise: &str) {
        let loaded = succeeds("load", self.store.load(id).await).map(|it| it.messages);
        assert_eq!(loaded.as_deref(), Some(messages), "{promise}");
    }
}

/// Messages with everything that a message can have.
fn every_kind_of_message() -> Vec<Message> {
    let odd_text = "tab\t, quote \", zero \0, é, 日本語, 🦎, \u{202e}turned\r\n";
    let user = vec![
        Part::Text(odd_text.to_owned()),
        Part::Image(Image::new("https://example.org/a.png")),
        Part::Context("recalled".to_owned()),
    ];
    let assistant = vec![
        Part::Reasoning(Reasoning::new("hm").with_opaque("p", json!({"sig": [1, null]}))),
        Part::Text(String::new()),
        Part::Call(Call::new("a", "broken", "{\"n\": 1e400, ")),
        Part::Call(Call::new("b", "whole", json!({"n": 1}))),
    ];
    let mut messages = vec![
        Message::new(Role::User, user),
        Message::new(Role::Assistant, assistant)
            .with_stop(StopReason::Other("odd".to_owned()))
            .with_usage(Usage { cache_read: 3, reasoning: 2, ..Usage::new(10, 5) }),
        Message::results([
            CallResult::new("a".into(), CallStatus::Rejected, "no"),
            CallResult::new("b".into(), CallStatus::Done, "y".repeat(100_000)),
        ]),
        Message::new(Role::Assistant, vec![]).with_stop(StopReason::Cancelled),
    ];
    let unknown = r#"{"id":0,"role":"user","parts":[],"mood":{"of":["a","later","version"]}}"#;
    messages.extend(serde_json::from_str::<Message>(unknown));
    (1..).zip(messages).map(|(id, it)| it.with_id(MessageId(id))).collect()
}

/// A state with everything that a state can have.
fn every_kind_of_state() -> SessionState {
    SessionState {
        system: Some("You help.\n日本".into()),
        tools: Some([ToolSpec::new("ping", "Answers.").read_only()].into()),
        turns: 3,
        last_message: MessageId(5),
        counts: Counts { turns_since_memory: 2, rounds_since_skills: 4 },
        seen: vec![("skill:a/SKILL.md".to_owned(), Version::of("a"))],
        turn: Some(Turn::new(Limits::default())),
        spending: spending(),
        reviews: spending(),
        ..SessionState::default()
    }
}

fn spending() -> Spending {
    let mut spending = Spending::default();
    spending.add(Usage::new(1_000, 200), Some(Cost::from_picodollars(7)));
    spending.add(Usage::new(10, 2), None);
    spending
}
