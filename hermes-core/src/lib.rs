//! An agent that gets better at its job while it does it.
//!
//! An [`Agent`] answers a user's message by asking a [`Provider`] for the next assistant message,
//! running the [`Tool`]s it calls, and repeating until no calls are left. Afterwards a
//! [`ReviewPolicy`] may decide that the turn taught something worth keeping, and a review in the
//! background writes facts to a [`MemoryBackend`] and procedures to a [`SkillStore`]. The next
//! conversation starts with what was written.
//!
//! This crate holds the loop, the traits and their plain data. It talks to no network, has no
//! database, and keeps nothing by itself: providers, stores and reviews live in the crates beside it
//! (`hermes-providers`, `hermes-memory`, `hermes-skills`, `hermes-review`).
//!
//! # Life of a turn
//!
//! ```text
//! host ─▶ Session::send ─▶ Reply: a stream of events, and a future of the finished turn
//!             │
//!             ▼
//!         driver ◀─▶ Turn::next_step (pure: what to do next)
//!             ├─▶ Provider::stream
//!             ├─▶ Tool::call
//!             ├─▶ SessionStore::append
//!             └─▶ ReviewPolicy::after_turn ─▶ review, in the background
//!                                               └─▶ Fork ─▶ MemoryBackend, SkillStore
//! ```
//!
//! # Bring your own
//!
//! | To change                       | implement         | ready-made                               |
//! | ------------------------------- | ----------------- | ---------------------------------------- |
//! | which model answers             | [`Provider`]      | `hermes_providers::{OpenAiChat, OpenAiResponses, Anthropic}` |
//! | what the model can do           | [`Tool`]          | the `memory`, `skill_*` and `delegate` tools |
//! | where facts are kept            | [`MemoryBackend`] | `hermes_memory::FileMemory`              |
//! | where procedures are kept       | [`SkillStore`]    | `hermes_skills::FsSkills`                |
//! | when the agent reflects         | [`ReviewPolicy`]  | `hermes_review::NudgePolicy`             |
//! | what a turn may do              | [`Hook`]          |                                          |
//! | where conversations are kept    | [`SessionStore`]  | `hermes_memory::SqliteSessions`          |
//! | what is kept of what it did     | [`AuditSink`]     | `audit::JsonlAudit`                      |
//! | which calls may run             | [`Approver`]      | `approval::{DenyAll, from_fn, Within}`   |
//! | what makes room in long ones    | [`Compressor`]    | `compress::Summariser`                   |
//! | what calls cost                 | [`Pricing`]       | `hermes_providers::PriceTable`           |
//! | where held writes wait          | [`PendingStore`]  | `pending::FilePending`                   |
//! | where long results go           | [`ResultSpill`]   | `tool::SpillFolder`                      |
//! | where counts are kept           | [`CounterStore`]  | `store::SharedCounts`                    |
//! | what stored text may say        | [`Scanner`]       | `threat::DefaultScanner`                 |
//! | what else is in the prompt      | [`PromptSource`]  | `context::ContextFiles`, memory, skills  |
//!
//! # Example
//!
//! A tool, an agent that has it, and a scripted model in place of a real one:
//!
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use hermes_core::{Agent, schemars::{self, JsonSchema}, testing::ScriptedProvider, tool};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct City {
//!     /// The city's name.
//!     name: String,
//! }
//!
//! let weather = tool::from_fn("weather", "Tells the weather in a city.", |city: City, _| async move {
//!     Ok(format!("{}: sunny", city.name))
//! });
//! let model = ScriptedProvider::new()
//!     .call("weather", serde_json::json!({"name": "Oslo"}))
//!     .say("It is sunny in Oslo.");
//!
//! let agent = Agent::builder(model).model("scripted").tool(weather).build()?;
//! let turn = agent.session().send("How is the weather in Oslo?").await?;
//!
//! assert_eq!(turn.text, "It is sunny in Oslo.");
//! assert_eq!(turn.calls, 1);
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "testing", feature = "schema")))]
//! # fn main() {}
//! ```
//!
//! # Tracing
//!
//! Turns, model requests and tool calls are `tracing` spans at level `DEBUG` (`invoke_agent`, `chat`,
//! `execute_tool`) with the field names of `OpenTelemetry` for models (`gen_ai.request.model`,
//! `gen_ai.usage.input_tokens`, …). They carry message content only where
//! [`AgentBuilder::trace_content`](agent::AgentBuilder::trace_content) switches it on.
//!
//! # Feature flags
//!
//! - `schema` (default): tool schemas derived from argument types, by `schemars`.
//! - `testing`: a scripted model, in-memory stores, a manual clock, and the conformance suites that
//!   every implementation of a trait must pass. Meant for `[dev-dependencies]`.
//! - `mock`: `mockall` mocks of the five traits, of [`Approver`] and of [`AuditSink`]. Implies `testing`.
//!
//! [`Approver`]: approval::Approver
//! [`AuditSink`]: audit::AuditSink
//! [`Compressor`]: compress::Compressor
//! [`CounterStore`]: store::CounterStore
//! [`Hook`]: agent::hook::Hook
//! [`MemoryBackend`]: memory::MemoryBackend
//! [`PendingStore`]: pending::PendingStore
//! [`Provider`]: provider::Provider
//! [`PromptSource`]: prompt::PromptSource
//! [`ResultSpill`]: tool::ResultSpill
//! [`ReviewPolicy`]: review::ReviewPolicy
//! [`Scanner`]: threat::Scanner
//! [`SessionStore`]: store::SessionStore
//! [`SkillStore`]: skill::SkillStore
//! [`Tool`]: tool::Tool

pub mod agent;
pub mod session;

pub mod approval;
pub mod audit;
pub mod compress;
pub mod context;
pub mod delegate;
pub mod fork;
pub mod prompt;
pub mod review;

pub mod memory;
pub mod pending;
pub mod skill;
pub mod store;

pub mod provider;
pub mod tool;

pub mod change;
pub mod clock;
pub mod cost;
pub mod durable;
pub mod message;
pub mod origin;
pub mod threat;
pub mod version;

#[cfg(any(test, feature = "testing", all(doc, not(doctest))))]
pub mod testing;

pub use agent::Agent;
pub use cost::{Cost, Pricing};
#[cfg(feature = "schema")]
pub use schemars;
pub use session::Session;
pub use tokio_util::sync::CancellationToken;
pub use {async_trait::async_trait, serde_json};
