//! Forks and reviews: one more run of the loop, with fewer rights.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hermes_core::{
    agent::{Finish, FinishedTurn},
    async_trait,
    change::{Change, ChangeAction, ChangeTarget},
    fork::{Fork, ForkContext, ForkTask},
    memory::Target,
    message::{CallStatus, Message},
    origin::{Origin, OriginKind},
    provider::{ProviderError, ProviderErrorKind},
    review::{
        ProposedWrite, Review, ReviewOutcome, ReviewPolicy, ReviewReport, ReviewScope, ReviewTask,
        Verdict,
    },
    store::SharedCounts,
    testing::ScriptedProvider,
    tool::{self, ToolOutput},
};
use serde_json::{Value, json};

use crate::support::{Echo, agent, results};

/// A policy that reviews after every turn by running one fork.
#[derive(Clone, Debug)]
struct Always(Arc<Looks>);

#[derive(Debug)]
struct Looks {
    tools: Vec<&'static str>,
    started: AtomicU32,
}

fn always(tools: &[&'static str]) -> Always {
    Always(Arc::new(Looks { tools: tools.to_vec(), started: AtomicU32::new(0) }))
}

impl ReviewPolicy for Always {
    fn after_turn(&self, _: &FinishedTurn) -> Option<ReviewTask> {
        Some(ReviewTask::new(ReviewScope::Both, Arc::new(self.clone())))
    }

    fn judge(&self, _: &ProposedWrite) -> Verdict {
        Verdict::Apply
    }
}

#[async_trait]
impl Review for Always {
    async fn run(&self, id: &str, scope: ReviewScope, fork: Arc<dyn Fork>) -> ReviewReport {
        self.0.started.fetch_add(1, Ordering::SeqCst);
        let task = ForkTask::new("Look back.", Origin::review(id)).with_tools(self.0.tools.clone());
        let mut report = ReviewReport::new(id, scope);
        match fork.run(task).await {
            Ok(outcome) => {
                report.note = outcome.text;
                report.requests = outcome.requests;
                report.changes = outcome.changes;
                if outcome.finish == Finish::Cancelled {
                    report.outcome = ReviewOutcome::Cancelled;
                }
            }
            Err(err) => report.outcome = ReviewOutcome::Failed(err.describe()),
        }
        report
    }
}

#[tokio::test]
async fn a_review_sends_the_same_prefix_and_leaves_no_trace() {
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "one"}))
        .say("one it is")
        .call("echo", json!({"text": "in review"}))
        .say("Nothing to save.");
    let agent = agent(&model).review(always(&["memory"])).build().unwrap();
    let session = agent.session();

    let turn = session.send("Say one.").await.unwrap();
    let before = session.history();
    let report = turn.review.unwrap().await.unwrap();

    assert_eq!(report.note, "Nothing to save.");
    assert_eq!(session.history(), before);
    let (own, review) = (session.spending(), session.review_spending());
    assert_eq!((own.usage.input, review.usage.input), (200, 200));
    assert_eq!((own.requests, review.requests), (2, 2));
    let requests = model.requests();
    let (parent, review) = (&requests[1], &requests[2]);
    assert_eq!(
        (&parent.system, &parent.tools, &parent.model),
        (&review.system, &review.tools, &review.model)
    );
    assert_eq!((&parent.tool_choice, &parent.sampling), (&review.tool_choice, &review.sampling));
    assert_eq!(review.messages[..4], before[..]);
    assert_eq!(review.messages[4].text(), "Look back.");
    let refused = &results(&requests[3].messages)[1];
    assert_eq!(refused.status, CallStatus::Rejected);
    assert_eq!(refused.content, "\"echo\" is not available here. Available: memory.");
    assert_eq!(agent.reports(), [report]);
}

