use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::breaks;
use crate::{
    testing::conformance,
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Panics,
    Hangs,
    SaysNothing,
    ChangesItsSpec,
    BadName,
    BadSchema,
    RequiresTheUnknown,
    NeverDone,
    None,
}

#[derive(Debug)]
struct Faulty {
    fault: Fault,
    asked: AtomicU32,
}

#[async_trait]
impl Tool for Faulty {
    fn spec(&self) -> ToolSpec {
        let name = if self.fault == Fault::BadName { "echo it" } else { "echo" };
        let times = self.asked.fetch_add(1, Ordering::Relaxed);
        let is_new = self.fault == Fault::ChangesItsSpec && 0 < times;
        let schema = match self.fault {
            Fault::BadSchema => json!(true),
            Fault::RequiresTheUnknown => {
                json!({"type": "object", "properties": {}, "required": ["text"]})
            }
            _ => json!({"type": "object", "properties": {"text": {"type": "string"}}}),
        };
        let description = if is_new { "Says something else." } else { "Says it again." };
        ToolSpec::new(name, description).with_parameters(schema)
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        match (arguments.get("text").and_then(Value::as_str), self.fault) {
            (Some(_), Fault::NeverDone) => Ok(ToolOutput::failed("no")),
            (Some(text), _) => Ok(text.into()),
            (None, Fault::Panics) => panic!("no text"),
            (None, Fault::Hangs) => std::future::pending().await,
            (None, Fault::SaysNothing) => Ok(ToolOutput::rejected(" ")),
            (None, _) => Ok(ToolOutput::rejected("pass a text")),
        }
    }
}

async fn run(fault: Fault) {
    let tool = Faulty { fault, asked: AtomicU32::new(0) };
    conformance::tool(&tool, &json!({"text": "hello"})).await;
}

#[tokio::test]
async fn a_good_tool_passes() {
    run(Fault::None).await;
}

#[tokio::test]
async fn a_panic_is_found() {
    breaks("no text", run(Fault::Panics)).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_end_is_found() {
    breaks("total", run(Fault::Hangs)).await;
}

#[tokio::test]
async fn a_refusal_without_words_is_found() {
    breaks("total", run(Fault::SaysNothing)).await;
}

#[tokio::test]
async fn a_spec_that_changes_is_found() {
    breaks("stable", run(Fault::ChangesItsSpec)).await;
}

#[tokio::test]
async fn a_spec_that_no_endpoint_takes_is_found() {
    for fault in [Fault::BadName, Fault::BadSchema, Fault::RequiresTheUnknown] {
        breaks("spec", run(fault)).await;
    }
}

#[tokio::test]
async fn a_tool_that_does_nothing_is_found() {
    breaks("are not done", run(Fault::NeverDone)).await;
}
