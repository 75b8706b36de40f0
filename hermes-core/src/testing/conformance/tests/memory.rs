use async_trait::async_trait;

use super::breaks;
use crate::{
    memory::{
        Entries, MemoryBackend, MemoryChange, MemoryCommit, MemoryEdit, MemoryError, Revision,
        RevisionId, Target,
    },
    origin::Origin,
    testing::{InMemory, conformance},
    threat::{Finding, ScanError, Scanner, Scope},
    version::{Expected, Versioned},
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    IgnoresVersions,
    HalfBatches,
    Piecemeal,
    LimitOnly,
    CountsBytes,
    OneList,
    RevisionForNothing,
    NoHistory,
    OldestFirst,
    UndoesTheLatest,
    UndoesInTheDark,
    ForgetsOrigins,
}

#[derive(Debug)]
struct Faulty {
    inner: InMemory,
    fault: Fault,
}

impl Faulty {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn target(&self, target: Target) -> Target {
        if self.has(Fault::OneList) { Target::Memory } else { target }
    }

    async fn one_by_one(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        let mut last = None;
        for edit in change.edits {
            let one = MemoryChange::new(change.target, vec![edit], change.origin.clone());
            last = Some(self.inner.commit(one).await?);
            tokio::task::yield_now().await;
        }
        Ok(last.unwrap())
    }
}

fn is_harmless(edit: &MemoryEdit) -> bool {
    matches!(edit, MemoryEdit::Add { content } if !content.trim().is_empty() && content.len() < 40)
}

#[async_trait]
impl MemoryBackend for Faulty {
    async fn read(&self, target: Target) -> Result<Versioned<Entries>, MemoryError> {
        let mut read = self.inner.read(self.target(target)).await?;
        if self.has(Fault::LimitOnly) {
            read.value.fill.limit = 200;
        }
        Ok(read)
    }

    async fn commit(&self, mut change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        change.target = self.target(change.target);
        match self.fault {
            Fault::IgnoresVersions => change.expected = Expected::Any,
            Fault::HalfBatches => {
                let outcome = self.inner.commit(change.clone()).await;
                if outcome.is_err() {
                    let _ = self.one_by_one(change).await;
                }
                return outcome;
            }
            Fault::Piecemeal if 1 < change.edits.len() && change.edits.iter().all(is_harmless) => {
                return self.one_by_one(change).await;
            }
            Fault::ForgetsOrigins => change.origin = Origin::review("somebody"),
            _ => {}
        }
        let mut commit = self.inner.commit(change).await?;
        match self.fault {
            Fault::CountsBytes => commit.fill.used = commit.after.value.join("").len(),
            Fault::RevisionForNothing => {
                commit.revision.get_or_insert_with(|| RevisionId::new("made-up"));
            }
            Fault::LimitOnly => commit.fill.limit = 200,
            _ => {}
        }
        Ok(commit)
    }

    async fn history(&self, target: Target, limit: usize) -> Result<Vec<Revision>, MemoryError> {
        let mut history = self.inner.history(self.target(target), limit).await?;
        match self.fault {
            Fault::NoHistory => history.clear(),
            Fault::OldestFirst => history.reverse(),
            _ => {}
        }
        Ok(history)
    }

    async fn undo(
        &self,
        target: Target,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError> {
        let target = self.target(target);
        let origin = if self.has(Fault::UndoesInTheDark) { Origin::user() } else { origin };
        match self.inner.undo(target, revision, origin.clone()).await {
            Err(MemoryError::Conflict { .. }) if self.has(Fault::UndoesTheLatest) => {
                let latest = self.inner.history(target, 1).await?.pop().unwrap();
                self.inner.undo(target, &latest.id, origin).await
            }
            outcome => outcome,
        }
    }
}

async fn check(fault: Fault, promise: &str) {
    let inner = match fault {
        Fault::LimitOnly => InMemory::default().with_limit(Target::Memory, 100_000),
        _ => InMemory::default(),
    };
    breaks(promise, conformance::memory_backend(&Faulty { inner, fault })).await;
}

#[tokio::test]
async fn ignored_versions_are_found() {
    check(Fault::IgnoresVersions, "no lost update").await;
}

#[tokio::test]
async fn half_a_batch_is_found() {
    check(Fault::HalfBatches, "all or nothing: a failed commit left something").await;
}

#[tokio::test]
async fn a_commit_in_pieces_is_found() {
    check(Fault::Piecemeal, "whole edits").await;
}

#[tokio::test]
async fn a_limit_that_is_only_said_is_found() {
    check(Fault::LimitOnly, "bounded").await;
}

#[tokio::test]
async fn bytes_for_characters_are_found() {
    check(Fault::CountsBytes, "bounded").await;
}

#[tokio::test]
async fn one_list_for_both_is_found() {
    check(Fault::OneList, "changed User").await;
}

#[tokio::test]
async fn a_revision_for_nothing_is_found() {
    check(Fault::RevisionForNothing, "idempotent").await;
}

#[tokio::test]
async fn a_missing_history_is_found() {
    check(Fault::NoHistory, "undoable").await;
}

#[tokio::test]
async fn a_history_in_the_wrong_order_is_found() {
    check(Fault::OldestFirst, "undoable").await;
}

#[tokio::test]
async fn an_undo_of_something_else_is_found() {
    check(Fault::UndoesTheLatest, "undoable").await;
}

#[tokio::test]
async fn an_undo_of_nobody_is_found() {
    check(Fault::UndoesInTheDark, "forgets who asked").await;
}

#[tokio::test]
async fn a_forgotten_origin_is_found() {
    check(Fault::ForgetsOrigins, "forgets its origin").await;
}

#[derive(Debug)]
struct Blind;

impl Scanner for Blind {
    fn scan(&self, _: &str, _: Scope) -> Result<Vec<Finding>, ScanError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_missing_scan_is_found() {
    let memory = InMemory::default().with_scanner(Blind);

    breaks("scanned", conformance::memory_backend(&memory)).await;
}
