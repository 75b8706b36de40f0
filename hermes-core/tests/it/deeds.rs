//! Whatever a host does with a conversation from turn to turn, it stays usable.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hermes_core::{
    Session,
    agent::{
        AgentError, Finish,
        hook::{Hook, HookPoints, TurnEnded},
    },
    async_trait,
    cost::Spending,
    store::{SessionId, SessionStore},
    tool::Extensions,
};
use proptest::prelude::*;

use crate::{
    random::{Reply, assert_valid, eager, reply, script},
    support::{Plan, Troubled, agent, wait},
};

/// What a host does with a conversation.
#[derive(Clone, Debug)]
enum Deed {
    Send(Option<(usize, bool)>),
    Retry(Option<(usize, bool)>),
    Steer,
    /// It is closed, and opened by another process.
    Reopen,
    /// The store fails so many of the next writes, after so many.
    Trouble(usize, usize),
    /// It panics at them.
    Panic(usize, usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    let patience = || prop::option::of((0_usize..12, any::<bool>()));
    prop_oneof![
        3 => patience().prop_map(Deed::Send),
        4 => patience().prop_map(Deed::Retry),
        1 => Just(Deed::Steer),
        2 => Just(Deed::Reopen),
        1 => (0_usize..6, 1_usize..3).prop_map(|(after, count)| Deed::Trouble(after, count)),
        1 => (0_usize..6, 1_usize..3).prop_map(|(after, count)| Deed::Panic(after, count)),
    ]
}

/// Adds up what turns took.
#[derive(Debug, Default)]
struct Purse(Mutex<Spending>);

#[async_trait]
impl Hook for Purse {
    fn listens(&self) -> HookPoints {
        HookPoints::TURN_ENDED
    }

    async fn turn_ended(&self, event: &TurnEnded<'_>) {
        *self.0.lock().unwrap() += event.spending;
    }
}

async fn lives_through(replies: &[Reply], deeds: &[Deed], compresses: bool) {
    let model = script(replies);
    let (plan, panics) = (Plan::default(), Plan::default());
    let (store, inner) = Troubled::failing_or_panicking(&plan, &panics);
    let purse = Arc::new(Purse::default());
    let build = || {
        let agent = agent(&model).max_requests(6).sessions(store.clone());
        let agent = agent.hook(Arc::clone(&purse));
        if compresses { agent.compressor(eager()) } else { agent }.build().unwrap()
    };
    let id = SessionId::new("s1");
    let mut session = build().open(&id).await.unwrap();
    let mut is_troubled = false;
    for deed in deeds {
        match deed {
            Deed::Send(patience) => wait(&session, session.send("one"), *patience).await,
            Deed::Retry(patience) => {
                let reply = session.retry(Extensions::default());
                wait(&session, reply, *patience).await;
            }
            Deed::Steer => session.steer("shorter"),
            Deed::Reopen => {
                session.close().await;
                session = build().open(&id).await.unwrap();
            }
            Deed::Trouble(after, count) => {
                is_troubled = true;
                plan.next(*after, *count);
            }
            Deed::Panic(after, count) => {
                is_troubled = true;
                panics.next(*after, *count);
            }
        }
        assert_valid_but_open(&session);
    }
    plan.next(0, 0);
    panics.next(0, 0);
    retry_to_the_end(&session).await;
    let mut sent = 0;
    while 0 < model.remaining() {
        sent += 1;
        assert!(sent < MOST, "{:?}", session.send("more").await);
        wait(&session, session.send("more"), None).await;
    }
    let last = session.send("still there?").await.unwrap();

    assert_eq!((last.text.as_str(), last.finish), ("done", Finish::Answered));
    assert_valid(&session.history());
    let stored = inner.load(&id).await.unwrap().unwrap();
    assert_eq!(stored.messages, *session.history());
    assert_eq!(stored.state.spending, session.spending());
    if !is_troubled {
        assert_eq!(*purse.0.lock().unwrap(), session.spending());
    }
}

/// More than the attempts that any script takes.
const MOST: usize = 60;

/// Runs the last turn again until it is over.
async fn retry_to_the_end(session: &Session) {
    for _ in 0..MOST {
        let reply = session.retry(Extensions::default());
        match tokio::time::timeout(Duration::from_secs(60), reply).await {
            Ok(Err(AgentError::NothingToRetry)) => return,
            Ok(_) => {}
            Err(_) => session.idle().await,
        }
        assert_valid(&session.history());
    }
    panic!("{:#?}", session.history());
}

/// Panics unless the history is valid, apart from the calls of a turn that was broken off.
fn assert_valid_but_open(session: &Session) {
    if session.broken_off().is_none() {
        assert_valid(&session.history());
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
    fn whatever_a_host_does_next_the_conversation_stays_usable(
        replies in prop::collection::vec(reply(), 0..12),
        deeds in prop::collection::vec(deed(), 1..10),
        compresses in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(lives_through(&replies, &deeds, compresses));
    }
}
