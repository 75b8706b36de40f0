//! How changes are taken back.

use super::{Suite, name, notes, skill_md};
use crate::{
    memory::RevisionId,
    origin::Origin,
    skill::{SkillAction, SkillCommit, SkillError, SkillFile, SkillName},
    testing::conformance::{broken, fails, succeeds},
    version::Expected,
};

const PROMISE: &str = "undoable";

impl Suite<'_> {
    pub(super) async fn deletes_for_the_user(&self) {
        let (skill, main) = (name("suite-gone"), SkillFile::main());
        let content = self.create(&skill, Origin::user()).await;
        self.write(&skill, &notes(), "Notes.\n").await;
        let delete = SkillAction::Delete { expected: Expected::Any, absorbed_into: None };

        let commit = succeeds("delete", self.commit(&skill, delete, Origin::user()).await);

        assert!(!commit.archived, "delete: what the user deletes is archived");
        assert_eq!(self.text(&skill, &main).await, None, "delete: the skill can still be read");
        assert!(!self.names().await.contains(&skill), "delete: the skill is still on offer");
        self.undo(&skill, &revision(&commit)).await;
        assert_eq!(self.text(&skill, &main).await, Some(content), "{PROMISE}: text is lost");
        let kept = self.text(&skill, &notes()).await;
        assert_eq!(kept.as_deref(), Some("Notes.\n"), "{PROMISE}: a supporting file is lost");
    }

    pub(super) async fn undoes(&self) {
        let (skill, main) = (name("suite-undone"), SkillFile::main());
        let [first, second, third] =
            ["First.", "Second.", "Third."].map(|body| skill_md("suite-undone", body));
        let action = SkillAction::Create { category: None, content: first.clone() };
        let created = succeeds("create", self.commit(&skill, action, Origin::user()).await);
        let changed = self.write(&skill, &main, &second).await;
        let changed_again = self.write(&skill, &main, &third).await;
        let ids = [&created, &changed, &changed_again].map(revision);
        self.check_history(&skill, &ids).await;

        let [created, changed, changed_again] = &ids;
        let unknown = RevisionId::new("no-such-revision");
        let err = fails(PROMISE, self.store.undo(&skill, &unknown, undoer()).await);
        let is_right = matches!(err, SkillError::NoRevision(_));
        assert!(is_right, "{PROMISE}: not `NoRevision` but {err:?}");
        self.expect_overtaken(&skill, changed).await;
        self.undo(&skill, changed_again).await;
        assert_eq!(self.text(&skill, &main).await, Some(second), "{PROMISE}: not the text before");
        self.expect_overtaken(&skill, changed_again).await;
        self.undo(&skill, changed).await;
        assert_eq!(self.text(&skill, &main).await, Some(first.clone()), "{PROMISE}: step by step");
        self.undo(&skill, created).await;
        assert_eq!(self.text(&skill, &main).await, None, "{PROMISE}: what was made is still there");

        let history = self.history(&skill).await;
        let redo = history.first().unwrap_or_else(|| broken(PROMISE, "the history is empty"));
        assert_eq!(redo.origin, undoer(), "{PROMISE}: an undo forgets who asked for it");
        self.undo(&skill, &redo.id).await;
        assert_eq!(self.text(&skill, &main).await, Some(first), "{PROMISE}: an undo, undone");
    }

    pub(super) async fn undoes_files_apart(&self) {
        let (skill, main) = (name("suite-apart"), SkillFile::main());
        self.create(&skill, Origin::user()).await;
        let noted = revision(&self.write(&skill, &notes(), "Notes.\n").await);
        let content = skill_md("suite-apart", "Changed later.");
        self.write(&skill, &main, &content).await;

        self.undo(&skill, &noted).await;

        assert_eq!(self.text(&skill, &notes()).await, None, "{PROMISE}: the file is still there");
        assert_eq!(
            self.text(&skill, &main).await,
            Some(content),
            "{PROMISE}: another file changed"
        );
    }

    /// Checks that the history of a skill is exactly `ids`.
    async fn check_history(&self, skill: &SkillName, ids: &[RevisionId]) {
        let history = self.history(skill).await;
        let found: Vec<_> = history.iter().map(|it| &it.id).collect();
        let expected: Vec<_> = ids.iter().rev().collect();
        assert_eq!(found, expected, "{PROMISE}: not every commit, newest first");
        let limited = succeeds("history", self.store.history(skill, 1).await);
        assert_eq!(
            Some(&limited),
            history.get(..1).map(<[_]>::to_vec).as_ref(),
            "{PROMISE}: limit"
        );
        for pair in history.windows(2) {
            let [later, earlier] = pair else { continue };
            assert_eq!(later.before, earlier.after, "{PROMISE}: versions do not join");
        }
        for revision in &history {
            assert_eq!(revision.origin, Origin::user(), "{PROMISE}: a commit forgets its origin");
            assert!(!revision.summary.trim().is_empty(), "{PROMISE}: a revision has no summary");
        }
        let oldest = history.last().and_then(|it| it.before);
        assert_eq!(oldest, None, "{PROMISE}: something was there before the skill was made");
    }

    async fn undo(&self, skill: &SkillName, id: &RevisionId) {
        let commit = succeeds(PROMISE, self.store.undo(skill, id, undoer()).await);
        let latest = self.history(skill).await.into_iter().next().map(|it| it.id);
        assert_eq!(commit.revision, latest, "{PROMISE}: an undo is not in the history");
    }

    async fn expect_overtaken(&self, skill: &SkillName, id: &RevisionId) {
        let before = self.seen(skill).await;
        let err = fails(PROMISE, self.store.undo(skill, id, undoer()).await);
        let is_right = matches!(err, SkillError::Conflict { .. });
        assert!(is_right, "{PROMISE}: not `Conflict` for an overtaken one but {err:?}");
        assert_eq!(self.seen(skill).await, before, "{PROMISE}: a refused undo changed something");
    }
}

/// Who undoes in the suite.
fn undoer() -> Origin {
    Origin::user().on_behalf_of("the suite")
}

fn revision(commit: &SkillCommit) -> RevisionId {
    commit.revision.clone().unwrap_or_else(|| broken(PROMISE, "a commit has no revision"))
}
