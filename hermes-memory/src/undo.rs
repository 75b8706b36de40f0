//! Taking back a change that was reported.

use hermes_core::{
    change::{Change, ChangeTarget, Fate},
    memory::{MemoryBackend, MemoryCommit, MemoryError, Revision},
    origin::Origin,
    version::Version,
};

/// Takes back `change`; `None` if `backend` has no record of it, or if it has not been made.
pub(crate) async fn undo(
    backend: &dyn MemoryBackend,
    change: &Change,
    origin: Origin,
) -> Result<Option<MemoryCommit>, MemoryError> {
    if change.fate != Fate::Applied {
        return Ok(None);
    }
    let ChangeTarget::Memory(target) = change.target else { return Ok(None) };
    let history = backend.history(target, usize::MAX).await?;
    match history.iter().find(|it| is_of(it, change)) {
        Some(made) => backend.undo(target, &made.id, origin).await.map(Some),
        None => Ok(None),
    }
}

/// Returns whether `revision` leads from the text before `change` to the one after it. No list and no
/// text are the same thing.
fn is_of(revision: &Revision, change: &Change) -> bool {
    let [from, to, before, after] = [revision.before, revision.after, change.before, change.after]
        .map(|it| it.unwrap_or_else(|| Version::of("")));
    (from, to) == (before, after)
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        Agent,
        memory::Target,
        serde_json::{Value, json},
        testing::{InMemory, ScriptedProvider},
    };

    use super::*;
    use crate::{FileMemory, Memory};

    /// Makes the calls, and returns what they changed.
    async fn changes(memory: &Memory, calls: &[Value]) -> Vec<Change> {
        let model = ScriptedProvider::new().calls(calls.iter().map(|it| ("memory", it.clone())));
        let agent = Agent::builder(model).model("m").memory(memory.clone()).build().unwrap();
        agent.session().send("Go.").await.unwrap().changes
    }

    fn add(content: &str) -> Value {
        json!({"action": "add", "target": "user", "content": content})
    }

    fn remove(old_text: &str) -> Value {
        json!({"action": "remove", "target": "user", "old_text": old_text})
    }

    async fn check(backend: impl MemoryBackend + Clone + 'static) {
        let memory = Memory::new(backend.clone());
        let made = changes(&memory, &[add("a"), remove("a"), add("b"), add("c")]).await;
        assert_eq!(made.len(), 4);

        for (change, left) in made.iter().rev().zip([&["b"][..], &[], &["a"], &[]]) {
            let commit = memory.undo(change, Origin::user()).await.unwrap().unwrap();

            assert_eq!(commit.after.value, left, "{change:?}");
            assert_eq!(backend.read(Target::User).await.unwrap().value.entries, left);
        }
    }

    #[tokio::test]
    async fn what_a_turn_reported_is_taken_back_from_the_last_to_the_first() {
        let home = tempfile::tempdir().unwrap();

        check(FileMemory::new(home.path())).await;
        check(InMemory::default()).await;
    }

    #[tokio::test]
    async fn what_was_overtaken_is_refused() {
        let memory = Memory::new(InMemory::default());
        let made = changes(&memory, &[add("a"), add("b")]).await;

        let err = memory.undo(&made[0], Origin::user()).await.unwrap_err();

        assert!(matches!(err, MemoryError::Conflict { .. }), "{err:?}");
    }

    #[tokio::test]
    async fn what_is_not_in_the_history_is_none() {
        let memory = Memory::new(InMemory::default());
        let elsewhere = changes(&Memory::new(InMemory::default()), &[add("a")]).await;
        let mut skill = elsewhere[0].clone();
        skill.target = ChangeTarget::Skill { name: "a".to_owned(), file: "SKILL.md".to_owned() };
        changes(&memory, &[add("b")]).await;

        assert_eq!(memory.undo(&elsewhere[0], Origin::user()).await.unwrap(), None);
        assert_eq!(memory.undo(&skill, Origin::user()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_waits_is_none_although_the_same_was_made_once() {
        let memory = Memory::new(InMemory::default());
        let made = changes(&memory, &[add("a")]).await;

        for waits in [made[0].clone().held("1"), made[0].clone().proposed()] {
            assert_eq!(memory.undo(&waits, Origin::user()).await.unwrap(), None);
        }
        assert!(memory.undo(&made[0], Origin::user()).await.unwrap().is_some());
    }
}
