//! Orders, secrets and exfiltration, by the rules for every text that reaches the model.

use hermes_core::threat::{self, Scope};

use super::{Category, File, Finding, Report, Severity, commands, language::Language};

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

/// Returns whether what was found in a document is no order by what stands around it: a command that
/// is described, something that the user is told after all, or instructions about one subject.
fn is_mention(found: &threat::Finding, file: &File<'_>) -> bool {
    if file.language != Language::Prose {
        return false;
    }
    let text = file.text;
    let before = text.get(..found.range.start).unwrap_or_default();
    let after = text.get(found.range.end..).unwrap_or_default();
    let start = before.rfind(['\n', '.']).map_or(0, |at| at + 1);
    let after = after.split(['\n', '.']).next().unwrap_or_default().to_ascii_lowercase();
    let before = before.get(start..).unwrap_or_default();
    let excerpt = text.get(found.range.clone()).unwrap_or_default().to_ascii_lowercase();
    match (category(&found.id), found.id.as_ref()) {
        (Category::Injection, "deception_hide") => {
            ["unless ", "until "].iter().any(|word| after.contains(word))
                || ["and tell", "but tell", "and ask", "and warn"]
                    .iter()
                    .any(|it| excerpt.contains(it))
        }
        (Category::Injection, "prompt_injection") => {
            let guarded = ["safe", "secur", "approv", "confirm", "secret", "priva", "permission"];
            before.trim_start_matches(['-', '*', ' ']).starts_with("If ")
                && after.starts_with(" about ")
                && !guarded.iter().any(|word| after.contains(word))
        }
        (Category::Network | Category::SupplyChain, _) => {
            commands::is_lesson(&format!("{before} {after}"))
        }
        _ => false,
    }
}

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
