//! The contract of [`MemoryBackend`].

use std::mem::discriminant;

use futures::future::join_all;

use super::{ATTACK, broken, fails, succeeds};
use crate::{
    memory::{
        MemoryBackend, MemoryChange, MemoryCommit, MemoryEdit, MemoryError, Revision, RevisionId,
        Target,
    },
    origin::Origin,
    version::{Expected, Version},
};

/// Checks a [`MemoryBackend`] against its contract, on both lists.
///
/// It needs an empty backend whose lists may have from 200 to 1,000,000 characters each, and leaves
/// both lists empty again, with a history. What happens in a crash it cannot check.
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::testing::{InMemory, conformance};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// conformance::memory_backend(&InMemory::default()).await;
/// # }
/// ```
pub async fn memory_backend(backend: &dyn MemoryBackend) {
    for (target, other) in [(Target::Memory, Target::User), (Target::User, Target::Memory)] {
        let suite = Suite { backend, target };
        suite.starts_empty().await;
        suite.keeps_to_its_list(&Suite { backend, target: other }).await;
        suite.adds().await;
        suite.edits_in_order().await;
        suite.is_all_or_nothing().await;
        suite.is_idempotent().await;
        suite.loses_no_update().await;
        suite.is_bounded().await;
        suite.scans().await;
        suite.undoes().await;
        suite.commits_whole_edits().await;
    }
}

struct Suite<'a> {
    backend: &'a dyn MemoryBackend,
    target: Target,
}

/// A list as it can be seen from outside.
#[derive(Debug, PartialEq)]
struct Seen {
    entries: Vec<String>,
    version: Version,
    history: Vec<Revision>,
}

