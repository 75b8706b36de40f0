//! Memory for the hermes agent crates: facts in two small files, shared with hermes-agent, and conversations
//! in SQLite.
//!
//! [`FileMemory`] keeps the lists `memories/MEMORY.md` and `memories/USER.md` under a home folder.
//! [`Memory`] makes parts of an agent of it, or of any other
//! [`MemoryBackend`](hermes_core::memory::MemoryBackend): the section of the prompt that shows the
//! lists, the guidance for their use, and the [`MemoryTool`] that changes them.
//!
//! | To … | use or implement |
//! |---|---|
//! | keep memory in files | [`FileMemory`] |
//! | keep it elsewhere | [`MemoryBackend`](hermes_core::memory::MemoryBackend), with [`planned`], [`version`] and [`fill`] for its rules, checked by `hermes_core::testing::conformance::memory_backend` |
//! | give it to an agent | [`Memory`] |
//! | keep conversations, and search them | `SqliteSessions` and `SessionSearch` (feature `sqlite`, which builds SQLite) |
//! | let a person approve changes first | [`Memory::pending`], [`Memory::held`] |
//! | take a change back | [`Memory::undo`] |
//! | judge entries by rules of your own | [`Scanner`](hermes_core::threat::Scanner) |
//!
//! Limits are in characters (Unicode scalars). Blocking work runs on tokio's blocking threads, so
//! all of this needs a tokio runtime.
//!
//! # Examples
//!
//! What is saved in one conversation stands in the prompt of the next:
//!
//! ```
//! use hermes_core::{Agent, serde_json::json, testing::ScriptedProvider};
//! use hermes_memory::{FileMemory, Memory};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! let call = json!({"action": "add", "target": "user", "content": "Prefers short answers."});
//! let agent = Agent::builder(ScriptedProvider::new().call("memory", call).say("Noted."))
//!     .model("scripted")
//!     .memory(Memory::new(FileMemory::new(home.path())))
//!     .build()?;
//!
//! let turn = agent.session().send("Keep it short, please.").await?;
//!
//! assert_eq!(turn.changes[0].line(), "User profile: created");
//! assert!(agent.system_prompt().await.text.contains("Prefers short answers."));
//! # Ok(())
//! # }
//! ```
//!
//! # Feature flags
//!
//! - `sqlite` (off by default): `SqliteSessions` and `SessionSearch`. Builds SQLite, for which it needs
//!   a C compiler.

mod extension;
mod file;
mod pending;
#[cfg(feature = "sqlite")]
mod session;
mod tool;
mod undo;

mod edit;
mod plan;

#[cfg(feature = "sqlite")]
pub use self::session::{Order, SearchOptions, SessionSearch, SessionSearchArgs, SqliteSessions};
pub use self::{
    edit::edited,
    extension::{Memory, MemorySection},
    file::{FileMemory, budget::fill},
    plan::{planned, version},
    tool::MemoryTool,
};
