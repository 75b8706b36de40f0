//! The rules.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

use super::{Finding, Scope, Severity, normalize::Folded};

struct Rule {
    id: &'static str,
    scope: Scope,
    severity: Severity,
    reason: &'static str,
    regex: Regex,
}

/// Id, scope, severity, reason, expression over the folded text.
const RULES: &[(&str, Scope, Severity, &str, &str)] = &[
    (
        "prompt_injection",
        Scope::All,
        Severity::Block,
        "orders to drop earlier instructions",
        r"\b(?:ignore|forget|disregard|override)\W+(?:\w+\W+){0,10}?(?:previous|prior|above|earlier|all)\W+(?:\w+\W+){0,2}?(?:instructions?|rules|guidance|prompts?)\b",
    ),
    (
        "prompt_injection",
        Scope::All,
        Severity::Block,
        "orders to drop earlier instructions",
        r"\b(?:earlier|previous|prior)\W+(?:instructions|rules|guidance)\W+aside\b|\bno\W+longer\W+(?:bind|apply)\b",
    ),
    (
        "sys_prompt_override",
        Scope::All,
        Severity::Block,
        "claims to replace the system prompt",
        r"\bsystem\W+prompt\W+override\b",
    ),
    (
        "disregard_rules",
        Scope::All,
        Severity::Block,
        "orders to drop rules",
        r"\bdisregard\W+your\W+(?:instructions|rules|guidelines)\b",
    ),
    (
        "deception_hide",
        Scope::All,
        Severity::Block,
        "orders to keep something from the user",
        r"\bdo\W+not\W+(?:\w+\W+){0,4}?tell\W+the\W+user\b",
    ),
    (
        "exfil_curl",
        Scope::All,
        Severity::Block,
        "sends a secret out",
        r"\bcurl\b[^\n]{0,300}\$\{?\w*(?:key|token|secret|password|credential|api)",
    ),
    (
        "exfil_wget",
        Scope::All,
        Severity::Block,
        "sends a secret out",
        r"\bwget\b[^\n]{0,300}\$\{?\w*(?:key|token|secret|password|credential|api)",
    ),
    (
        "ssh_backdoor",
        Scope::Strict,
        Severity::Block,
        "adds a key that opens the machine",
        r"\b(?:add|append|echo|write)\b[^\n]{0,200}authorized_keys\b",
    ),
    (
        "ssh_access",
        Scope::Strict,
        Severity::Warn,
        "names the folder of the ssh keys",
        r"(?:~|\$home)/\.ssh",
    ),
];

static COMPILED: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    RULES
        .iter()
        .filter_map(|&(id, scope, severity, reason, regex)| {
            Some(Rule { id, scope, severity, reason, regex: Regex::new(regex).ok()? })
        })
        .collect()
});

/// Returns the findings of `scope`, unordered.
pub(super) fn find(text: &str, scope: Scope) -> Vec<Finding> {
    let mut findings = invisible(text);
    let folded = Folded::new(text);
    for rule in COMPILED.iter().filter(|rule| rule.scope <= scope) {
        for hit in rule.regex.find_iter(&folded.text) {
            let range = folded.original(text, hit.start(), hit.end());
            findings.push(Finding::new(rule.id, rule.severity, range, rule.reason));
        }
    }
    findings
}

/// Returns whether `ch` is not seen but may split a word or reorder a line.
pub(super) fn is_invisible(ch: char) -> bool {
    matches!(ch, '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn invisible(text: &str) -> Vec<Finding> {
    let mut previous = ' ';
    let mut findings = Vec::new();
    for (start, ch) in text.char_indices() {
        if is_invisible(ch) && previous.is_ascii_alphanumeric() {
            let id: Cow<'static, str> = format!("invisible_unicode_U+{:04X}", u32::from(ch)).into();
            let severity = if ch == '\u{ad}' { Severity::Warn } else { Severity::Block };
            let range = start..start + ch.len_utf8();
            findings.push(Finding::new(id, severity, range, "holds a character nobody sees"));
        }
        previous = ch;
    }
    findings
}
