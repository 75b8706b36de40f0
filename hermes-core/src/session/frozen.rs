//! What all requests of a conversation have in common: its prompt and its tools, read once.

use std::sync::Arc;

use super::{Shared, shared::Live};
use crate::{
    prompt,
    provider::{Request, ToolChoice},
    tool::ToolSpec,
};

impl Live {
    /// Returns the system prompt and the tools, once they have been read.
    fn frozen(&self) -> Option<(Arc<str>, Arc<[ToolSpec]>)> {
        self.state.system.clone().zip(self.state.tools.clone())
    }
}

impl Shared {
    /// Returns what all requests of this conversation have in common, reading the prompt and the
    /// tools the first time, and the warnings that came up.
    pub(crate) async fn template(&self) -> (Request, Vec<String>) {
        let recipe = &self.recipe;
        let frozen = self.live().frozen();
        let (system, tools, warnings) = match frozen {
            Some((system, tools)) => (system, tools, Vec::new()),
            None => self.read_prompt().await,
        };
        let request = Request::new(recipe.model.clone(), Vec::new())
            .with_system(system)
            .with_tools(tools)
            .with_sampling(recipe.sampling.clone())
            .with_tool_choice(ToolChoice::Auto);
        (request, warnings)
    }

    /// Reads the prompt and the tools and freezes them, and returns them with the warnings that came
    /// up. If somebody else has read them meanwhile, that counts.
    pub(super) async fn read_prompt(&self) -> (Arc<str>, Arc<[ToolSpec]>, Vec<String>) {
        let names: Vec<&str> = self.recipe.registry.names().collect();
        let prompt = prompt::assemble(&self.recipe.sections, &names).await;
        let (system, tools): (Arc<str>, _) = (prompt.text.into(), self.recipe.registry.specs());
        {
            let mut live = self.live();
            if let Some((system, tools)) = live.frozen() {
                return (system, tools, Vec::new());
            }
            live.state.system = Some(Arc::clone(&system));
            live.state.tools = Some(Arc::clone(&tools));
            live.state.shown = prompt.seen;
        }
        self.see_prompt();
        (system, tools, prompt.warnings)
    }

    /// Notes the versions that the frozen prompt shows as seen.
    pub(crate) fn see_prompt(&self) {
        for (name, version) in &self.live().state.shown {
            self.seen.note(name.as_str(), *version);
        }
    }
}
