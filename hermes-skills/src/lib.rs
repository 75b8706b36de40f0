//! Skills on disk, the tools that read and write them, and the engine that edits them.
//!
//! [`Skills`] gives an agent everything at once. The parts can be used alone: [`FsSkills`] keeps
//! skills in a folder that hermes-agent may share, [`tool`] holds what a model calls, [`index`] makes
//! the list in the prompt, [`frontmatter`] reads a `SKILL.md`, and [`patch`] finds a passage that was
//! quoted from memory and replaces it.
//!
//! ```text
//! Skills ─▶ SkillIndex ─────────────▶ SkillStore ◀─ FsSkills: check, scan, journal, rename
//!        └▶ skills_list, skill_view ──▲
//!        └▶ skill_manage ─▶ patch ────┘
//! ```

mod extension;
pub mod tool;

mod ledger;
mod store;

pub mod frontmatter;
pub mod guard;
pub mod index;
pub mod patch;

pub use extension::{SkillIndex, Skills};
pub use store::FsSkills;
pub use tool::HiddenSkills;
