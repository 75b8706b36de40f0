//! Skills in a folder, shared with hermes-agent.

mod fs;

mod find;
mod layout;

mod check;
mod commit;
mod owner;
mod plan;
mod undo;

mod files;
mod usage;

#[cfg(test)]
mod tests;

use hermes_core::skill::SkillError;

pub use self::fs::FsSkills;

fn backend(err: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> SkillError {
    SkillError::Backend(err.into())
}

fn invalid(reason: impl Into<String>) -> SkillError {
    SkillError::Invalid { reason: reason.into() }
}

fn off_limits(reason: impl Into<String>) -> SkillError {
    SkillError::OffLimits { reason: reason.into() }
}
