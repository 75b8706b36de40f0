//! Bounded memory that forgets with its process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::{
    clock::{Clock, SystemClock},
    memory::{
        Entries, Fill, MemoryBackend, MemoryChange, MemoryCommit, MemoryEdit, MemoryError,
        Revision, RevisionId, Target,
    },
    origin::Origin,
    threat::{DefaultScanner, Finding, Scanner, Scope},
    version::{Version, Versioned},
};

/// A [`MemoryBackend`] that keeps its lists in memory. A clone shares them.
///
/// Limits are hermes-agent's by default, sizes are counted as in its files (three characters between
/// two entries), and entries are scanned by [`DefaultScanner`].
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     memory::{MemoryBackend, MemoryChange, MemoryEdit, Target},
///     origin::Origin,
///     testing::InMemory,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), hermes_core::memory::MemoryError> {
/// let memory = InMemory::default().with_entries(Target::User, ["Prefers short answers."]);
/// let edit = MemoryEdit::Add { content: "Works on the shop.".to_owned() };
///
/// memory.commit(MemoryChange::new(Target::User, vec![edit], Origin::user())).await?;
///
/// assert_eq!(memory.entries(Target::User), ["Prefers short answers.", "Works on the shop."]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InMemory {
    lists: Arc<Mutex<Lists>>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    scanner: Arc<dyn Scanner>,
}

#[derive(Debug, Default)]
struct Lists {
    memory: List,
    user: List,
    /// Counts the commits to both lists, for their ids.
    commits: u64,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    memory: usize,
    user: usize,
}

#[derive(Debug, Default)]
struct List {
    entries: Vec<String>,
    commits: Vec<Commit>,
}

#[derive(Debug)]
struct Commit {
    revision: Revision,
    before: Vec<String>,
}

/// Stands between two entries, and so in none.
const DELIMITER: &str = "\n§\n";

impl Default for InMemory {
    fn default() -> Self {
        let [memory, user] = Target::ALL.map(Target::default_limit);
        Self {
            lists: Arc::default(),
            limits: Limits { memory, user },
            clock: Arc::new(SystemClock),
            scanner: Arc::new(DefaultScanner),
        }
    }
}

impl InMemory {
    /// Returns the same store with a limit of `limit` characters on `target`.
    #[must_use]
    pub fn with_limit(mut self, target: Target, limit: usize) -> Self {
        match target {
            Target::Memory => self.limits.memory = limit,
            Target::User => self.limits.user = limit,
        }
        self
    }

