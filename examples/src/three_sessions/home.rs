//! A home folder, and agents that talk and learn with it: a new one for each conversation.

use std::{fs, io, path::Path, sync::Arc};

use hermes_core::{
    Agent,
    agent::{AgentError, BuildError},
    message::{CallStatus, History},
    review::ReviewReport,
    serde_json::{self, Value},
    store::SharedCounts,
};
use hermes_memory::{FileMemory, Memory};
use hermes_review::{Intervals, NudgePolicy};
use hermes_skills::{FsSkills, Skills};
use tempfile::TempDir;

use super::{model::SmallModel, tools::WorldTools, world::World};

/// A review looks for facts after every second message of the user.
///
/// Ten, the default, is right for conversations that go back and forth; here each is one message
/// long.
pub const MEMORY_TURNS: u32 = 2;

/// A review looks for procedures after six rounds of tool calls. Ten is the default, and the better
/// deployments take fewer.
pub const SKILL_ROUNDS: u32 = 6;

const IDENTITY: &str = "You run services for the developers of a small company.";

/// A home folder and the counts that belong to it. Dropping it removes the folder.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    counts: Arc<SharedCounts>,
}

/// What an agent has to learn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parts {
    /// Memory and skills.
    #[default]
    Both,
    /// Skills only.
    WithoutMemory,
    /// Memory only.
    WithoutSkills,
}

impl Home {
    /// Makes an empty folder.
    ///
    /// # Errors
    ///
    /// The operating system's, if it cannot.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("three-sessions-").tempdir()?;
        Ok(Self { folder, counts: Arc::default() })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes everything in it. The counts go on, as the process does.
    ///
    /// # Errors
    ///
    /// The operating system's, if something cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.path())? {
            let path = entry?.path();
            if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        Ok(())
    }

    /// Holds one conversation of one message, with an agent of its own, and waits for its review.
    ///
    /// # Errors
    ///
    /// A [`RunError`] if the agent could not be built or broke.
    pub async fn converse(
        &self,
        world: &World,
        message: &str,
        parts: Parts,
    ) -> Result<Talk, RunError> {
        let agent = self.agent(world, parts)?;
        let session = agent.session();
        let turn = session.send(message).await?;
        let calls = calls(&session.history());
        let review = match turn.review {
            Some(review) => review.await,
            None => None,
        };
        agent.shutdown().await;
        Ok(Talk { answer: turn.text, calls, review })
    }

    fn agent(&self, world: &World, parts: Parts) -> Result<Agent, BuildError> {
        let intervals = Intervals::new(MEMORY_TURNS, SKILL_ROUNDS);
        let mut agent = Agent::builder(SmallModel)
            .model("small")
            .identity(IDENTITY)
            .with(WorldTools::new(world.clone()))
            .counters(Arc::clone(&self.counts))
            .review(NudgePolicy::new(intervals));
        if parts != Parts::WithoutMemory {
            agent = agent.memory(Memory::new(FileMemory::new(self.path())));
        }
        if parts != Parts::WithoutSkills {
            agent = agent.skills(Skills::new(FsSkills::new(self.path())));
        }
        agent.build()
    }
}

/// What came of one conversation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Talk {
    /// What the agent answered.
    pub answer: String,
    /// The calls of the user's conversation, in order.
    pub calls: Vec<Called>,
    /// The review that followed, if one did.
    pub review: Option<Arc<ReviewReport>>,
}

impl Talk {
    /// Returns what it took.
    pub fn cost(&self) -> Cost {
        Cost::of(&self.calls)
    }
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Called {
    /// The tool.
    pub tool: String,
    /// What it was about, in one line.
    pub about: String,
    /// How it ended.
    pub status: CallStatus,
    /// What came back.
    pub result: String,
}

/// What a task took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The calls, `skill_view` included.
    pub tool_calls: usize,
    /// The results that were not done.
    pub errors: usize,
}

impl Cost {
    /// Adds up `calls`.
    pub(super) fn of(calls: &[Called]) -> Self {
        let errors = calls.iter().filter(|call| call.status != CallStatus::Done).count();
        Self { tool_calls: calls.len(), errors }
    }
}

/// Why a conversation could not be held.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The parts of the agent do not fit.
    #[error("the agent could not be built")]
    Build(#[from] BuildError),
    /// A turn failed.
    #[error("a conversation could not be held")]
    Agent(#[from] AgentError),
    /// The home folder could not be made or emptied.
    #[error("the home folder could not be prepared")]
    Home(#[from] io::Error),
}

fn calls(history: &History) -> Vec<Called> {
    let results = || history.iter().flat_map(|message| message.call_results());
    let calls = history.iter().flat_map(|message| message.calls());
    let pairs =
        calls.filter_map(|call| Some((call, results().find(|result| result.call == call.id)?)));
    pairs
        .map(|(call, result)| Called {
            tool: call.name.to_string(),
            about: call.arguments.parse().map(about).unwrap_or_default(),
            status: result.status,
            result: result.content.clone(),
        })
        .collect()
}

/// Returns the first argument, and of a Deployment what changes from one attempt to the next.
fn about(arguments: &Value) -> String {
    let mut values = arguments.as_object().into_iter().flat_map(|it| it.values());
    let first = values.next().and_then(Value::as_str).unwrap_or_default();
    let manifest = arguments.get("stdin").and_then(Value::as_str).unwrap_or_default();
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let Some(container) = manifest.pointer("/spec/template/spec/containers/0") else {
        return first.to_owned();
    };
    let text = |pointer: &str| container.pointer(pointer).and_then(Value::as_str);
    let probe = text("/livenessProbe/httpGet/path").unwrap_or_default();
    match text("/env/0/name") {
        Some(setting) => format!("{first}  (probe {probe}, {setting} set)"),
        None => format!("{first}  (probe {probe})"),
    }
}
