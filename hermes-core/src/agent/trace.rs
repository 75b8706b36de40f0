//! The spans of turns, model requests and tool calls, with the field names that `OpenTelemetry` has for
//! them: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>.
//!
//! What was said is left out unless the host switched it on.

use tracing::{Span, field};

use super::AgentError;
use crate::{
    message::{Call, Message, Usage},
    origin::Origin,
    provider::{ModelId, ProviderErrorKind, Request},
    store::SessionId,
    tool::ToolOutput,
};

/// Returns the span of a turn.
pub(crate) fn turn_span(session: &SessionId, model: &ModelId) -> Span {
    tracing::debug_span!(
        "invoke_agent",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.conversation.id = session.as_str(),
        gen_ai.request.model = model.as_str(),
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        error.r#type = field::Empty,
    )
}

/// Returns the span of a review or sub-agent of `session`, which `origin` names.
pub(crate) fn fork_span(session: &SessionId, origin: &Origin, model: &ModelId) -> Span {
    let span = tracing::debug_span!(
        "invoke_agent",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.conversation.id = session.as_str(),
        gen_ai.request.model = model.as_str(),
        gen_ai.agent.name = origin.kind.as_str(),
        gen_ai.agent.id = field::Empty,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        error.r#type = field::Empty,
    );
    if let Some(id) = origin.review.as_deref().or(origin.task.as_deref()) {
        span.record("gen_ai.agent.id", id);
    }
    span
}

/// Notes how a turn, review or sub-agent ended, and what it took.
pub(crate) fn ended(span: &Span, usage: Usage, error: Option<&AgentError>) {
    span.record("gen_ai.usage.input_tokens", usage.input);
    span.record("gen_ai.usage.output_tokens", usage.output);
    match error {
        Some(AgentError::Provider(err)) => failed(span, err.kind()),
        // What the convention has for errors that have no name.
        Some(_) => {
            span.record("error.type", "_OTHER");
        }
        None => {}
    }
}

/// Returns the span of a model request, which holds the request itself if `has_content`.
pub(crate) fn request_span(request: &Request, has_content: bool) -> Span {
    let span = tracing::debug_span!(
        "chat",
        gen_ai.operation.name = "chat",
        gen_ai.request.model = request.model.as_str(),
        gen_ai.response.model = field::Empty,
        gen_ai.response.finish_reasons = field::Empty,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        gen_ai.system_instructions = field::Empty,
        gen_ai.input.messages = field::Empty,
        gen_ai.output.messages = field::Empty,
        error.r#type = field::Empty,
    );
    if has_content && !span.is_disabled() {
        span.record("gen_ai.system_instructions", &*request.system);
        span.record("gen_ai.input.messages", json(&*request.messages));
    }
    span
}

/// Notes a reply and what it took.
pub(crate) fn replied(span: &Span, reply: &Message, usage: Usage, has_content: bool) {
    if span.is_disabled() {
        return;
    }
    if let Some(stop) = &reply.stop {
        span.record("gen_ai.response.finish_reasons", json(&[stop]));
    }
    span.record("gen_ai.usage.input_tokens", usage.input);
    span.record("gen_ai.usage.output_tokens", usage.output);
    if has_content {
        span.record("gen_ai.output.messages", json(&[reply]));
    }
}

/// Notes the model that replied.
pub(crate) fn answered(span: &Span, model: &ModelId) {
    span.record("gen_ai.response.model", model.as_str());
}

/// Notes why there was no reply.
pub(crate) fn failed(span: &Span, kind: ProviderErrorKind) {
    span.record("error.type", kind.as_str());
}

/// Returns the span of a tool call, which holds its arguments if `has_content`.
pub(crate) fn call_span(call: &Call, has_content: bool) -> Span {
    let span = tracing::debug_span!(
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = &*call.name,
        gen_ai.tool.call.id = call.id.as_str(),
        gen_ai.tool.call.arguments = field::Empty,
        gen_ai.tool.call.result = field::Empty,
    );
    if has_content {
        span.record("gen_ai.tool.call.arguments", call.arguments.as_str());
    }
    span
}

/// Notes what a call brought, if `has_content`.
pub(crate) fn returned(span: &Span, output: &ToolOutput, has_content: bool) {
    if has_content {
        span.record("gen_ai.tool.call.result", output.content.as_str());
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    // Messages have string keys and finite numbers only, so that nothing of them fails.
    serde_json::to_string(value).unwrap_or_default()
}
