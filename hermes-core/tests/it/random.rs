//! Whatever the model, the tools and the host do, the conversation stays usable.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Session,
    agent::{
        Finish,
        hook::{
            AfterCall, BeforeCall, BeforeRequest, CallAction, Hook, HookPoints, RequestAction,
            RequestChange, ResultAction,
        },
    },
    approval::{self, Approval, ApprovalRequest, NeedsApproval},
    async_trait,
    compress::Summariser,
    message::{Call, Message, Part, Role, StopReason},
    provider::{ProviderError, ProviderErrorKind},
    store::SessionStore,
    testing::{InMemorySessions, ScriptedProvider},
    tool::{self, Tool, ToolOutput},
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Echo, agent, assert_paired, wait};

/// One reply of the model.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Say(&'static str),
    Calls(Vec<(&'static str, &'static str, &'static str)>, Option<StopReason>),
    Fail(ProviderErrorKind),
    Cut,
    Hang,
}

/// When and how the host loses patience: after so many events, and whether by dropping.
type Impatience = (usize, bool);

/// What a hook or an approver does when it is asked.
#[derive(Clone, Copy, Debug)]
enum Whim {
    Pass,
    Change,
    Refuse,
    Stop,
    Panic,
    Hang,
}

/// What hooks and approvers do, one after the other, and nothing once that is used up.
#[derive(Clone, Debug, Default)]
struct Whims(Arc<Mutex<VecDeque<Whim>>>);

impl Whims {
    fn next(&self) -> Whim {
        self.0.lock().unwrap().pop_front().unwrap_or(Whim::Pass)
    }

    /// Returns the next one, unless it is to panic or to hang, which it does.
    async fn asked(&self) -> Whim {
        match self.next() {
            Whim::Panic => panic!("as asked"),
            Whim::Hang => std::future::pending().await,
            other => other,
        }
    }
}

#[async_trait]
impl Hook for Whims {
    fn listens(&self) -> HookPoints {
        HookPoints::ALL
    }

    async fn before_request(&self, _: &BeforeRequest<'_>) -> RequestAction {
        match self.asked().await {
            Whim::Change => {
                RequestAction::Change(RequestChange::default().with_context("It rains."))
            }
            Whim::Stop => RequestAction::Stop("as asked".to_owned()),
            _ => RequestAction::Proceed,
        }
    }

    async fn before_call(&self, _: &BeforeCall<'_>) -> CallAction {
        match self.asked().await {
            Whim::Change => CallAction::Replace(json!({"text": "y"})),
            Whim::Refuse => CallAction::Deny("as asked".to_owned()),
            Whim::Stop => CallAction::Stop("as asked".to_owned()),
            _ => CallAction::Proceed,
        }
    }

    async fn after_call(&self, _: &AfterCall<'_>) -> ResultAction {
        match self.asked().await {
            Whim::Change => ResultAction::Replace(ToolOutput::done("z")),
            Whim::Stop => ResultAction::Stop("as asked".to_owned()),
            _ => ResultAction::Keep,
        }
    }
}

fn whims() -> impl Strategy<Value = Whims> {
    let whim = prop_oneof![
        4 => Just(Whim::Pass),
        2 => Just(Whim::Change),
        2 => Just(Whim::Refuse),
        1 => Just(Whim::Stop),
        1 => Just(Whim::Panic),
        1 => Just(Whim::Hang),
    ];
    let all = prop::collection::vec(whim, 0..12);
    all.prop_map(|all| Whims(Arc::new(Mutex::new(all.into()))))
}

/// A tool that needs approval.
fn deploy() -> impl Tool {
    tool::from_fn("deploy", "Deploys.", |echo: Echo, _| async { Ok(ToolOutput::done(echo.text)) })
        .configure(|spec| spec.with_approval(NeedsApproval::Always))
}

async fn answer(whims: Whims) -> Approval {
    match whims.asked().await {
        Whim::Change => Approval::AllowForSession,
        Whim::Refuse => Approval::Deny("as asked".to_owned()),
        Whim::Stop => Approval::Hold,
        _ => Approval::AllowOnce,
    }
}

fn call() -> impl Strategy<Value = (&'static str, &'static str, &'static str)> {
    let id = prop_oneof![Just("a"), Just("b"), Just(""), Just(" "), Just("a_1")];
    let name =
        prop_oneof![8 => Just("echo"), 4 => Just("deploy"), 1 => Just("ehco"), 1 => Just("")];
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

pub(crate) fn reply() -> impl Strategy<Value = Reply> {
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

pub(crate) fn script(replies: &[Reply]) -> ScriptedProvider {
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

/// Sends a message, and another one after `steer` events if so many come; loses patience as told, and
/// waits until nothing runs any more.
async fn send(session: &Session, text: &str, steer: Option<usize>, impatience: Option<Impatience>) {
    let mut reply = session.send(text);
    for _ in 0..steer.unwrap_or_default() {
        let event = tokio::time::timeout(Duration::from_secs(60), reply.next()).await;
        if !matches!(event, Ok(Some(_))) {
            break;
        }
    }
    if steer.is_some() {
        session.steer("and that");
    }
    wait(session, reply, impatience).await;
}

/// Makes room before every request that has seen a reply, and keeps as little as it may.
pub(crate) fn eager() -> Summariser {
    Summariser::new(100).head_messages(0).tail_messages(1).tail_tokens(0)
}

/// Panics unless both OpenAI and Anthropic would take the history.
pub(crate) fn assert_valid(history: &[Message]) {
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
        steers in (prop::option::of(0_usize..8), prop::option::of(0_usize..8)),
        hooks in prop::option::of(whims()),
        approvals in prop::option::of(whims()),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let model = script(&replies);
            let store = Arc::new(InMemorySessions::default());
            let agent = agent(&model).max_requests(6).sessions(store.clone());
            let agent = if compresses { agent.compressor(eager()) } else { agent };
            let agent = match hooks.clone() {
                Some(whims) => agent.tool(deploy()).hook(whims),
                None => agent.tool(deploy()),
            };
            let agent = match approvals.clone() {
                Some(whims) => {
                    agent.approver(approval::from_fn(move |_: ApprovalRequest| answer(whims.clone())))
                }
                None => agent,
            };
            let session = agent.build().unwrap().session();

            send(&session, "one", steers.0, first).await;
            assert_valid(&session.history());
            send(&session, "two", steers.1, second).await;
            assert_valid(&session.history());
            while 0 < model.remaining() {
                send(&session, "more", None, None).await;
                assert_valid(&session.history());
            }
            for whims in hooks.iter().chain(&approvals) {
                whims.0.lock().unwrap().clear();
            }
            let last = session.send("still there?").await.unwrap();

            assert_eq!((last.text.as_str(), last.finish), ("done", Finish::Answered));
            assert_valid(&session.history());
            let stored = store.load(session.id()).await.unwrap().unwrap();
            assert_eq!(stored.messages, *session.history());
        });
    }
}
