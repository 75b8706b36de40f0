//! What comes back of a task.

use std::{any::Any, time::Duration};

use serde::Serialize;

use crate::{
    agent::{AgentError, Finish},
    change::Change,
    fork::ForkOutcome,
    message::Usage,
    tool::cut_middle,
};

/// The report of one task, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Report {
    /// Which task of the call, from 0.
    task_index: usize,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
    changes: Vec<String>,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// With a report.
    Completed,
    /// With a report of what there was when the budget was spent.
    Incomplete,
    /// By an error.
    Failed,
    /// By a tool or a hook.
    Stopped,
    /// By cancellation.
    Cancelled,
    /// At its limit of time.
    TimedOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Tokens {
    input: u64,
    output: u64,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self { input: usage.input, output: usage.output }
    }
}

impl Report {
    /// Puts the report of task `number` together from what came of its fork.
    pub(super) fn of(
        number: usize,
        ended: Result<Result<ForkOutcome, AgentError>, Box<dyn Any + Send>>,
        changes: &[Change],
        max_chars: usize,
    ) -> Self {
        let mut report = Self {
            task_index: number,
            status: Status::Failed,
            error: None,
            summary: String::new(),
            requests: None,
            usage: None,
            changes: changes.iter().map(Change::line).collect(),
        };
        match ended {
            Ok(Ok(outcome)) => {
                (report.status, report.error) = status(outcome.finish);
                report.summary = cut_middle(&outcome.text, max_chars).unwrap_or(outcome.text);
                report.requests = Some(outcome.requests);
                report.usage = Some(outcome.usage.into());
            }
            Ok(Err(err)) => report.error = Some(err.describe()),
            Err(_) => report.error = Some("the sub-agent crashed".to_owned()),
        }
        report
    }

    /// Notes that the sub-agent was stopped at its limit of time.
    pub(super) fn mark_late(&mut self, limit: Duration) {
        if self.status == Status::Cancelled {
            self.status = Status::TimedOut;
            self.error = Some(format!("it was not done after {} seconds", limit.as_secs()));
        }
    }

    /// Returns how the task ended, in a word for a person.
    pub(super) fn status(&self) -> &'static str {
        match self.status {
            Status::Completed => "completed",
            Status::Incomplete => "incomplete",
            Status::Failed => "failed",
            Status::Stopped => "stopped",
            Status::Cancelled => "cancelled",
            Status::TimedOut => "timed out",
        }
    }
}

/// Returns the reports as JSON with their keys in reading order.
pub(super) fn json(reports: &[Report]) -> String {
    #[derive(Serialize)]
    struct Results<'a> {
        results: &'a [Report],
    }
    // There is nothing in a report that JSON cannot say.
    serde_json::to_string(&Results { results: reports }).unwrap_or_default()
}

fn status(finish: Finish) -> (Status, Option<String>) {
    let because = |text: &str| Some(text.to_owned());
    match finish {
        Finish::Answered => (Status::Completed, None),
        Finish::Length => (Status::Incomplete, because("its report was cut at the length limit")),
        Finish::OutOfRounds => (Status::Incomplete, because("its budget was spent")),
        Finish::Empty => (Status::Failed, because("it said nothing")),
        Finish::Refused => (Status::Failed, because("the model refused")),
        Finish::EndedByTool(reason) | Finish::Stopped(reason) => (Status::Stopped, Some(reason)),
        Finish::Cancelled => (Status::Cancelled, None),
        Finish::Failed(reason) => (Status::Failed, Some(reason)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(finish: Finish, text: &str) -> Report {
        let mut outcome = ForkOutcome::new(text, finish);
        outcome.requests = 2;
        outcome.usage = Usage::new(30, 4);
        Report::of(1, Ok(Ok(outcome)), &[], 20)
    }

    #[test]
    fn a_report_has_what_the_model_needs() {
        assert_eq!(
            json!(report(Finish::Answered, "It is blue.")),
            json!({
                "task_index": 1,
                "status": "completed",
                "summary": "It is blue.",
                "requests": 2,
                "usage": {"input": 30, "output": 4},
                "changes": [],
            })
        );
    }

    #[test]
    fn a_long_report_is_cut() {
        let report = report(Finish::Answered, &"x".repeat(50));

        assert!(report.summary.contains("30 of 50 characters left out"), "{}", report.summary);
    }

    #[test]
    fn an_error_is_a_report_too() {
        let report = Report::of(0, Ok(Err(AgentError::Busy)), &[], 20);

        assert_eq!(
            json!(report),
            json!({
                "task_index": 0,
                "status": "failed",
                "error": "a turn is already under way in this session",
                "summary": "",
                "changes": [],
            })
        );
    }

    #[test]
    fn only_what_was_cut_short_by_it_is_late() {
        let late = |finish| {
            let mut report = report(finish, "");
            report.mark_late(Duration::from_secs(60));
            report.status()
        };

        assert_eq!(late(Finish::Cancelled), "timed out");
        assert_eq!(late(Finish::Answered), "completed");
    }
}
