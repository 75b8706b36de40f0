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
//!
//! | To … | use or implement |
//! |---|---|
//! | keep skills in a folder | [`FsSkills`] |
//! | keep them elsewhere | [`SkillStore`](hermes_core::skill::SkillStore), checked by `hermes_core::testing::conformance::skill_store` |
//! | give them to an agent | [`Skills`] |
//! | not offer some of them | [`HiddenSkills`] |
//! | let a person approve changes first | [`Skills::pending`], [`Skills::held`] |
//! | replace a quoted passage | [`patch::replace`] |
//! | take a change back | [`Skills::undo`] |
//! | judge a whole skill folder | [`guard`] |
//! | judge texts by rules of your own | [`Scanner`](hermes_core::threat::Scanner) |
//!
//! # Examples
//!
//! What is kept in one conversation is in the index of the next:
//!
//! ```
//! use hermes_core::{Agent, serde_json::json, testing::ScriptedProvider};
//! use hermes_skills::{FsSkills, Skills, frontmatter::NewSkill};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! let skill = NewSkill::new("deploy", "Deploys the shop.").render("Push, then apply.\n");
//! let call = json!({"action": "create", "name": "deploy", "content": skill});
//! let agent = Agent::builder(ScriptedProvider::new().call("skill_manage", call).say("Kept."))
//!     .model("scripted")
//!     .skills(Skills::new(FsSkills::new(home.path())))
//!     .build()?;
//!
//! let turn = agent.session().send("Keep how we deployed.").await?;
//!
//! assert_eq!(turn.changes[0].line(), "Skill deploy: created SKILL.md");
//! assert!(agent.system_prompt().await.text.contains("- deploy: Deploys the shop."));
//! # Ok(())
//! # }
//! ```
//!
//! There are no feature flags.

mod extension;
pub mod tool;
mod undo;

mod ledger;
mod store;

pub mod frontmatter;
pub mod guard;
pub mod index;
pub mod patch;

pub use extension::{SkillIndex, Skills};
pub use store::FsSkills;
pub use tool::HiddenSkills;
