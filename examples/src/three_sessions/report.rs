//! Shows an [`Outcome`]: in full for a person, in one line of JSON for a program.

use std::fmt;

use hermes_core::{
    message::CallStatus,
    review::{ReviewOutcome, ReviewReport, ReviewScope},
};
use serde::Serialize;

use super::{
    home::{Called, Cost},
    run::{Conversation, Outcome},
};

/// The most characters of a call or a result that fit a line.
const WIDTH: usize = 92;

/// Returns the outcome as one line of JSON: `sessions`, each with `task`, `tool_calls`, `errors` and
/// `cold`, and `reviews`, each with the task it came `after`, its `scope`, `outcome`, `saved` lines,
/// `diffs` and `note`.
///
/// # Errors
///
/// None in practice: everything in it is text and numbers.
pub fn json(outcome: &Outcome) -> serde_json::Result<String> {
    let conversations = &outcome.conversations;
    let reviews = conversations.iter().filter_map(|it| Some((it, it.review.as_deref()?)));
    serde_json::to_string(&Line {
        sessions: conversations.iter().map(SessionLine::new).collect(),
        reviews: reviews.map(|(it, review)| ReviewLine::new(it.task.key(), review)).collect(),
    })
}

#[derive(Serialize)]
struct Line<'a> {
    sessions: Vec<SessionLine>,
    reviews: Vec<ReviewLine<'a>>,
}

#[derive(Serialize)]
struct SessionLine {
    task: &'static str,
    tool_calls: usize,
    errors: usize,
    cold: CostLine,
}

#[derive(Serialize)]
struct CostLine {
    tool_calls: usize,
    errors: usize,
}

#[derive(Serialize)]
struct ReviewLine<'a> {
    after: &'static str,
    scope: ReviewScope,
    outcome: &'a ReviewOutcome,
    saved: Vec<String>,
    diffs: Vec<&'a str>,
    note: &'a str,
}

impl SessionLine {
    fn new(conversation: &Conversation) -> Self {
        let (Cost { tool_calls, errors, .. }, cold) = (conversation.cost(), conversation.cold);
        let cold = CostLine { tool_calls: cold.tool_calls, errors: cold.errors };
        Self { task: conversation.task.key(), tool_calls, errors, cold }
    }
}

impl<'a> ReviewLine<'a> {
    fn new(after: &'static str, review: &'a ReviewReport) -> Self {
        Self {
            after,
            scope: review.scope,
            outcome: &review.outcome,
            saved: review.lines(),
            diffs: review.changes.iter().map(|change| change.diff.as_str()).collect(),
            note: &review.note,
        }
    }
}

impl fmt::Display for Outcome {
    /// Writes the conversations with their calls and reviews, and at the end the table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, conversation) in self.conversations.iter().enumerate() {
            write_conversation(f, index + 1, conversation)?;
        }
        write_table(f, self)
    }
}

fn write_conversation(
    f: &mut fmt::Formatter<'_>,
    number: usize,
    conversation: &Conversation,
) -> fmt::Result {
    let rule = "─".repeat(WIDTH - 20);
    writeln!(f, "── Conversation {number} {rule}\n")?;
    writeln!(f, "  user   {}\n", conversation.message)?;
    for (index, call) in conversation.calls.iter().enumerate() {
        write_call(f, index + 1, call)?;
    }
    writeln!(f, "\n  agent  {}\n", conversation.answer)?;
    match &conversation.review {
        Some(review) => write_review(f, review),
        None => writeln!(f, "  no review was due\n"),
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, number: usize, call: &Called) -> fmt::Result {
    let Called { tool, about, .. } = call;
    let is_done = call.status == CallStatus::Done;
    let mark = if is_done { "✓" } else { "✗" };
    writeln!(f, "  {number:>2} {mark}  {}", cut(&format!("{tool} {about}")))?;
    if is_done {
        return Ok(());
    }
    let mut lines = call.result.lines().filter(|line| !line.is_empty() && *line != "Events:");
    lines.try_for_each(|line| writeln!(f, "        {}", cut(line)))
}

fn write_review(f: &mut fmt::Formatter<'_>, review: &ReviewReport) -> fmt::Result {
    let scope = match review.scope {
        ReviewScope::Memory => "facts",
        ReviewScope::Skills => "procedures",
        _ => "facts and procedures",
    };
    writeln!(f, "  review, looking for {scope}: {}\n", review.note)?;
    for change in &review.changes {
        writeln!(f, "    {}", change.line())?;
        let lines = change.diff.lines().filter(|line| is_changed(line));
        for line in lines {
            writeln!(f, "      {line}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// Returns whether a line of a diff was added or taken away, the names of the files left out.
fn is_changed(line: &str) -> bool {
    line.starts_with(['+', '-']) && !line.starts_with("+++ ") && !line.starts_with("--- ")
}

fn write_table(f: &mut fmt::Formatter<'_>, outcome: &Outcome) -> fmt::Result {
    let seed = outcome.seed;
    writeln!(f, "── What it took (world {seed}) {}\n", "─".repeat(WIDTH - 31))?;
    writeln!(f, "      task       calls  errors     on an empty home")?;
    for (index, conversation) in outcome.conversations.iter().enumerate() {
        let (number, label) = (index + 1, conversation.task.label());
        let (Cost { tool_calls, errors, .. }, cold) = (conversation.cost(), conversation.cold);
        let (cold_calls, cold_errors) = (cold.tool_calls, cold.errors);
        writeln!(
            f,
            "   {number}  {label:<9} {tool_calls:>6}  {errors:>6}     {cold_calls} calls, \
             {cold_errors} errors"
        )?;
    }
    Ok(())
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}
