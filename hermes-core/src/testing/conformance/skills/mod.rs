//! The contract of [`SkillStore`].

mod automatic;
mod changes;
mod undo;

use std::mem::discriminant;

use super::{broken, fails, succeeds};
use crate::{
    memory::Revision,
    origin::{Origin, OriginKind},
    skill::{
        Category, SkillAction, SkillChange, SkillCommit, SkillError, SkillFile, SkillName,
        SkillRecord, SkillStore, SkillUse,
    },
    version::{Expected, Version},
};

/// Checks a [`SkillStore`] against its contract.
///
/// It needs an empty store, whose skills need a name and a description in their heads and no more,
/// and leaves some skills behind, whose names begin with `suite-`. What happens in a crash it cannot
/// check.
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::testing::{InMemorySkills, conformance};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// conformance::skill_store(&InMemorySkills::default()).await;
/// # }
/// ```
pub async fn skill_store(store: &dyn SkillStore) {
    let suite = Suite { store };
    suite.starts_empty().await;
    suite.creates().await;
    suite.finds_by_name_and_path().await;
    suite.writes_files().await;
    suite.loses_no_update().await;
    suite.fails_whole().await;
    suite.demands_reading().await;
    suite.respects_ownership().await;
    suite.respects_pins().await;
    suite.archives_what_automation_deletes().await;
    suite.deletes_for_the_user().await;
    suite.undoes().await;
    suite.undoes_files_apart().await;
    suite.counts_uses().await;
}

struct Suite<'a> {
    store: &'a dyn SkillStore,
}

/// A store as it can be seen from outside, for one skill.
#[derive(Debug, PartialEq)]
struct Seen {
    names: Vec<SkillName>,
    text: Option<String>,
    files: Vec<SkillFile>,
    history: Vec<Revision>,
}

