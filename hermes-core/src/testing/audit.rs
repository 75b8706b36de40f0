//! An audit sink that keeps its records in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::audit::{AuditError, AuditEvent, AuditRecord, AuditSink};

/// Keeps records in memory, for tests of what an agent records. A clone shares them.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "schema")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hermes_core::{Agent, testing::{RecordingAudit, ScriptedProvider}, tool};
///
/// let audit = RecordingAudit::default();
/// let ping = tool::from_fn("ping", "Answers.", |(), _| async { Ok("pong") });
/// let model = ScriptedProvider::new().call("ping", serde_json::json!({})).say("done");
/// let agent = Agent::builder(model).model("m").tool(ping).audit(audit.clone()).build()?;
///
/// agent.session().send("go").await?;
///
/// assert_eq!(audit.records()[0].turn, 1);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "schema"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordingAudit(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    records: Vec<AuditRecord>,
    /// How many appends succeed before they fail.
    left: Option<usize>,
}

impl RecordingAudit {
    /// Creates a sink that fails after `appends` that succeed.
    pub fn failing_after(appends: usize) -> Self {
        Self(Arc::new(Mutex::new(Kept { left: Some(appends), ..Kept::default() })))
    }

    /// Returns the records so far, oldest first.
    pub fn records(&self) -> Vec<AuditRecord> {
        self.lock().records.clone()
    }

    /// Returns what was recorded so far, oldest first.
    pub fn events(&self) -> Vec<AuditEvent> {
        self.lock().records.iter().map(|record| record.event.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl AuditSink for RecordingAudit {
    async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError> {
        let mut kept = self.lock();
        if let Some(left) = &mut kept.left {
            *left = left.checked_sub(1).ok_or(AuditError::Backend("no room".into()))?;
        }
        kept.records.extend_from_slice(records);
        Ok(())
    }
}
