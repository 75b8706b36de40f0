//! What a review is told. The texts are files under `prompts/`, so that they can be read as such.

use hermes_core::review::ReviewScope;

const OPENING: &str = include_str!("prompts/opening.md");
const MEMORY: &str = include_str!("prompts/memory.md");
const SKILLS: &str = include_str!("prompts/skills.md");
const LIMITS: &str = include_str!("prompts/limits.md");

/// Returns the prompt of a review that looks for `scope` and may call `tools`: what
/// [`BackgroundReview`](crate::BackgroundReview) sends, for a `Review` of your own.
pub fn review_prompt(scope: ReviewScope, tools: &[&str]) -> String {
    let opening = OPENING.replace("{tools}", &tools.join(", "));
    let mut parts = vec![opening.trim()];
    if scope.has_memory() {
        parts.push(MEMORY.trim());
    }
    if scope.has_skills() {
        parts.push(SKILLS.trim());
    }
    parts.push(LIMITS.trim());
    parts.join("\n\n")
}

/// Returns whether `text` is a passage of a review's own instructions and so nothing that was learnt.
pub(crate) fn is_own_words(text: &str) -> bool {
    /// Shorter passages may well be somebody's own words.
    const LEAST: usize = 24;
    let text = text.trim();
    LEAST <= text.chars().count()
        && [OPENING, MEMORY, SKILLS, LIMITS].iter().any(|prompt| prompt.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_for_both_reads_like_this() {
        let tools = ["memory", "skill_manage", "skill_view", "skills_list"];
        insta::assert_snapshot!(review_prompt(ReviewScope::Both, &tools));
    }

    #[test]
    fn a_review_of_one_kind_is_told_of_one_kind() {
        let memory = review_prompt(ReviewScope::Memory, &["memory"]);
        let skills = review_prompt(ReviewScope::Skills, &["skill_manage"]);

        assert!(memory.contains("Facts") && !memory.contains("Procedures"));
        assert!(!skills.contains("Facts") && skills.contains("Procedures"));
    }

    #[test]
    fn its_own_instructions_are_recognised() {
        assert!(is_own_words(" State a fact; do not write yourself an order"));
        assert!(!is_own_words("memory"));
        assert!(!is_own_words("The registry is at registry.local:5000."));
    }
}
