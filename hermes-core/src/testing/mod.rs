//! What tests need: a scripted model, stores in memory, a clock to set, and conformance suites.
//!
//! Everything here is behind the feature `testing` and meant for `[dev-dependencies]`:
//!
//! ```toml
//! [dev-dependencies]
//! hermes-core = { git = "https://github.com/hermes-rs/hermes-rs", features = ["testing"] }
//! ```
//!
//! | To test                        | use                                                           |
//! | ------------------------------ | ------------------------------------------------------------- |
//! | an agent without a network     | [`ScriptedProvider`]                                          |
//! | what the model saw             | [`ScriptedProvider::requests`], [`render_request`]            |
//! | what a real provider sent      | [`Recording`]                                                 |
//! | memory, skills, sessions       | [`InMemory`], [`InMemorySkills`], [`InMemorySessions`]        |
//! | what is recorded for an audit  | [`RecordingAudit`]                                            |
//! | what depends on the date       | [`ManualClock`]                                               |
//! | a review policy                | [`finished_turn`]                                             |
//! | your own store, provider, tool, approver | [`conformance`]                                     |
//! | what must not be called        | `MockProvider`, `MockTool` and the others, by feature `mock`  |
//!
//! # Example
//!
//! An agent that keeps a fact and says so, from the user's message to the snapshot of what the model
//! saw. The tool writes to a memory on which the test keeps a handle.
//!
//! ```
//! # #[cfg(feature = "schema")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use hermes_core::{
//!     Agent,
//!     agent::Finish,
//!     memory::{MemoryBackend, MemoryChange, MemoryEdit, Target},
//!     schemars::{self, JsonSchema},
//!     testing::{InMemory, ScriptedProvider, render_request},
//!     tool::{self, ToolContext, ToolError},
//! };
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Fact {
//!     /// What to remember, in one sentence.
//!     fact: String,
//! }
//!
//! let memory = InMemory::default();
//! let notes = memory.clone();
//! let remember = tool::from_fn("remember", "Keeps a fact.", move |fact: Fact, context: ToolContext| {
//!     let notes = notes.clone();
//!     async move {
//!         let edits = vec![MemoryEdit::Add { content: fact.fact }];
//!         let change = MemoryChange::new(Target::User, edits, context.origin().clone());
//!         notes.commit(change).await.map_err(ToolError::failed)?;
//!         Ok("kept")
//!     }
//! });
//! let model = ScriptedProvider::new()
//!     .call("remember", json!({"fact": "Prefers short answers."}))
//!     .say("Noted.");
//! let agent = Agent::builder(model.clone()).model("scripted").tool(remember).build()?;
//!
//! let turn = agent.session().send("Keep it short, please.").await?;
//!
//! assert_eq!((turn.finish, turn.calls), (Finish::Answered, 1));
//! assert_eq!(turn.text, "Noted.");
//! assert_eq!(memory.entries(Target::User), ["Prefers short answers."]);
//! assert_eq!(model.remaining(), 0);
//!
//! // With `insta`: insta::assert_snapshot!(seen)
//! let seen = model.last_request().map(|request| render_request(&request)).unwrap_or_default();
//! assert_eq!(
//!     seen,
//!     r#"model: scripted
//! tools:
//!   remember (writes): Keeps a fact.
//! user:
//!   text:
//!     Keep it short, please.
//! assistant:
//!   call call_1 of remember: {"fact":"Prefers short answers."}
//! tool:
//!   result of call_1 (done):
//!     kept
//! "#
//! );
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "schema"))]
//! # fn main() {}
//! ```

pub mod conformance;

mod audit;
mod clock;
#[cfg(feature = "mock")]
mod mock;
mod play;
mod record;
mod render;
mod script;
mod stores;
mod turn;

#[cfg(feature = "mock")]
pub use self::mock::{
    MockApprover, MockAuditSink, MockMemoryBackend, MockProvider, MockReviewPolicy, MockSkillStore,
    MockTool,
};
pub use self::{
    audit::RecordingAudit,
    clock::ManualClock,
    record::{Exchange, Recording},
    render::render_request,
    script::ScriptedProvider,
    stores::{InMemory, InMemorySessions, InMemorySkills},
    turn::finished_turn,
};
