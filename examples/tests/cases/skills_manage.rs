//! The area `skills-manage`: the skill tools and their folder, step by step.

use std::{collections::HashMap, sync::Arc};

use hermes_core::{
    Agent,
    message::{CallId, CallStatus},
    origin::Origin,
    skill::{SkillAction, SkillChange, SkillName, SkillStore},
    store::SessionId,
    testing::ScriptedProvider,
    threat::{Finding, ScanError, Scanner, Scope},
    tool::{ToolContext, TurnScope},
};
use hermes_skills::{FsSkills, HiddenSkills, Skills};
use serde_json::Value;

use crate::{
    check::Checks,
    home::Home,
    memory::{Outcome, check_steps, check_text, external_write},
    read::{Node, generated},
};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let mut home = Home::set_up(case.opt("setup").as_ref());
    let mut play = Play::open(&home);
    for (number, step) in case.get("input")?.get("steps")?.items().iter().enumerate() {
        play.step(step, &home).await?;
        home.remember(number);
    }
    let names = play.names().await;
    let expect = case.get("expect")?;
    check(&play, &home, &names, &expect, checks)?;
    let mut broken = Ok(());
    checks.any_of(&expect, |alternative, checks| {
        if let Err(reason) = check(&play, &home, &names, alternative, checks) {
            broken = Err(reason);
        }
    });
    broken
}

fn check(
    play: &Play,
    home: &Home,
    names: &[String],
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    home.check(expect, checks);
    check_steps(&play.steps, expect, checks)?;
    if let Some(expected) = expect.opt("list_names") {
        checks.that(names == expected.strings(), format!("skills_list has {names:?}"));
    }
    for (name, parts) in expect.opt("indexes").iter().flat_map(Node::entries) {
        check_text(name, play.indexes.get(name), &parts, checks);
    }
    Ok(())
}

/// The store as it is used, and what came of each step.
pub(crate) struct Play {
    store: FsSkills,
    hidden: HiddenSkills,
    agent: Agent,
    scope: Arc<TurnScope>,
    indexes: HashMap<String, String>,
    steps: Vec<Option<Outcome>>,
}

/// A scanner that fails whatever it is given.
#[derive(Debug)]
struct Faulty;

impl Scanner for Faulty {
    fn scan(&self, _: &str, _: Scope) -> Result<Vec<Finding>, ScanError> {
        Err(ScanError::new("the scanner is out of order"))
    }
}

impl Play {
    pub(crate) fn open(home: &Home) -> Self {
        let store = FsSkills::new(home.path());
        let hidden = HiddenSkills::default();
        Self {
            agent: agent(&store, &hidden),
            store,
            hidden,
            scope: Arc::new(TurnScope::new(SessionId::new("case"))),
            indexes: HashMap::new(),
            steps: Vec::new(),
        }
    }

    async fn step(&mut self, step: &Node<'_>, home: &Home) -> Result<(), String> {
        let mut outcome = None;
        match step.get("do")?.str() {
            tool @ ("skill_manage" | "skill_view" | "skills_list") => {
                outcome = Some(self.call(tool, &arguments(step)).await);
            }
            "index" => {
                let index = self.agent.system_prompt().await.text;
                self.indexes.insert(step.get("save")?.str().to_owned(), index);
            }
            "external_write" => external_write(step, home)?,
            "external_delete" => home.external_delete(step.get("path")?.str()),
            "set_config" => self.set_config(step, home)?,
            "pin" => self.pin(step).await?,
            "as_background" => {
                let mut scope = TurnScope::new(SessionId::new("case"));
                scope.origin = Origin::review("review");
                self.scope = Arc::new(scope);
            }
            other => return Err(format!("unknown step: {other}")),
        }
        self.steps.push(outcome);
        Ok(())
    }

    /// Changes what a case may configure.
    pub(crate) fn set_config(&mut self, step: &Node<'_>, home: &Home) -> Result<(), String> {
        if let Some(disabled) = step.opt("disabled_skills") {
            self.hidden.set(disabled.strings());
        }
        // The scan is always on here, whatever this says.
        step.opt("guard_agent_created");
        match step.opt("scanner_fault").map(|it| it.str()) {
            None => {}
            Some("raise") => {
                self.store = FsSkills::new(home.path()).scanner(Faulty);
                self.agent = agent(&self.store, &self.hidden);
            }
            Some(other) => return Err(format!("unknown scanner_fault {other}")),
        }
        Ok(())
    }

    async fn pin(&self, step: &Node<'_>) -> Result<(), String> {
        let name = step.get("name")?.str();
        let name: SkillName = name.parse().map_err(|err| format!("{err}"))?;
        let is_pinned = step.opt("pinned").is_none_or(|it| it.bool());
        let change = SkillChange::new(name, SkillAction::Pin(is_pinned), Origin::user());
        self.store.commit(change).await.map(|_| ()).map_err(|err| err.to_string())
    }

    /// Calls a tool as the conversation does.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Outcome {
        let context = ToolContext::new(Arc::clone(&self.scope), CallId::new("call"));
        let output = self.agent.tools().call(tool, arguments.clone(), &context).await;
        let (status, text) = match output {
            Ok(output) => (output.status, output.content),
            Err(err) => (CallStatus::Failed, err.to_string()),
        };
        let result: Value = serde_json::from_str(&text).unwrap_or_default();
        let says_so = result.get("success").and_then(Value::as_bool);
        let is_success = status == CallStatus::Done && says_so != Some(false);
        Outcome { is_success, is_terminal: false, text }
    }

    /// Returns the names that `skills_list` gives, sorted.
    async fn names(&self) -> Vec<String> {
        let list = self.call("skills_list", &serde_json::json!({})).await;
        let list: Value = serde_json::from_str(&list.text).unwrap_or_default();
        let skills = list.get("skills").and_then(Value::as_array).cloned().unwrap_or_default();
        let name = |skill: &Value| skill.get("name")?.as_str().map(str::to_owned);
        let mut names: Vec<String> = skills.iter().filter_map(name).collect();
        names.sort();
        names
    }
}

fn agent(store: &FsSkills, hidden: &HiddenSkills) -> Agent {
    let skills = Skills::new(store.clone()).hidden(hidden.clone());
    Agent::builder(ScriptedProvider::new()).model("scripted").skills(skills).build().unwrap()
}

/// Returns the arguments of a step, with what `content_generate` stands for, beside or within them.
fn arguments(step: &Node<'_>) -> Value {
    let mut arguments = step.opt("args").map(|it| it.whole().clone()).unwrap_or_default();
    let inner = step.opt("args").and_then(|it| it.opt("content_generate")).map(|it| generated(&it));
    let outer = step.opt("content_generate").map(|it| generated(&it));
    if let (Some(object), Some(content)) = (arguments.as_object_mut(), outer.or(inner)) {
        object.remove("content_generate");
        object.insert("content".to_owned(), Value::from(content));
    }
    arguments
}
