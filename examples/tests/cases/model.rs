//! What several areas need: an agent on a home, and scripted replies as cases write them.

use std::path::Path;

use hermes_core::{
    Agent,
    agent::AgentBuilder,
    memory::Target,
    message::{Arguments, Call, Message, Part, Role},
    testing::ScriptedProvider,
    tool::{self, Tool, ToolOutput},
};
use hermes_memory::{FileMemory, Memory};
use hermes_skills::{FsSkills, Skills};
use serde_json::Value;

use crate::read::{Node, text};

/// Returns the memory on `home`, with the limits of the case.
pub(crate) fn memory(home: &Path, setup: Option<&Node<'_>>) -> FileMemory {
    let limits = setup.and_then(|it| it.opt("limits"));
    let limit = |name: &str| limits.as_ref().and_then(|it| it.opt(name)).map(|it| it.usize());
    let mut memory = FileMemory::new(home);
    if let Some(characters) = limit("memory") {
        memory = memory.limit(Target::Memory, characters);
    }
    if let Some(characters) = limit("user") {
        memory = memory.limit(Target::User, characters);
    }
    memory
}

/// Returns an agent with the memory and the skills of `home`, on `model`.
pub(crate) fn agent_on(home: &Path, model: &ScriptedProvider) -> AgentBuilder {
    Agent::builder(model.clone())
        .model("scripted")
        .memory(Memory::new(FileMemory::new(home)))
        .skills(Skills::new(FsSkills::new(home)))
}

/// Returns a tool that takes anything and answers `ok`.
pub(crate) fn anything(name: &'static str) -> impl Tool {
    tool::from_fn(name, "Does something.", |_: Value, _| async { Ok(ToolOutput::done("ok")) })
}

/// Returns a reply as a case writes it: `text`, or `tool_calls`. `{i}` is replaced by `number`.
pub(crate) fn reply(node: &Node<'_>, number: usize) -> Message {
    let number = number.to_string();
    let mut parts: Vec<Part> = text(node, "text").map(Part::Text).into_iter().collect();
    for call in node.opt("tool_calls").iter().flat_map(Node::items) {
        let id = call.opt("id").map(|it| it.str()).unwrap_or_default().replace("{i}", &number);
        let name = call.opt("name").map(|it| it.str()).unwrap_or_default();
        let arguments = call.opt("arguments").map(|it| it.whole().clone()).unwrap_or_default();
        let arguments = match arguments {
            Value::String(raw) => raw,
            other => other.to_string(),
        };
        let arguments = Arguments::from(arguments.replace("{i}", &number));
        parts.push(Part::Call(Call::new(id.as_str(), name, arguments)));
    }
    Message::new(Role::Assistant, parts)
}
