//! What an agent is made of, shared by its conversations and their forks.

use std::sync::Arc;

use super::{
    Limits, SessionLimits, Unheard, Waiting,
    hook::Hooks,
    tasks::{Reports, Tasks},
};
use crate::{
    approval::Approver,
    audit::Auditor,
    clock::Clock,
    compress::Compressor,
    context::ResultHint,
    cost::Pricing,
    prompt::PromptSource,
    provider::{ModelId, Provider, Sampling, ToolChoice},
    review::ReviewPolicy,
    store::{CounterStore, SessionStore},
    tool::{ResultSpill, ToolRegistry},
};

#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) model: ModelId,
    pub(crate) sampling: Sampling,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) registry: ToolRegistry,
    pub(crate) sections: Vec<Arc<dyn PromptSource>>,
    pub(crate) hints: Option<Arc<dyn ResultHint>>,
    pub(crate) hooks: Hooks,
    pub(crate) policy: Option<Arc<dyn ReviewPolicy>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) audit: Option<Arc<Auditor>>,
    pub(crate) sessions: Option<Arc<dyn SessionStore>>,
    pub(crate) counters: Option<Arc<dyn CounterStore>>,
    pub(crate) compressor: Option<Arc<dyn Compressor>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) pricing: Option<Arc<dyn Pricing>>,
    pub(crate) limits: Limits,
    pub(crate) session_limits: SessionLimits,
    pub(crate) max_depth: u32,
    pub(crate) max_result_chars: usize,
    pub(crate) max_round_chars: usize,
    pub(crate) max_parallel_calls: usize,
    pub(crate) traces_content: bool,
    pub(crate) spill: Option<Arc<dyn ResultSpill>>,
    pub(crate) max_repeats: u32,
    pub(crate) tasks: Tasks,
    pub(crate) reports: Reports,
    /// What the audit warned of and nobody heard; it is no more of one conversation than of another.
    pub(crate) unheard: Unheard,
    /// What was warned of in conversations and nobody heard.
    pub(crate) waiting: Waiting,
}