impl Suite<'_> {
    async fn starts_empty(&self) {
        let list = succeeds("list", self.store.list().await);
        assert!(list.skills.is_empty(), "the suite needs an empty store, not {:?}", list.skills);
        assert!(list.warnings.is_empty(), "list: an empty store warns of {:?}", list.warnings);
        let nobody = name("suite-nobody");
        let err = fails("read", self.store.read(nobody.as_str(), &SkillFile::main()).await);
        assert!(matches!(err, SkillError::NotFound { .. }), "read: not `NotFound` but {err:?}");
        assert_eq!(self.history(&nobody).await, [], "history: an unknown skill has one");
        let record = succeeds("record", self.store.record(&nobody).await);
        assert_eq!(record, None, "record: something is known of an unknown skill");
    }

    async fn counts_uses(&self) {
        let skill = name("suite-used");
        self.create(&skill, Origin::user()).await;
        let count = async || {
            let record = self.record(&skill).await.unwrap_or_default();
            (record.view_count, record.patch_count)
        };
        let (views, patches) = count().await;

        succeeds("note", self.store.note(&skill, SkillUse::Viewed).await);
        let after = count().await;
        assert_eq!(after, (views.saturating_add(1), patches), "note: a view counts as one view");
        let viewed = self.record(&skill).await.and_then(|it| it.last_viewed_at);
        assert!(viewed.is_some(), "note: a view is not dated");

        succeeds("note", self.store.note(&skill, SkillUse::Changed).await);
        let expected = (views.saturating_add(1), patches.saturating_add(1));
        assert_eq!(count().await, expected, "note: a change counts as one change");
        let changed = self.record(&skill).await.and_then(|it| it.last_patched_at);
        assert!(changed.is_some(), "note: a change is not dated");
    }

    async fn commit(
        &self,
        skill: &SkillName,
        action: SkillAction,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError> {
        let change = SkillChange::new(skill.clone(), action, origin);
        let foretold = self.foretold(&change).await;
        let made = self.store.commit(change).await;
        match (foretold, &made) {
            (None, _) => {}
            (Some(Ok(foretold)), Ok(commit)) => {
                let commit = SkillCommit { revision: None, ..commit.clone() };
                assert_eq!(foretold, commit, "foretold: not what the commit brought");
            }
            (Some(Err(foretold)), Err(err)) => {
                let is_same = discriminant(&foretold) == discriminant(err);
                assert!(is_same, "foretold: {foretold:?} instead of {err:?}");
            }
            (Some(foretold), made) => {
                broken("foretold", format_args!("{foretold:?} instead of {made:?}"));
            }
        }
        made
    }

    /// Returns the preview of `change`, if the store has one.
    async fn foretold(&self, change: &SkillChange) -> Option<Result<SkillCommit, SkillError>> {
        let list = async || succeeds("list", self.store.list().await).skills;
        let before = (list().await, self.history(&change.skill).await);
        let foretold = self.store.preview(change).await.transpose();
        let after = (list().await, self.history(&change.skill).await);
        assert_eq!(after, before, "foretold: a preview of {change:?} changed something");
        foretold
    }

    /// Makes a skill and returns its text.
    async fn create(&self, skill: &SkillName, origin: Origin) -> String {
        let content = skill_md(skill.as_str(), "Do what the suite says.");
        let action = SkillAction::Create { category: None, content: content.clone() };
        succeeds("create", self.commit(skill, action, origin).await);
        content
    }

    /// Writes a file on the user's behalf, whatever is there.
    async fn write(&self, skill: &SkillName, file: &SkillFile, content: &str) -> SkillCommit {
        let action = write(file, content, Expected::Any);
        succeeds("write", self.commit(skill, action, Origin::user()).await)
    }

    /// Tries `action`, which must fail and leave the store as it was.
    async fn refused(
        &self,
        promise: &str,
        skill: &SkillName,
        action: SkillAction,
        origin: Origin,
    ) -> SkillError {
        let before = self.seen(skill).await;
        let err = fails(promise, self.commit(skill, action, origin).await);
        let after = self.seen(skill).await;
        assert_eq!(after, before, "whole or not at all: a refused change left something behind");
        err
    }

    async fn text(&self, skill: &SkillName, file: &SkillFile) -> Option<String> {
        match self.store.read(skill.as_str(), file).await {
            Ok(found) => Some(found.text.value),
            Err(SkillError::NotFound { .. } | SkillError::NoFile { .. }) => None,
            Err(err) => broken("read", format_args!("{err:?}")),
        }
    }

    async fn version(&self, skill: &SkillName, file: &SkillFile) -> Version {
        succeeds("read", self.store.read(skill.as_str(), file).await).text.version
    }

    async fn names(&self) -> Vec<SkillName> {
        let list = succeeds("list", self.store.list().await);
        list.skills.into_iter().map(|it| it.name).collect()
    }

    async fn seen(&self, skill: &SkillName) -> Seen {
        let read = self.store.read(skill.as_str(), &SkillFile::main()).await.ok();
        let (text, files) = read.map(|it| (it.text.value, it.files)).unzip();
        let history = self.history(skill).await;
        Seen { names: self.names().await, text, files: files.unwrap_or_default(), history }
    }

    async fn history(&self, skill: &SkillName) -> Vec<Revision> {
        succeeds("history", self.store.history(skill, usize::MAX).await)
    }

    async fn record(&self, skill: &SkillName) -> Option<SkillRecord> {
        succeeds("record", self.store.record(skill).await)
    }
}

/// The origins that may touch only what the agent made.
fn automatic() -> impl Iterator<Item = Origin> {
    let kinds =
        [OriginKind::Review, OriginKind::Curator, OriginKind::Delegate, OriginKind::Schedule];
    kinds.into_iter().map(Origin::new)
}

fn skill_md(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Serves the conformance suite.\n---\n\n{body}\n")
}

fn write(file: &SkillFile, content: &str, expected: Expected) -> SkillAction {
    SkillAction::Write { file: file.clone(), content: content.to_owned(), expected }
}

fn name(text: &str) -> SkillName {
    succeeds("the suite's own name", text.parse())
}

fn category(text: &str) -> Category {
    succeeds("the suite's own category", text.parse())
}

fn notes() -> SkillFile {
    succeeds("the suite's own file", "references/notes.md".parse())
}
