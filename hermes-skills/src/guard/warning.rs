//! Documentation that speaks against the command it names, and orders that only seem to.

use std::sync::LazyLock;

use regex::Regex;

use super::expression;

struct Forms {
    teaching: Regex,
    warning: Regex,
    promise: Regex,
    danger: Regex,
    order: Regex,
    governed: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let regex = |source: &str| expression::compile(&format!("(?i){source}"));
    Some(Forms {
        teaching: regex(
            r"\b(?:detect(?:s|ion)?|recogni[sz]e|indicators?|attackers?|suspicious|compromised|on-call|shows?|red flags?|exercise|training|forensics?|incident|signatures?|in the logs|reviewers?)\b",
        )?,
        warning: regex(
            r"\b(never|do not|don't|avoid|dangerous|block(?:s|ed)?|denied|deny|forbidden|warn(?:s|ing)?|suspicious|beware|instead of|rather than|detects?|prevents?|refuse[sd]?|rejects?|rejected|compromised|malicious|unsafe|fork bombs?)\b|\x{274c}",
        )?,
        // What is never asked or never found again is no warning, and neither is what the command
        // is said to be good against.
        promise: regex(
            r"\b(?:never|do not|don't|avoid)\s+(?:\w+\s+)?(?:ask|prompt|confirm|remove|recover|notic|question|stop|pause|wait|mind|worry|hesitate)\w*|\bto\s+(?:avoid|prevent|deny|reject|refuse|block|detect)\b",
        )?,
        danger: regex(
            r"\b(?:risks?|dangers?|dangerous|never|do not|don't|avoid|red flags?|what to look for|forbidden|blocked|indicators?|threats?|vulnerab\w+|anti-?patterns?|attacks?|unsafe|malicious|suspicious|severity)\b",
        )?,
        order: regex(
            r"\b(?:run|execute|type|paste|enter|issue|use|call|invoke|start|do|try)(?:\s+(?:the|this|these|it|command|commands|following|as|root|once|again|first|now|simply|just|always|in|shell|a|your|terminal)\b)*[\s:,*_(]*[`\x22'(\[]*$",
        )?,
        governed: regex(
            r"(?:\b(?:never|not|n't|avoid|refuse|refuses|blocks?|without|instead|rather|warn(?:s|ed|ing)?|against|detects?|prevents?|rejects?|forbid\w*|attempts?|tries|trying|attackers?|malware|adversar\w+|they|it|that|which|who|could|would|might|may|can|agents?|scripts?)\b|n't)(?:\W+\w+){0,3}\W+$",
        )?,
    })
});

/// Returns whether a line of documentation only tells what a harmful command looks like; the
/// command stands between the two parts.
pub(super) fn is_lesson(before: &str, after: &str) -> bool {
    warns(before, after) && teaches(before, after)
}

/// Returns whether a line of documentation teaches to notice what it names.
pub(super) fn teaches(before: &str, after: &str) -> bool {
    FORMS.as_ref().is_some_and(|forms| {
        let count = |text| forms.teaching.find_iter(text).count();
        1 < count(before) + count(after)
    })
}

/// Returns whether a line of documentation speaks against the command it names.
pub(super) fn warns(before: &str, after: &str) -> bool {
    let Some(forms) = &*FORMS else { return false };
    let speaks = |text| forms.warning.is_match(&forms.promise.replace_all(text, " "));
    !orders(before) && (speaks(before) || speaks(after))
}

/// Returns whether the head of a list or table says that dangers follow.
pub(super) fn announces_dangers(head: &str) -> bool {
    FORMS.as_ref().is_some_and(|forms| forms.danger.is_match(head))
}

/// Returns whether the words before a command order to run it: no word against it governs the verb.
pub(super) fn orders(before: &str) -> bool {
    let Some(forms) = &*FORMS else { return false };
    let start = before.rfind(". ").map_or(0, |at| at + 2);
    let sentence = before.get(start..).unwrap_or_default();
    let Some(order) = forms.order.find(sentence) else { return false };
    let leading = sentence.get(..order.start()).unwrap_or_default();
    !forms.governed.is_match(&forms.promise.replace_all(leading, ", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_a_verb_that_nothing_speaks_against() {
        for before in ["Run `", "To avoid stale caches run ", "Never mind. Then execute this: `"] {
            assert!(orders(before), "{before}");
        }
        for before in ["Never run `", "Do not ever type ", "attackers run `", "`", "It blocks `"] {
            assert!(!orders(before), "{before}");
        }
    }
}
