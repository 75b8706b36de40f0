//! What was allowed for the rest of a conversation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::origin::OriginKind;

/// Something that was allowed for the rest of a conversation, by
/// [`Approval::AllowForSession`](super::Approval::AllowForSession).
///
/// It covers calls of one tool on the same kind of account: what was allowed to the user's own
/// conversation is not allowed to its reviews and sub-agents. Where a dangerous command was allowed, it
/// covers only commands that are dangerous in the same way; a command that is dangerous in several ways
/// needs a grant for each. Where a change of memory or of a skill was allowed, it covers changes of the
/// same list or the same skill. For what is [`Critical`](super::Severity::Critical) there is no grant: it is
/// asked for every time. A grant is stored with the session and holds after a resume.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The tool.
    pub tool: Arc<str>,
    /// On which account its calls are covered.
    pub origin: OriginKind,
    /// The [id of the class](super::DangerClass::id) of commands that it covers, or what it lets be
    /// changed (`memory`, `user` or `skill:<name>`); `None` for a tool all of whose calls need approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// The grants of a conversation. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grants(Arc<Mutex<Vec<Grant>>>);

impl Grants {
    /// Goes on with what was stored.
    pub(crate) fn restore(grants: Vec<Grant>) -> Self {
        Self(Arc::new(Mutex::new(grants)))
    }

    /// Returns all of them, oldest first, for storing.
    pub(crate) fn snapshot(&self) -> Vec<Grant> {
        self.lock().clone()
    }

    pub(crate) fn add(&self, grant: Grant) {
        let mut grants = self.lock();
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }

    pub(crate) fn has(&self, grant: &Grant) -> bool {
        self.lock().contains(grant)
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Grant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
