//! Whatever the model, the tools and the host do, the conversation stays usable.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use hermes_core::{
    Session,
    agent::Finish,
    compress::Summariser,
    message::{Call, Message, Part, Role, StopReason},
    provider::{ProviderError, ProviderErrorKind},
    store::SessionStore,
    testing::{InMemorySessions, ScriptedProvider},
};
use proptest::prelude::*;

use crate::support::{agent, assert_paired};

/// One reply of the model.
#[derive(Clone, Debug)]
enum Reply {
    Say(&'static str),
    Calls(Vec<(&'static str, &'static str, &'static str)>, Option<StopReason>),
    Fail(ProviderErrorKind),
    Cut,
    Hang,
}

/// When and how the host loses patience: after so many events, by cancelling or by dropping.
#[derive(Clone, Copy, Debug)]
struct Impatience {
    events: usize,
    drops: bool,
}

fn call() -> impl Strategy<Value = (&'static str, &'static str, &'static str)> {
    let id = prop_oneof![Just("a"), Just("b"), Just(""), Just(" "), Just("a_1")];
    let name = prop_oneof![8 => Just("echo"), 1 => Just("ehco"), 1 => Just("")];
    let arguments = prop_oneof![
        6 => Just(r#"{"text":"x"}"#),
        1 => Just(r#"{"text":"panic"}"#),
        1 => Just(r#"{"text":"fail"}"#),
        1 => Just(r#"{"text":"end"}"#),
        1 => Just(r#"{"text":"hang"}"#),
        1 => Just(r#"{"text":"#),
        1 => Just(""),
        1 => Just("[1]"),
        1 => Just("null"),
        1 => Just(r#"{"text":"\ud800"}"#),
    ];
    (id, name, arguments)
}

fn reply() -> impl Strategy<Value = Reply> {
    let stop = prop_oneof![
        4 => Just(None),
        1 => Just(Some(StopReason::Length)),
        1 => Just(Some(StopReason::EndTurn)),
        1 => Just(Some(StopReason::Refusal)),
    ];
    let kind = prop_oneof![
        Just(ProviderErrorKind::ServerError),
        Just(ProviderErrorKind::ContextOverflow),
        Just(ProviderErrorKind::Auth),
    ];
    prop_oneof![
        3 => prop_oneof![Just("hello"), Just(""), Just(" \n")].prop_map(Reply::Say),
        8 => (prop::collection::vec(call(), 1..5), stop).prop_map(|(calls, stop)| Reply::Calls(calls, stop)),
        1 => kind.prop_map(Reply::Fail),
        1 => Just(Reply::Cut),
        1 => Just(Reply::Hang),
    ]
}

fn script(replies: &[Reply]) -> ScriptedProvider {
    replies.iter().fold(ScriptedProvider::new(), |model, reply| match reply {
        Reply::Say(text) => model.say(*text),
        Reply::Calls(calls, stop) => {
            let part = |(id, name, arguments): &(&str, &str, &str)| {
                Part::Call(Call::new(*id, *name, *arguments))
            };
            let message = Message::new(Role::Assistant, calls.iter().map(part).collect());
            model.reply(match stop {
                Some(stop) => message.with_stop(stop.clone()),
                None => message,
            })
        }
        Reply::Fail(kind) => model.fail(ProviderError::new(*kind, "as asked")),
        Reply::Cut => model.cut("half an"),
        Reply::Hang => model.say_then_hang("I was about"),
    })
}

/// Sends a message, loses patience as told, and waits until nothing runs any more.
async fn send(session: &Session, text: &str, impatience: Option<Impatience>) {
    let mut reply = session.send(text);
    let Some(Impatience { events, drops }) = impatience else {
        // Something may hang; then patience ends after all.
        if tokio::time::timeout(Duration::from_secs(60), reply).await.is_err() {
            session.idle().await;
        }
        return;
    };
    for _ in 0..events {
        let event = tokio::time::timeout(Duration::from_secs(60), reply.next()).await;
        if !matches!(event, Ok(Some(_))) {
            break;
        }
    }
    if drops {
        drop(reply);
    } else {
        session.cancel();
        drop(reply.await);
    }
    session.idle().await;
}

/// Makes room before every request that has seen a reply, and keeps as little as it may.
fn eager() -> Summariser {
    Summariser::new(100).head_messages(0).tail_messages(1).tail_tokens(0)
}

/// Panics unless both OpenAI and Anthropic would take the history.
fn assert_valid(history: &[Message]) {
    assert_paired(history);
    let mut ids = std::collections::HashSet::new();
    assert!(history.is_sorted_by(|one, next| one.id < next.id), "ids grow: {history:#?}");
    for message in history {
        assert!(!message.parts.is_empty(), "no message is empty: {history:#?}");
        for call in message.calls() {
            assert!(!call.id.as_str().trim().is_empty(), "no id is blank");
            assert!(ids.insert(call.id.clone()), "no id comes twice: {history:#?}");
        }
        if message.role == Role::Assistant {
            assert!(!message.is_blank(), "no answer is blank: {history:#?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        // More with `PROPTEST_CASES`.
        cases: ProptestConfig::default().cases.max(500),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_ending_leaves_a_usable_conversation(
        replies in prop::collection::vec(reply(), 0..8),
        first in prop::option::of((0_usize..12, any::<bool>())),
        second in prop::option::of((0_usize..12, any::<bool>())),
        compresses in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let impatience = |it: Option<(usize, bool)>| it.map(|(events, drops)| Impatience { events, drops });
            let model = script(&replies);
            let store = Arc::new(InMemorySessions::default());
            let agent = agent(&model).max_requests(6).sessions(store.clone());
            let agent = if compresses { agent.compressor(eager()) } else { agent };
            let session = agent.build().unwrap().session();

            send(&session, "one", impatience(first)).await;
            assert_valid(&session.history());
            send(&session, "two", impatience(second)).await;
            assert_valid(&session.history());
            while 0 < model.remaining() {
                send(&session, "more", None).await;
                assert_valid(&session.history());
            }
            let last = session.send("still there?").await.unwrap();

            assert_eq!((last.text.as_str(), last.finish), ("done", Finish::Answered));
            assert_valid(&session.history());
            let stored = store.load(session.id()).await.unwrap().unwrap();
            assert_eq!(stored.messages, *session.history());
        });
    }
}
