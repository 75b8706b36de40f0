//! What is known of a skill's use.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The usage record of a skill, in hermes-agent's `.usage.json` shape; unknown fields are kept.
///
/// Times are ISO 8601 in UTC, as the file has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SkillRecord {
    /// `agent` if the agent's own review made the skill; nothing else licenses automatic changes.
    pub created_by: Option<String>,
    /// How often it was loaded to be followed.
    pub use_count: u64,
    /// How often it was viewed.
    pub view_count: u64,
    /// How often it was changed.
    pub patch_count: u64,
    /// When it was last loaded.
    pub last_used_at: Option<String>,
    /// When it was last viewed.
    pub last_viewed_at: Option<String>,
    /// When it was last changed.
    pub last_patched_at: Option<String>,
    /// When the record was begun.
    pub created_at: Option<String>,
    /// Where in its life it is.
    pub state: SkillState,
    /// Whether the user has pinned it.
    pub pinned: bool,
    /// When it was archived.
    pub archived_at: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl SkillRecord {
    /// Returns whether the agent itself made the skill (the legacy field `agent_created` counts too).
    pub fn is_agent_made(&self) -> bool {
        self.created_by.as_deref() == Some("agent")
            || self.extra.get("agent_created") == Some(&Value::Bool(true))
    }
}

/// Where in its life a skill is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillState {
    /// In use.
    #[default]
    Active,
    /// Not used for a while.
    Stale,
    /// Put away.
    Archived,
}

/// A use of a skill that its record counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillUse {
    /// It was viewed, and so loaded to be followed.
    Viewed,
    /// It was changed.
    Changed,
}
