//! Collects the parts of an agent and checks how they fit together.

use std::sync::Arc;

use crate::{prompt::PromptSource, tool::Tool};

/// Something that brings several parts of an agent at once, such as a memory with its prompt
/// section and its tool.
pub trait Extension {
    /// Adds its parts to `builder`.
    fn install(self, builder: AgentBuilder) -> AgentBuilder;
}

/// Collects the parts of an agent.
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct AgentBuilder {
    tools: Vec<Arc<dyn Tool>>,
    sections: Vec<Arc<dyn PromptSource>>,
}

impl AgentBuilder {
    /// Adds a tool.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a section of the system prompt.
    pub fn section(mut self, section: impl PromptSource + 'static) -> Self {
        self.sections.push(Arc::new(section));
        self
    }
}
