//! Requests as text, for snapshots.

use std::fmt::Write;

use crate::{
    message::{Call, CallResult, CallStatus, Message, Part, Role, StopReason},
    provider::{Request, Sampling, ToolChoice},
    tool::{Effect, ToolSpec},
};

/// Returns what the model sees in `request`, as text that is stable and good to compare.
///
/// Roles, parts, statuses and the tool list are all there; ids of messages and token counts are not,
/// since the model does not see them. Tools show their names, what they may do and the first line of
/// their description. Text is indented, so that it cannot be taken for structure.
///
/// # Examples
///
/// ```
/// use hermes_core::{message::Message, provider::Request, testing::render_request};
///
/// let request = Request::new("any", vec![Message::user("hello"), Message::assistant("hi")])
///     .with_system("You help.");
///
/// assert_eq!(
///     render_request(&request),
///     "model: any\n\
///      system:\n    You help.\n\
///      user:\n  text:\n    hello\n\
///      assistant:\n  text:\n    hi\n"
/// );
/// ```
pub fn render_request(request: &Request) -> String {
    let mut text = format!("model: {}\n", request.model);
    render_choice(&mut text, &request.tool_choice);
    render_sampling(&mut text, &request.sampling);
    if !request.tools.is_empty() {
        text.push_str("tools:\n");
    }
    for tool in request.tools.iter() {
        render_tool(&mut text, tool);
    }
    if !request.system.is_empty() {
        text.push_str("system:\n");
        indent(&mut text, &request.system);
    }
    for message in request.messages.iter() {
        render_message(&mut text, message);
    }
    text
}

fn render_choice(text: &mut String, choice: &ToolChoice) {
    let choice = match choice {
        ToolChoice::Auto => return,
        ToolChoice::Required => "required",
        ToolChoice::None => "none",
        ToolChoice::Tool(name) => name,
    };
    line(text, format_args!("tool choice: {choice}"));
}

fn render_sampling(text: &mut String, sampling: &Sampling) {
    if *sampling != Sampling::default() {
        let json = serde_json::to_string(sampling).unwrap_or_default();
        line(text, format_args!("sampling: {json}"));
    }
}

fn render_tool(text: &mut String, tool: &ToolSpec) {
    let effect = match tool.effect {
        Effect::Read => "reads",
        Effect::Write => "writes",
    };
    let description = tool.description.lines().next().unwrap_or_default();
    line(text, format_args!("  {} ({effect}): {description}", tool.name));
}

fn render_message(text: &mut String, message: &Message) {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    match &message.stop {
        None | Some(StopReason::EndTurn | StopReason::ToolCalls) => {
            line(text, format_args!("{role}:"));
        }
        Some(stop) => line(text, format_args!("{role} ({stop:?}):")),
    }
    for part in &message.parts {
        render_part(text, part);
    }
}

fn render_part(text: &mut String, part: &Part) {
    match part {
        Part::Text(it) => titled(text, "text", it),
        Part::Context(it) => titled(text, "context", it),
        Part::Image(it) => line(text, format_args!("  image {}", it.url)),
        Part::Call(it) => render_call(text, it),
        Part::Result(it) => render_result(text, it),
        Part::Reasoning(it) => {
            let owner =
                it.opaque.as_ref().map(|it| format!(" (opaque to all but {})", it.provider));
            titled(text, &format!("reasoning{}", owner.unwrap_or_default()), &it.text);
        }
    }
}

fn render_call(text: &mut String, call: &Call) {
    line(text, format_args!("  call {} of {}: {}", call.id, call.name, call.arguments.as_str()));
}

fn render_result(text: &mut String, result: &CallResult) {
    let status = match result.status {
        CallStatus::Done => "done",
        CallStatus::Rejected => "rejected",
        CallStatus::Failed => "failed",
        CallStatus::Cancelled => "cancelled",
    };
    titled(text, &format!("result of {} ({status})", result.call), &result.content);
}

fn titled(text: &mut String, title: &str, content: &str) {
    line(text, format_args!("  {title}:"));
    indent(text, content);
}

fn indent(text: &mut String, content: &str) {
    for content in content.lines() {
        line(text, format_args!("    {content}").to_string().trim_end());
    }
}

fn line(text: &mut String, line: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::{Image, Reasoning};

    #[test]
    fn everything_the_model_sees_is_shown() {
        let tools = [
            ToolSpec::new("ping", "Answers with pong.\nOr not.").read_only(),
            ToolSpec::new("push", "Pushes."),
        ];
        let asked = vec![
            Part::Text("is it up?\n\nuser:".to_owned()),
            Part::Context("it was down".to_owned()),
            Part::Image(Image::new("https://example.org/a.png")),
        ];
        let calling = vec![
            Part::Reasoning(Reasoning::new("ping it").with_opaque("p", json!(1))),
            Part::Call(Call::new("a", "ping", json!({"host": "b"}))),
        ];
        let messages = vec![
            Message::new(Role::User, asked),
            Message::new(Role::Assistant, calling).with_stop(StopReason::ToolCalls),
            Message::results([CallResult::new("a".into(), CallStatus::Failed, "no route")]),
            Message::assistant("It is").with_stop(StopReason::Length),
        ];
        let sampling = Sampling { temperature: Some(0.5), ..Sampling::default() };
        let request = Request::new("m", messages)
            .with_system("You help.\nBriefly.")
            .with_tools(tools)
            .with_tool_choice(ToolChoice::Required)
            .with_sampling(sampling);

        insta::assert_snapshot!(render_request(&request), @r#"
        model: m
        tool choice: required
        sampling: {"temperature":0.5}
        tools:
          ping (reads): Answers with pong.
          push (writes): Pushes.
        system:
            You help.
            Briefly.
        user:
          text:
            is it up?

            user:
          context:
            it was down
          image https://example.org/a.png
        assistant:
          reasoning (opaque to all but p):
            ping it
          call a of ping: {"host":"b"}
        tool:
          result of a (failed):
            no route
        assistant (Length):
          text:
            It is
        "#);
    }
}