#[tokio::test]
async fn only_one_review_runs_at_a_time_and_none_reviews_itself() {
    let reviewer = always(&[]);
    let model = ScriptedProvider::new().say("one").hang().say("two");
    let agent = agent(&model).review(reviewer.clone()).build().unwrap();
    let session = agent.session();

    let first = session.send("One.").await.unwrap();
    while model.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    let second = session.send("Two.").await.unwrap();

    assert!(first.review.is_some() && second.review.is_none());
    assert_eq!(second.counts.turns_since_memory, 1);
    let review = first.review.unwrap();
    review.cancel();
    assert_eq!(review.await.unwrap().outcome, ReviewOutcome::Cancelled);
    let third = session.send("Three.").await.unwrap();
    assert!(third.review.is_some());
    agent.settled().await;
    assert_eq!(reviewer.0.started.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_review_that_fails_or_crashes_harms_nobody() {
    #[derive(Debug)]
    struct Crashing;
    impl ReviewPolicy for Crashing {
        fn after_turn(&self, _: &FinishedTurn) -> Option<ReviewTask> {
            Some(ReviewTask::new(ReviewScope::Memory, Arc::new(Self)))
        }
        fn judge(&self, _: &ProposedWrite) -> Verdict {
            Verdict::Apply
        }
    }
    #[async_trait]
    impl Review for Crashing {
        async fn run(&self, _: &str, _: ReviewScope, _: Arc<dyn Fork>) -> ReviewReport {
            panic!("as asked")
        }
    }
    let down = ProviderError::new(ProviderErrorKind::ServerError, "HTTP 500");
    let model = ScriptedProvider::new().say("one").fail(down);
    let failing = agent(&model).review(always(&[])).build().unwrap();
    let crashing = agent(&ScriptedProvider::new()).review(Crashing).build().unwrap();

    let failed = failing.session().send("Hi.").await.unwrap().review.unwrap().await.unwrap();
    let crashed = crashing.session().send("Hi.").await.unwrap().review.unwrap().await.unwrap();

    let failure = "the model could not be asked: HTTP 500".to_owned();
    assert_eq!(failed.outcome, ReviewOutcome::Failed(failure));
    assert_eq!(crashed.outcome, ReviewOutcome::Failed("the review crashed".to_owned()));
}

#[tokio::test]
async fn a_write_restarts_its_count_and_a_failed_turn_starts_no_review() {
    let write = tool::from_fn("memory", "Writes.", |_: Value, _| async {
        let target = ChangeTarget::Memory(Target::User);
        Ok(ToolOutput::done("ok").with_change(Change::applied(target, ChangeAction::Update)))
    });
    let model = ScriptedProvider::new()
        .say("one")
        .fail(ProviderError::new(ProviderErrorKind::ServerError, "HTTP 500"))
        .say("")
        .say("")
        .call("memory", json!({}))
        .say("written");
    let session = agent(&model).tool(write).build().unwrap().session();

    assert_eq!(session.send("1").await.unwrap().counts.turns_since_memory, 1);
    session.send("2").await.unwrap_err();
    let empty = session.send("3").await.unwrap();
    assert_eq!(empty.counts.turns_since_memory, 3);
    assert!(!empty.is_completed());
    let written = session.send("4").await.unwrap();
    assert_eq!(written.counts.turns_since_memory, 0);
    assert_eq!(written.counts.rounds_since_skills, 1);
    assert_eq!(written.changes.len(), 1);
}

#[tokio::test]
async fn shared_counts_go_on_over_sessions() {
    let counts = Arc::new(SharedCounts::default());
    let agent = agent(&ScriptedProvider::new()).counters(counts).build().unwrap();

    agent.session().send("1").await.unwrap();
    let second = agent.session().send("2").await.unwrap();

    assert_eq!(second.counts.turns_since_memory, 2);
}

#[tokio::test(start_paused = true)]
async fn a_tool_can_fork_and_the_fork_is_bounded() {
    let delegate = tool::from_fn("delegate", "Delegates.", |echo: Echo, context| async move {
        let Some(fork) = context.fork() else { return Ok(ToolOutput::rejected("too deep")) };
        let mut task = ForkTask::new(echo.text, Origin::new(OriginKind::Delegate))
            .with_tools(["echo", "delegate"]);
        task.context = ForkContext::Messages(Vec::new());
        task.max_requests = 3;
        let outcome = fork.run(task).await.unwrap();
        Ok(ToolOutput::done(format!("{} {:?} {}", outcome.text, outcome.finish, outcome.requests)))
    })
    .configure(|spec| spec.with_timeout(Duration::from_secs(60)));
    let model = ScriptedProvider::new()
        .call("delegate", json!({"text": "deeper"}))
        .call("delegate", json!({"text": "deeper still"}))
        .call("echo", json!({"text": "x"}))
        .say("sub done")
        .say("all done");
    let agent = agent(&model).tool(delegate).build().unwrap();
    let session = agent.session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.text, "all done");
    assert_eq!(results(&session.history())[0].content, "sub done OutOfRounds 3");
    let requests = model.requests();
    assert_eq!(
        requests[1].messages[..],
        [Message::user("deeper").with_id(requests[1].messages[0].id)]
    );
    assert_eq!(results(&requests[2].messages)[0].content, "too deep");
}
