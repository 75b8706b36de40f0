//! Tools whose schema comes from their argument type.

use std::{fmt, marker::PhantomData};

use async_trait::async_trait;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// A tool written as a struct with typed arguments. Every one is a [`Tool`].
///
/// # Examples
///
/// ```
/// use hermes_core::{schemars::{self, JsonSchema}, tool::{ToolContext, ToolError, TypedTool}};
/// use serde::Deserialize;
///
/// /// Adds two numbers.
/// #[derive(Debug)]
/// struct Add;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Numbers {
///     /// The first number.
///     x: i64,
///     /// The second number.
///     y: i64,
/// }
///
/// impl TypedTool for Add {
///     type Args = Numbers;
///     type Output = String;
///
///     const NAME: &'static str = "add";
///     const DESCRIPTION: &'static str = "Adds two numbers.";
///
///     async fn run(&self, numbers: Numbers, _: &ToolContext) -> Result<String, ToolError> {
///         Ok((numbers.x + numbers.y).to_string())
///     }
/// }
/// ```
pub trait TypedTool: fmt::Debug + Send + Sync {
    /// What the model passes: a struct, or `()` for nothing. Doc comments on its fields become their
    /// descriptions.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// What comes back: text, JSON, or a [`ToolOutput`].
    type Output: Into<ToolOutput>;

    /// What the model calls the tool.
    const NAME: &'static str;
    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;

    /// Adjusts the spec: effect, timeout. Returns it unchanged by default.
    fn configure(&self, spec: ToolSpec) -> ToolSpec {
        spec
    }

    /// Runs the tool.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] if the tool could not do its work or the turn must end.
    fn run(
        &self,
        args: Self::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

#[async_trait]
impl<T: TypedTool> Tool for T {
    fn spec(&self) -> ToolSpec {
        let spec = ToolSpec::new(T::NAME, T::DESCRIPTION).with_parameters(schema_of::<T::Args>());
        self.configure(spec)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        match decode(arguments) {
            Ok(args) => self.run(args, context).await.map(Into::into),
            Err(err) => Ok(ToolOutput::rejected(format!("invalid arguments: {err}"))),
        }
    }
}

/// A tool made of a closure. Made by [`from_fn`].
pub struct FnTool<F, A> {
    spec: ToolSpec,
    run: F,
    args: PhantomData<fn(A)>,
}

/// Makes a tool of a closure that takes typed arguments and the context.
///
/// The schema comes from the argument type, a struct, or `()` for nothing. An error becomes a failed result that the model sees.
///
/// # Examples
///
/// ```
/// use hermes_core::{schemars::{self, JsonSchema}, tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct City {
///     /// The city's name.
///     name: String,
/// }
///
/// let weather = tool::from_fn("weather", "Tells the weather in a city.", |city: City, _| async move {
///     Ok(format!("{}: sunny", city.name))
/// });
/// # let _ = weather;
/// ```
pub fn from_fn<F, A, Fut, O>(name: &'static str, description: &'static str, run: F) -> FnTool<F, A>
where
    F: Fn(A, ToolContext) -> Fut + Send + Sync,
    A: DeserializeOwned + JsonSchema,
    Fut: Future<Output = Result<O, ToolError>> + Send,
    O: Into<ToolOutput>,
{
    let spec = ToolSpec::new(name, description).with_parameters(schema_of::<A>());
    FnTool { spec, run, args: PhantomData }
}

impl<F, A> FnTool<F, A> {
    /// Returns the same tool with its spec adjusted: effect, timeout.
    #[must_use]
    pub fn configure(mut self, adjust: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = adjust(self.spec);
        self
    }
}

impl<F, A> fmt::Debug for FnTool<F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, A, Fut, O> Tool for FnTool<F, A>
where
    F: Fn(A, ToolContext) -> Fut + Send + Sync,
    A: DeserializeOwned + JsonSchema + Send,
    Fut: Future<Output = Result<O, ToolError>> + Send,
    O: Into<ToolOutput>,
{
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        match decode(arguments) {
            Ok(args) => (self.run)(args, context.clone()).await.map(Into::into),
            Err(err) => Ok(ToolOutput::rejected(format!("invalid arguments: {err}"))),
        }
    }
}

/// Reads typed arguments. No arguments at all are also those of `()`.
fn decode<A: DeserializeOwned>(arguments: Value) -> Result<A, serde_json::Error> {
    let is_nothing = arguments.as_object().is_some_and(Map::is_empty);
    serde_json::from_value(arguments)
        .or_else(|err| if is_nothing { nothing().map_err(|_| err) } else { Err(err) })
}

fn nothing<A: DeserializeOwned>() -> Result<A, serde_json::Error> {
    serde_json::from_value(Value::Null)
}

/// Returns the JSON schema of `T` as providers take it: one object, subschemas inlined, no `$schema`.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.retain(|key, value| key != "type" || value != "null");
        object.entry("type").or_insert_with(|| Value::from("object"));
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::message::CallStatus;

    #[derive(Deserialize, JsonSchema)]
    struct Numbers {
        /// The first number.
        x: i64,
        y: Option<i64>,
    }

    fn add() -> impl Tool {
        from_fn("add", "Adds.", |numbers: Numbers, _| async move {
            Ok((numbers.x + numbers.y.unwrap_or(0)).to_string())
        })
    }

    #[test]
    fn the_schema_comes_from_the_type() {
        let spec = add().spec();

        assert_eq!(
            *spec.parameters,
            json!({
                "type": "object",
                "properties": {
                    "x": {"type": "integer", "format": "int64", "description": "The first number."},
                    "y": {"type": ["integer", "null"], "format": "int64"},
                },
                "required": ["x"],
            })
        );
    }

    #[tokio::test]
    async fn a_tool_may_take_nothing() {
        let ping = from_fn("ping", "Answers.", |(), _| async move { Ok("pong") });

        assert_eq!(*ping.spec().parameters, json!({"type": "object", "properties": {}}));
        let output = ping.call(json!({}), &ToolContext::detached()).await.unwrap();
        assert_eq!(output, ToolOutput::done("pong"));
        let output = ping.call(json!({"x": 1}), &ToolContext::detached()).await.unwrap();
        assert_eq!(output.status, CallStatus::Rejected);
    }

    #[tokio::test]
    async fn wrong_arguments_are_told_to_the_model() {
        let output = add().call(json!({"x": "one"}), &ToolContext::detached()).await.unwrap();

        assert_eq!(output.status, CallStatus::Rejected);
        assert!(output.content.contains("expected i64"), "{}", output.content);
    }
}
