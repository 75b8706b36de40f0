//! Orders, secrets and exfiltration, by the rules for every text that reaches the model.

use hermes_core::threat::{self, Scope};

use super::{Category, File, Finding, Report, Severity, language::Language, text, warning};

/// Returns what `hermes_core::threat` finds in a file.
pub(super) fn find(file: &File<'_>) -> Vec<Finding> {
    let text = file.text;
    let mut line = 1;
    let mut counted = 0;
    threat::scan(text, Scope::Strict)
        .into_iter()
        .map(|found| {
            let start = found.range.start.max(counted);
            let between = text.as_bytes().get(counted..start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count();
            counted = start;
            let excerpt = text.get(found.range.clone()).unwrap_or_default();
            Finding {
                file: file.path.to_owned(),
                line,
                category: category(&found.id),
                severity: if is_pattern(&found, text) || is_mention(&found, file) {
                    Severity::Low
                } else {
                    severity(&found, file.language)
                },
                excerpt: excerpt.chars().take(Report::EXCERPT_MAX).collect(),
                id: found.id,
                reason: found.reason,
            }
        })
        .collect()
}

/// Returns whether what looks like a private key is only the line that keys begin with, as in a
/// search for them.
fn is_pattern(found: &threat::Finding, text: &str) -> bool {
    let excerpt = text.get(found.range.clone()).unwrap_or_default();
    let rest = text.get(found.range.end..).unwrap_or_default();
    let rest = rest.trim_start_matches(['-', '\\', 'n', 'r', '\r', '\n', ' ', '"', '\'', '+']);
    let digits = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || b"+/=".contains(it));
    found.id == "hardcoded_secret"
        && excerpt.contains("PRIVATE KEY")
        && digits.take(16).count() < 16
}

/// How much of a document is looked at on either side of what was found, in bytes.
const AROUND: usize = 400;

/// Returns whether what was found in a document is no order by what stands around it: a command that
/// is described, or something that the user is told after all.
fn is_mention(found: &threat::Finding, file: &File<'_>) -> bool {
    if file.language != Language::Prose {
        return false;
    }
    match (category(&found.id), found.id.as_ref()) {
        (Category::Injection, "deception_hide") => {
            let text = file.text;
            let excerpt = text.get(found.range.clone()).unwrap_or_default().to_ascii_lowercase();
            is_told(&excerpt) || is_put_off(around(file.text, found).1)
        }
        (Category::Injection, "prompt_injection") => {
            let (before, after) = around(file.text, found);
            is_about_one_thing(before, after)
        }
        (Category::Network | Category::SupplyChain, _) => {
            let (before, after) = around(file.text, found);
            warning::is_lesson(before, after)
        }
        _ => false,
    }
}

/// Returns the rest of the sentence before and after what was found.
fn around<'t>(text: &'t str, found: &threat::Finding) -> (&'t str, &'t str) {
    let start = text::boundary(text, found.range.start.saturating_sub(AROUND));
    let end = text::boundary(text, found.range.end.saturating_add(AROUND));
    let before = text.get(start..found.range.start).unwrap_or_default();
    let after = text.get(found.range.end..end).unwrap_or_default();
    let is_end = ['\n', '.'];
    let before = before.rfind(is_end).and_then(|at| before.get(at + 1..)).unwrap_or(before);
    (before, after.split(is_end).next().unwrap_or_default())
}

/// Returns whether an order to leave instructions aside is for one case and about one thing, which
/// is none that keeps the user safe.
fn is_about_one_thing(before: &str, after: &str) -> bool {
    const CASES: &[&str] = &["if", "when", "where", "once", "in"];
    const ABOUT: &[&str] = &["about", "regarding", "concerning", "on", "for"];
    const KEPT: &[&str] = &[
        "all",
        "any",
        "every",
        "approv",
        "ask",
        "check",
        "confirm",
        "confiden",
        "consent",
        "danger",
        "guard",
        "harm",
        "limit",
        "permission",
        "polic",
        "priva",
        "protect",
        "restrict",
        "rule",
        "safe",
        "secre",
        "secur",
        "system",
        "trust",
        "user",
        "what",
        "you",
    ];
    let before = before.trim_start_matches(|ch: char| !ch.is_alphanumeric()).to_ascii_lowercase();
    let after = after.to_ascii_lowercase();
    let mut words = after.split_whitespace();
    before.split_whitespace().next().is_some_and(|word| CASES.contains(&word))
        && words.next().is_some_and(|word| ABOUT.contains(&word))
        && words.next().is_some()
        && !KEPT.iter().any(|stem| after.contains(stem))
}

/// Returns whether an order to hide something says that the user is told after all.
fn is_told(order: &str) -> bool {
    ["and tell", "but tell", "and ask", "and warn"].iter().any(|it| order.contains(it))
}

/// Returns whether an order to hide something holds only until or unless something comes about: the
/// word has to follow in the same clause.
fn is_put_off(after: &str) -> bool {
    let clause = after.split([',', ';', ':']).next().unwrap_or_default();
    let mut words = clause.split_whitespace().map(str::to_ascii_lowercase);
    words.by_ref().take(6).any(|word| word == "unless" || word == "until")
        && words.next().is_some_and(|word| PARTIES.contains(&word.as_str()))
}

/// Who may bring about that the user is told.
const PARTIES: &[&str] = &[
    "they",
    "he",
    "she",
    "you",
    "it",
    "the",
    "asked",
    "all",
    "their",
    "your",
    "explicitly",
    "this",
];

/// An order is worst where a model reads it, a command where it may run.
fn severity(found: &threat::Finding, language: Language) -> Severity {
    if !found.blocks() {
        return Severity::Low;
    }
    let is_read = language == Language::Prose;
    match category(&found.id) {
        Category::Injection | Category::Obfuscation if is_read => Severity::Critical,
        Category::Exfiltration | Category::Network if is_read || language.runs() => {
            Severity::Critical
        }
        _ => Severity::High,
    }
}

fn category(id: &str) -> Category {
    match id {
        "ssh_backdoor" | "shell_startup" | "agent_config_mod" | "hermes_config_mod" => {
            Category::Persistence
        }
        "hardcoded_secret" => Category::Secrets,
        "reverse_shell" | "c2_heartbeat" | "c2_task_pull" | "known_c2_framework"
        | "c2_explicit" => Category::Network,
        "pipe_to_shell" => Category::SupplyChain,
        "obfuscated_order" => Category::Obfuscation,
        "exfil_curl" | "exfil_wget" | "exfil_command" | "send_to_url" | "context_exfil"
        | "repo_exfil" | "markdown_exfil" | "read_secrets" | "ssh_access" | "hermes_env" => {
            Category::Exfiltration
        }
        _ => Category::Injection,
    }
}
