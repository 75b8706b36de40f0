//! placeholder

pub mod agent;

pub mod fork;
pub mod prompt;
pub mod review;

pub mod memory;
pub mod skill;
pub mod store;

pub mod provider;
pub mod tool;

pub mod change;
pub mod clock;
pub mod durable;
pub mod message;
pub mod origin;
pub mod threat;
pub mod version;

#[cfg(feature = "schema")]
pub use schemars;
pub use {async_trait::async_trait, serde_json};
