//! The contract of [`ReviewPolicy`].

use std::sync::Arc;

use crate::{
    agent::{Finish, FinishedTurn},
    change::{Change, ChangeAction, ChangeTarget},
    memory::{MemoryEdit, Target},
    origin::{Origin, OriginKind},
    review::{Proposal, ProposedWrite, ReviewPolicy, ReviewScope, Verdict},
    skill::SkillAction,
    store::Counts,
    testing::finished_turn,
    version::Expected,
};

/// Checks a [`ReviewPolicy`] against its contract.
///
/// It asks about turns and writes of every kind, none of which has happened, and needs no state. A
/// policy that waits makes the suite wait; run it under a timeout if yours may.
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     agent::FinishedTurn,
///     review::{ProposedWrite, ReviewPolicy, ReviewTask, Verdict},
///     testing::conformance,
/// };
///
/// /// Never reviews, and lets everything be written.
/// #[derive(Debug)]
/// struct Never;
///
/// impl ReviewPolicy for Never {
///     fn after_turn(&self, _: &FinishedTurn) -> Option<ReviewTask> {
///         None
///     }
///
///     fn judge(&self, _: &ProposedWrite) -> Verdict {
///         Verdict::Apply
///     }
/// }
///
/// conformance::review_policy(&Never);
/// ```
pub fn review_policy(policy: &dyn ReviewPolicy) {
    let (turns, writes) = (turns(), writes());
    let scopes = |turns: &[FinishedTurn]| -> Vec<Option<ReviewScope>> {
        turns.iter().map(|turn| policy.after_turn(turn).map(|task| task.scope)).collect()
    };
    let verdicts = |writes: &[ProposedWrite]| -> Vec<Verdict> {
        writes.iter().map(|write| policy.judge(write)).collect()
    };
    let (due, judged) = (scopes(&turns), verdicts(&writes));

    assert_eq!(scopes(&turns), due, "pure: the same turns give another answer the second time");
    assert_eq!(verdicts(&writes), judged, "pure: the same writes are judged another way");

    // What it was asked before must not matter, nor who else asks.
    let reversed: Vec<_> = turns.iter().rev().cloned().collect();
    let mut backwards = scopes(&reversed);
    backwards.reverse();
    assert_eq!(backwards, due, "pure: the answer depends on the turns before");
    for (write, verdict) in writes.iter().zip(&judged).rev() {
        assert_eq!(policy.judge(write), *verdict, "pure: a verdict depends on those before");
    }
    for verdict in judged {
        if let Verdict::Reject(reason) = verdict {
            assert!(!reason.trim().is_empty(), "judge: the model is not told why it may not write");
        }
    }
}

/// Turns of every kind: each ending, each count, with and without tools and changes.
fn turns() -> Vec<FinishedTurn> {
    let endings = [
        Finish::Answered,
        Finish::Empty,
        Finish::Length,
        Finish::Refused,
        Finish::OutOfRounds,
        Finish::EndedByTool("enough".to_owned()),
        Finish::Cancelled,
        Finish::Failed("no network".to_owned()),
    ];
    let counts = [0, 1, 2, 9, 10, 11, 1_000, u32::MAX];
    let tools: [&[&str]; 3] = [&[], &["memory"], &["memory", "skill_manage", "skill_view"]];
    let mut turns = Vec::new();
    for finish in endings {
        for turns_since_memory in counts {
            for rounds_since_skills in counts {
                for tools in tools {
                    let mut turn = finished_turn("an answer");
                    turn.finish = finish.clone();
                    turn.counts = Counts { turns_since_memory, rounds_since_skills };
                    turn.tool_rounds = rounds_since_skills;
                    turn.tools = tools.iter().copied().map(Arc::from).collect();
                    turns.push(turn);
                }
            }
        }
    }
    turns.extend(odd_turns());
    turns
}

fn odd_turns() -> Vec<FinishedTurn> {
    let mut silent = finished_turn("");
    silent.counts = Counts { turns_since_memory: 10, rounds_since_skills: 10 };
    let mut endless = silent.clone();
    (endless.turn, endless.requests, endless.calls) = (u64::MAX, u32::MAX, u32::MAX);
    let mut changed = finished_turn("saved");
    let target = ChangeTarget::Memory(Target::Memory);
    changed.changes.push(Change::applied(target, ChangeAction::Create));
    vec![silent, endless, changed]
}

/// Writes of every kind, by everybody who may ask.
fn writes() -> Vec<ProposedWrite> {
    let kinds = [
        OriginKind::User,
        OriginKind::Review,
        OriginKind::Curator,
        OriginKind::Delegate,
        OriginKind::Schedule,
        OriginKind::Import,
    ];
    let edits = vec![MemoryEdit::Add { content: "a fact".to_owned() }];
    let delete = SkillAction::Delete { expected: Expected::Any, absorbed_into: None };
    let create = SkillAction::Create { category: None, content: String::new() };
    let mut proposals: Vec<Proposal> = Target::ALL
        .map(|target| Proposal::Memory { target, edits: edits.clone() })
        .into_iter()
        .collect();
    proposals.push(Proposal::Memory { target: Target::Memory, edits: Vec::new() });
    for action in [create, delete, SkillAction::Pin(true)] {
        proposals.push(Proposal::Skill { name: "deploy".to_owned(), action });
    }
    let by =
        |kind| proposals.iter().map(move |it| ProposedWrite::new(it.clone(), Origin::new(kind)));
    kinds.into_iter().flat_map(by).collect()
}
