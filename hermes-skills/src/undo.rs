//! Taking back a change that was reported.

use hermes_core::{
    change::{Change, ChangeTarget, Fate},
    memory::Revision,
    origin::Origin,
    skill::{SkillCommit, SkillError, SkillName, SkillStore},
};

/// Takes back `change`; `None` if `store` has no record of it, or if it has not been made.
pub(crate) async fn undo(
    store: &dyn SkillStore,
    change: &Change,
    origin: Origin,
) -> Result<Option<SkillCommit>, SkillError> {
    if change.fate != Fate::Applied {
        return Ok(None);
    }
    let ChangeTarget::Skill { name, file } = &change.target else { return Ok(None) };
    let Ok(skill) = SkillName::existing(name) else { return Ok(None) };
    let mut alike = store.history(&skill, usize::MAX).await?;
    alike.retain(|it| (it.before, it.after) == (change.before, change.after));
    let is_exact = |it: &&Revision| named(&it.summary) == Some(file.as_str());
    let is_like = |it: &&Revision| {
        it.summary.strip_suffix(file.as_str()).is_some_and(|before| before.ends_with(' '))
    };
    let made = alike.iter().find(is_exact).or_else(|| alike.iter().find(is_like));
    match made.or(alike.first()) {
        Some(made) => store.undo(&skill, &made.id, origin).await.map(Some),
        None => Ok(None),
    }
}

/// Returns what comes after the verb in a line of the history of our stores: `add references/a.md`, say, or
/// `undo 7: remove references/a.md`.
fn named(summary: &str) -> Option<&str> {
    let undone = summary.strip_prefix("undo ").and_then(|it| it.split_once(": "));
    let what = undone.map_or(summary, |(_, what)| what);
    what.split_once(' ').map(|(_, named)| named)
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        Agent,
        memory::Target,
        serde_json::{Value, json},
        skill::SkillFile,
        testing::{InMemorySkills, ScriptedProvider},
    };

    use super::*;
    use crate::{FsSkills, Skills, frontmatter::NewSkill};

    /// Makes the calls, and returns what they changed.
    async fn changes(skills: &Skills, calls: &[Value]) -> Vec<Change> {
        let script = calls.iter().map(|it| ("skill_manage", it.clone()));
        let model = ScriptedProvider::new().calls(script);
        let agent = Agent::builder(model).model("m").skills(skills.clone()).build().unwrap();
        agent.session().send("Go.").await.unwrap().changes
    }

    fn create() -> Value {
        let content = NewSkill::new("deploy", "Deploys.").render("Push.\n");
        json!({"action": "create", "name": "deploy", "content": content})
    }

    fn add(path: &str) -> Value {
        json!({"action": "write_file", "name": "deploy", "file_path": path, "file_content": "x\n"})
    }

    async fn files(store: &dyn SkillStore) -> Option<Vec<String>> {
        let text = store.read("deploy", &SkillFile::main()).await.ok()?;
        Some(text.files.iter().map(ToString::to_string).collect())
    }

    async fn check(store: impl SkillStore + Clone + 'static) {
        let skills = Skills::new(store.clone());
        let patch = json!({
            "action": "patch", "name": "deploy", "old_string": "Push.", "new_string": "Pull.",
        });
        let made = changes(&skills, &[create(), patch, add("references/a.md")]).await;
        assert_eq!(made.len(), 3);

        for change in made.iter().rev() {
            let commit = skills.undo(change, Origin::user()).await.unwrap().unwrap();
            assert_eq!((commit.before, commit.after), (change.after, change.before), "{change:?}");
        }
        assert_eq!(files(&store).await, None);
    }

    #[tokio::test]
    async fn what_a_turn_reported_is_taken_back_from_the_last_to_the_first() {
        let home = tempfile::tempdir().unwrap();

        check(FsSkills::new(home.path())).await;
        check(InMemorySkills::default()).await;
    }

    #[tokio::test]
    async fn of_files_with_one_text_the_one_that_is_meant_is_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let store = FsSkills::new(home.path());
        let skills = Skills::new(store.clone());
        let made =
            changes(&skills, &[create(), add("references/a.md"), add("references/b.md")]).await;

        skills.undo(&made[1], Origin::user()).await.unwrap().unwrap();

        assert_eq!(files(&store).await, Some(vec!["references/b.md".to_owned()]));
    }

    #[tokio::test]
    async fn files_with_blanks_in_their_names_are_told_apart() {
        let all = ["references/c.md references/b.md", "references/a b.md", "references/b.md"];
        for (at, name) in all.iter().enumerate() {
            let home = tempfile::tempdir().unwrap();
            let store = FsSkills::new(home.path());
            let skills = Skills::new(store.clone());
            let mut calls = vec![create()];
            calls.extend(all.iter().chain(&["references/z.md"]).map(|it| add(it)));
            let made = changes(&skills, &calls).await;

            skills.undo(&made[at + 1], Origin::user()).await.unwrap().unwrap();

            let left = files(&store).await.unwrap();
            assert!(left.len() == 3 && !left.iter().any(|it| it == name), "{name}: {left:?}");
        }
    }

    #[tokio::test]
    async fn a_deleted_skill_is_brought_back() {
        let home = tempfile::tempdir().unwrap();
        let store = FsSkills::new(home.path());
        let skills = Skills::new(store.clone());
        let delete = json!({"action": "delete", "name": "deploy"});
        let made = changes(&skills, &[create(), delete]).await;
        assert_eq!(files(&store).await, None);

        skills.undo(&made[1], Origin::user()).await.unwrap().unwrap();

        assert_eq!(files(&store).await, Some(Vec::new()));
    }

    #[tokio::test]
    async fn what_is_not_in_the_history_is_none() {
        let skills = Skills::new(InMemorySkills::default());
        let elsewhere = changes(&Skills::new(InMemorySkills::default()), &[create()]).await;
        let mut fact = elsewhere[0].clone();
        fact.target = ChangeTarget::Memory(Target::User);

        assert_eq!(skills.undo(&elsewhere[0], Origin::user()).await.unwrap(), None);
        assert_eq!(skills.undo(&fact, Origin::user()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_waits_is_none_although_the_same_was_made_once() {
        let skills = Skills::new(InMemorySkills::default());
        let made = changes(&skills, &[create()]).await;

        for waits in [made[0].clone().held("1"), made[0].clone().proposed()] {
            assert_eq!(skills.undo(&waits, Origin::user()).await.unwrap(), None);
        }
        assert!(skills.undo(&made[0], Origin::user()).await.unwrap().is_some());
    }
}
