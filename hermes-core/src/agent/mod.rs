//! The agent: a recipe from which conversations are started, and the loop that runs their turns.

mod builder;
mod event;
mod tasks;
mod turn;

pub use self::{
    builder::{AgentBuilder, Extension},
    event::{AgentError, AgentEvent, Finish, FinishedTurn},
    tasks::ReviewHandle,
    turn::{Limits, Outcome, Step, Turn},
};
