//! Errands that a document sends the agent on: first gather what is the user's, then send it away.

use std::sync::LazyLock;

use regex::Regex;

use super::{Category, File, Finding, Report, Severity, expression, hosts, subject::Subject};

/// How many lines may lie between the two orders.
const LINES_MAX: usize = 8;

/// The two orders, and what makes them harmless.
struct Orders {
    gathered: Regex,
    sent: Regex,
    asked: Regex,
}

static ORDERS: LazyLock<Option<Orders>> = LazyLock::new(|| {
    let regex = |source: &str| expression::compile(&format!("(?i){source}"));
    Some(Orders {
        gathered: regex(
            r"\b(?:zip|archive|collect|gather|bundle|copy|pack|tar|compress|read|export|dump|take|open|search|scan)\b[^.\n]{0,50}(?:\buser's\b|\btheir\b|~/|\bhome\b|\$HOME)[^.\n]{0,40}(?:\b(?:documents?|desktop|pictures|photos|downloads|files|folders?|mails?|messages|browser|history|keys?|passwords?|credentials?|cookies|wallets?|contacts|notes|secrets?)\b|\.(?:env|ssh|aws|gnupg|netrc)\b)|\b(?:collect|gather|copy|export|dump|archive|zip|read|take)\b[^.\n]{0,30}\b(?:documents|photos|files|mails?|e-?mails|messages|keys|passwords|contacts|history)\b[^.\n]{0,20}\bof the user\b",
        )?,
        sent: regex(
            r"\b(?:upload|send|post|submit|transfer|transmit|push|e-?mail|forward|curl\s[^\n]*-(?:F|T|d|-data\S*|-form|-upload-file))\b[^\n]{0,80}(?:https?://|\bserver\b|\bendpoint\b|\bwebhook\b|@[\w-]+\.\w|\bbot\b)",
        )?,
        asked: regex(
            r"\b(?:never|do not|don't|ask (?:the user|them|first|before)|with (?:their|the user's) (?:consent|permission)|if (?:the user|they) (?:ask|want|agree|say|confirm)\w*|once (?:the user|they)|localhost|127\.0\.0\.1|must not|avoid)\b",
        )?,
    })
});

/// Returns whether everything that `line` speaks to belongs to what the skill is about.
fn serves(subject: &Subject, line: &str) -> bool {
    hosts::are_known(line, &[], |host| subject.is_served_by(host))
}

/// The errand that a document is in the middle of.
#[derive(Debug, Default)]
pub(super) struct Errand {
    gathers: Option<usize>,
}

impl Errand {
    /// Looks at a line of a document; returns what it amounts to together with the lines before.
    pub(super) fn see(
        &mut self,
        (number, line): (usize, &str),
        (file, subject): (&File<'_>, &Subject),
    ) -> Option<Finding> {
        let orders = ORDERS.as_ref()?;
        if line.len() < 16 || orders.asked.is_match(line) {
            return None;
        }
        if orders.gathered.is_match(line) {
            self.gathers = Some(number);
        }
        let is_near = self.gathers.is_some_and(|at| number <= at + LINES_MAX);
        if !is_near || !orders.sent.is_match(line) || serves(subject, line) {
            return None;
        }
        self.gathers = None;
        Some(Finding {
            file: file.path.to_owned(),
            line: number,
            id: "order_collect".into(),
            category: Category::Exfiltration,
            severity: Severity::High,
            reason: "orders the agent to send out what is the user's".into(),
            excerpt: line.trim().chars().take(Report::EXCERPT_MAX).collect(),
        })
    }
}
