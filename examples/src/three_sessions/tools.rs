//! The only way into the world: six tools, as an operator has them on a command line.

use hermes_core::{
    agent::{AgentBuilder, Extension},
    schemars::{self, JsonSchema},
    tool::{ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool},
};
use serde::Deserialize;

use super::world::{Answer, World};

/// Brings the tools that act in a world.
#[derive(Clone, Debug)]
pub struct WorldTools(World);

impl WorldTools {
    /// Creates the tools that act in `world`.
    pub fn new(world: World) -> Self {
        Self(world)
    }
}

impl Extension for WorldTools {
    fn install(self, builder: AgentBuilder) -> AgentBuilder {
        let Self(world) = self;
        builder
            .tool(ListFiles(world.clone()))
            .tool(ReadFile(world.clone()))
            .tool(SearchFiles(world.clone()))
            .tool(Docker(world.clone()))
            .tool(Kubectl(world.clone()))
            .tool(HttpGet(world))
    }
}

/// Lists files of the workspace.
#[derive(Clone, Debug)]
pub struct ListFiles(pub World);

/// Reads a file of the workspace.
#[derive(Clone, Debug)]
pub struct ReadFile(pub World);

/// Searches the files of the workspace.
#[derive(Clone, Debug)]
pub struct SearchFiles(pub World);

/// Runs `docker`.
#[derive(Clone, Debug)]
pub struct Docker(pub World);

/// Runs `kubectl`.
#[derive(Clone, Debug)]
pub struct Kubectl(pub World);

/// Asks for a page over HTTP.
#[derive(Clone, Debug)]
pub struct HttpGet(pub World);

/// Where in the workspace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathArgs {
    /// A path from the top of the workspace; `.` is the top.
    pub path: String,
}

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchArgs {
    /// A piece of text; upper and lower case are the same.
    pub pattern: String,
}

/// What to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DockerArgs {
    /// The words after `docker`, such as `push NAME` or `build -t NAME FOLDER`.
    pub command: String,
}

/// What to run, and what it reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KubectlArgs {
    /// The words after `kubectl`, such as `rollout status deployment/NAME -n NAMESPACE`.
    pub command: String,
    /// What `apply -f -` reads: a Deployment in JSON.
    pub stdin: Option<String>,
}

/// What to ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UrlArgs {
    /// An address that begins with `http://`.
    pub url: String,
}

impl TypedTool for ListFiles {
    type Args = PathArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "list_files";
    const DESCRIPTION: &'static str = "Lists the files of the workspace below a path.";

    fn configure(&self, spec: ToolSpec) -> ToolSpec {
        spec.read_only()
    }

    async fn run(&self, args: PathArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(output(self.0.list_files(&args.path)))
    }
}

impl TypedTool for ReadFile {
    type Args = PathArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Returns the text of a file of the workspace.";

    fn configure(&self, spec: ToolSpec) -> ToolSpec {
        spec.read_only()
    }

    async fn run(&self, args: PathArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(output(self.0.read_file(&args.path)))
    }
}

impl TypedTool for SearchFiles {
    type Args = SearchArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = "Finds the lines of the workspace that hold a piece of text.";

    fn configure(&self, spec: ToolSpec) -> ToolSpec {
        spec.read_only()
    }

    async fn run(&self, args: SearchArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::done(self.0.search_files(&args.pattern)))
    }
}

impl TypedTool for Docker {
    type Args = DockerArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "docker";
    const DESCRIPTION: &'static str = "Runs docker: build an image, push it, list the images.";

    async fn run(&self, args: DockerArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(output(self.0.docker(&args.command)))
    }
}

impl TypedTool for Kubectl {
    type Args = KubectlArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "kubectl";
    const DESCRIPTION: &'static str =
        "Runs kubectl: get namespaces or pods, apply, rollout status, logs.";

    async fn run(&self, args: KubectlArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(output(self.0.kubectl(&args.command, args.stdin.as_deref())))
    }
}

impl TypedTool for HttpGet {
    type Args = UrlArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "http_get";
    const DESCRIPTION: &'static str = "Asks for a page over HTTP and returns status and body.";

    fn configure(&self, spec: ToolSpec) -> ToolSpec {
        spec.read_only()
    }

    async fn run(&self, args: UrlArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(output(self.0.http_get(&args.url)))
    }
}

/// A command that fails has refused to do what it was asked, and says what to put right.
fn output(answer: Answer) -> ToolOutput {
    match answer {
        Ok(text) => ToolOutput::done(text),
        Err(text) => ToolOutput::rejected(text),
    }
}
