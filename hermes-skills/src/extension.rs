//! Skills as one part of an agent: the index in its prompt, and the three tools.

use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::{
    agent::{AgentBuilder, Extension},
    change::Change,
    origin::Origin,
    pending::{HeldWrites, PendingStore},
    prompt::{PromptSource, Section, Slot},
    skill::{SkillCommit, SkillError, SkillStore},
    threat::{DefaultScanner, Scanner},
};

use crate::{
    index::{Entry, section},
    tool::{HiddenSkills, Library, SkillManage, SkillReplay, SkillView, SkillsList},
    undo,
};

const NONE_YET: &str = include_str!("prompts/index_empty.md");

/// Skills for an agent: the index in its prompt, and `skills_list`, `skill_view` and `skill_manage`.
///
/// The prompt shows the index as it is when a conversation begins; what is written later can be
/// loaded at once and is in the index of the next conversation. A clone shares store, hidden names
/// and held changes.
///
/// # Examples
///
/// ```
/// use hermes_core::{Agent, testing::ScriptedProvider};
/// use hermes_skills::{FsSkills, HiddenSkills, Skills};
///
/// # let home = tempfile::tempdir()?;
/// let hidden = HiddenSkills::default();
/// let agent = Agent::builder(ScriptedProvider::new().say("Hello."))
///     .model("scripted")
///     .skills(Skills::new(FsSkills::new(home.path())).hidden(hidden.clone()))
///     .build()?;
///
/// hidden.set(["old-deploy"]); // counts from the next conversation on
/// # drop(agent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "skills do nothing until they are given to an agent"]
pub struct Skills {
    store: Arc<dyn SkillStore>,
    hidden: HiddenSkills,
    scanner: Arc<dyn Scanner>,
    pending: Option<Arc<dyn PendingStore>>,
}

impl Skills {
    /// Brings the skills of `store`. Pass an `Arc` to keep a handle on it.
    pub fn new(store: impl SkillStore + 'static) -> Self {
        Self {
            store: Arc::new(store),
            hidden: HiddenSkills::default(),
            scanner: Arc::new(DefaultScanner),
            pending: None,
        }
    }

    /// Sets which skills are not offered. None by default.
    pub fn hidden(mut self, hidden: HiddenSkills) -> Self {
        self.hidden = hidden;
        self
    }

    /// Sets what judges names, descriptions and texts before they reach the prompt or an answer of the
    /// tools; [`DefaultScanner`] by default. What judges texts before they are stored is the store's.
    ///
    /// A skill whose name is blocked is not offered, a description that is blocked is left out, both
    /// with a warning to the host. A text that is blocked by [`Scope::All`](hermes_core::threat::Scope::All)
    /// is shown with a warning to the model.
    pub fn scanner(mut self, scanner: impl Scanner + 'static) -> Self {
        self.scanner = Arc::new(scanner);
        self
    }

    /// Sets where changes wait that a person is to approve. Nowhere by default: a change that the
    /// policy [holds](hermes_core::review::Verdict::Hold) is rejected then.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::pending::FilePending;
    /// use hermes_skills::{FsSkills, Skills};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let skills =
    ///     Skills::new(FsSkills::new(home.path())).pending(FilePending::new(home.path()));
    /// let held = skills.held().ok_or("there is a place")?;
    ///
    /// for write in held.list().await?.writes {
    ///     let shown = held.show(&write.id).await?;
    ///     let diff = shown.change.as_ref().map(|it| it.diff.clone()).unwrap_or_default();
    ///     println!("{}\n{diff}", write.draft.summary);
    ///     held.approve_shown(&shown).await?; // or `reject`
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn pending(mut self, store: impl PendingStore + 'static) -> Self {
        self.pending = Some(Arc::new(store));
        self
    }

    /// Returns the changes that wait, for a host to show and decide on. `None` if they have
    /// [nowhere](Self::pending) to wait.
    pub fn held(&self) -> Option<HeldWrites> {
        let store = Arc::clone(self.pending.as_ref()?);
        Some(HeldWrites::new(store, Arc::new(SkillReplay::new(self.library()))))
    }

    fn library(&self) -> Library {
        Library::new(Arc::clone(&self.store), self.hidden.clone())
            .judging(Arc::clone(&self.scanner))
    }

    /// Takes back a change that a turn, a review or an approval has reported, on behalf of `origin`;
    /// `None` if the history of the skill does not have it, because it is of memory, waits, or is too
    /// old. Of changes that look alike, that is taken back whose line in the history names the file, or
    /// else the latest.
    ///
    /// The history itself is the [store's](SkillStore::history). An undo is a commit in it, and is not
    /// recorded by the agent's audit.
    ///
    /// # Errors
    ///
    /// - [`SkillError::Conflict`] if the file has been changed since: take that back first. The changes
    ///   of a review are taken back from the last to the first.
    /// - [`SkillError::Backend`] if the store fails; any other [`SkillError`] if it refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{Agent, origin::Origin, serde_json::json, testing::ScriptedProvider};
    /// use hermes_skills::{FsSkills, Skills, frontmatter::NewSkill};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let skill = NewSkill::new("deploy", "Deploys the shop.").render("Push, then apply.\n");
    /// let call = json!({"action": "create", "name": "deploy", "content": skill});
    /// let model = ScriptedProvider::new().call("skill_manage", call).say("Kept.");
    /// let skills = Skills::new(FsSkills::new(home.path()));
    /// let agent = Agent::builder(model).model("scripted").skills(skills.clone()).build()?;
    ///
    /// let turn = agent.session().send("Keep how we deploy.").await?;
    /// for change in turn.changes.iter().rev() {
    ///     skills.undo(change, Origin::user()).await?.ok_or("it is in the history")?;
    /// }
    /// assert!(!home.path().join("skills/deploy").exists());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn undo(
        &self,
        change: &Change,
        origin: Origin,
    ) -> Result<Option<SkillCommit>, SkillError> {
        undo::undo(&*self.store, change, origin).await
    }
}