impl Suite<'_> {
    async fn starts_empty(&self) {
        let read = succeeds("read", self.backend.read(self.target).await);
        let (entries, fill) = (read.value.entries, read.value.fill);
        assert!(entries.is_empty(), "the suite needs an empty list, not {entries:?}");
        assert_eq!(fill.used, 0, "bounded: an empty list uses characters");
        let is_usable = (200..=1_000_000).contains(&fill.limit);
        assert!(is_usable, "the suite needs a limit of 200 to 1,000,000, not {}", fill.limit);
    }

    async fn keeps_to_its_list(&self, other: &Self) {
        let before = other.seen().await;
        self.commit(vec![add("here")]).await;
        let (here, there) = (self.target, other.target);
        assert_eq!(other.seen().await, before, "a commit to {here:?} changed {there:?}");
        self.clear().await;
    }

    async fn adds(&self) {
        let empty = self.version().await;
        let commit = self.commit(vec![add(" 日本語é\n")]).await;
        assert_eq!(commit.before.version, empty, "no lost update: `before` is not what was read");
        assert!(commit.before.value.is_empty(), "no lost update: `before` has entries");
        assert_eq!(commit.after.value, ["日本語é"], "add: white space around an entry stays");
        assert_eq!(commit.fill.used, 4, "bounded: sizes are counted in characters, not in bytes");
        assert!(commit.revision.is_some(), "undoable: a commit has no revision");

        let read = succeeds("read", self.backend.read(self.target).await);
        assert_eq!(read.value.entries, commit.after.value, "read: not what was committed");
        assert_eq!(read.version, commit.after.version, "read: not the version committed");
        assert_eq!(read.value.fill, commit.fill, "read: not the fill of the commit");
        assert_ne!(read.version, empty, "no lost update: a change leaves the version");

        self.commit(vec![add("two\nlines")]).await;
        self.expect(&["日本語é", "two\nlines"], "add: entries are in order of age").await;
        self.clear().await;
    }

    async fn edits_in_order(&self) {
        self.commit(vec![add("alpha one"), add("beta two"), add("gamma three")]).await;
        self.commit(vec![replace("beta", "delta four")]).await;
        self.expect(&["alpha one", "delta four", "gamma three"], "replace: in its place").await;
        self.commit(vec![remove("alpha one")]).await;
        self.expect(&["delta four", "gamma three"], "remove: takes the entry").await;
        self.commit(vec![add("last"), replace("delta", "gamma three")]).await;
        self.expect(
            &["gamma three", "last"],
            "replace: an entry that is there already is there once",
        )
        .await;
        self.commit(vec![replace("last", "gamma three")]).await;
        self.expect(&["gamma three"], "replace: of two that say the same the first stays").await;
        self.commit(vec![add("delta four"), remove("gamma"), add("gamma three")]).await;
        let edits = vec![add("epsilon five"), replace("epsilon", "zeta six"), remove("delta")];
        self.commit(edits).await;
        self.expect(&["gamma three", "zeta six"], "commit: each edit sees the ones before").await;

        let limit = self.limit().await;
        self.commit(vec![add(&"x".repeat(limit)), remove("xxx")]).await;
        self.expect(&["gamma three", "zeta six"], "commit: the limit is judged at the end").await;
        self.clear().await;
    }

    async fn is_all_or_nothing(&self) {
        const PROMISE: &str = "all or nothing";
        self.commit(vec![add("apple red"), add("apple green")]).await;
        let before = self.seen().await;
        let entries = before.entries.clone();

        let err = self.refused(PROMISE, vec![add("new"), remove("pear")]).await;
        let is_right = matches!(&err, MemoryError::NoMatch { edit: 1, old_text, entries: it }
            if old_text == "pear" && *it == entries);
        assert!(is_right, "{PROMISE}: not `NoMatch` of edit 1 with the entries but {err:?}");

        let err = self.refused(PROMISE, vec![add("new"), replace("apple", "x")]).await;
        let is_right = matches!(&err, MemoryError::Ambiguous { edit: 1, matches, .. }
            if *matches == entries);
        assert!(is_right, "{PROMISE}: not `Ambiguous` with the entries but {err:?}");

        for bad in [add(" \n"), replace("red", ""), remove("")] {
            let err = self.refused(PROMISE, vec![add("new"), bad]).await;
            let is_right = matches!(err, MemoryError::Invalid { edit: 1, .. });
            assert!(is_right, "{PROMISE}: not `Invalid` of edit 1 but {err:?}");
        }
        assert_eq!(self.seen().await, before, "{PROMISE}: a failed commit left something behind");
        self.clear().await;
    }

    async fn is_idempotent(&self) {
        const PROMISE: &str = "idempotent";
        self.commit(vec![add("once")]).await;
        let before = self.seen().await;

        let commit = self.commit(vec![add("once ")]).await;

        assert_eq!(commit.revision, None, "{PROMISE}: adding what is there made a revision");
        assert_eq!(commit.before, commit.after, "{PROMISE}: adding what is there changed it");
        assert_eq!(self.seen().await, before, "{PROMISE}: adding what is there changed something");
        self.clear().await;
    }

    async fn loses_no_update(&self) {
        const PROMISE: &str = "no lost update";
        let old = self.version().await;
        self.commit_if("a new list", vec![add("first")], Expected::Absent).await;
        self.commit_if(
            "the current version",
            vec![add("second")],
            Expected::Is(self.version().await),
        )
        .await;
        let before = self.seen().await;
        for stale in [Expected::Is(old), Expected::Absent] {
            let change = self.change(vec![add("third")]).expecting(stale);
            let err = fails(PROMISE, self.backend.commit(change).await);
            let is_right = matches!(&err, MemoryError::Conflict { current, entries }
                if *current == before.version && *entries == before.entries);
            assert!(is_right, "{PROMISE}: not `Conflict` with the present state but {err:?}");
        }
        assert_eq!(self.seen().await, before, "{PROMISE}: a refused commit changed something");

        let writers = ["left", "right"].map(|entry| {
            let expected = Expected::Is(before.version);
            self.backend.commit(self.change(vec![add(entry)]).expecting(expected))
        });
        let won = join_all(writers).await.into_iter().flatten().count();
        assert_eq!(won, 1, "{PROMISE}: of two writers on one version, {won} succeeded");
        assert_eq!(self.seen().await.entries.len(), 3, "{PROMISE}: both or none were written");
        self.clear().await;
    }

    async fn is_bounded(&self) {
        const PROMISE: &str = "bounded";
        let limit = self.limit().await;
        let commit = self.commit(vec![add(&"é".repeat(limit))]).await;
        assert_eq!(
            commit.fill.used, limit,
            "{PROMISE}: a list may be exactly as long as its limit"
        );
        let before = self.seen().await;

        let err = self.refused(PROMISE, vec![add("x")]).await;

        let is_right = matches!(&err, MemoryError::Full { needed, fill, entries }
            if limit < *needed && fill.used == limit && *entries == before.entries);
        assert!(is_right, "{PROMISE}: not `Full` with the present state but {err:?}");
        let longer = "é".repeat(limit.saturating_add(1));
        self.refused(PROMISE, vec![replace("é", &longer)]).await;
        assert_eq!(self.seen().await, before, "{PROMISE}: a refused commit changed something");
        self.commit(vec![replace("é", "short")]).await;
        self.clear().await;
    }

    async fn scans(&self) {
        const PROMISE: &str = "scanned";
        self.commit(vec![add("fine")]).await;
        let before = self.seen().await;
        for attack in [add(ATTACK), replace("fine", ATTACK)] {
            let err = self.refused(PROMISE, vec![add("harmless"), attack]).await;
            let is_right = matches!(&err, MemoryError::Blocked { edit: 1, findings }
                if !findings.is_empty());
            assert!(is_right, "{PROMISE}: not `Blocked` of edit 1 with findings but {err:?}");
        }
        assert_eq!(self.seen().await, before, "{PROMISE}: a refused commit changed something");
        self.clear().await;
    }

    async fn undoes(&self) {
        const PROMISE: &str = "undoable";
        let before = self.history(usize::MAX).await.len();
        let mut ids = Vec::new();
        for edit in [add("one"), add("two"), remove("one")] {
            let revision = self.commit(vec![edit]).await.revision;
            ids.push(revision.unwrap_or_else(|| broken(PROMISE, "a commit has no revision")));
        }
        self.check_history(&ids, before).await;

        let err = fails(PROMISE, self.undo(&RevisionId::new("no-such-revision")).await);
        let is_right = matches!(err, MemoryError::NoRevision(_));
        assert!(is_right, "{PROMISE}: not `NoRevision` but {err:?}");
        let steps: [&[&str]; 3] = [&["one", "two"], &["one"], &[]];
        for (id, expected) in ids.iter().rev().zip(steps) {
            if let Some(first) = ids.first().filter(|first| *first != id) {
                let err = fails(PROMISE, self.undo(first).await);
                let is_right = matches!(err, MemoryError::Conflict { .. });
                assert!(is_right, "{PROMISE}: not `Conflict` for an overtaken one but {err:?}");
            }
            let commit = succeeds(PROMISE, self.undo(id).await);
            self.expect(expected, PROMISE).await;
            assert_eq!(commit.after.value, expected, "{PROMISE}: not what is in the list");
            let latest = self.history(1).await.pop();
            let latest = latest.unwrap_or_else(|| broken(PROMISE, "an undo is not in the history"));
            assert_eq!(Some(&latest.id), commit.revision.as_ref(), "{PROMISE}: not the latest");
            assert_eq!(latest.origin, undoer(), "{PROMISE}: an undo forgets who asked for it");
        }

        let redo = self.history(1).await.pop().map(|it| it.id);
        let redo = redo.unwrap_or_else(|| broken(PROMISE, "the history is empty"));
        succeeds(PROMISE, self.undo(&redo).await);
        self.expect(&["one"], "undoable: an undo can be undone").await;
        self.clear().await;
    }

    /// Checks the entries of the history that the commits `ids` made, after `before` others.
    async fn check_history(&self, ids: &[RevisionId], before: usize) {
        const PROMISE: &str = "undoable";
        let history = self.history(usize::MAX).await;
        let is_whole = history.len() == before.saturating_add(ids.len());
        assert!(is_whole, "{PROMISE}: {} revisions instead of one a commit", history.len());
        let newest: Vec<_> = history.iter().take(ids.len()).collect();
        let expected: Vec<_> = ids.iter().rev().collect();
        let found: Vec<_> = newest.iter().map(|it| &it.id).collect();
        assert_eq!(found, expected, "{PROMISE}: the history is not newest first");
        assert_eq!(self.history(2).await.len(), 2, "{PROMISE}: the history's limit is not kept");
        assert_eq!(self.history(0).await, [], "{PROMISE}: the history's limit is not kept");
        for pair in newest.windows(2) {
            let [later, earlier] = pair else { continue };
            assert_eq!(later.before, earlier.after, "{PROMISE}: versions do not join");
        }
        for revision in newest {
            assert_eq!(revision.origin, Origin::user(), "{PROMISE}: a commit forgets its origin");
            assert!(!revision.summary.trim().is_empty(), "{PROMISE}: a revision has no summary");
        }
    }

    async fn commits_whole_edits(&self) {
        const PROMISE: &str = "whole edits";
        let writers = join_all((0..4).map(|writer| {
            let edits = vec![add(&format!("{writer} left")), add(&format!("{writer} right"))];
            self.backend.commit(self.change(edits))
        }));
        let readers = join_all((0..8).map(|_| self.backend.read(self.target)));
        let (written, read) = futures::future::join(writers, readers).await;
        for commit in written {
            succeeds(PROMISE, commit);
        }
        for read in read {
            let entries = succeeds(PROMISE, read).value.entries;
            assert!(entries.len() % 2 == 0, "{PROMISE}: a reader saw half a commit: {entries:?}");
        }
        let entries = self.seen().await.entries;
        assert_eq!(entries.len(), 8, "no lost update: writers overwrote each other: {entries:?}");
        for pair in entries.chunks(2) {
            let writer = |entry: &String| entry.split(' ').next().map(str::to_owned);
            let is_whole = pair.first().and_then(writer) == pair.last().and_then(writer);
            assert!(is_whole, "{PROMISE}: commits are mixed: {entries:?}");
        }
        self.clear().await;
    }

    fn change(&self, edits: Vec<MemoryEdit>) -> MemoryChange {
        MemoryChange::new(self.target, edits, Origin::user())
    }

    async fn commit(&self, edits: Vec<MemoryEdit>) -> MemoryCommit {
        let what = format!("commit of {edits:?}");
        let change = self.change(edits);
        let foretold = self.foretold(&change).await;
        let commit = succeeds(&what, self.backend.commit(change).await);
        if let Some(foretold) = foretold {
            let foretold = succeeds(&format!("foretold: the preview of a {what}"), foretold);
            let made = MemoryCommit { revision: None, ..commit.clone() };
            assert_eq!(foretold, made, "foretold: not what the {what} brought");
        }
        commit
    }

    /// Returns the preview of `change`, if the backend has one.
    async fn foretold(&self, change: &MemoryChange) -> Option<Result<MemoryCommit, MemoryError>> {
        let before = self.seen().await;
        let foretold = self.backend.preview(change).await.transpose();
        assert_eq!(
            self.seen().await,
            before,
            "foretold: a preview of {change:?} changed something"
        );
        foretold
    }

    async fn commit_if(&self, what: &str, edits: Vec<MemoryEdit>, expected: Expected) {
        let change = self.change(edits).expecting(expected);
        succeeds(&format!("no lost update: a commit to {what}"), self.backend.commit(change).await);
    }

    async fn refused(&self, promise: &str, edits: Vec<MemoryEdit>) -> MemoryError {
        let change = self.change(edits);
        let foretold = self.foretold(&change).await;
        let err = fails(promise, self.backend.commit(change).await);
        if let Some(foretold) = foretold {
            let foretold = fails("foretold", foretold);
            let is_same = discriminant(&foretold) == discriminant(&err);
            assert!(is_same, "foretold: {foretold:?} instead of {err:?}");
        }
        err
    }

    async fn undo(&self, id: &RevisionId) -> Result<MemoryCommit, MemoryError> {
        self.backend.undo(self.target, id, undoer()).await
    }

    async fn history(&self, limit: usize) -> Vec<Revision> {
        succeeds("history", self.backend.history(self.target, limit).await)
    }

    async fn version(&self) -> Version {
        succeeds("read", self.backend.read(self.target).await).version
    }

    async fn limit(&self) -> usize {
        succeeds("read", self.backend.read(self.target).await).value.fill.limit
    }

    async fn seen(&self) -> Seen {
        let read = succeeds("read", self.backend.read(self.target).await);
        let history = self.history(usize::MAX).await;
        Seen { entries: read.value.entries, version: read.version, history }
    }

    async fn expect(&self, entries: &[&str], promise: &str) {
        let read = succeeds("read", self.backend.read(self.target).await);
        assert_eq!(read.value.entries, entries, "{promise}");
    }

    /// Removes all entries, the longest first, so that none is part of another.
    async fn clear(&self) {
        let mut entries = self.seen().await.entries;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.len()));
        if entries.is_empty() {
            return;
        }
        self.commit(entries.iter().map(|entry| remove(entry)).collect()).await;
        self.expect(&[], "remove: takes all entries").await;
    }
}

/// Who undoes in the suite.
fn undoer() -> Origin {
    Origin::user().on_behalf_of("the suite")
}

fn add(content: &str) -> MemoryEdit {
    MemoryEdit::Add { content: content.to_owned() }
}

fn replace(old_text: &str, content: &str) -> MemoryEdit {
    MemoryEdit::Replace { old_text: old_text.to_owned(), content: content.to_owned() }
}

fn remove(old_text: &str) -> MemoryEdit {
    MemoryEdit::Remove { old_text: old_text.to_owned() }
}
