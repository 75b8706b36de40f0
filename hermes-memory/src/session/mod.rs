//! Conversations in SQLite, with full-text search.

mod query;
mod segment;

mod fault;
mod index;
mod migrate;
mod search;
mod snippet;
mod sqlite;

mod tool;

pub use self::{
    search::{Order, SearchOptions},
    sqlite::SqliteSessions,
    tool::{SessionSearch, SessionSearchArgs},
};
