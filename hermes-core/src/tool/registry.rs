//! The tools of an agent, by name.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec, check};

/// The tools of an agent: their specs as the model sees them, sorted by name, and the tools behind
/// them. Cloning it copies pointers.
#[derive(Clone, Debug, Default)]
pub struct ToolRegistry {
    tools: Arc<BTreeMap<Arc<str>, Entry>>,
    specs: Option<Arc<[ToolSpec]>>,
}

#[derive(Clone, Debug)]
struct Entry {
    spec: ToolSpec,
    tool: Arc<dyn Tool>,
}

/// Two tools of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called {name:?}")]
pub struct DuplicateTool {
    /// The name.
    pub name: Arc<str>,
}

impl ToolRegistry {
    /// Creates a registry of `tools`.
    ///
    /// # Errors
    ///
    /// [`DuplicateTool`] if two of them have the same name.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, DuplicateTool> {
        let mut by_name = BTreeMap::new();
        for tool in tools {
            let spec = tool.spec();
            let name = Arc::clone(&spec.name);
            if by_name.insert(Arc::clone(&name), Entry { spec, tool }).is_some() {
                return Err(DuplicateTool { name });
            }
        }
        let specs = by_name.values().map(|entry| entry.spec.clone()).collect();
        Ok(Self { tools: Arc::new(by_name), specs: Some(specs) })
    }

    /// Returns the specs, sorted by name: the same list for every request, so that prefixes cache.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        self.specs.clone().unwrap_or_else(|| Arc::from([]))
    }

    /// Returns the spec of the tool called `name`.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.get(name).map(|entry| &entry.spec)
    }

    /// Returns the tool called `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).map(|entry| &entry.tool)
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(|name| &**name)
    }

    /// Returns what the model should be told if it cannot call `name`: the closest name if one is
    /// close, and what there is.
    pub fn explain_unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.names().collect();
        let hint = check::closest(name, names.iter().copied())
            .map(|close| format!(" Did you mean {close:?}?"))
            .unwrap_or_default();
        let name = check::shown(format!("{name:?}"));
        format!("There is no tool called {name}.{hint} The tools are: {}.", names.join(", "))
    }

    /// Runs the tool called `name` as the loop does: an unknown name and arguments that do not fit
    /// the schema are rejected with everything that is wrong.
    ///
    /// # Errors
    ///
    /// As [`Tool::call`].
    pub async fn call(
        &self,
        name: &str,
        arguments: Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        match self.checked(name, &arguments) {
            Ok(tool) => tool.call(arguments, context).await,
            Err(reason) => Ok(ToolOutput::rejected(reason)),
        }
    }

    /// Returns the tool called `name`, or what the model should be told if there is none or
    /// `arguments` do not fit it.
    pub(crate) fn checked(&self, name: &str, arguments: &Value) -> Result<&Arc<dyn Tool>, String> {
        let tool = self.get(name).ok_or_else(|| self.explain_unknown(name))?;
        let wrong = self.check(name, arguments);
        if wrong.is_empty() {
            return Ok(tool);
        }
        Err(format!("The tool {name:?} was not run. {}", wrong.join(" ")))
    }

    /// Returns everything that is wrong with `arguments` for the tool called `name`, empty if
    /// nothing is.
    pub fn check(&self, name: &str, arguments: &Value) -> Vec<String> {
        self.spec(name)
            .map(|spec| check::arguments(&spec.parameters, arguments))
            .unwrap_or_default()
    }
}
