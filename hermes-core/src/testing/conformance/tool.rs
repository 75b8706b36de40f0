//! The contract of [`Tool`].

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{PATIENCE, broken, succeeds};
use crate::{
    message::CallStatus,
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolRegistry, ToolSpec},
};

/// Checks a [`Tool`] against its contract, outside any conversation.
///
/// For a tool that needs something of its context, such as what the host attaches, use [`tool_in`].
///
/// `arguments` must be right for the tool, such that a call with them is `Done`. The suite calls the
/// tool with them, with senseless ones, and after cancellation: give it a tool that may do whatever
/// it does a few dozen times.
///
/// # Panics
///
/// Where the contract is broken, or where the tool panics.
///
/// # Examples
///
/// ```
/// use hermes_core::{schemars::{self, JsonSchema}, testing::conformance, tool};
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct City {
///     /// The city's name.
///     name: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let weather = tool::from_fn("weather", "Tells the weather in a city.", |city: City, _| async move {
///     Ok(format!("{}: sunny", city.name))
/// });
///
/// conformance::tool(&weather, &json!({"name": "Oslo"})).await;
/// # }
/// ```
pub async fn tool(tool: &dyn Tool, arguments: &Value) {
    tool_in(tool, arguments, &ToolContext::detached()).await;
}

/// Checks a [`Tool`] against its contract as [`tool`] does, in contexts like `context`.
///
/// # Panics
///
/// Where the contract is broken, or where the tool panics.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     testing::conformance,
///     tool::{self, Extensions, ToolContext, ToolError},
/// };
/// use serde_json::json;
///
/// struct UserId(u32);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let whoami = tool::from_fn("whoami", "Names the user.", |(), context: ToolContext| async move {
///     let user = context.extensions().get::<UserId>().ok_or("nobody is logged in");
///     user.map(|user| user.0.to_string()).map_err(ToolError::failed)
/// });
/// let context = ToolContext::detached().with_extensions(Extensions::default().with(UserId(7)));
///
/// conformance::tool_in(&whoami, &json!({}), &context).await;
/// # }
/// ```
pub async fn tool_in(tool: &dyn Tool, arguments: &Value, context: &ToolContext) {
    let spec = tool.spec();
    check_spec(&spec);
    check_arguments(&spec, arguments);

    let output = succeeds("call", call(tool, arguments.clone(), context).await);
    let (status, told) = (output.status, output.content);
    assert_eq!(status, CallStatus::Done, "call: right arguments are not done: {told}");
    for senseless in senseless(&spec) {
        is_total(tool, senseless, context).await;
    }
    // Whether it stops or finishes is its own affair; that it returns is not.
    let token = CancellationToken::new();
    token.cancel();
    drop(call(tool, arguments.clone(), &context.with_token(token)).await);
    assert_eq!(tool.spec(), spec, "stable: the spec changed");
}

fn check_spec(spec: &ToolSpec) {
    let name = &spec.name;
    let is_plain = name.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'));
    let is_short = (1..=64).contains(&name.len());
    assert!(is_plain && is_short, "spec: endpoints take 1 to 64 of A-Z a-z 0-9 _ -, not {name:?}");
    assert!(!spec.description.trim().is_empty(), "spec: the model is not told what {name} does");
    let schema = &spec.parameters;
    let is_object = schema.get("type") == Some(&Value::from("object"));
    assert!(is_object, "spec: the schema of {name} is not one of an object: {schema}");
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties else {
        broken("spec", format_args!("the schema of {name} has no properties: {schema}"))
    };
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let is_there = required.as_str().is_some_and(|it| properties.contains_key(it));
        assert!(is_there, "spec: {name} requires {required}, which is no property");
    }
}

/// Checks that the loop would let `arguments` through.
fn check_arguments(spec: &ToolSpec, arguments: &Value) {
    let known: Arc<dyn Tool> = Arc::new(Known(spec.clone()));
    let registry = succeeds("spec", ToolRegistry::new([known]));
    let wrong = registry.check(&spec.name, arguments);
    assert!(wrong.is_empty(), "the suite needs arguments that fit the schema: {wrong:?}");
}

/// A tool of which only the spec matters.
#[derive(Debug)]
struct Known(ToolSpec);

#[async_trait::async_trait]
impl Tool for Known {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    async fn call(&self, _: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::done(""))
    }
}

async fn call(
    tool: &dyn Tool,
    arguments: Value,
    context: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let shown = arguments.to_string();
    match timeout(PATIENCE, tool.call(arguments, context)).await {
        Ok(outcome) => outcome,
        Err(_) => broken("total", format_args!("no answer within {PATIENCE:?} to {shown:.80}")),
    }
}

async fn is_total(tool: &dyn Tool, arguments: Value, context: &ToolContext) {
    let shown = arguments.to_string();
    let outcome = call(tool, arguments, context).await;
    let told = match outcome {
        Ok(output) if output.status == CallStatus::Done => return,
        Ok(output) => output.content,
        Err(err) => err.to_string(),
    };
    let is_told = !told.trim().is_empty();
    assert!(is_told, "total: the model is not told what is wrong with {shown:.80}");
}

/// Arguments that no model should send, and one that any might.
fn senseless(spec: &ToolSpec) -> Vec<Value> {
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5e300),
        json!(u64::MAX),
        json!(""),
        json!("\0\u{202e}🦎\n§\n---\n"),
        json!("../../etc/passwd"),
        json!("x".repeat(100_000)),
        json!([]),
        json!([[null, {"a": 1}]]),
        json!({}),
    ];
    let names: Vec<&String> = spec
        .parameters
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
        .collect();
    let mut all: Vec<Value> = values.to_vec();
    all.push(json!({"an argument that is not there": 1}));
    for value in &values {
        let object = names.iter().map(|name| ((*name).clone(), value.clone())).collect();
        all.push(Value::Object(object));
    }
    all
}
