//! Holds the conversations of a plan, each with a review after it.

use std::sync::Arc;

use hermes_core::review::ReviewReport;

use super::{
    home::{Called, Cost, Home, Parts, RunError},
    script,
    world::{Facts, Framework, World},
};

/// What is run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Which world: names, addresses, paths.
    pub seed: u64,
    /// The tasks, in order. That of [`script::order_of`] by default.
    pub tasks: Vec<Framework>,
    /// What the agent has to learn with. Everything by default.
    pub parts: Parts,
    /// Whether the home folder is kept from one conversation to the next. It is by default.
    pub home: Keep,
}

/// What becomes of the home folder between conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// It stays as it is.
    #[default]
    Everything,
    /// It is emptied.
    Nothing,
}

impl Plan {
    /// Creates the plan for the world with this seed, with everything else at its default.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            tasks: script::order_of(seed).to_vec(),
            parts: Parts::default(),
            home: Keep::default(),
        }
    }
}

/// What came of a [`Plan`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Which world it was.
    pub seed: u64,
    /// The conversations, in order.
    pub conversations: Vec<Conversation>,
}

/// A conversation, and what came of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conversation {
    /// What the task was written in.
    pub task: Framework,
    /// What the user said.
    pub message: String,
    /// What the agent answered.
    pub answer: String,
    /// The calls of the user's conversation, in order; those of the review are not among them.
    pub calls: Vec<Called>,
    /// What the same task took on an empty home.
    pub cold: Cost,
    /// The review that followed, if one did.
    pub review: Option<Arc<ReviewReport>>,
}

impl Conversation {
    /// Returns what it took.
    pub fn cost(&self) -> Cost {
        Cost::of(&self.calls)
    }
}

/// Holds the conversations of `plan`, each with a review after it, and each once more on an empty
/// home in an untouched world.
///
/// # Errors
///
/// A [`RunError`] if a folder could not be made or the agent broke; what fails within the world is
/// part of the outcome.
///
/// # Examples
///
/// ```
/// use hermes_examples::three_sessions::run::{Plan, run};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let outcome = run(&Plan::new(0)).await?;
///
/// let calls: Vec<_> = outcome.conversations.iter().map(|it| it.cost().tool_calls).collect();
/// assert_eq!(calls, [12, 9, 6]);
/// # Ok(())
/// # }
/// ```
pub async fn run(plan: &Plan) -> Result<Outcome, RunError> {
    let (facts, world) = (Facts::new(plan.seed), World::new(plan.seed));
    let home = Home::new()?;
    let mut conversations = Vec::new();
    for (place, task) in plan.tasks.iter().copied().enumerate() {
        if plan.home == Keep::Nothing {
            home.clear()?;
        }
        let message = script::message(&facts, task, place);
        let cold = Home::new()?.converse(&World::new(plan.seed), &message, plan.parts).await?;
        let talk = home.converse(&world, &message, plan.parts).await?;
        conversations.push(Conversation {
            task,
            message,
            answer: talk.answer,
            cold: Cost::of(&cold.calls),
            calls: talk.calls,
            review: talk.review,
        });
    }
    Ok(Outcome { seed: plan.seed, conversations })
}
