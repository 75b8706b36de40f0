//! Conversations in SQLite, with full-text search.

mod query;
mod segment;

mod fault;
mod index;
mod migrate;
mod snippet;
mod sqlite;

mod tool;

pub use self::{
    sqlite::{Order, SearchOptions, SqliteSessions},
    tool::{SessionSearch, SessionSearchArgs},
};