impl Extension for Skills {
    fn install(self, builder: AgentBuilder) -> AgentBuilder {
        let library = self.library();
        builder
            .section(SkillIndex { library: library.clone() })
            .tool(SkillsList::of(library.clone()))
            .tool(SkillView::of(library.clone()))
            .tool(SkillManage::of(library, self.pending))
    }
}

/// The section of the prompt that lists the skills.
///
/// It is read when a conversation starts. Skills that are hidden, not for this system, or not for
/// these tools are left out; the `environments` of a head are not looked at. Of groups of tools nothing
/// is known: a skill that requires one is offered.
#[derive(Clone, Debug)]
pub struct SkillIndex {
    library: Library,
}

impl SkillIndex {
    /// Creates the section on `store`.
    pub fn new(store: Arc<dyn SkillStore>, hidden: HiddenSkills) -> Self {
        Self { library: Library::new(store, hidden) }
    }
}

#[async_trait]
impl PromptSource for SkillIndex {
    fn slot(&self) -> Slot {
        Slot::Skills
    }

    fn needs_tool(&self) -> Option<&str> {
        Some("skill_view")
    }

    async fn render(&self, tools: &[&str]) -> Section {
        let list = match self.library.offered().await {
            Ok(list) => list,
            Err(err) => {
                let source = std::error::Error::source(&err).map(|it| format!(": {it}"));
                let warning = format!("{err}{}", source.unwrap_or_default());
                return Section::default().with_warning(warning);
            }
        };
        let offered = list.skills.iter().filter(|skill| skill.conditions.hold_with(tools));
        let entries: Vec<Entry<'_>> = offered.map(Entry::from).collect();
        let categories: Vec<(&str, &str)> =
            list.categories.iter().map(|(name, about)| (name.as_str(), about.as_str())).collect();
        let is_bare = entries.is_empty() && tools.contains(&"skill_manage");
        let text = if is_bare {
            NONE_YET.trim_end().to_owned()
        } else {
            section(&entries, &categories, tools)
        };
        let warnings = list.warnings.iter();
        warnings.fold(Section::new(text), |section, warning| {
            section.with_warning(format!("skill {}: {}", warning.place, warning.reason))
        })
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        Agent,
        memory::RevisionId,
        origin::Origin,
        serde_json::json,
        skill::{SkillAction, SkillChange},
        testing::ScriptedProvider,
        threat::{Finding, ScanError, Scope, Severity},
    };

    use super::*;
    use crate::{FsSkills, frontmatter::NewSkill};

    /// Keeps a code name out, and cannot judge a text with another.
    #[derive(Debug)]
    struct House;

    impl Scanner for House {
        fn scan(&self, text: &str, _: Scope) -> Result<Vec<Finding>, ScanError> {
            if text.contains("osprey") {
                return Err(ScanError::new("no rules for birds of prey"));
            }
            let found = text.match_indices("heron");
            let finding =
                |at| Finding::new("code_name", Severity::Block, at..at + 5, "a code name");
            Ok(found.map(|(at, _)| finding(at)).collect())
        }
    }

    async fn put(store: &FsSkills, name: &str, about: &str, body: &str) -> Option<RevisionId> {
        let content = NewSkill::new(name, about).render(body);
        let create = SkillAction::Create { category: None, content };
        let change = SkillChange::new(name.parse().unwrap(), create, Origin::user());
        store.commit(change).await.unwrap().revision
    }

    #[tokio::test]
    async fn what_is_shown_goes_by_the_rules_of_the_host() {
        let home = tempfile::tempdir().unwrap();
        let store = FsSkills::new(home.path());
        put(&store, "ship-heron", "Ships.", "Push.\n").await;
        put(&store, "plain", "Ships heron.", "Push heron.\n").await;
        put(&store, "unjudged", "Ships osprey.", "Push.\n").await;
        let model = ScriptedProvider::new().call("skill_view", json!({"name": "plain"})).say("Ok.");
        let skills = Skills::new(store).scanner(House);
        let agent = Agent::builder(model).model("m").skills(skills).build().unwrap();

        let prompt = agent.system_prompt().await;
        let session = agent.session();
        session.send("Ship it.").await.unwrap();

        assert!(prompt.text.contains("- plain\n") && prompt.text.contains("- unjudged\n"));
        assert!(
            !prompt.text.contains("heron") && !prompt.text.contains("osprey"),
            "{}",
            prompt.text
        );
        assert_eq!(prompt.warnings.len(), 3, "{:?}", prompt.warnings);
        let history = session.history();
        let shown = history.iter().flat_map(|it| it.call_results()).next().unwrap();
        assert!(shown.content.contains("\"warning\""), "{}", shown.content);
    }
}