    /// Returns the same store with `entries` in `target`, as if they had always been there: neither
    /// scanned nor bounded nor in the history.
    #[must_use]
    pub fn with_entries<T: Into<String>>(
        self,
        target: Target,
        entries: impl IntoIterator<Item = T>,
    ) -> Self {
        self.lock().list(target).entries = entries.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the same store with `clock`, which dates the history.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the same store with `scanner`, which judges new entries.
    #[must_use]
    pub fn with_scanner(mut self, scanner: impl Scanner + 'static) -> Self {
        self.scanner = Arc::new(scanner);
        self
    }

    /// Returns the entries of `target`, oldest first.
    pub fn entries(&self, target: Target) -> Vec<String> {
        self.lock().list(target).entries.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limit(&self, target: Target) -> usize {
        match target {
            Target::Memory => self.limits.memory,
            Target::User => self.limits.user,
        }
    }

    fn fill(&self, target: Target, entries: &[String]) -> Fill {
        Fill::new(size(entries), self.limit(target))
    }

    /// Scans what `edits` would bring in.
    fn scan(&self, edits: &[MemoryEdit]) -> Result<(), MemoryError> {
        for (edit, content) in edits.iter().map(content).enumerate() {
            let Some(content) = content else { continue };
            let findings = self.scanner.scan(content, Scope::Strict);
            let findings = findings.map_err(|err| MemoryError::Backend(err.into()))?;
            let findings: Vec<Finding> = findings.into_iter().filter(Finding::blocks).collect();
            if !findings.is_empty() {
                return Err(MemoryError::Blocked { edit, findings });
            }
        }
        Ok(())
    }

    /// Returns what `change` makes of `current`.
    fn edited(
        &self,
        current: &[String],
        change: &MemoryChange,
    ) -> Result<Vec<String>, MemoryError> {
        let present = version(current);
        let held = (!current.is_empty()).then_some(present);
        // An empty list is both absent and at the version of nothing.
        if !change.expected.accepts(held) && !change.expected.accepts(Some(present)) {
            return Err(conflict(current.to_vec()));
        }
        let mut next = current.to_vec();
        for (number, edit) in change.edits.iter().enumerate() {
            apply(&mut next, number, edit).map_err(|err| telling(err, current))?;
        }
        self.check_limit(change.target, current, &next)?;
        Ok(next)
    }

    /// Refuses `next` if it is over the limit and does not shorten a list that was over it.
    fn check_limit(
        &self,
        target: Target,
        current: &[String],
        next: &[String],
    ) -> Result<(), MemoryError> {
        let (fill, needed) = (self.fill(target, current), size(next));
        if needed <= fill.limit || needed < fill.used {
            return Ok(());
        }
        Err(MemoryError::Full { needed, fill, entries: current.to_vec() })
    }

    /// Makes `next` the entries of `target`, with an entry in the history if that is a change.
    fn put(
        &self,
        lists: &mut Lists,
        target: Target,
        next: Vec<String>,
        author: (Origin, String),
    ) -> MemoryCommit {
        let fill = self.fill(target, &next);
        let before = versioned(lists.list(target).entries.clone());
        let after = versioned(next.clone());
        if before == after {
            return MemoryCommit::new(before, after, fill, None);
        }
        let id = RevisionId::new(lists.next_id());
        let versions = (Some(before.version), Some(after.version));
        let (origin, summary) = author;
        let revision = Revision::new(id.clone(), self.clock.now(), origin, summary, versions);
        let list = lists.list(target);
        list.entries = next;
        list.commits.push(Commit { revision, before: before.value.clone() });
        MemoryCommit::new(before, after, fill, Some(id))
    }
}

impl Lists {
    fn list(&mut self, target: Target) -> &mut List {
        match target {
            Target::Memory => &mut self.memory,
            Target::User => &mut self.user,
        }
    }

    fn next_id(&mut self) -> String {
        self.commits = self.commits.saturating_add(1);
        format!("m{}", self.commits)
    }
}

#[async_trait]
impl MemoryBackend for InMemory {
    async fn read(&self, target: Target) -> Result<Versioned<Entries>, MemoryError> {
        let entries = self.entries(target);
        let (fill, version) = (self.fill(target, &entries), version(&entries));
        Ok(Versioned::new(Entries::new(entries, fill), version))
    }

    async fn commit(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        self.scan(&change.edits)?;
        let mut lists = self.lock();
        let current = lists.list(change.target).entries.clone();
        let next = self.edited(&current, &change)?;
        let summary = summary(&change.edits);
        Ok(self.put(&mut lists, change.target, next, (change.origin, summary)))
    }

    async fn preview(&self, change: &MemoryChange) -> Result<Option<MemoryCommit>, MemoryError> {
        self.scan(&change.edits)?;
        let current = self.entries(change.target);
        let next = self.edited(&current, change)?;
        let fill = self.fill(change.target, &next);
        Ok(Some(MemoryCommit::new(versioned(current), versioned(next), fill, None)))
    }

    async fn history(&self, target: Target, limit: usize) -> Result<Vec<Revision>, MemoryError> {
        let mut lists = self.lock();
        let commits = lists.list(target).commits.iter().rev().take(limit);
        Ok(commits.map(|commit| commit.revision.clone()).collect())
    }

    async fn undo(
        &self,
        target: Target,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError> {
        let mut lists = self.lock();
        let list = lists.list(target);
        let Some(commit) = list.commits.iter().find(|it| it.revision.id == *revision) else {
            return Err(MemoryError::NoRevision(revision.clone()));
        };
        if commit.revision.after != Some(version(&list.entries)) {
            return Err(conflict(list.entries.clone()));
        }
        let next = commit.before.clone();
        Ok(self.put(&mut lists, target, next, (origin, format!("undo {revision}"))))
    }
}

/// Puts what is really stored into an error, without what failed edits would have made of it.
fn telling(mut err: MemoryError, stored: &[String]) -> MemoryError {
    if let MemoryError::NoMatch { entries, .. } = &mut err {
        *entries = stored.to_vec();
    }
    err
}

fn apply(entries: &mut Vec<String>, edit: usize, what: &MemoryEdit) -> Result<(), MemoryError> {
    match what {
        MemoryEdit::Add { content } => {
            let content = checked(edit, content)?;
            if !entries.contains(&content) {
                entries.push(content);
            }
        }
        MemoryEdit::Replace { old_text, content } => {
            let content = checked(edit, content)?;
            let place = find(entries, edit, old_text)?;
            if let Some(entry) = entries.get_mut(place) {
                *entry = content;
            }
            keep_first(entries);
        }
        MemoryEdit::Remove { old_text } => {
            let place = find(entries, edit, old_text)?;
            entries.remove(place);
        }
    }
    Ok(())
}

/// Returns `content` as it is stored.
fn checked(edit: usize, content: &str) -> Result<String, MemoryError> {
    let invalid = |reason: &str| MemoryError::Invalid { edit, reason: reason.to_owned() };
    let content = content.trim();
    if content.is_empty() {
        return Err(invalid("the content is empty"));
    }
    if format!("\n{content}\n").contains(DELIMITER) {
        return Err(invalid("a line of an entry must not be a lone '§'"));
    }
    Ok(content.to_owned())
}

/// Returns the place of the one entry that contains `old_text`.
fn find(entries: &[String], edit: usize, old_text: &str) -> Result<usize, MemoryError> {
    let old_text = old_text.trim();
    if old_text.is_empty() {
        let reason = "the passage to look for is empty".to_owned();
        return Err(MemoryError::Invalid { edit, reason });
    }
    let found: Vec<(usize, &String)> =
        entries.iter().enumerate().filter(|(_, entry)| entry.contains(old_text)).collect();
    match found.as_slice() {
        [(place, _)] => Ok(*place),
        [] => {
            let (old_text, entries) = (old_text.to_owned(), entries.to_vec());
            Err(MemoryError::NoMatch { edit, old_text, entries })
        }
        several => {
            let matches = several.iter().map(|(_, entry)| (*entry).clone()).collect();
            Err(MemoryError::Ambiguous { edit, old_text: old_text.to_owned(), matches })
        }
    }
}

/// Drops entries that an earlier one says already.
fn keep_first(entries: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    entries.retain(|entry| seen.insert(entry.clone()));
}

fn content(edit: &MemoryEdit) -> Option<&str> {
    match edit {
        MemoryEdit::Add { content } | MemoryEdit::Replace { content, .. } => Some(content),
        MemoryEdit::Remove { .. } => None,
    }
}

fn summary(edits: &[MemoryEdit]) -> String {
    let words: Vec<&str> = edits
        .iter()
        .map(|edit| match edit {
            MemoryEdit::Add { .. } => "add",
            MemoryEdit::Replace { .. } => "replace",
            MemoryEdit::Remove { .. } => "remove",
        })
        .collect();
    words.join(", ")
}

fn size(entries: &[String]) -> usize {
    let between = entries.len().saturating_sub(1).saturating_mul(DELIMITER.chars().count());
    entries.iter().map(|entry| entry.chars().count()).sum::<usize>().saturating_add(between)
}

fn version(entries: &[String]) -> Version {
    Version::of(entries.join(DELIMITER))
}

fn versioned(entries: Vec<String>) -> Versioned<Vec<String>> {
    let version = version(&entries);
    Versioned::new(entries, version)
}

fn conflict(entries: Vec<String>) -> MemoryError {
    MemoryError::Conflict { current: version(&entries), entries }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ManualClock;

    fn add(content: &str) -> MemoryEdit {
        MemoryEdit::Add { content: content.to_owned() }
    }

    async fn commit(
        memory: &InMemory,
        edits: Vec<MemoryEdit>,
    ) -> Result<MemoryCommit, MemoryError> {
        memory.commit(MemoryChange::new(Target::Memory, edits, Origin::user())).await
    }

    #[tokio::test]
    async fn the_delimiter_counts_and_characters_are_not_bytes() {
        let memory = InMemory::default().with_limit(Target::Memory, 7);

        let full = commit(&memory, vec![add("éé"), add("日本")]).await.unwrap();
        let err = commit(&memory, vec![add("x")]).await.unwrap_err();

        assert_eq!(full.fill, Fill::new(7, 7));
        assert!(matches!(err, MemoryError::Full { needed: 11, .. }), "{err:?}");
    }

    #[tokio::test]
    async fn a_list_over_its_limit_may_get_shorter() {
        let memory = InMemory::default()
            .with_limit(Target::Memory, 3)
            .with_entries(Target::Memory, ["aaaa", "bbbb", "cccc"]);
        let remove = MemoryEdit::Remove { old_text: "bb".to_owned() };

        commit(&memory, vec![remove]).await.unwrap();

        assert_eq!(memory.entries(Target::Memory), ["aaaa", "cccc"]);
    }

    #[tokio::test]
    async fn the_history_is_dated_by_the_clock() {
        let clock = ManualClock::at_unix(5);
        let memory = InMemory::default().with_clock(clock.clone());

        commit(&memory, vec![add("a")]).await.unwrap();

        let history = memory.history(Target::Memory, 9).await.unwrap();
        assert_eq!(history.iter().map(|it| it.at).collect::<Vec<_>>(), [clock.now()]);
    }

    #[tokio::test]
    async fn a_delimiter_within_an_entry_is_refused() {
        let memory = InMemory::default();

        for content in ["a\n§\nb", "§", "§\na", "a\n§"] {
            let err = commit(&memory, vec![add(content)]).await.unwrap_err();
            assert!(matches!(err, MemoryError::Invalid { edit: 0, .. }), "{content}: {err:?}");
        }
        commit(&memory, vec![add("see § 4")]).await.unwrap();
    }
}
