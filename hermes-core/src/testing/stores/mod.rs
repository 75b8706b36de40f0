//! Stores that keep everything in memory: whole implementations of the contracts, for tests and for
//! hosts that want nothing on disk.

mod head;
mod library;
mod memory;
mod sessions;
mod skills;

pub use self::{memory::InMemory, sessions::InMemorySessions, skills::InMemorySkills};
