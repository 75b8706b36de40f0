//! What tests need: a scripted model, stores in memory, a clock to set, and conformance suites.
//!
//! Everything here is behind the feature `testing` and meant for `[dev-dependencies]`:
//!
//! ```toml
//! [dev-dependencies]
//! hermes-core = { version = "0.1", features = ["testing"] }
//! ```
//!
//! | To test                         | use                                                          |
//! | ------------------------------- | ------------------------------------------------------------ |
//! | an agent without a network      | [`ScriptedProvider`]                                         |
//! | what the model saw              | [`ScriptedProvider::requests`]                               |
//! | memory, skills, sessions        | [`InMemory`], [`InMemorySkills`], [`InMemorySessions`]       |
//! | what depends on the date        | [`ManualClock`]                                              |
//! | a review policy                 | [`finished_turn`]                                            |
//! | your own store, provider, tool  | [`conformance`]                                              |

pub mod conformance;

mod clock;
mod play;
mod script;
mod stores;
mod turn;

pub use self::{
    clock::ManualClock,
    script::ScriptedProvider,
    stores::{InMemory, InMemorySessions, InMemorySkills},
    turn::finished_turn,
};
