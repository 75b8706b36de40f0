use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use async_trait::async_trait;
use futures::FutureExt;

use super::breaks;
use crate::{
    agent::FinishedTurn,
    fork::Fork,
    review::{ProposedWrite, Review, ReviewPolicy, ReviewReport, ReviewScope, ReviewTask, Verdict},
    testing::conformance,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    CountsTurns,
    CountsWrites,
    RejectsWithoutWords,
    Panics,
    None,
}

#[derive(Debug)]
struct Faulty {
    fault: Fault,
    asked: AtomicU32,
}

#[derive(Debug)]
struct Nothing;

#[async_trait]
impl Review for Nothing {
    async fn run(&self, id: &str, scope: ReviewScope, _: Arc<dyn Fork>) -> ReviewReport {
        ReviewReport::new(id, scope)
    }
}

impl Faulty {
    fn is_tenth(&self, fault: Fault) -> bool {
        self.fault == fault && self.asked.fetch_add(1, Ordering::Relaxed) % 10 == 9
    }
}

impl ReviewPolicy for Faulty {
    fn after_turn(&self, turn: &FinishedTurn) -> Option<ReviewTask> {
        assert!(self.fault != Fault::Panics || turn.is_completed(), "not completed");
        let is_due = 10 <= turn.counts.turns_since_memory || self.is_tenth(Fault::CountsTurns);
        is_due.then(|| ReviewTask::new(ReviewScope::Memory, Arc::new(Nothing)))
    }

    fn judge(&self, write: &ProposedWrite) -> Verdict {
        if self.is_tenth(Fault::CountsWrites) {
            return Verdict::Reject("enough".to_owned());
        }
        match self.fault {
            Fault::RejectsWithoutWords if write.origin.is_automatic() => {
                Verdict::Reject(String::new())
            }
            _ => Verdict::Apply,
        }
    }
}

fn run(fault: Fault) -> impl Future<Output = ()> {
    let policy = Faulty { fault, asked: AtomicU32::new(0) };
    std::future::ready(policy).map(|policy| conformance::review_policy(&policy))
}

#[tokio::test]
async fn a_policy_without_state_passes() {
    run(Fault::None).await;
}

#[tokio::test]
async fn a_policy_that_counts_is_found() {
    breaks("pure", run(Fault::CountsTurns)).await;
    breaks("pure", run(Fault::CountsWrites)).await;
}

#[tokio::test]
async fn a_rejection_without_a_reason_is_found() {
    breaks("judge", run(Fault::RejectsWithoutWords)).await;
}

#[tokio::test]
async fn a_panic_is_found() {
    breaks("not completed", run(Fault::Panics)).await;
}
