use async_trait::async_trait;

use super::breaks;
use crate::{
    memory::{Revision, RevisionId},
    origin::Origin,
    skill::{
        SkillAction, SkillChange, SkillCommit, SkillError, SkillFile, SkillList, SkillName,
        SkillRecord, SkillStore, SkillText, SkillUse,
    },
    testing::{InMemorySkills, conformance},
    threat::{Finding, ScanError, Scanner, Scope},
    version::Expected,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    IgnoresVersions,
    ReadsForTheWriter,
    IgnoresOwners,
    IgnoresPins,
    DeletesForGood,
    LeavesAStub,
    ListsNothing,
    NoHistory,
    UndoesNothing,
    CountsNothing,
}

#[derive(Debug)]
struct Faulty {
    inner: InMemorySkills,
    fault: Fault,
}

impl Faulty {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    async fn current(&self, skill: &SkillName, file: &SkillFile) -> Expected {
        let read = self.inner.read(skill.as_str(), file).await;
        read.map_or(Expected::Absent, |it| Expected::Is(it.text.version))
    }
}

fn expected(action: &mut SkillAction) -> Option<(SkillFile, &mut Expected)> {
    match action {
        SkillAction::Write { file, expected, .. } | SkillAction::Remove { file, expected } => {
            Some((file.clone(), expected))
        }
        SkillAction::Delete { expected, .. } => Some((SkillFile::main(), expected)),
        _ => None,
    }
}

#[async_trait]
impl SkillStore for Faulty {
    async fn list(&self) -> Result<SkillList, SkillError> {
        let list = self.inner.list().await?;
        Ok(if self.has(Fault::ListsNothing) { SkillList::default() } else { list })
    }

    async fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        self.inner.read(id, file).await
    }

    async fn commit(&self, mut change: SkillChange) -> Result<SkillCommit, SkillError> {
        let is_automatic = change.origin.is_automatic();
        let name = change.skill.clone();
        if let Some((file, expected)) = expected(&mut change.action) {
            let current = self.current(&name, &file).await;
            let is_any = *expected == Expected::Any;
            match self.fault {
                Fault::IgnoresVersions if !is_any => *expected = current,
                Fault::ReadsForTheWriter if is_any && current != Expected::Absent => {
                    *expected = current;
                }
                Fault::IgnoresOwners if is_automatic && *expected == current => {
                    change.origin = Origin::user();
                }
                _ => {}
            }
        }
        let is_delete = matches!(change.action, SkillAction::Delete { .. });
        let has_heir = matches!(change.action, SkillAction::Delete { absorbed_into: Some(_), .. });
        if self.has(Fault::DeletesForGood) && has_heir && name.as_str() == "suite-merged" {
            change.origin = Origin::user();
        }
        let is_pinned = self.inner.record(&name).await?.is_some_and(|it| it.pinned);
        if self.has(Fault::IgnoresPins) && is_delete && !is_automatic && is_pinned {
            let unpin = SkillChange::new(name.clone(), SkillAction::Pin(false), Origin::user());
            self.inner.commit(unpin).await?;
        }
        let is_create = matches!(change.action, SkillAction::Create { .. });
        let outcome = self.inner.commit(change).await;
        if self.has(Fault::LeavesAStub) && is_create && outcome.is_err() {
            let _ = self.inner.clone().with_skill(name, "");
        }
        outcome
    }

    async fn history(&self, skill: &SkillName, limit: usize) -> Result<Vec<Revision>, SkillError> {
        let history = self.inner.history(skill, limit).await?;
        Ok(if self.has(Fault::NoHistory) { Vec::new() } else { history })
    }

    async fn undo(
        &self,
        skill: &SkillName,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError> {
        if self.has(Fault::UndoesNothing) {
            return Ok(SkillCommit::new(skill.clone(), skill.as_str()));
        }
        self.inner.undo(skill, revision, origin).await
    }

    async fn record(&self, skill: &SkillName) -> Result<Option<SkillRecord>, SkillError> {
        self.inner.record(skill).await
    }

    async fn note(&self, skill: &SkillName, what: SkillUse) -> Result<(), SkillError> {
        if self.has(Fault::CountsNothing) {
            return Ok(());
        }
        self.inner.note(skill, what).await
    }
}

async fn check(fault: Fault, promise: &str) {
    let inner = InMemorySkills::default();
    breaks(promise, conformance::skill_store(&Faulty { inner, fault })).await;
}

#[tokio::test]
async fn ignored_versions_are_found() {
    check(Fault::IgnoresVersions, "no lost update").await;
}

#[tokio::test]
async fn a_write_without_reading_is_found() {
    check(Fault::ReadsForTheWriter, "read before write").await;
}

#[tokio::test]
async fn a_takeover_of_the_users_skill_is_found() {
    check(Fault::IgnoresOwners, "ownership").await;
}

#[tokio::test]
async fn a_pin_without_effect_is_found() {
    check(Fault::IgnoresPins, "a pinned skill").await;
}

#[tokio::test]
async fn an_automatic_delete_for_good_is_found() {
    check(Fault::DeletesForGood, "nothing is lost by automation").await;
}

#[tokio::test]
async fn what_a_refused_change_leaves_behind_is_found() {
    check(Fault::LeavesAStub, "whole or not at all").await;
}

#[tokio::test]
async fn an_incomplete_list_is_found() {
    check(Fault::ListsNothing, "list").await;
}

#[tokio::test]
async fn a_missing_history_is_found() {
    check(Fault::NoHistory, "undoable").await;
}

#[tokio::test]
async fn an_undo_without_effect_is_found() {
    check(Fault::UndoesNothing, "text is lost").await;
}

#[tokio::test]
async fn uncounted_uses_are_found() {
    check(Fault::CountsNothing, "note").await;
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
    let skills = InMemorySkills::default().with_scanner(Blind);

    breaks("scanned", conformance::skill_store(&skills)).await;
}
